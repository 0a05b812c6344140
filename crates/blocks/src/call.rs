//! Tool calls.

use recount_model::{Media, OutputState, ToolCall, ToolStatus};
use serde::Serialize;

use crate::code::{CodeBlock, path_language};
use crate::diff::DiffBlock;
use crate::level::Level;

/// A tool call: what was called, how it ended, what it changed and returned.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallBlock<'a> {
    /// The name of the tool that people know.
    pub name: &'a str,
    /// The most informative argument: a command, a path, a pattern. Paths in the project are relative
    /// to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_argument: Option<&'a str>,
    /// How it ended.
    pub status: &'a ToolStatus,
    /// The id of the sub-agent that it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<&'a str>,
    /// All arguments as JSON; only at level `trace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<CodeBlock<'a>>,
    /// The change it made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<DiffBlock<'a>>,
    /// The first line of the output of a call that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a str>,
    /// The output, if there is any; at level `full` and above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<CallOutput<'a>>,
    /// Whether the agent cut the output and the rest is lost; at level `full` and above.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// Binary parts of the result; at level `full` and above. JSON has their types and sizes.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub media: &'a [Media],
}

/// The output of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CallOutput<'a> {
    /// The extension of the file that was read, if the output is its content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'a str>,
    /// The text.
    pub text: &'a str,
}

impl<'a> CallBlock<'a> {
    /// Returns the parts of a call that are shown at a level. `project` is the folder that paths are relative to, or empty.
    pub fn new(call: &'a ToolCall, level: Level, project: &str) -> Self {
        let is_full = level >= Level::Full;
        let key_argument = key_argument(call, project);
        let language = key_argument.and_then(path_language);
        let display_name = call.display_name.as_deref().filter(|name| !name.is_empty());
        let text = call.output.as_deref().or(call.display.as_deref()).unwrap_or_default();
        let failed = call.status == ToolStatus::Error;
        // The output of a call that changed a file is prose about it, not its content.
        let output = CallOutput { language: language.filter(|_| call.diff.is_none()), text };
        Self {
            name: display_name.unwrap_or(&call.name),
            key_argument,
            status: &call.status,
            agent: call.agent_id.as_deref(),
            arguments: (level >= Level::Trace).then(|| CodeBlock::new("json", call.args.as_str())),
            diff: call.diff.as_deref().map(|patch| DiffBlock::new(patch, language)),
            error: if failed { first_line(text) } else { None },
            output: (is_full && !text.is_empty()).then_some(output),
            is_cut: is_full
                && matches!(call.output_state, OutputState::Truncated | OutputState::Masked),
            media: if is_full { &call.media } else { &[] },
        }
    }

    /// Returns a word for how the call ended, unless it succeeded.
    pub fn ending(&self) -> Option<&'a str> {
        match self.status {
            ToolStatus::Success => None,
            ToolStatus::Error => Some("failed"),
            ToolStatus::Cancelled => Some("cancelled"),
            ToolStatus::Other(word) => Some(word.as_str()).filter(|word| !word.is_empty()),
        }
    }

    /// Returns the text of the output or, at the lower levels, the first line of an error; empty if there is none.
    pub fn outcome(&self) -> &'a str {
        self.output.map(|output| output.text).or(self.error).unwrap_or_default()
    }
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().find(|line| !line.trim().is_empty())
}

fn key_argument<'a>(call: &'a ToolCall, project: &str) -> Option<&'a str> {
    let key = call.key_arg.as_deref().filter(|key| !key.is_empty())?;
    let below = (!project.is_empty()).then(|| key.strip_prefix(project)).flatten();
    Some(below.and_then(|key| key.strip_prefix('/')).unwrap_or(key))
}
