//! Hooks: commands that an agent runs at certain events.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

pub use crate::json::edit::Unfit;

/// An agent that runs the user's commands at certain events.
pub trait Hook: Debug + Sync {
    /// Returns the text of the user's settings with a hook command, and every other byte unchanged. Without a text, a new
    /// one. An existing command of ours is replaced.
    ///
    /// # Errors
    /// If the text is invalid.
    fn install(&self, text: Option<&[u8]>, command: &str) -> Result<Vec<u8>, Unfit>;

    /// Returns the text without our command; `None` if it is not there.
    ///
    /// # Errors
    /// If the text is invalid.
    fn remove(&self, text: &[u8]) -> Result<Option<Vec<u8>>, Unfit>;

    /// Returns why commands would not be run with these settings, if so.
    fn is_off(&self, text: &[u8]) -> Option<&'static str>;

    /// Parses the input that the agent sends to a command.
    fn call(&self, input: &[u8]) -> Option<HookCall>;

    /// Whether files in a project directory may cause the deletion of others, as far as their names show.
    fn may_trap(&self, folder: &Path) -> bool;
}

/// The input that an agent sends to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// The event.
    pub moment: Moment,
    /// The session in use.
    pub session: String,
    /// The file it writes to.
    pub file: PathBuf,
    /// The project directory of that file.
    pub folder: PathBuf,
}

/// When a command is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A session begins, or is being resumed.
    Start,
    /// The user has sent a prompt, and the session is in its own file.
    Prompt,
    /// A session ends.
    End,
}
