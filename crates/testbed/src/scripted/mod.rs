//! Hand-written scenarios: five small projects, and their conversations.
//!
//! They are read in demos, so each is a realistic piece of work; together they use every tool and every event of a session.

pub(crate) mod import;
pub(crate) mod others;
pub(crate) mod parser;
pub(crate) mod release;
pub(crate) mod shop;
pub(crate) mod weather;
