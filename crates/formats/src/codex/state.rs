//! What only Codex's own rules ask of a file.

use recount_model::SourceState;
use serde::{Deserialize, Serialize};

use crate::outline::Outline;

use super::meta::Meta;

/// What is kept of a rollout beside its outline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CodexState {
    /// The rollout it goes on from, and where in that.
    pub(super) base: Option<(Box<str>, u64)>,
    /// Who started it, as the file says.
    pub(super) source: Option<Box<str>>,
}

impl CodexState {
    pub(super) fn of(meta: &Meta) -> Self {
        let base = meta.base.as_ref();
        let base = base.map(|(rollout, offset)| (rollout.clone(), offset.unwrap_or(u64::MAX)));
        Self { base, source: meta.source.clone() }
    }

    /// Decodes the state of a file; one that cannot be decoded is empty.
    pub(super) fn read(outline: &Outline) -> Self {
        postcard::from_bytes(outline.state.as_bytes()).unwrap_or_default()
    }

    pub(super) fn encode(&self) -> SourceState {
        SourceState::new(postcard::to_allocvec(self).unwrap_or_default())
    }
}
