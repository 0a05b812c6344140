//! A call of a tool: what was called, how it ended, what it changed and gave back.

use std::io::{self, Write};

use recount_model::{OutputState, ToolCall, ToolStatus};

use super::Markdown;
use super::escape::{fence, inline, span};
use crate::text::shortened;
use crate::{Level, words};

/// The longest key argument that a line has room for.
const KEY: usize = 300;

impl Markdown {
    pub(super) fn call(&self, call: &ToolCall, out: &mut dyn Write) -> io::Result<()> {
        let mark = match call.status {
            ToolStatus::Success => "✓",
            ToolStatus::Error => "✗",
            ToolStatus::Cancelled => "⊘",
            ToolStatus::Other(_) => "○",
        };
        write!(out, "\n{mark} **{}**", inline(words::tool(call), self.bidi))?;
        if let Some(key) = words::key_argument(call, &self.project) {
            write!(out, " {}", span(&shortened(key, KEY), self.bidi))?;
        }
        if let Some(ending) = words::ending(call) {
            write!(out, " *{}*", inline(ending, self.bidi))?;
        }
        if let Some(agent) = &call.agent_id {
            write!(out, " (sub-agent {})", self.link(agent))?;
        }
        writeln!(out)?;
        if self.level >= Level::Trace {
            write!(out, "\nArguments:\n\n{}", fence(call.args.as_str(), "json", self.bidi))?;
        }
        if let Some(patch) = &call.diff {
            write!(out, "\n{}", fence(words::without_index(patch), "diff", self.bidi))?;
        }
        let output = words::outcome(call, self.level >= Level::Full);
        if !output.is_empty() {
            write!(out, "\n{}", fence(output, "", self.bidi))?;
        }
        let is_cut = matches!(call.output_state, OutputState::Truncated | OutputState::Masked);
        if is_cut && self.level >= Level::Full {
            writeln!(out, "\n*The agent cut this output; the rest is gone.*")?;
        }
        if self.level >= Level::Full {
            self.media(&call.media, out)?;
        }
        Ok(())
    }
}
