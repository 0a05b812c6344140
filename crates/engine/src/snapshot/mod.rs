//! What is on disk now.

pub(crate) mod survey;
