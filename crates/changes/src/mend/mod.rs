//! What is in session files: made loadable, smaller, shorter, or written in another grammar, and compared before it is offered.

pub(crate) mod compact;
mod convert;
pub(crate) mod examine;
pub(crate) mod repair;
pub(crate) mod resurrect;
pub(crate) mod revision;
pub(crate) mod sight;
pub(crate) mod trim;
