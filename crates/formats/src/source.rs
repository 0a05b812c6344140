//! Sources, and the list of all of them.

mod artifacts;
mod file;
mod folders;
mod hash;
mod message;
mod prompts;
mod reader;
mod session;

pub use artifacts::{Artifact, ArtifactKind, Artifacts};
pub(crate) use file::modified_at;
pub use file::{FileAt, FilePlacement, Placement, Recognition, Stamp, modified};
pub use folders::{
    Basis, DataFolders, EarlierListing, Located, ProjectFolder, ProjectLocation, Registered,
    RegistryNote, RootShape,
};
pub(crate) use hash::id_hash;
pub use hash::stable_hash;
pub use message::{
    Detail, FileAccess, FileTouch, Foreign, MessageRequest, OtherVersions, PieceBytes, Unrecorded,
};
pub use prompts::{RecordedPrompt, Trace};
pub use reader::{ReadResult, Reader, ReaderState};
pub use session::{AgentRow, ListedFile, ScannedFile, SessionFile, SessionFiles};

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use recount_model::{
    FileRole, Message, Problem, ProjectHash, RecordedPath, SessionId, SourceName, SourceState,
    ToolCall,
};

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
use crate::outline::{Base, FileSummary, MessageEntry, Outline};
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

    /// Returns what [`Source::agent_list`] needs of an outline.
    fn summary(&self, outline: &Outline) -> FileSummary {
        outline.summary(self.light_state(outline))
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
    fn agent_list(&self, _files: &[&ListedFile], _release: Option<&str>) -> Vec<AgentRow> {
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
