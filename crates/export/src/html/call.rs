//! A call of a tool: what was called, how it ended, what it changed and gave back.

use std::io;

use recount_blocks::CallBlock;
use recount_model::ToolStatus;

use super::message::{code, write_media};
use super::paper::Paper;
use super::{LINE, Page, diff, grouped};

impl Page {
    pub(super) fn call(&self, call: &CallBlock<'_>, paper: &mut Paper<'_>) -> io::Result<()> {
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
        paper.line(call.name, LINE)?;
        paper.mark("</b>")?;
        if let Some(key) = call.key_argument {
            paper.mark(" <code>")?;
            paper.line(key, LINE)?;
            paper.mark("</code>")?;
        }
        if let Some(ending) = call.ending() {
            paper.mark(" <em class=\"ending\">")?;
            paper.line(ending, LINE)?;
            paper.mark("</em>")?;
        }
        if let Some(agent) = call.agent {
            paper.mark(" <span class=\"agent\">sub-agent ")?;
            self.link(agent, paper)?;
            paper.mark("</span>")?;
        }
        paper.mark("</p>\n")?;
        result(call, paper)?;
        paper.mark("</div>\n")
    }
}

/// Writes what a call changed and gave back.
fn result(call: &CallBlock<'_>, paper: &mut Paper<'_>) -> io::Result<()> {
    if let Some(error) = call.error {
        paper.mark("<p class=\"said error\" dir=\"auto\">")?;
        paper.line(error, LINE)?;
        paper.mark("</p>\n")?;
    }
    if let Some(diff) = call.diff {
        diff::write(diff, paper)?;
    }
    if let Some(arguments) = &call.arguments {
        paper.mark("<details class=\"fold trace\"><summary>Arguments</summary>")?;
        paper.mark("<pre class=\"code wrap\" data-lang=\"json\">")?;
        paper.text(&arguments.text)?;
        paper.mark("</pre></details>\n")?;
    }
    let output = call.output.map(|output| (output.text.trim_end(), output.language));
    if let Some((text, language)) = output.filter(|(text, _)| !text.is_empty()) {
        paper.mark("<details class=\"fold full\"><summary>Output <span class=\"dim\">")?;
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64 + 1;
        paper.text(&grouped(lines))?;
        paper.mark(if lines == 1 {
            " line</span></summary>"
        } else {
            " lines</span></summary>"
        })?;
        code(text, language.unwrap_or_default(), paper)?;
        paper.mark("</details>\n")?;
    }
    if call.is_cut {
        paper.mark("<p class=\"note full\">The agent cut this output; the rest is gone.</p>\n")?;
    }
    if !call.media.is_empty() {
        paper.mark("<div class=\"full\">")?;
        call.media.iter().try_for_each(|media| write_media(media, paper))?;
        paper.mark("</div>\n")?;
    }
    Ok(())
}
