//! The content of a message: a string, or a list of blocks.

use super::row::{flag, object, string};
use super::wording::{LEAD, Wording, wording};
use crate::json::{JsonScan, Scanner, Text};

/// What a content holds, without its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content<'a> {
    is_read: bool,
    /// The first text, or the whole content if it is a string.
    pub(crate) text: Option<Text<'a>>,
    /// The first text that a human typed.
    pub(crate) typed: Option<Text<'a>>,
    /// Whether there is an image or a document.
    pub(crate) has_media: bool,
    /// Calls of tools, in order.
    pub(crate) calls: Vec<CallBlock<'a>>,
    /// Results of tools, in order.
    pub(crate) results: Vec<ResultBlock<'a>>,
    /// A block of a kind that no known release writes.
    pub(crate) unknown_block: bool,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallBlock<'a> {
    pub(crate) id: Option<Text<'a>>,
    pub(crate) name: Option<Text<'a>>,
    /// What a sub-agent was asked.
    pub(crate) prompt: Option<Text<'a>>,
}

/// A result of a tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultBlock<'a> {
    pub(crate) call: Option<Text<'a>>,
    pub(crate) is_error: bool,
    /// How its text begins.
    pub(crate) text: Option<Text<'a>>,
}

impl<'a> Content<'a> {
    /// Reads a content: a string, blocks, or nothing that we know.
    pub(crate) fn read(scanner: &mut Scanner<'a>) -> JsonScan<Self> {
        let mut content = Self::default();
        content.fill(scanner)?;
        Ok(content)
    }

    /// Reads a content over what was read before.
    pub(crate) fn fill(&mut self, scanner: &mut Scanner<'a>) -> JsonScan<()> {
        if self.is_read {
            let (calls, results) = self.take_lists();
            *self = Self { calls, results, ..Self::default() };
        }
        self.is_read = true;
        match scanner.peek()? {
            b'"' => self.take_text(scanner.string()?),
            b'[' => scanner.array(|scanner| self.block(scanner))?,
            _ => scanner.skip()?,
        }
        Ok(())
    }

    /// Returns its lists, without what is in them, to be used again.
    pub(crate) fn take_lists(&mut self) -> (Vec<CallBlock<'a>>, Vec<ResultBlock<'a>>) {
        let mut calls = std::mem::take(&mut self.calls);
        let mut results = std::mem::take(&mut self.results);
        calls.clear();
        results.clear();
        (calls, results)
    }

    fn take_text(&mut self, text: Text<'a>) {
        self.text.get_or_insert(text);
        if self.typed.is_none() && is_typed(text) {
            self.typed = Some(text);
        }
    }

    fn block(&mut self, scanner: &mut Scanner<'a>) -> JsonScan<()> {
        if scanner.peek()? == b'"' {
            self.take_text(scanner.string()?);
            return Ok(());
        }
        let mut block = Block::default();
        object(scanner, |scanner, key| block.field(scanner, key))?;
        match block.kind.map(Text::name).as_deref() {
            Some(b"text") => {
                if let Some(text) = block.text {
                    self.take_text(text);
                }
            }
            Some(b"tool_use" | b"server_tool_use" | b"mcp_tool_use") => {
                let (id, name, prompt) = (block.id, block.name, block.prompt);
                self.calls.push(CallBlock { id, name, prompt });
            }
            Some(
                b"tool_result"
                | b"web_search_tool_result"
                | b"web_fetch_tool_result"
                | b"code_execution_tool_result"
                | b"bash_code_execution_tool_result"
                | b"text_editor_code_execution_tool_result"
                | b"mcp_tool_result"
                | b"tool_search_tool_result",
            ) => {
                let (call, is_error, text) = (block.call, block.is_error, block.result_text);
                self.results.push(ResultBlock { call, is_error, text });
            }
            Some(b"image" | b"document") => self.has_media = true,
            Some(
                b"thinking" | b"redacted_thinking" | b"container_upload" | b"tool_reference"
                | b"search_result" | b"compaction" | b"fallback" | b"connector_text",
            ) => {}
            _ => self.unknown_block = true,
        }
        Ok(())
    }
}

/// Whether a human typed a text; most texts need no second look.
fn is_typed(text: Text<'_>) -> bool {
    let first = text.raw().iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        None => false,
        Some(b'<' | b'[' | b'C' | b'\\') => {
            let lead = text.decode_start(LEAD);
            !lead.trim().is_empty() && matches!(wording(&lead), Wording::Typed | Wording::Command)
        }
        Some(_) => true,
    }
}

#[derive(Default)]
struct Block<'a> {
    kind: Option<Text<'a>>,
    text: Option<Text<'a>>,
    id: Option<Text<'a>>,
    name: Option<Text<'a>>,
    call: Option<Text<'a>>,
    prompt: Option<Text<'a>>,
    result_text: Option<Text<'a>>,
    is_error: bool,
}

impl<'a> Block<'a> {
    fn field(&mut self, scanner: &mut Scanner<'a>, key: Text<'a>) -> JsonScan<()> {
        match key.name().as_ref() {
            b"type" => self.kind = string(scanner)?,
            b"text" => self.text = string(scanner)?,
            b"id" => self.id = string(scanner)?,
            b"name" => self.name = string(scanner)?,
            b"tool_use_id" => self.call = string(scanner)?,
            b"is_error" => self.is_error = flag(scanner)?,
            b"input" => object(scanner, |scanner, key| {
                if key.is("prompt") {
                    self.prompt = string(scanner)?;
                    return Ok(());
                }
                scanner.skip()
            })?,
            b"content" => {
                if scanner.peek()? == b'"' {
                    self.result_text = Some(scanner.string()?);
                } else {
                    scanner.skip()?;
                }
            }
            _ => scanner.skip()?,
        }
        Ok(())
    }
}
