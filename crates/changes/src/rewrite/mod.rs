//! Rewrites session files: repaired, compacted, trimmed, or in another grammar, and compared before the change is offered.

pub(crate) mod compact;
mod convert;
pub(crate) mod examine;
pub(crate) mod preview;
pub(crate) mod recover;
pub(crate) mod repair;
pub(crate) mod revision;
pub(crate) mod trim;
