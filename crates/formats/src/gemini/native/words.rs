//! What is text in a line, and what programs go by: ids, names, kinds. Times and signatures stay.

use crate::json::JsonScan;
use crate::native::NativeTexts;
use crate::native::walk::{self, Gather, Treatment};

/// What a value is, by where it stands.
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
    /// Anything at all: arguments, outputs, fields that nobody knows. A key may tell what a text is.
    Free,
    /// What programs go by.
    Name,
    /// What is no text at all.
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

/// Returns a line with other texts.
pub(crate) fn replace(line: &[u8], texts: &mut dyn NativeTexts) -> JsonScan<Vec<u8>> {
    walk::replace::<Place>(line, texts)
}
