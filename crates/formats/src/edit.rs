//! Changes to an agent's own files, told as bytes: what is not meant to change is copied, never made anew.
//!
//! Nothing here writes. Files are looked at to say what a change would be; who carries it out is not our business.

use std::fmt::Debug;
use std::io;
use std::path::Path;

use recount_model::Grammar;

use crate::bytes::Buffer;

/// Knows which bytes change when a session is renamed or goes elsewhere.
pub trait Editor: Debug + Sync {
    /// Returns a title as the agent would show it: on one line, without characters that control a terminal.
    fn title(&self, text: &str) -> String;

    /// Says something of the session as a whole in one of its files. `None` when the file is damaged so that it cannot be said
    /// there.
    ///
    /// # Errors
    /// If the file cannot be read.
    fn amend(
        &self,
        file: &Path,
        grammar: Grammar,
        said: Amendment<'_>,
        buffer: &mut Buffer,
    ) -> io::Result<Option<Vec<Patch>>>;
}

/// What is said of a session as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amendment<'a> {
    /// Its title, or that it has none of its own.
    pub title: Option<Title<'a>>,
    /// The hash of the project's path.
    pub project_hash: Option<&'a str>,
}

/// The title that a session gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Title<'a> {
    /// This one.
    Is(&'a str),
    /// None of its own.
    None,
}

/// Bytes in the place of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Where.
    pub at: u64,
    /// How many bytes go.
    pub bytes: u64,
    /// What stands there instead.
    pub with: Vec<u8>,
}
