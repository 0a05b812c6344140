//! What an agent deletes by itself when it starts, told beforehand.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use recount_model::{PendingDeletion, SourceState};

use crate::json::JsonTree;
pub use crate::json::edit::Unfit;
use crate::source::{ProjectFolder, RootShape};

/// An agent that cleans up after itself, release by release.
///
/// It only predicts, it never deletes. What is on disk is listed and settings are read; sessions are known by their
/// [`SourceState`], and only those behind links, which nobody else reads, are opened.
pub trait RetentionPolicy: Debug + Sync {
    /// Returns the program, as people start it.
    fn program(&self) -> &'static str;

    /// Returns the newest release whose rules are known.
    fn newest(&self) -> &'static str;

    /// Returns how old the program may be, and whether that is a release at all.
    fn is_release(&self, text: &str) -> bool;

    /// Finds out which release is installed, in the folders where programs and packages lie.
    fn installed(&self, places: &InstallFolders<'_>) -> Option<Installed>;

    /// Reads the settings that hold for all projects below a data folder.
    fn settings(&self, root: &Path, shape: RootShape, variables: &dyn Variables) -> Settings;

    /// Says what the program keeps and for how long, in the project at `folder`.
    fn retention(
        &self,
        settings: &Settings,
        folder: Option<&Path>,
        release: &str,
    ) -> RetentionSettings;

    /// Tells which files of a project directory the next start would delete, in the order of their paths.
    fn pending_deletions(&self, chats: &Chats<'_>) -> Vec<PendingDeletion>;

    /// Tells which files of a project directory take others along when they go, now or once they are old, and how each can be
    /// made harmless.
    fn traps(&self, chats: &Chats<'_>) -> Vec<Trap>;

    /// Returns what makes a session be last used at a time when it is added to its log.
    fn used_line(&self, time: jiff::Timestamp) -> String;

    /// Returns a session's document as last used at a time, and every other byte as it was; `None` if it is not understood.
    fn used_document(&self, text: &[u8], time: jiff::Timestamp) -> Option<Vec<u8>>;

    /// Returns the file in which the user's own settings stand.
    fn settings_file(&self, root: &Path, shape: RootShape) -> Option<PathBuf>;

    /// Returns that file's text with another retention, and every other byte as it was. Without a text, a new one.
    ///
    /// # Errors
    /// If the text is not understood.
    fn with_retention(&self, text: Option<&[u8]>, wanted: Wanted) -> Result<Vec<u8>, Unfit>;

    /// Returns the settings as they are once the user's own file holds `text`.
    fn once_edited(&self, settings: Settings, text: &[u8]) -> Settings;

    /// Returns when a file was last used, in milliseconds, as the program sees it.
    fn last_used(&self, state: &SourceState) -> Option<i64>;

    /// Says how the user keeps the program from deleting sessions, in one sentence.
    fn remedy(&self) -> &'static str;
}

/// The environment, as far as an agent reads it.
pub trait Variables {
    /// Returns a variable, if it is set and not empty.
    fn get(&self, name: &str) -> Option<String>;
}

/// Where programs and packages lie on this machine.
#[derive(Clone, Copy, Debug)]
pub struct InstallFolders<'a> {
    /// Folders with programs, in the order in which the shell looks.
    pub programs: &'a [PathBuf],
    /// Folders with packages of Node.
    pub packages: &'a [PathBuf],
}

/// A program that is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its release.
    pub release: String,
    /// The file that says so.
    pub from: PathBuf,
}

/// One file of settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    pub(crate) path: PathBuf,
    /// What stands in it; `None` if it is not there.
    pub(crate) tree: Option<JsonTree>,
    /// Whether it is there and cannot be understood.
    pub(crate) is_broken: bool,
    /// Whether only the system's owner can have written it.
    pub(crate) is_safe: bool,
}

/// The settings that hold for all projects below a data folder.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whether the agent looks at this data folder at all.
    pub(crate) is_own: bool,
    /// The home in which it lies.
    pub(crate) home: Option<PathBuf>,
    pub(crate) defaults: Layer,
    pub(crate) user: Layer,
    pub(crate) system: Layer,
    /// Which folders the user trusts: a path, and how.
    pub(crate) trusted: Vec<(String, String)>,
    /// What the environment says of it.
    pub(crate) told_trust: Option<bool>,
    /// Words of the environment that stand in settings.
    pub(crate) variables: Vec<(String, String)>,
}

/// What an agent keeps, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionSettings {
    /// Whether sessions are cleaned up; if not, why.
    pub off: Option<String>,
    /// Whether the program gets as far as to clean up anything.
    pub starts: bool,
    /// How old a session may get, as it is written and in milliseconds.
    pub max_age: Option<(String, i64)>,
    /// How many sessions are kept.
    pub max_count: Option<u64>,
    /// Whether outputs of tools are cleaned up. The program is less strict there.
    pub outputs: bool,
    /// Files that say something of it, the one that counts most last.
    pub from: Vec<PathBuf>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// A project directory and what of it is known.
#[derive(Clone, Copy, Debug)]
pub struct Chats<'a> {
    /// The directory.
    pub folder: &'a ProjectFolder,
    /// The state of each session file in it, in the order of [`ProjectFolder::files`]; `None` of one that was not read.
    pub states: &'a [Option<&'a SourceState>],
    /// What is kept.
    pub retention: &'a RetentionSettings,
    /// The release.
    pub release: &'a str,
    /// The time of the next start, in milliseconds.
    pub now: i64,
}

/// How long the user wants sessions to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// For ever.
    Forever,
    /// Days after their last use.
    Days(u32),
}

/// A file that takes others along when it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The file.
    pub path: PathBuf,
    /// What it is.
    pub kind: TrapKind,
    /// Files of the same session: what is said in all of these need not be kept here.
    pub beside: Vec<PathBuf>,
    /// The same place under a name that takes nothing along; `None` when it takes nothing as it is.
    pub aside: Option<PathBuf>,
}

/// What a file is that takes others along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrapKind {
    /// What a resume left behind.
    Stub,
    /// The old document beside the log that was made of it.
    Twin,
    /// A file whose name ends like another's.
    SameName,
}
