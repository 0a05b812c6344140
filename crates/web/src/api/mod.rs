//! The answers: one file per kind of question.

pub(crate) mod changes;
pub(crate) mod command;
pub(crate) mod cut;
pub(crate) mod documents;
pub(crate) mod filters;
pub(crate) mod find;
pub(crate) mod images;
pub(crate) mod index;
pub(crate) mod messages;
pub(crate) mod outline;
pub(crate) mod read;
pub(crate) mod reading;
pub(crate) mod rows;
pub(crate) mod session;
pub(crate) mod streamed;
