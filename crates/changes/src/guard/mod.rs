//! Guards sessions against automatic deletion by agents.

pub(crate) mod fix;
pub(crate) mod hook;
pub(crate) mod retention;
