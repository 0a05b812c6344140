//! One session, opened.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_formats::outline::{AgentCall, Outline};
use recount_formats::source::{
    FileAt, FilePlacement, Foreign, Placement, Recognition, RootShape, ScannedFile, SessionFile,
    SessionFiles, Stamp,
};
use recount_formats::{Source, bytes};
use recount_model::{
    Fate, FileRole, Grammar, Message, MessageCounts, MessageKind, Project, SessionFacts, SessionId,
    SessionKind, StrictCounts, TitleFrom, ToolStatus,
};

use crate::projects::resolve::ProjectHints;
use crate::snapshot::disk_scan::{DiskSnapshot, Group};
use crate::stats::usage::UsageLog;
use crate::{Engine, Error};
use recount_store::Root;

use crate::messages::{Messages, RawFile, View};
use crate::sessions::facts::{facts, own};

/// The maximum size of a saved chat; those are read at once.
const SAVED: u64 = 512 * 1024 * 1024;

/// One session, opened. Clones share all but its row.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Its row in the list.
    pub facts: SessionFacts,
    source: &'static dyn Source,
    session_files: Arc<SessionFiles>,
    /// The project directory.
    folder: Option<PathBuf>,
    saved: Option<Arc<[Message]>>,
}

impl Opened {
    pub(crate) fn new(
        source: &'static dyn Source,
        facts: SessionFacts,
        session_files: SessionFiles,
        folder: Option<PathBuf>,
    ) -> Self {
        Self { facts, source, session_files: Arc::new(session_files), folder, saved: None }
    }

    /// Returns the messages of a session file, or `None` for a saved chat.
    pub fn messages(&self, view: View) -> Option<Messages<'_>> {
        let messages =
            || Messages::new(self.source, &self.session_files, self.folder.as_deref(), view);
        self.saved.is_none().then(messages)
    }

    /// Returns the messages of a saved chat, which are read at once.
    pub fn saved(&self) -> &[Message] {
        self.saved.as_deref().unwrap_or_default()
    }

    /// Returns its source.
    pub fn source(&self) -> &'static dyn Source {
        self.source
    }

    /// Returns its files with their outlines.
    pub fn session_files(&self) -> &SessionFiles {
        &self.session_files
    }

    /// Whether it is a saved chat, and no session file.
    pub fn is_saved(&self) -> bool {
        self.saved.is_some()
    }

    /// Returns its project directory.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns its files, in the order of the conversation.
    pub fn files(&self) -> impl Iterator<Item = RawFile<'_>> {
        own(&self.session_files).map(|m| RawFile { path: &m.file.at.path, role: m.role })
    }

    /// Returns its own files that contain no other session.
    pub(crate) fn unshared_files(&self) -> impl Iterator<Item = &Path> {
        let own = own(&self.session_files).filter(|session_file| !session_file.file.is_shared);
        own.map(|session_file| session_file.file.at.path.as_path())
    }

    /// Whether nothing is known about it because its files could not be read. That is not an empty session.
    pub fn is_unread(&self) -> bool {
        let outlines = || own(&self.session_files).map(|session_file| &session_file.file.outline);
        self.saved.is_none()
            && outlines().any(Outline::is_unread)
            && outlines().all(|outline| outline.entries.is_empty())
    }

    /// Returns its files as a group.
    pub(crate) fn group(&self) -> Group {
        let file =
            |session_file: &SessionFile| (session_file.file.folder, session_file.file.at.clone());
        Group { source: self.source, files: own(&self.session_files).map(file).collect() }
    }

    /// Returns the outlines of its files, by their paths.
    pub(crate) fn outlines(&self) -> HashMap<&Path, &Outline> {
        let files = self.session_files.files.iter();
        files.map(|one| (one.file.at.path.as_path(), &one.file.outline)).collect()
    }

    /// Returns its calls that ran sub-agents.
    pub(crate) fn agent_calls(&self) -> Vec<AgentCall> {
        let outlines =
            self.session_files.files.iter().map(|session_file| &session_file.file.outline);
        outlines.flat_map(|outline| outline.agent_calls.iter().cloned()).collect()
    }

    /// Whether the agent itself can load the session.
    pub fn is_loadable(&self) -> bool {
        self.saved.is_some()
            || crate::sessions::facts::main(&self.session_files)
                .is_some_and(|main| main.file.outline.loadable)
    }
}

impl Engine {
    /// Opens one file by its path: a single session file, a saved chat, an export.
    ///
    /// # Errors
    /// If it cannot be read, or has no conversation.
    pub fn open_file(&self, path: &Path) -> Result<Opened, Error> {
        let metadata = std::fs::metadata(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => Error::NoFile(path.to_owned()),
            _ => Error::Unreadable { path: path.to_owned(), source },
        })?;
        if !metadata.is_file() {
            return Err(Error::NotASession(path.to_owned()));
        }
        // A user who names a link wants its target.
        bytes::accept_link(path, &metadata);
        let head = sniffed(path);
        let head = head.map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
        let readers = self.sources.iter().copied().filter(|source| source.reads_sessions());
        let recognized = readers.map(|source| (source.sniff(path, &head), source));
        // Of several that are equally certain the first one.
        let best = recognized.reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some((recognition, source)) = best else {
            return Err(Error::NotASession(path.to_owned()));
        };
        if recognition == Recognition::No {
            return Err(Error::NotASession(path.to_owned()));
        }
        let outline = source.outline(path, &mut bytes::Buffer::large());
        let is_session = outline.loadable || outline.head.session_id.is_some();
        let Placement { project_folder: folder, placement } = source.placement(path);
        // A wrapper may have a session id and still contain messages in the format of the API.
        let is_foreign =
            !is_session || (!outline.has_conversation && outline.grammar == Grammar::Json);
        if is_foreign && let Some(mut opened) = open_saved(source, path, metadata.len()) {
            if let Some(folder) = &folder {
                opened.facts.project = self.project_at(source, folder, &opened.facts, None);
            }
            return Ok(opened);
        }
        if !is_session && outline.entries.is_empty() {
            return Err(Error::NotASession(path.to_owned()));
        }
        let at = Arc::new(FileAt {
            path: path.to_owned(),
            bytes: metadata.len(),
            is_link: false,
            modified: None,
            stamp: Stamp::default(),
            placement,
            group: String::new(),
        });
        let scanned = ScannedFile { folder: 0, named_folder: true, is_shared: false, at, outline };
        let session_files = source.group_sessions(vec![scanned]).into_iter().next();
        let session_files = session_files.ok_or_else(|| Error::NotASession(path.to_owned()))?;
        let mut facts = facts(source, &session_files);
        self.pricing().put(&UsageLog::of(source, &session_files, &facts), &mut facts);
        if let Some(folder) = &folder {
            let head =
                session_files.files.first().map(|session_file| &session_file.file.outline.head);
            let hash = head.and_then(|head| head.project_hash.as_deref());
            facts.project = self.project_at(source, folder, &facts, hash);
        } else if facts.cwd.is_some() {
            let mut hints = ProjectHints::default();
            hints.paths.extend(facts.cwd.clone());
            let cwd = facts.cwd.as_ref();
            facts.project = self.project_of(&DiskSnapshot::default(), usize::MAX, &hints, cwd);
        }
        Ok(Opened::new(source, facts, session_files, folder))
    }

    /// Returns the project of a directory that need not be below one of the roots.
    fn project_at(
        &self,
        source: &'static dyn Source,
        folder: &Path,
        facts: &SessionFacts,
        hash: Option<&str>,
    ) -> Arc<Project> {
        let Some(root) = folder.parent().and_then(Path::parent) else { return Arc::default() };
        let disk = DiskSnapshot::look(&[Root {
            source,
            path: root.to_owned(),
            shape: RootShape::Whole,
            is_ingested: false,
        }]);
        let Some(number) = disk.folders.iter().position(|known| known.at.path == folder) else {
            return Arc::default();
        };
        let mut hints = ProjectHints::default();
        hints.add(number, hash, &facts.directories);
        hints.paths.extend(facts.cwd.clone());
        self.project_of(&disk, number, &hints, facts.cwd.as_ref())
    }
}

/// How much of a file is used to recognize its source.
const SNIFFED: u64 = 64 * 1024;

/// Reads the start of a file, decompressed if needed.
fn sniffed(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    bytes::Input::open(path)?.take(SNIFFED).read_to_end(&mut head)?;
    Ok(head)
}

fn open_saved(source: &'static dyn Source, path: &Path, size: u64) -> Option<Opened> {
    let mut text = Vec::new();
    bytes::open(path).ok()?.take(SAVED).read_to_end(&mut text).ok()?;
    let file: Arc<str> = Arc::from(path.to_string_lossy());
    let Foreign { form: _, messages } = source.foreign(&text, &file)?;
    let at = Arc::new(FileAt {
        path: path.to_owned(),
        bytes: size,
        is_link: false,
        modified: None,
        stamp: Stamp::default(),
        placement: FilePlacement::Main,
        group: String::new(),
    });
    let outline = Outline::empty(Grammar::Json);
    let file = ScannedFile { folder: 0, named_folder: true, is_shared: false, at, outline };
    let session_file =
        SessionFile { role: FileRole::Main, compressed: false, is_loaded: false, file };
    let id = SessionId::new(path.file_stem().unwrap_or_default().to_string_lossy());
    let session_files =
        SessionFiles { id, kind: SessionKind::Main, parent: None, files: vec![session_file] };
    let mut facts = facts(source, &session_files);
    count(&mut facts, &messages);
    let (session_files, saved) = (Arc::new(session_files), Some(messages.into()));
    Some(Opened { facts, source, session_files, folder: None, saved })
}

fn count(facts: &mut SessionFacts, messages: &[Message]) {
    let of = |kind| messages.iter().filter(|message| message.kind == kind).count() as u64;
    facts.counts = MessageCounts {
        messages: messages.len() as u64,
        prompts: of(MessageKind::Prompt),
        answers: of(MessageKind::Answer),
        undone: messages.iter().filter(|message| message.fate != Fate::Kept).count() as u64,
    };
    for message in messages {
        facts.tokens += message.tokens.unwrap_or_default();
        facts.started = facts.started.into_iter().chain(message.time).min();
        facts.updated = facts.updated.max(message.time);
        if let Some(model) = message.model.as_ref().filter(|model| !facts.models.contains(model)) {
            facts.models.push(model.clone());
        }
        for call in &message.tool_calls {
            facts.tool_calls.total += 1;
            facts.tool_calls.failed += u64::from(call.status == ToolStatus::Error);
        }
    }
    facts.kept = StrictCounts {
        messages: facts.counts.messages,
        prompts: facts.counts.prompts,
        answers: facts.counts.answers,
        tool_calls: facts.tool_calls.total,
        tokens: facts.tokens,
    };
    let first = messages.iter().find(|message| message.kind == MessageKind::Prompt);
    if let Some(first) = first {
        let words: Vec<&str> = first.display_text.split_whitespace().take(60).collect();
        facts.title = Some(words.join(" "));
        facts.title_from = TitleFrom::Prompt;
    }
}
