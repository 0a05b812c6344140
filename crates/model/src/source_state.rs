//! Facts that only one source understands.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Facts about a file that only the source that read it understands.
///
/// All others only store the bytes and pass them back: the catalog stores them with the session. Clones
/// share them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceState(Arc<[u8]>);

impl SourceState {
    /// Wraps bytes that a source has encoded.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the bytes, for the source to decode.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// As one run of bytes, which is copied at once; a list of numbers would be read one by one.
impl Serialize for SourceState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for SourceState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Bytes).map(Self)
    }
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Arc<[u8]>;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(bytes.into())
    }

    /// Text formats have no bytes.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_same_after_a_round_trip() {
        for bytes in [&b""[..], &[0, 1, 2, 0xff, b'"']] {
            let state = SourceState::new(bytes);
            let text = serde_json::to_string(&state).unwrap();
            assert_eq!(serde_json::from_str::<SourceState>(&text).unwrap(), state, "{text}");
        }
    }
}
