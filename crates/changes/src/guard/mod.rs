//! Sessions guarded against what agents delete by themselves.

pub(crate) mod fix;
pub(crate) mod hook;
mod retention;
