//! A message as a list of blocks.

use recount_model::{AttachedFile, Message, MessageKind};

use crate::block::Block;
use crate::call::CallBlock;
use crate::code::{CodeBlock, path_language};
use crate::level::Level;
use crate::markdown::{LONGEST, markdown};

/// What to include of a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockOptions<'a> {
    /// The level of detail.
    pub level: Level,
    /// Whether to include the model's thoughts.
    pub thoughts: bool,
    /// Which text to include.
    pub body: Body,
    /// Whether summaries are Markdown too. Otherwise they are kept line by line.
    pub markdown_summaries: bool,
    /// The folder that paths are relative to, or empty.
    pub project: &'a str,
}

/// Which text of a message to include.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Body {
    /// What the human typed, or what the agent displayed.
    #[default]
    Displayed,
    /// What was sent to the model.
    Sent,
    /// What was displayed, then what was sent where that differs.
    Both,
}

/// Returns the parts of a message, in the order in which they are read: thoughts, text, binary parts, files, tool calls.
///
/// Whether a message is shown at all is decided by [`Level::shows`].
pub fn blocks<'a>(message: &'a Message, options: &BlockOptions<'_>) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    if options.thoughts {
        blocks.extend(message.thoughts.iter().map(|thought| Block::Thought {
            subject: &thought.subject,
            description: &thought.description,
        }));
    }
    let (sent, displayed) = (message.text.trim_end(), message.display_text.trim_end());
    let body = if options.body == Body::Sent { &message.text } else { &message.display_text };
    if !body.trim().is_empty() {
        blocks.push(text(message, body, options.markdown_summaries));
    }
    if options.body == Body::Both && sent != displayed && !sent.trim_start().is_empty() {
        blocks.push(Block::Sent { text: sent });
    }
    blocks.extend(message.media.iter().map(Block::Media));
    blocks.extend(message.files.iter().map(file));
    if options.level >= Level::Actions {
        let calls = message.tool_calls.iter();
        blocks.extend(
            calls.map(|call| Block::Call(CallBlock::new(call, options.level, options.project))),
        );
    }
    blocks.extend(message.problems.iter().map(|what| Block::Damage { what: what.phrase() }));
    blocks
}

fn text<'a>(message: &Message, text: &'a str, markdown_summaries: bool) -> Block<'a> {
    let is_markdown = match message.kind {
        MessageKind::Answer => true,
        MessageKind::Summary => markdown_summaries,
        _ => false,
    };
    // White space at the end is part of Markdown: `- [ ] ` is a task, `- [ ]` is not.
    if is_markdown && text.len() <= LONGEST {
        return Block::Markdown { blocks: markdown(text) };
    }
    let text = text.trim_end();
    match message.kind {
        MessageKind::Notice => Block::Notice { level: message.level, text },
        MessageKind::Prompt | MessageKind::Answer | MessageKind::Nudge | MessageKind::Summary => {
            Block::Text { text }
        }
        MessageKind::Shell | MessageKind::Context | MessageKind::Hook | MessageKind::ToolResult => {
            Block::Verbatim { text }
        }
    }
}

fn file(file: &AttachedFile) -> Block<'_> {
    let language = path_language(&file.path).unwrap_or_default();
    let content = (!file.content.is_empty()).then(|| CodeBlock::new(language, &file.content));
    Block::File { path: &file.path, bytes: file.bytes, content }
}
