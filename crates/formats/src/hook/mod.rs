//! How an agent lets others in at certain moments.

mod commands;

use std::fmt::Debug;
use std::path::{Path, PathBuf};

pub use recount_model::HookMoment;

pub(crate) use commands::HookCommands;

pub use crate::json::edit::Unfit;
use crate::source::RootShape;

/// An agent that runs commands of the user's at certain moments.
pub trait Hook: Debug + Sync {
    /// Returns the file in which the user's commands stand, for a data folder.
    fn file(&self, root: &Path, shape: RootShape) -> Option<PathBuf>;

    /// Returns the text of that file with a command to be run, and every other byte as it was. Without a text, a new one. A command
    /// of ours that stands there already is replaced.
    ///
    /// # Errors
    /// If the text is not understood.
    fn install(&self, text: Option<&[u8]>, command: &str) -> Result<Vec<u8>, Unfit>;

    /// Returns the text without our command; `None` if it is not there.
    ///
    /// # Errors
    /// If the text is not understood.
    fn remove(&self, text: &[u8]) -> Result<Option<Vec<u8>>, Unfit>;

    /// Says why commands would not be run with this text, or what the user has to do first.
    fn is_off(&self, text: &[u8]) -> Option<&'static str>;

    /// Understands what the agent says to a command: the moment and the session.
    fn moment(&self, said: &[u8]) -> Option<(HookMoment, String)>;

    /// Understands where the session is that a command is run for, if guarding it is of use.
    fn call(&self, _said: &[u8]) -> Option<HookCall> {
        None
    }

    /// Whether files in a project directory may cause others to be deleted, as far as their names tell.
    fn may_trap(&self, _folder: &Path) -> bool {
        false
    }
}

/// What an agent says when it runs a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// The moment.
    pub moment: HookMoment,
    /// The session it works in.
    pub session: String,
    /// The file it writes to.
    pub file: PathBuf,
    /// The project directory in which that lies.
    pub folder: PathBuf,
}
