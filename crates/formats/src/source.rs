//! What a source is, and the list of all of them.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{
    FileRole, Message, Problem, ProjectHash, RecordedPath, SessionId, SessionKind, SourceName,
};

use crate::bytes::Buffer;
use crate::gemini::Gemini;
use crate::outline::Outline;

/// Every source we read, in the order they are listed to people.
pub const SOURCES: &[&dyn Source] = &[&Gemini];

/// A tool whose sessions we can read. Stateless.
pub trait Source: Debug + Sync {
    /// The name used in flags, JSON and the catalog. Never changes once released.
    fn name(&self) -> SourceName;

    /// Where its data lies, relative to a home.
    fn folders(&self) -> DataFolders;

    /// Lists what lies below one of its data folders, without reading session files.
    fn locate(&self, root: &Path, shape: RootShape) -> Located;

    /// Reads the outline of one file. A file that cannot be read has an empty one that says so.
    fn outline(&self, path: &Path, buffer: &mut Buffer) -> Outline;

    /// Sorts the files of one or more sessions into sessions, each file with its role.
    fn families(&self, files: Vec<Surveyed>) -> Vec<Family>;

    /// Tells what the agent's own list would show for the files of one folder, in its order.
    fn agent_list(&self, files: &[&Surveyed], release: Option<&str>) -> Vec<AgentRow>;

    /// Reads one message in full from the versions of it that there are, the one to show first.
    fn message(&self, request: &MessageRequest<'_>) -> Result<Message, Problem>;

    /// Reads a file that is not a session of the agent but holds a conversation: a saved chat, an export.
    fn foreign(&self, bytes: &[u8], file: &Arc<str>) -> Option<Foreign>;

    /// Returns the hash that names the project at `path`.
    fn project_hash(&self, path: &str) -> ProjectHash;

    /// Whether the project at `path` may have a directory of this readable name.
    fn is_directory_of(&self, name: &str, path: &RecordedPath) -> bool;

    /// Lists files of a project directory, besides its sessions, in which paths may stand.
    fn texts(&self, folder: &ProjectFolder) -> Vec<PathBuf>;

    /// Returns prompts on record of sessions that may be gone.
    fn traces(&self, folder: &ProjectFolder) -> Vec<Trace>;

    /// Whether a command line is this agent's own.
    fn is_running(&self, args: &[String]) -> bool;
}

/// Where a source's data lies.
#[derive(Clone, Copy, Debug)]
pub struct DataFolders {
    /// Below the home, each a place of its own.
    pub below_home: &'static [&'static str],
    /// An environment variable that replaces the home.
    pub home_variable: Option<&'static str>,
    /// An environment variable that names one more folder shaped like the part that holds projects.
    pub extra_variable: Option<&'static str>,
    /// What tells that a folder is the data folder itself.
    pub landmark: &'static str,
}

/// How much of an agent's folder a root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootShape {
    /// The agent's whole data folder.
    Whole,
    /// Only the part that holds the projects.
    ProjectsOnly,
}

/// What lies below a data folder.
#[derive(Clone, Debug, Default)]
pub struct Located {
    /// One per project directory.
    pub folders: Vec<ProjectFolder>,
    /// Project paths that the agent has on record, with the directory's name if it says so.
    pub registry: Vec<Registered>,
    /// What does not fit in the agent's record of projects.
    pub notes: Vec<RegistryNote>,
    /// What could not be looked at.
    pub problems: Vec<Problem>,
}

/// Something in an agent's record of projects that does not fit.
#[derive(Clone, Debug)]
pub struct RegistryNote {
    /// The directory it is about; all of them when there is none.
    pub slug: Option<String>,
    /// What it is.
    pub text: String,
}

/// A project path that an agent has on record.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The path.
    pub path: RecordedPath,
    /// The directory's name.
    pub slug: Option<String>,
    /// Where it is on record.
    pub from: &'static str,
}

/// One project directory of an agent.
#[derive(Clone, Debug)]
pub struct ProjectFolder {
    /// The directory.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// The name as a hash, if it is one.
    pub hash: Option<ProjectHash>,
    /// Paths that markers in it name, and where the marker stands.
    pub markers: Vec<(RecordedPath, &'static str)>,
    /// Session files.
    pub files: Vec<FileAt>,
    /// All bytes in it that belong to sessions.
    pub bytes: u64,
    /// What about it is not as the agent leaves it.
    pub notes: Vec<String>,
}

/// A session file, not yet read.
#[derive(Clone, Debug)]
pub struct FileAt {
    /// Its path.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// When it was last written, in milliseconds.
    pub modified: Option<i64>,
    /// What its place says of it.
    pub station: Station,
    /// Files of one session share it; files of different sessions may.
    pub group: String,
}

/// What the place of a file says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Station {
    /// Where main sessions lie.
    Main,
    /// In the folder of the session that ran it.
    SubagentOf(SessionId),
    /// A file that the agent put aside.
    Leftover,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Surveyed {
    /// Which project directory, by number.
    pub folder: usize,
    /// Whether that directory's name is the readable, newer kind.
    pub named_folder: bool,
    /// The file.
    pub at: FileAt,
    /// What is in it.
    pub outline: Outline,
}

/// The files of one session.
#[derive(Clone, Debug)]
pub struct Family {
    /// The session's id.
    pub id: SessionId,
    /// Whether another session started it.
    pub kind: SessionKind,
    /// That session.
    pub parent: Option<SessionId>,
    /// Its files, in the order of the conversation.
    pub members: Vec<Member>,
}

/// One file of a session.
#[derive(Clone, Debug)]
pub struct Member {
    /// What it is to the session.
    pub role: FileRole,
    /// Whether the conversation was compressed at its end.
    pub compressed: bool,
    /// The file.
    pub file: Surveyed,
}

/// A row of the agent's own list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRow {
    /// The session.
    pub id: SessionId,
    /// The title as the agent prints it.
    pub title: String,
}

/// Asks for one message in full.
#[derive(Debug)]
pub struct MessageRequest<'a> {
    /// The bytes of the version to show.
    pub bytes: &'a [u8],
    /// The file it stands in.
    pub file: &'a Arc<str>,
    /// Where it stands there.
    pub span: recount_model::Span,
    /// What became of it.
    pub fate: recount_model::Fate,
    /// Other versions, for what this one has lost.
    pub others: &'a dyn Others,
    /// The project directory, where full tool outputs may lie.
    pub folder: Option<&'a Path>,
}

/// The other versions of a message, read only when needed.
pub trait Others: Debug {
    /// Calls `visit` with each until it returns `false`.
    fn each(&self, visit: &mut dyn FnMut(&[u8]) -> bool);
}

/// A conversation that is not a session file.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// What it is, for people.
    pub form: &'static str,
    /// Its messages.
    pub messages: Vec<Message>,
}

/// A prompt on record outside of session files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The session it was typed in.
    pub session: SessionId,
    /// When, in milliseconds.
    pub time: Option<i64>,
    /// What was typed.
    pub text: String,
}

/// Turns the bytes of one file into an [`Outline`], all at once or as they are appended.
pub trait Reader: Debug + Send {
    /// Takes every whole record in `bytes` and returns how many bytes it used.
    ///
    /// The caller offers the rest again with what follows it.
    fn feed(&mut self, bytes: &[u8]) -> usize;

    /// Says that nothing follows `rest`, which the last `feed` left over.
    fn finish(&mut self, rest: &[u8]);

    /// Returns the outline as it stands, with every problem met so far.
    fn outline(&self) -> Outline;

    /// Returns the outline when nothing more will come, without a copy of it.
    fn into_outline(self: Box<Self>) -> Outline;
}
