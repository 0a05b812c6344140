//! What is in session files: made loadable, smaller, shorter, or written in another grammar, and compared before it is offered.

pub(crate) mod compact;
mod convert;
pub(crate) mod examine;
pub(crate) mod preview;
pub(crate) mod recover;
pub(crate) mod repair;
pub(crate) mod revision;
pub(crate) mod trim;
