//! How much of a session is shown.

use recount_model::{Message, MessageKind};

/// How much of a session is shown. Each level includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Prompts and answers.
    Talk,
    /// Also tool calls with their key argument, diffs and notices.
    #[default]
    Actions,
    /// Also tool output, attached files, shell commands and summaries.
    Full,
    /// Also everything else: context, hooks, arguments, ids, file locations.
    Trace,
}

impl Level {
    /// Whether a message of a kind may be shown: what [`Level::shows`] says is only known when it is read.
    pub fn may_show(self, kind: MessageKind) -> bool {
        match kind {
            MessageKind::Prompt | MessageKind::Answer => true,
            MessageKind::Notice => self >= Self::Actions,
            MessageKind::Shell | MessageKind::Summary | MessageKind::Nudge => self >= Self::Full,
            MessageKind::Context | MessageKind::Hook | MessageKind::ToolResult => {
                self >= Self::Trace
            }
        }
    }

    /// Whether anything of a message is shown.
    pub fn shows(self, message: &Message, thoughts: bool) -> bool {
        let said = !message.display_text.trim().is_empty() || !message.media.is_empty();
        let acts = self >= Self::Actions && !message.tool_calls.is_empty();
        let thinks = thoughts && !message.thoughts.is_empty();
        match message.kind {
            MessageKind::Prompt => true,
            MessageKind::Answer => said || acts || thinks || self >= Self::Full,
            MessageKind::Notice => said && self >= Self::Actions,
            MessageKind::Shell | MessageKind::Summary | MessageKind::Nudge => self >= Self::Full,
            MessageKind::Context | MessageKind::Hook | MessageKind::ToolResult => {
                self >= Self::Trace
            }
        }
    }
}
