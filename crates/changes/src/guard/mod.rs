//! Guards sessions against automatic deletion by agents.

pub(crate) mod fix;
mod hook;
mod retention;
