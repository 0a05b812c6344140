//! Distinguishes text in a line from what programs use: ids, names, kinds. Times and signatures are kept.

use crate::json::JsonScan;
use crate::native::NativeTexts;
use crate::native::walk::{self, Gather, Treatment};

/// The kind of a value, by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A line.
    Line,
    /// Content: parts, or text.
    Parts,
    /// `functionCall` and `functionResponse`.
    Exchange,
    /// `inlineData`.
    Media,
    /// The data in it.
    Data,
    /// `toolCalls`.
    Calls,
    /// `thoughts`.
    Thoughts,
    /// The hash of a path.
    Hash,
    /// Anything: arguments, outputs, unknown fields. A key may indicate what a text is.
    Free,
    /// A name that programs use.
    Name,
    /// Not text.
    Fixed,
}

impl walk::Place for Place {
    const LINE: Self = Self::Line;

    fn of(self, key: &[u8]) -> Self {
        match self {
            _ if key == b"thoughtSignature" => Self::Fixed,
            Self::Line => match key {
                b"timestamp" | b"type" | b"tokens" | b"sessionId" | b"startTime"
                | b"lastUpdated" | b"kind" => Self::Fixed,
                b"id" | b"model" => Self::Name,
                b"projectHash" => Self::Hash,
                b"$set" => Self::Line,
                b"content" | b"displayContent" => Self::Parts,
                b"toolCalls" => Self::Calls,
                b"thoughts" => Self::Thoughts,
                _ => Self::Free,
            },
            Self::Parts => match key {
                b"mimeType" => Self::Name,
                b"functionCall" | b"functionResponse" => Self::Exchange,
                b"inlineData" => Self::Media,
                b"fileData" => Self::Parts,
                _ => Self::Free,
            },
            Self::Exchange => match key {
                b"id" | b"name" => Self::Name,
                b"parts" => Self::Parts,
                _ => Self::Free,
            },
            Self::Calls => match key {
                b"status" | b"timestamp" => Self::Fixed,
                b"id" | b"name" | b"agentId" => Self::Name,
                b"result" => Self::Parts,
                _ => Self::Free,
            },
            Self::Thoughts if key == b"timestamp" => Self::Fixed,
            Self::Media => match key {
                b"mimeType" => Self::Name,
                b"data" => Self::Data,
                _ => Self::Free,
            },
            Self::Free if key == b"inlineData" => Self::Media,
            Self::Fixed => Self::Fixed,
            Self::Name | Self::Thoughts | Self::Free | Self::Data | Self::Hash => Self::Free,
        }
    }
    fn treatment(self) -> Treatment {
        match self {
            Self::Fixed => Treatment::Fixed,
            Self::Name => Treatment::Name,
            Self::Data => Treatment::Data,
            Self::Hash => Treatment::Hash,
            Self::Free => Treatment::Free,
            Self::Line
            | Self::Parts
            | Self::Exchange
            | Self::Media
            | Self::Calls
            | Self::Thoughts => Treatment::Text,
        }
    }

    fn gather(self) -> Option<Gather> {
        match self {
            Self::Parts => Some(Gather::Parts),
            Self::Free => Some(Gather::Screen),
            Self::Line
            | Self::Exchange
            | Self::Media
            | Self::Data
            | Self::Calls
            | Self::Thoughts
            | Self::Hash
            | Self::Name
            | Self::Fixed => None,
        }
    }
}

/// Returns a line with replaced texts.
pub(crate) fn replace(line: &[u8], texts: &mut dyn NativeTexts) -> JsonScan<Vec<u8>> {
    walk::replace::<Place>(line, texts)
}
