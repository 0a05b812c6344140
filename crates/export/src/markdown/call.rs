//! A tool call: what was called, how it ended, what it changed and returned.

use std::io::{self, Write};

use recount_blocks::CallBlock;
use recount_model::ToolStatus;

use super::Markdown;
use super::escape::{fence, inline, span};
use crate::text::shortened;

/// The longest key argument on a line.
const KEY: usize = 300;

impl Markdown {
    pub(super) fn call(&self, call: &CallBlock<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mark = match call.status {
            ToolStatus::Success => "✓",
            ToolStatus::Error => "✗",
            ToolStatus::Cancelled => "⊘",
            ToolStatus::Other(_) => "○",
        };
        write!(out, "\n{mark} **{}**", inline(call.name, self.bidi))?;
        if let Some(key) = call.key_argument {
            write!(out, " {}", span(&shortened(key, KEY), self.bidi))?;
        }
        if let Some(ending) = call.ending() {
            write!(out, " *{}*", inline(ending, self.bidi))?;
        }
        if let Some(agent) = call.agent {
            write!(out, " (sub-agent {})", self.link(agent))?;
        }
        writeln!(out)?;
        if let Some(arguments) = &call.arguments {
            write!(out, "\nArguments:\n\n{}", fence(&arguments.text, "json", self.bidi))?;
        }
        if let Some(diff) = &call.diff {
            write!(out, "\n{}", fence(diff.patch, "diff", self.bidi))?;
        }
        let output = call.outcome();
        if !output.is_empty() {
            write!(out, "\n{}", fence(output, "", self.bidi))?;
        }
        if call.is_cut {
            writeln!(out, "\n*The agent cut this output; the rest is gone.*")?;
        }
        self.media(call.media, out)
    }
}
