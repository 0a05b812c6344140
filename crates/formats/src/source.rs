//! Sources, and the list of all of them.

mod prompts;
mod reader;

pub use prompts::{RecordedPrompt, Trace};
pub use reader::{ReadResult, Reader, ReaderState};

use std::fmt::Debug;
use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use recount_files::FileStatus;
use recount_model::{
    FileRole, Message, Problem, ProjectHash, RecordedPath, SessionId, SessionKind, SourceName,
    SourceState, ToolCall, What,
};

use serde::{Deserialize, Serialize};

use crate::bytes::Buffer;
use crate::claude::Claude;
use crate::codex::Codex;
use crate::edit::Editor;
pub use crate::folder::Linked;
use crate::gemini::Gemini;
use crate::grouping;
use crate::hook::Hook;
use crate::integration::Integration;
use crate::live::LiveSource;
use crate::native::NativeFormat;
use crate::orphan::Orphan;
use crate::outline::{Base, MessageEntry, Outline};
use crate::recovery::RecoverySource;
use crate::retention::RetentionPolicy;
use crate::rewrite::Rewriter;
use crate::stream::StreamFormat;

/// All sources, in display order.
pub const SOURCES: &[&dyn Source] = &[&Gemini, &Claude, &Codex];

/// A list of sources, such as [`SOURCES`].
pub type Sources = &'static [&'static dyn Source];

/// A tool whose sessions can be read. Stateless.
///
/// The first methods are required for every source. All others are optional: by default the source does not have that
/// capability.
pub trait Source: Debug + Sync {
    /// The name used in flags, JSON and the catalog. Never changes once released.
    fn name(&self) -> SourceName;

    /// The display name.
    fn display_name(&self) -> &'static str;

    /// Where its data is, relative to a home.
    fn folders(&self) -> DataFolders;

    /// Lists what is below one of its data folders, without reading session files.
    fn locate(&self, root: &Path, shape: RootShape) -> Located;

    /// Recognizes a file by its path and its first kilobytes.
    fn sniff(&self, path: &Path, head: &[u8]) -> Recognition;

    /// Lists it again, when something in it has changed. Unchanged parts need not be listed.
    fn relocate(&self, root: &Path, shape: RootShape, _known: &EarlierListing<'_>) -> Located {
        self.locate(root, shape)
    }

    /// Reads the outline of one file. A file that cannot be read has an empty one with a problem.
    ///
    /// A file with several sessions gives the first one, with the others in [`Outline::others`].
    fn outline(&self, path: &Path, buffer: &mut Buffer) -> Outline;

    /// Reads one message in full from its pieces.
    fn message(&self, request: &MessageRequest<'_>) -> Result<Message, Problem>;

    /// The version of what this source reads from a file: data cached under another version is read again.
    fn version(&self) -> u32;

    /// Whether its sessions are read.
    fn reads_sessions(&self) -> bool {
        true
    }

    // --- Reading ---

    /// Continues reading a file that has grown since its reader was saved, and saves the reader again if `further` bytes
    /// were added since. `None` if it must be read from the start.
    fn outline_from(
        &self,
        _path: &Path,
        _buffer: &mut Buffer,
        _state: &[u8],
        _further: u64,
    ) -> Option<ReadResult> {
        None
    }

    /// Reads the outline of one file and saves the reader, if it can continue later.
    fn outline_to_keep(&self, path: &Path, buffer: &mut Buffer) -> ReadResult {
        ReadResult { outline: self.outline(path, buffer), saved: None }
    }

    /// Groups scanned files into sessions, each file with its role. By default each session id is one session.
    fn group_sessions(&self, files: Vec<ScannedFile>) -> Vec<SessionFiles> {
        grouping::by_session_id(files)
    }

    /// Returns the files with the start of another session, cut where the shared part ends, nearest first, including what
    /// that session itself begins with. `None` if they do not exist.
    fn borrowed(
        &self,
        session_files: SessionFiles,
        base: &Base,
    ) -> Option<(Vec<SessionFile>, Option<Base>)> {
        let mut files = session_files.files.into_iter();
        let SessionFile { file, .. } = files.find(|file| file.role == FileRole::Main)?;
        let next = file.outline.head.base.as_deref().cloned();
        let file = ScannedFile { outline: file.outline.before(base.end), ..file };
        let role = FileRole::Base;
        Some((vec![SessionFile { role, compressed: false, is_loaded: true, file }], next))
    }

    /// Returns the part of an outline's state that [`Source::agent_list`] and the retention policy need.
    fn light_state(&self, outline: &Outline) -> SourceState {
        outline.state.clone()
    }

    /// Returns an outline without its messages, with what [`Source::agent_list`] needs.
    fn light(&self, outline: &Outline) -> Outline {
        outline.without_messages(self.light_state(outline))
    }

    /// Returns the key of the request that an entry records: equal for all copies of one request, in any file or session.
    /// `None` for an entry that cannot be distinguished from others.
    fn request_key(&self, outline: &Outline, entry: &MessageEntry) -> Option<u64> {
        let _ = outline;
        // Ids alone are not enough: hand-written ones are counted from one in each session.
        let id = entry.id.as_deref()?;
        Some(stable_hash(&(self.name().as_str(), id, entry.time)))
    }

    /// Returns the key of an entry of any kind, by its number: equal for all copies of one message. `None` for an entry that cannot be
    /// distinguished from others.
    fn message_key(&self, outline: &Outline, entry: usize) -> Option<u64> {
        outline.entries.get(entry).and_then(|entry| self.request_key(outline, entry))
    }

    /// Returns what was billed for a message but not recorded.
    fn unrecorded(&self, _outline: &Outline, _entry: &MessageEntry) -> Unrecorded {
        Unrecorded::default()
    }

    /// Counts the requests for a session as a whole that were billed but not recorded.
    fn side_calls(&self, _files: &SessionFiles) -> u32 {
        0
    }

    /// Returns titles in a file for conversations that may be in other files, each with the key of the end of that
    /// conversation. `state` is that of the file.
    fn titles_for_others(&self, _state: &SourceState) -> Vec<(u64, String)> {
        Vec::new()
    }

    /// Whether the title of a conversation may be in the file of another one. `state` is that of its own file.
    fn may_have_title_elsewhere(&self, _state: &SourceState) -> bool {
        false
    }

    /// Returns the key of the end of a file's conversation, for titles in other files.
    fn end_key(&self, _state: &SourceState) -> Option<u64> {
        None
    }

    /// Returns the call that ran the sub-agent of a file, where the file or what lies beside it names that call. `state` is that
    /// of the file.
    fn parent_call(&self, _state: &SourceState) -> Option<String> {
        None
    }

    /// Lists the files that a tool call touches.
    fn touched(&self, _call: &ToolCall) -> Vec<FileTouch> {
        Vec::new()
    }

    /// Reads a file that is not a session of the agent but has a conversation: a saved chat, an export.
    fn foreign(&self, _bytes: &[u8], _file: &Arc<str>) -> Option<Foreign> {
        None
    }

    /// Whether the record of a message may refer to an output that is stored in full elsewhere.
    fn may_be_cut(&self, _record: &[u8]) -> bool {
        false
    }

    // --- Projects ---

    /// Returns the hash that names the project at `path`, for agents that hash.
    fn project_hash(&self, _path: &str) -> Option<ProjectHash> {
        None
    }

    /// Whether the project at `path` may have a directory of this readable name.
    fn is_directory_of(&self, _name: &str, _path: &RecordedPath) -> bool {
        false
    }

    /// Lists files of a project directory, besides its sessions, whose text may contain paths.
    fn texts(&self, _folder: &ProjectFolder) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Lists files of a project directory with tool outputs of which sessions have only a part.
    fn outputs(&self, _folder: &ProjectFolder) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the folders that its records below a data folder name, each with the file that names it, sorted, without
    /// duplicates: candidates for projects that other agents know by a hash alone.
    fn known_folders(&self, _root: &Path) -> Vec<(RecordedPath, PathBuf)> {
        Vec::new()
    }

    // --- What belongs to a session ---

    /// Returns recorded prompts of sessions that may be deleted.
    fn traces(&self, _folder: &ProjectFolder) -> Vec<Trace> {
        Vec::new()
    }

    /// Returns recorded prompts below a data folder, of sessions that may be deleted together with the directories of their projects.
    fn recorded_prompts(&self, _root: &Path) -> Vec<RecordedPrompt> {
        Vec::new()
    }

    /// Lists the artifacts of a session in one project directory, beside its own `files`: everything that is deleted with it.
    fn artifacts(&self, _folder: &ProjectFolder, _id: &SessionId, _files: &[PathBuf]) -> Artifacts {
        Artifacts::default()
    }

    /// Lists ids in a project directory: [`Source::artifacts`] finds nothing there for any other. There may be more of them
    /// than sessions. `None` if each session must be checked.
    fn artifact_ids(&self, _folder: &ProjectFolder) -> Option<Vec<String>> {
        None
    }

    /// Returns the project directory that a file is or would be in, below a data folder.
    fn place_of(&self, _root: &Path, _shape: RootShape, _file: &Path) -> Option<ProjectLocation> {
        None
    }

    /// Returns what the path of a file alone shows about it, wherever the file is.
    fn placement(&self, _path: &Path) -> Placement {
        Placement { project_folder: None, placement: FilePlacement::Main }
    }

    /// Whether files of a group may contain a session whose id begins with `wanted`.
    fn may_hold(&self, group: &str, wanted: &str) -> bool {
        group.starts_with(wanted) || wanted.starts_with(group)
    }

    /// Lists what is left of a session outside of its own files. `extra` are files that the user named.
    fn recovery_sources(
        &self,
        _folder: Option<&ProjectFolder>,
        _project: Option<&Path>,
        _id: &SessionId,
        _extra: &[PathBuf],
    ) -> Vec<RecoverySource> {
        Vec::new()
    }

    /// Lists files in one of its data folders that belong to no session. `is_known` returns whether there is a session of
    /// that id.
    fn orphans(
        &self,
        _root: &Path,
        _shape: RootShape,
        _located: &Located,
        _is_known: &dyn Fn(&str) -> bool,
        _now: SystemTime,
    ) -> Vec<Orphan> {
        Vec::new()
    }

    // --- The agent itself ---

    /// Returns what the agent's own list would show for the files of one folder, in its order.
    fn agent_list(&self, _files: &[&ScannedFile], _release: Option<&str>) -> Vec<AgentRow> {
        Vec::new()
    }

    /// Whether the agent has a numbered list, and can only resume what is in it.
    fn lists_by_number(&self) -> bool {
        true
    }

    /// Whether a command line is this agent's own.
    fn is_running(&self, _args: &[String]) -> bool {
        false
    }

    /// Returns the program and the arguments that resume a session, if the agent can.
    fn resume(&self, _id: &SessionId) -> Option<(&'static str, Vec<String>)> {
        None
    }

    // --- Capabilities with an interface of their own ---

    /// Returns the writer of the agent's native format, if it is supported.
    fn native_format(&self) -> Option<&'static dyn NativeFormat> {
        None
    }

    /// Returns the editor for renaming and moving sessions, if that is supported.
    fn editor(&self) -> Option<&'static dyn Editor> {
        None
    }

    /// Returns the rewriter of its session files, if that is supported.
    fn rewriter(&self) -> Option<&'static dyn Rewriter> {
        None
    }

    /// Returns the agent's retention policy, if it deletes sessions by itself.
    fn retention_policy(&self) -> Option<&'static dyn RetentionPolicy> {
        None
    }

    /// Returns the agent's hooks, if it has any.
    fn hook(&self) -> Option<&'static dyn Hook> {
        None
    }

    /// Returns how recount is added to the agent, if that is supported.
    fn integration(&self) -> Option<&'static dyn Integration> {
        None
    }

    /// Returns how its sessions are followed while they run, if that is supported.
    fn live(&self) -> Option<&'static dyn LiveSource> {
        None
    }

    /// Returns how its headless output is read, if it has one.
    fn streams(&self) -> Option<&'static dyn StreamFormat> {
        None
    }
}

/// How certain a source is that a file is its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recognition {
    /// It is not.
    #[default]
    No,
    /// It may have a conversation in a format that the source supports.
    Possible,
    /// It is a session file of the source.
    Certain,
}

/// What the path of a file shows about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The project directory that it is in.
    pub project_folder: Option<PathBuf>,
    /// Its role there.
    pub placement: FilePlacement,
}

/// Hashes a value the same way in every run, for stored keys.
pub fn stable_hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Hashes an id the same way in every run. For ids of calls, of which there are many: four times as fast as [`stable_hash`].
pub(crate) fn id_hash(id: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(ODD);
        let [low, high] = [product & u128::from(u64::MAX), product >> 64];
        u64::try_from(low ^ high).unwrap_or_default()
    };
    let (words, rest) = id.as_chunks::<8>();
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    let start = ODD.rotate_left(32) ^ id.len() as u64;
    let hash = words.iter().fold(start, |hash, word| fold(hash, u64::from_le_bytes(*word)));
    fold(fold(hash, u64::from_le_bytes(last)), ODD)
}

/// Where a source's data is.
#[derive(Clone, Copy, Debug)]
pub struct DataFolders {
    /// Below the home, each a separate data folder.
    pub below_home: &'static [&'static str],
    /// An environment variable that replaces the home.
    pub home_variable: Option<&'static str>,
    /// An environment variable that names the data folder itself, or several, separated by commas.
    pub folder_variable: Option<&'static str>,
    /// An environment variable that names one more folder in the layout of the projects part.
    pub extra_variable: Option<&'static str>,
    /// What identifies a folder as the data folder itself.
    pub landmark: &'static str,
}

/// Which part of an agent's data a root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootShape {
    /// The agent's whole data folder.
    Whole,
    /// Only the part with the projects.
    ProjectsOnly,
}

/// The contents of a data folder.
#[derive(Clone, Debug, Default)]
pub struct Located {
    /// One per project directory.
    pub folders: Vec<ProjectFolder>,
    /// Project paths that the agent has recorded, with the directory's name if available.
    pub registry: Vec<Registered>,
    /// Inconsistencies in the agent's record of projects.
    pub notes: Vec<RegistryNote>,
    /// Names that users gave to sessions, if the agent stores them beside its sessions.
    pub names: Vec<(SessionId, String)>,
    /// The problems.
    pub problems: Vec<Problem>,
    /// What this was built from.
    pub basis: Basis,
}

/// What a listing was built from: while none of it changes, and no session file does, another listing would be the same.
#[derive(Clone, Debug, Default)]
pub struct Basis {
    /// Directories that were listed.
    pub directories: Vec<PathBuf>,
    /// Other files that were read or looked up; they need not exist.
    pub files: Vec<PathBuf>,
}

/// An earlier listing of a data folder, and what has changed since.
#[derive(Clone, Copy, Debug)]
pub struct EarlierListing<'a> {
    /// Its project directories. The stamps of their files are current.
    pub folders: &'a [&'a ProjectFolder],
    /// What it was built from.
    pub basis: &'a Basis,
    /// Its problems.
    pub problems: &'a [Problem],
    /// The changed parts of its basis.
    pub changed: &'a [&'a Path],
}

impl Basis {
    /// Adds another one.
    pub fn extend(&mut self, other: Self) {
        self.directories.extend(other.directories);
        self.files.extend(other.files);
    }
}

/// An inconsistency in an agent's record of projects.
#[derive(Clone, Debug)]
pub struct RegistryNote {
    /// The directory it is about; all of them if `None`.
    pub slug: Option<String>,
    /// What it is.
    pub text: String,
}

/// A project path that an agent has recorded.
#[derive(Clone, Debug)]
pub struct Registered {
    /// The path.
    pub path: RecordedPath,
    /// The directory's name.
    pub slug: Option<String>,
    /// Where it is recorded.
    pub from: &'static str,
}

/// One project directory of an agent.
#[derive(Clone, Debug)]
pub struct ProjectFolder {
    /// The directory.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// Whether it belongs to one project. In others, such as folders of a day, each session records its own project.
    pub is_project: bool,
    /// The name as a hash, if it is one.
    pub hash: Option<ProjectHash>,
    /// Paths that markers in it name, and the locations of the markers.
    pub markers: Vec<(RecordedPath, &'static str)>,
    /// Session files.
    pub files: Vec<Arc<FileAt>>,
    /// What else in it an agent would find through links that lead out of its data folder.
    pub linked: Linked,
    /// All bytes in it that belong to sessions.
    pub bytes: u64,
    /// Unusual facts about it.
    pub notes: Vec<String>,
}

/// A session file, not yet read.
#[derive(Clone, Debug)]
pub struct FileAt {
    /// Its path.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Whether it is a link to a file.
    pub is_link: bool,
    /// When it was last written, in milliseconds.
    pub modified: Option<i64>,
    /// Changes when its content does.
    pub stamp: Stamp,
    /// What its location shows about it.
    pub placement: FilePlacement,
    /// Files of one session share it; files of different sessions may.
    pub group: String,
}

/// The location of a file in a project directory, which need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectLocation {
    /// The directory.
    pub folder: PathBuf,
    /// The path of the file in it.
    pub below: PathBuf,
    /// Whether the directory is named by a hash, and needs no marker.
    pub is_hashed: bool,
    /// The marker file of the directory, with the project's path as its text.
    pub marker: PathBuf,
}

/// Artifacts of a session beside its own files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Artifacts {
    /// Files.
    pub files: Vec<Artifact>,
    /// Folders that contain nothing else.
    pub folders: Vec<PathBuf>,
}

/// A file that belongs to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Its path.
    pub path: PathBuf,
    /// Its kind.
    pub kind: ArtifactKind,
}

impl Artifact {
    /// Whether it is a tool output, which the text refers to by path.
    pub fn is_output(&self) -> bool {
        self.kind == ArtifactKind::ToolOutput
    }
}

/// The kind of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactKind {
    /// A sub-agent's.
    Subagent,
    /// A tool output.
    ToolOutput,
    /// An activity log of the agent.
    ActivityLog,
    /// Plans and tasks.
    Plans,
    /// Any file of a project directory.
    File,
}

impl ArtifactKind {
    /// Returns its name in plans and journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Subagent => "sub-agent",
            Self::ToolOutput => "tool output",
            Self::ActivityLog => "activity log",
            Self::Plans => "plans and tasks",
            Self::File => "file",
        }
    }
}

/// Changes when a file's content does, as far as the system reports it without reading the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Its size.
    pub bytes: u64,
    /// When it was last written, in nanoseconds.
    pub nanos: i128,
    /// Its inode number.
    pub inode: u64,
    /// When its content, its permissions or its owner last changed, in nanoseconds: it cannot be set back. A file that
    /// becomes unreadable keeps its other times.
    #[serde(default)]
    pub changed: i128,
}

impl Stamp {
    /// Returns the stamp from a file's metadata.
    pub fn of(metadata: &Metadata) -> Self {
        Self::at(&FileStatus::of(metadata))
    }

    /// Returns the stamp from what a file looks like.
    pub fn at(status: &FileStatus) -> Self {
        Self {
            bytes: status.bytes,
            nanos: status.modified.unwrap_or_default(),
            inode: status.inode,
            changed: status.changed,
        }
    }
}

/// Returns when a file was last written, in milliseconds.
pub fn modified(metadata: &Metadata) -> Option<i64> {
    modified_at(&FileStatus::of(metadata))
}

/// Returns the same from what a file looks like.
pub(crate) fn modified_at(status: &FileStatus) -> Option<i64> {
    i64::try_from(status.modified? / 1_000_000).ok()
}

/// What the location of a file shows about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilePlacement {
    /// In the folder of main sessions.
    Main,
    /// In the folder of the session that ran it.
    SubagentOf(SessionId),
    /// A file that the agent renamed.
    Leftover,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct ScannedFile {
    /// The number of its project directory.
    pub folder: usize,
    /// Whether that directory's name is the readable, newer kind.
    pub named_folder: bool,
    /// Whether other sessions are in the same file.
    pub is_shared: bool,
    /// The file.
    pub at: Arc<FileAt>,
    /// What is in it.
    pub outline: Outline,
}

/// The files of one session.
#[derive(Clone, Debug)]
pub struct SessionFiles {
    /// The session's id.
    pub id: SessionId,
    /// Whether another session started it.
    pub kind: SessionKind,
    /// That session.
    pub parent: Option<SessionId>,
    /// Its files, in the order of the conversation.
    pub files: Vec<SessionFile>,
}

/// One file of a session.
#[derive(Clone, Debug)]
pub struct SessionFile {
    /// Its role in the session.
    pub role: FileRole,
    /// Whether the conversation was compressed at its end.
    pub compressed: bool,
    /// Whether the agent loads it before the main one.
    pub is_loaded: bool,
    /// The file.
    pub file: ScannedFile,
}

/// A row of the agent's own list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRow {
    /// The session.
    pub id: SessionId,
    /// The title as the agent prints it.
    pub title: String,
}

/// A piece of a message: some agents write one record per block, or results as separate records.
#[derive(Clone, Copy, Debug)]
pub struct PieceBytes<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Where they are.
    pub span: recount_model::Span,
}

/// A request for one message in full.
#[derive(Debug)]
pub struct MessageRequest<'a> {
    /// The bytes of the version to show; for a message in pieces, of the first one.
    pub bytes: &'a [u8],
    /// The other pieces, in order.
    pub pieces: &'a [PieceBytes<'a>],
    /// Its file.
    pub file: &'a Arc<str>,
    /// Its location there.
    pub span: recount_model::Span,
    /// Its fate.
    pub fate: recount_model::Fate,
    /// Its entry in the outline; `None` if only its bytes are available.
    pub entry: Option<&'a MessageEntry>,
    /// The model in the outline.
    pub model: Option<&'a str>,
    /// Other versions, for what this one lacks.
    pub others: &'a dyn OtherVersions,
    /// The project directory, which may have full tool outputs.
    pub folder: Option<&'a Path>,
    /// How much of it to read.
    pub detail: Detail,
}

impl MessageRequest<'_> {
    /// Returns a problem with the requested message.
    pub fn problem(&self, what: What, done: &'static str) -> Problem {
        Problem { file: Arc::clone(self.file), span: Some(self.span), what, done: done.into() }
    }
}

/// How much of a message to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// All of it.
    #[default]
    Whole,
    /// Without the arguments of tool calls, and without the results of successful ones.
    Gist,
}

/// The other versions of a message, read only when needed.
pub trait OtherVersions: Debug {
    /// Calls `visit` with each until it returns `false`.
    fn each(&self, visit: &mut dyn FnMut(&[u8]) -> bool);
}

/// What was billed for a message but not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unrecorded {
    /// Requests whose replies were merged into this record, with the figures of one of them.
    pub rounds: u32,
    /// Whether the figures may be those of the first piece of the reply, rather than of all of it.
    pub first_figures: bool,
    /// Whether a model replied, and no figures are recorded.
    pub no_figures: bool,
    /// Additional requests: by tools, for a summary.
    pub side_calls: u32,
}

/// A file that a tool call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTouch {
    /// Its path, as in the call.
    pub path: String,
    /// How it is touched.
    pub how: FileAccess,
}

/// How a tool call touches a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// It read the file.
    Read,
    /// It wrote the file.
    Written,
    /// It names the file, whatever the outcome.
    Named,
}

/// A conversation that is not a session file.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// What it is, for people.
    pub form: &'static str,
    /// Its messages.
    pub messages: Vec<Message>,
}
