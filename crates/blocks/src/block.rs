//! The parts of a message.

use recount_model::{Media, NoticeLevel};
use serde::Serialize;

use crate::call::CallBlock;
use crate::code::CodeBlock;
use crate::prose::Prose;

/// One part of a message.
///
/// In JSON, the field `type` has the name of the variant in `snake_case`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block<'a> {
    /// Text that was written in Markdown.
    Markdown {
        /// Its blocks.
        blocks: Vec<Prose<'a>>,
    },
    /// Text as a person typed it: line breaks count, markup does not.
    Text {
        /// The text.
        text: &'a str,
    },
    /// Text of a program: output of a shell, a hook or a tool, context that an agent collected.
    Verbatim {
        /// The text.
        text: &'a str,
    },
    /// A notice from the agent to the human.
    Notice {
        /// How serious it is.
        level: Option<NoticeLevel>,
        /// The text.
        text: &'a str,
    },
    /// The message as it was sent to the model, where that differs from what was displayed.
    Sent {
        /// The text.
        text: &'a str,
    },
    /// A thought of the model.
    Thought {
        /// Its heading.
        subject: &'a str,
        /// The thought itself.
        description: &'a str,
    },
    /// A file whose content was sent with the message.
    File {
        /// The path as it is in the message.
        path: &'a str,
        /// The size of the text that was sent.
        bytes: u64,
        /// The text that was sent, if it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<CodeBlock<'a>>,
    },
    /// An image or another binary part. JSON has its type and size, never its data.
    Media(&'a Media),
    /// A tool call.
    Call(CallBlock<'a>),
    /// Something in the message could not be read.
    Damage {
        /// What is wrong.
        what: &'static str,
    },
}
