//! What is text in a record, and what programs go by: ids, names, kinds.

use crate::native::walk::{self, Gather, Treatment};

/// What a value is, by its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A record.
    Record,
    /// What it says: an item, an event, a header.
    Payload,
    /// Content: parts, or text.
    Parts,
    /// A picture, or its address.
    Data,
    /// Anything: arguments, outputs, unknown fields. A key may show what a text is.
    Free,
    /// What programs go by.
    Name,
    /// What is no text at all.
    Fixed,
}

impl walk::Place for Place {
    const LINE: Self = Self::Record;

    fn of(self, key: &[u8]) -> Self {
        match self {
            Self::Record => match key {
                b"timestamp" | b"type" => Self::Fixed,
                b"payload" => Self::Payload,
                _ => Self::Free,
            },
            Self::Payload => match key {
                b"timestamp" | b"type" | b"role" | b"status" | b"phase" | b"reason"
                | b"encrypted_content" => Self::Fixed,
                b"id" | b"call_id" | b"turn_id" | b"session_id" | b"thread_id"
                | b"forked_from_id" | b"window_id" | b"name" | b"namespace" | b"originator"
                | b"cli_version" | b"model" | b"model_provider" => Self::Name,
                b"content" | b"summary" => Self::Parts,
                b"replacement_history" | b"item" => Self::Payload,
                b"images" | b"image_url" | b"result" => Self::Data,
                _ => Self::Free,
            },
            Self::Parts => match key {
                b"type" => Self::Fixed,
                b"image_url" => Self::Data,
                _ => Self::Free,
            },
            Self::Free if matches!(key, b"image_url" | b"data") => Self::Data,
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
            Self::Record | Self::Payload | Self::Parts => Treatment::Text,
        }
    }

    fn gather(self) -> Option<Gather> {
        (self == Self::Parts).then_some(Gather::Parts)
    }
}
