//! How an agent lets others in at certain moments.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

pub use crate::json::edit::Unfit;

/// An agent that runs commands of the user's at certain moments.
pub trait Hook: Debug + Sync {
    /// Returns the text of the user's settings with a command to be run, and every other byte as it was. Without a text, a
    /// new one. A command of ours that stands there already is replaced.
    ///
    /// # Errors
    /// If the text is not understood.
    fn install(&self, text: Option<&[u8]>, command: &str) -> Result<Vec<u8>, Unfit>;

    /// Returns the text without our command; `None` if it is not there.
    ///
    /// # Errors
    /// If the text is not understood.
    fn remove(&self, text: &[u8]) -> Result<Option<Vec<u8>>, Unfit>;

    /// Says why commands would not be run with these settings, if so.
    fn is_off(&self, text: &[u8]) -> Option<&'static str>;

    /// Understands what the agent tells a command.
    fn call(&self, told: &[u8]) -> Option<HookCall>;

    /// Whether files in a project directory may take others along, as far as their names tell.
    fn may_trap(&self, folder: &Path) -> bool;
}

/// What an agent tells when it runs a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// The moment.
    pub moment: Moment,
    /// The session it works in.
    pub session: String,
    /// The file it writes to.
    pub file: PathBuf,
    /// The project directory in which that lies.
    pub folder: PathBuf,
}

/// When a command is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A session begins, or is being taken up.
    Start,
    /// The user has said something, and the session is in its own file.
    Prompt,
    /// A session ends.
    End,
}
