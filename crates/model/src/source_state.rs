//! Facts that only one source understands.

use serde::{Deserialize, Serialize};

/// Facts about a file that only the source that read it understands.
///
/// All others only store the bytes and pass them back: the catalog stores them with the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceState(Box<[u8]>);

impl SourceState {
    /// Wraps bytes that a source has encoded.
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the bytes, for the source to decode.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
