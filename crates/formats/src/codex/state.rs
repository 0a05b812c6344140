//! What only Codex's own rules ask of a file.

use recount_model::SourceState;
use serde::{Deserialize, Serialize};

use crate::outline::Outline;

use super::meta::{HistoryBase, Meta};

/// What is kept of a rollout beside its outline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CodexState {
    /// What it continues, without a copy.
    pub(super) base: Option<HistoryBase>,
    /// The number of its first record that has one.
    pub(super) first_ordinal: Option<u64>,
    /// Who started it, as the file says.
    pub(super) source: Option<Box<str>>,
}

impl CodexState {
    pub(super) fn of(meta: &Meta) -> Self {
        Self {
            base: meta.base.clone(),
            first_ordinal: meta.first_ordinal,
            source: meta.source.clone(),
        }
    }

    /// Decodes the state of a file; one that cannot be decoded is empty.
    pub(super) fn read(outline: &Outline) -> Self {
        postcard::from_bytes(outline.state.as_bytes()).unwrap_or_default()
    }

    pub(super) fn encode(&self) -> SourceState {
        SourceState::new(postcard::to_allocvec(self).unwrap_or_default())
    }
}
