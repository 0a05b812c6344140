//! Hand-written stories: five small projects, and what was talked about in them.
//!
//! They are there to be read in a demo, so each is a believable piece of work; together they use every
//! tool and everything that can happen in a session.

pub(crate) mod import;
pub(crate) mod others;
pub(crate) mod parser;
pub(crate) mod release;
pub(crate) mod shop;
pub(crate) mod weather;
