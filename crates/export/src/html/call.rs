//! A tool call: what was called, how it ended, what it changed and returned.

use std::io;

use recount_blocks::CallBlock;
use recount_model::ToolStatus;

use super::html_writer::HtmlWriter;
use super::message::{code, write_media};
use super::{LINE, Page, diff, grouped};

impl Page {
    pub(super) fn call(&self, call: &CallBlock<'_>, html: &mut HtmlWriter<'_>) -> io::Result<()> {
        html.mark("<div class=\"call actions\"><p class=\"line\">")?;
        html.mark(match call.status {
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
        html.line(call.name, LINE)?;
        html.mark("</b>")?;
        if let Some(key) = call.key_argument {
            html.mark(" <code>")?;
            html.line(key, LINE)?;
            html.mark("</code>")?;
        }
        if let Some(ending) = call.ending() {
            html.mark(" <em class=\"ending\">")?;
            html.line(ending, LINE)?;
            html.mark("</em>")?;
        }
        if let Some(agent) = call.agent {
            html.mark(" <span class=\"agent\">sub-agent ")?;
            self.link(agent, html)?;
            html.mark("</span>")?;
        }
        html.mark("</p>\n")?;
        result(call, html)?;
        html.mark("</div>\n")
    }
}

/// Writes what a call changed and returned.
fn result(call: &CallBlock<'_>, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    if let Some(error) = call.error {
        html.mark("<p class=\"said error\" dir=\"auto\">")?;
        html.line(error, LINE)?;
        html.mark("</p>\n")?;
    }
    if let Some(diff) = call.diff {
        diff::write(diff, html)?;
    }
    if let Some(arguments) = &call.arguments {
        html.mark("<details class=\"fold trace\"><summary>Arguments</summary>")?;
        html.mark("<pre class=\"code wrap\" data-lang=\"json\">")?;
        html.text(&arguments.text)?;
        html.mark("</pre></details>\n")?;
    }
    let output = call.output.map(|output| (output.text.trim_end(), output.language));
    if let Some((text, language)) = output.filter(|(text, _)| !text.is_empty()) {
        html.mark("<details class=\"fold full\"><summary>Output <span class=\"dim\">")?;
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64 + 1;
        html.text(&grouped(lines))?;
        html.mark(if lines == 1 { " line</span></summary>" } else { " lines</span></summary>" })?;
        code(text, language.unwrap_or_default(), html)?;
        html.mark("</details>\n")?;
    }
    if call.is_cut {
        html.mark("<p class=\"note full\">The agent cut this output; the rest is gone.</p>\n")?;
    }
    if !call.media.is_empty() {
        html.mark("<div class=\"full\">")?;
        call.media.iter().try_for_each(|media| write_media(media, html))?;
        html.mark("</div>\n")?;
    }
    Ok(())
}
