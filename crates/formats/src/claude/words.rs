//! What is text in a row, and what programs go by: ids, names, kinds.

use crate::native::walk::{self, Gather, Treatment};

/// What a value is, by its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A row.
    Row,
    /// The message in it.
    Message,
    /// Content: blocks, or text.
    Blocks,
    /// What a picture or document is made of.
    Media,
    /// The data in it.
    Data,
    /// Anything: arguments, outputs, unknown fields. A key may show what a text is.
    Free,
    /// What programs go by.
    Name,
    /// What is no text at all.
    Fixed,
}

impl walk::Place for Place {
    const LINE: Self = Self::Row;

    fn of(self, key: &[u8]) -> Self {
        match self {
            Self::Row => match key {
                b"timestamp" | b"type" | b"subtype" | b"level" => Self::Fixed,
                b"uuid"
                | b"parentUuid"
                | b"logicalParentUuid"
                | b"sessionId"
                | b"session_id"
                | b"requestId"
                | b"promptId"
                | b"leafUuid"
                | b"messageId"
                | b"sourceToolAssistantUUID"
                | b"toolUseID"
                | b"parentToolUseID"
                | b"agentId"
                | b"version"
                | b"userType"
                | b"entrypoint" => Self::Name,
                b"message" => Self::Message,
                _ => Self::Free,
            },
            Self::Message => match key {
                b"type" | b"role" | b"stop_reason" => Self::Fixed,
                b"id" | b"model" => Self::Name,
                b"content" => Self::Blocks,
                _ => Self::Free,
            },
            Self::Blocks => match key {
                b"type" | b"signature" => Self::Fixed,
                b"id" | b"tool_use_id" | b"name" => Self::Name,
                b"content" => Self::Blocks,
                b"source" => Self::Media,
                b"data" => Self::Data,
                _ => Self::Free,
            },
            Self::Media => match key {
                b"type" => Self::Fixed,
                b"media_type" => Self::Name,
                b"data" => Self::Data,
                b"content" => Self::Blocks,
                _ => Self::Free,
            },
            Self::Free if matches!(key, b"data" | b"base64") => Self::Data,
            Self::Fixed => Self::Fixed,
            Self::Name | Self::Free | Self::Data => Self::Free,
        }
    }

    fn treatment(self) -> Treatment {
        match self {
            Self::Fixed => Treatment::Fixed,
            Self::Name => Treatment::Name,
            Self::Data => Treatment::MaybeData,
            Self::Free => Treatment::Free,
            Self::Row | Self::Message | Self::Blocks | Self::Media => Treatment::Text,
        }
    }

    fn gather(self) -> Option<Gather> {
        (self == Self::Blocks).then_some(Gather::Parts)
    }
}
