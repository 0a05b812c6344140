//! Predicts what an agent deletes by itself when it starts.

use std::collections::HashSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

use recount_model::{PendingDeletion, SourceState};

use crate::folder::path_text;
use crate::json::JsonTree;
pub use crate::json::edit::Unfit;
use crate::source::{ProjectFolder, RootShape};

/// An agent that deletes old sessions by itself, with rules per release.
///
/// It only predicts, it never deletes. Files are listed and settings are read; sessions are known by their [`SourceState`],
/// and only those reached through links, which nothing else reads, are opened.
pub trait RetentionPolicy: Debug + Sync {
    /// Returns the name of the program.
    fn program(&self) -> &'static str;

    /// Returns the newest release whose rules are known.
    fn newest(&self) -> &'static str;

    /// Whether a text is a release of the program.
    fn is_release(&self, text: &str) -> bool;

    /// Finds the installed release, in the folders of programs and packages.
    fn installed(&self, places: &InstallFolders<'_>) -> Option<Installed>;

    /// Reads the settings that apply to all projects below a data folder.
    fn settings(&self, root: &Path, shape: RootShape, variables: &dyn Variables) -> Settings;

    /// Returns what the program keeps and for how long, in the project at `folder`.
    fn retention(
        &self,
        settings: &Settings,
        folder: Option<&Path>,
        release: &str,
    ) -> RetentionSettings;

    /// Returns the files of a project directory that the next start would delete, in the order of their paths.
    fn pending_deletions(&self, chats: &Chats<'_>) -> Vec<PendingDeletion>;

    /// Returns for each session file of a project directory whether the next start would delete it, in the order of
    /// [`ProjectFolder::files`]: for lists, which need nothing else of [`RetentionPolicy::pending_deletions`].
    fn deleted_files(&self, chats: &Chats<'_>) -> Vec<bool> {
        let pending = self.pending_deletions(chats);
        let paths: HashSet<&str> = pending.iter().map(|deletion| deletion.path.as_str()).collect();
        let files = chats.folder.files.iter();
        files.map(|file| paths.contains(&*path_text(&file.path))).collect()
    }

    /// Returns the files of a project directory that cause the deletion of others, now or once they are old, and how to
    /// disarm each of them.
    fn traps(&self, chats: &Chats<'_>) -> Vec<Trap>;

    /// Returns the line that marks a session as last used at a time when it is appended to its log.
    fn used_line(&self, time: jiff::Timestamp) -> String;

    /// Returns a session's document marked as last used at a time, with every other byte unchanged; `None` if it is
    /// invalid.
    fn used_document(&self, text: &[u8], time: jiff::Timestamp) -> Option<Vec<u8>>;

    /// Returns the user's own settings file.
    fn settings_file(&self, root: &Path, shape: RootShape) -> Option<PathBuf>;

    /// Returns that file's text with another retention, and every other byte unchanged. Without a text, a new one.
    ///
    /// # Errors
    /// If the text is invalid.
    fn with_retention(&self, text: Option<&[u8]>, wanted: Wanted) -> Result<Vec<u8>, Unfit>;

    /// Returns the settings as they are once the user's own file has `text`.
    fn once_edited(&self, settings: Settings, text: &[u8]) -> Settings;

    /// Returns when a file was last used, in milliseconds, as the program sees it.
    fn last_used(&self, state: &SourceState) -> Option<i64>;

    /// Returns how the user keeps the program from deleting sessions, in one sentence.
    fn remedy(&self) -> &'static str;
}

/// The environment, as far as an agent reads it.
pub trait Variables {
    /// Returns a variable, if it is set and not empty.
    fn get(&self, name: &str) -> Option<String>;
}

/// Where programs and packages are on this machine.
#[derive(Clone, Copy, Debug)]
pub struct InstallFolders<'a> {
    /// Folders with programs, in the order in which the shell looks.
    pub programs: &'a [PathBuf],
    /// Folders with Node packages.
    pub packages: &'a [PathBuf],
}

/// An installed program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its release.
    pub release: String,
    /// The file that records it.
    pub from: PathBuf,
}

/// One settings file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    pub(crate) path: PathBuf,
    /// Its content; `None` if it does not exist.
    pub(crate) tree: Option<JsonTree>,
    /// Whether it exists and is invalid.
    pub(crate) is_broken: bool,
    /// Whether only the system's owner can have written it.
    pub(crate) is_safe: bool,
}

/// The settings that apply to all projects below a data folder.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Whether the agent uses this data folder at all.
    pub(crate) is_own: bool,
    /// The home that contains it.
    pub(crate) home: Option<PathBuf>,
    pub(crate) defaults: Layer,
    pub(crate) user: Layer,
    pub(crate) system: Layer,
    /// The folders that the user trusts: a path, and how.
    pub(crate) trusted: Vec<(String, String)>,
    /// The trust set by the environment.
    pub(crate) env_trust: Option<bool>,
    /// Environment variables used in settings.
    pub(crate) variables: Vec<(String, String)>,
}

/// What an agent keeps, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionSettings {
    /// Whether sessions are not deleted, and why.
    pub off: Option<String>,
    /// Whether the program starts at all, so that it can delete anything.
    pub starts: bool,
    /// The maximum age of a session, as written and in milliseconds.
    pub max_age: Option<(String, i64)>,
    /// The maximum number of sessions.
    pub max_count: Option<u64>,
    /// Whether tool outputs are deleted. The program is less strict there.
    pub outputs: bool,
    /// Files with these settings, the one with the highest precedence last.
    pub from: Vec<PathBuf>,
    /// What people should know about these settings.
    pub notes: Vec<RetentionNote>,
}

/// A note about retention settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetentionNote {
    /// The agent ignores this file, because the folder is not trusted or others can write the file.
    Ignored(PathBuf),
}

/// A project directory and what is known about it.
#[derive(Clone, Copy, Debug)]
pub struct Chats<'a> {
    /// The directory.
    pub folder: &'a ProjectFolder,
    /// The state of each session file in it, in the order of [`ProjectFolder::files`]; `None` for one that was not read.
    pub states: &'a [Option<&'a [u8]>],
    /// The retention settings.
    pub retention: &'a RetentionSettings,
    /// The release.
    pub release: &'a str,
    /// The time of the next start, in milliseconds.
    pub now: i64,
}

/// How long the user wants sessions to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Forever.
    Forever,
    /// Days after their last use.
    Days(u32),
}

/// A file that causes the deletion of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// The file.
    pub path: PathBuf,
    /// What it is.
    pub kind: TrapKind,
    /// Files of the same session: content that is in these need not be kept here.
    pub beside: Vec<PathBuf>,
    /// The same path under a name that causes no deletions; `None` if it causes none as it is.
    pub aside: Option<PathBuf>,
}

/// The kind of a file that causes deletions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrapKind {
    /// A leftover of a resume.
    Stub,
    /// The old document beside the log that was created from it.
    Twin,
    /// A file whose name has the same ending as another's.
    SameName,
}
