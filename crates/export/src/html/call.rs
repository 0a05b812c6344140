//! A call of a tool: what was called, how it ended, what it changed and gave back.

use std::io;

use recount_model::{OutputState, ToolCall, ToolStatus};

use super::message::{code, ending, media};
use super::paper::Paper;
use super::{LINE, Page, diff, grouped};
use crate::words;

impl Page {
    pub(super) fn call(&self, call: &ToolCall, paper: &mut Paper<'_>) -> io::Result<()> {
        paper.mark("<div class=\"call actions\"><p class=\"line\">")?;
        paper.mark(match call.status {
            ToolStatus::Success => {
                "<span class=\"sign good\" role=\"img\" aria-label=\"worked\">✓</span> <b>"
            }
            ToolStatus::Error => {
                "<span class=\"sign bad\" role=\"img\" aria-label=\"failed\">✗</span> <b>"
            }
            ToolStatus::Cancelled => {
                "<span class=\"sign off\" role=\"img\" aria-label=\"cancelled\">⊘</span> <b>"
            }
            ToolStatus::Other(_) => {
                "<span class=\"sign\" role=\"img\" aria-label=\"open\">○</span> <b>"
            }
        })?;
        paper.line(words::tool(call), LINE)?;
        paper.mark("</b>")?;
        let key = words::key_argument(call, &self.project);
        if let Some(key) = key {
            paper.mark(" <code>")?;
            paper.line(key, LINE)?;
            paper.mark("</code>")?;
        }
        if let Some(ending) = words::ending(call) {
            paper.mark(" <em class=\"ending\">")?;
            paper.line(ending, LINE)?;
            paper.mark("</em>")?;
        }
        if let Some(agent) = &call.agent_id {
            paper.mark(" <span class=\"agent\">sub-agent ")?;
            self.link(agent, paper)?;
            paper.mark("</span>")?;
        }
        paper.mark("</p>\n")?;
        let language = key.and_then(ending);
        result(call, language, paper)?;
        paper.mark("</div>\n")
    }
}

/// Writes what a call changed and gave back.
fn result(call: &ToolCall, language: Option<&str>, paper: &mut Paper<'_>) -> io::Result<()> {
    let error = words::outcome(call, false);
    if !error.is_empty() {
        paper.mark("<p class=\"said error\" dir=\"auto\">")?;
        paper.line(error, LINE)?;
        paper.mark("</p>\n")?;
    }
    if let Some(patch) = &call.diff {
        diff::write(patch, language, paper)?;
    }
    paper.mark("<details class=\"fold trace\"><summary>Arguments</summary>")?;
    paper.mark("<pre class=\"code wrap\" data-lang=\"json\">")?;
    paper.text(call.args.as_str())?;
    paper.mark("</pre></details>\n")?;
    let output = words::outcome(call, true).trim_end();
    if !output.is_empty() {
        paper.mark("<details class=\"fold full\"><summary>Output <span class=\"dim\">")?;
        let lines = memchr::memchr_iter(b'\n', output.as_bytes()).count() as u64 + 1;
        paper.text(&grouped(lines))?;
        paper.mark(if lines == 1 {
            " line</span></summary>"
        } else {
            " lines</span></summary>"
        })?;
        // Of a change, the output is prose.
        code(output, language.filter(|_| call.diff.is_none()), paper)?;
        paper.mark("</details>\n")?;
    }
    if matches!(call.output_state, OutputState::Truncated | OutputState::Masked) {
        paper.mark("<p class=\"note full\">The agent cut this output; the rest is gone.</p>\n")?;
    }
    if !call.media.is_empty() {
        paper.mark("<div class=\"full\">")?;
        media(&call.media, paper)?;
        paper.mark("</div>\n")?;
    }
    Ok(())
}
