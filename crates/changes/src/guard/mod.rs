//! Sessions guarded against what agents delete by themselves.

pub(crate) mod fix;
mod hook;
mod retention;
