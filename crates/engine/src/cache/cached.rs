//! The form in which what was read of a group of files is kept in the catalog.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use recount_formats::outline::{AgentCall, FileSummary, Head};
use recount_formats::source::{ListedFile, ScannedFile};
use recount_model::{
    AgentNote, Entrypoint, FileFacts, FileRole, Grammar, MessageCounts, Problem, RawJson,
    RecordedPath, SessionFacts, SessionId, SessionKind, SourceName, SourceState, StrictCounts,
    TitleFrom, Tokens, ToolCounts, What, timestamp,
};
use serde::{Deserialize, Serialize};

use crate::sessions::list::{Digest, Used};
use crate::snapshot::disk_scan::{DiskSnapshot, Group};

/// Raised with every change to the form, or to what is counted.
pub(crate) const VERSION: u32 = 14;

/// Up to this many files of a group are searched one by one.
const FEW_FILES: usize = 16;

/// What is kept of a session, wherever its files lie.
#[derive(Serialize, Deserialize)]
pub(crate) struct Core {
    id: SessionId,
    kind: SessionKind,
    parent: Option<SessionId>,
    agent: Option<AgentNote>,
    title: Option<String>,
    title_from: TitleFrom,
    first_prompt: Option<String>,
    last_prompt: Option<String>,
    branch: Option<String>,
    entrypoint: Option<Entrypoint>,
    /// In milliseconds.
    started: Option<i64>,
    updated: Option<i64>,
    counts: MessageCounts,
    tool_calls: ToolCounts,
    models: Vec<String>,
    tokens: Tokens,
    cost_usd: Option<f64>,
    cost_is_lower_bound: Option<bool>,
    priced_by: u64,
    kept: StrictCounts,
    cwd: Option<RecordedPath>,
    directories: Vec<String>,
    memory: Option<String>,
    problems: u64,
    not_understood: u64,
    problem_list: Vec<Problem>,
    is_background: bool,
    states: Vec<SourceState>,
}

/// One session of a group.
#[derive(Serialize, Deserialize)]
struct Session {
    core: Core,
    /// Which of its files says where it belongs.
    main: usize,
    files: Vec<File>,
    agent_calls: Vec<AgentCall>,
    /// Files of other sessions whose start it begins with.
    bases: Vec<FileFacts>,
}

/// One file of a session.
#[derive(Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is one fact of the file")]
struct File {
    /// Its number in the group.
    at: usize,
    role: FileRole,
    grammar: Grammar,
    head: Head,
    state: SourceState,
    has_conversation: bool,
    resumable: bool,
    is_shared: bool,
    loadable: bool,
}

impl Core {
    pub(crate) fn of(facts: &SessionFacts) -> Self {
        Self {
            id: facts.id.clone(),
            kind: facts.kind,
            parent: facts.parent.clone(),
            agent: facts.agent.clone(),
            title: facts.title.clone(),
            title_from: facts.title_from,
            first_prompt: facts.first_prompt.clone(),
            last_prompt: facts.last_prompt.clone(),
            branch: facts.branch.clone(),
            entrypoint: facts.entrypoint,
            started: facts.started.map(Timestamp::as_millisecond),
            updated: facts.updated.map(Timestamp::as_millisecond),
            counts: facts.counts,
            tool_calls: facts.tool_calls,
            models: facts.models.clone(),
            tokens: facts.tokens,
            cost_usd: facts.cost_usd,
            cost_is_lower_bound: facts.cost_is_lower_bound,
            priced_by: facts.priced_by,
            kept: facts.kept,
            cwd: facts.cwd.clone(),
            directories: facts.directories.clone(),
            memory: facts.memory.as_ref().map(|json| json.as_str().to_owned()),
            problems: facts.problems,
            not_understood: facts.not_understood,
            problem_list: facts.problem_list.clone(),
            is_background: facts.is_background,
            states: facts.states.clone(),
        }
    }

    pub(crate) fn facts(self, source: SourceName, files: Vec<FileFacts>) -> SessionFacts {
        SessionFacts {
            source,
            id: self.id,
            kind: self.kind,
            parent: self.parent,
            parent_call: None,
            agent: self.agent,
            title: self.title,
            title_from: self.title_from,
            first_prompt: self.first_prompt,
            last_prompt: self.last_prompt,
            branch: self.branch,
            entrypoint: self.entrypoint,
            labels: None,
            project: Arc::default(),
            started: self.started.and_then(timestamp),
            updated: self.updated.and_then(timestamp),
            counts: self.counts,
            tool_calls: self.tool_calls,
            models: self.models,
            tokens: self.tokens,
            cost_usd: self.cost_usd,
            cost_is_lower_bound: self.cost_is_lower_bound,
            priced_by: self.priced_by,
            kept: self.kept,
            cwd: self.cwd,
            directories: self.directories,
            memory: self.memory.map(RawJson::new),
            files,
            agent_index: None,
            agent_title: None,
            live: None,
            pending_deletion: None,
            problems: self.problems,
            not_understood: self.not_understood,
            problem_list: self.problem_list,
            is_background: self.is_background,
            states: self.states,
        }
    }
}

fn is_base(file: &FileFacts) -> bool {
    file.role == FileRole::Base
}

/// Writes down what was read of a group. `None` when it cannot be told again which file was which.
pub(crate) fn encode(group: &Group, digests: &[Digest]) -> Option<Vec<u8>> {
    // Searching a group with many files one by one would take the square of their number.
    let paths = group.files.iter().map(|(_, file)| file.path.as_path());
    let places: HashMap<&Path, usize> = if group.files.len() > FEW_FILES {
        paths.clone().zip(0..).collect()
    } else {
        HashMap::new()
    };
    let number = |scanned: &ListedFile| match places.get(scanned.at.path.as_path()) {
        Some(at) => Some(*at),
        None if places.is_empty() => paths.clone().position(|path| path == scanned.at.path),
        None => None,
    };
    let mut sessions = Vec::with_capacity(digests.len());
    for digest in digests {
        let facts = &digest.facts;
        let mut files = Vec::with_capacity(digest.files.len());
        for (file, kept) in digest.files.iter().zip(&facts.files) {
            files.push(File {
                at: number(file)?,
                role: kept.role,
                grammar: kept.grammar,
                head: file.outline.head.clone(),
                state: file.outline.state.clone(),
                has_conversation: file.outline.has_conversation,
                resumable: file.outline.resumable,
                is_shared: file.is_shared,
                loadable: file.outline.loadable,
            });
        }
        sessions.push(Session {
            core: Core::of(facts),
            main: digest.files.iter().position(|file| file.folder == digest.folder)?,
            files,
            agent_calls: digest.agent_calls.to_vec(),
            bases: facts.files.iter().filter(|file| is_base(file)).cloned().collect(),
        });
    }
    to_bytes(&sessions)
}

/// Encodes what is kept of a session into memory that is allocated at once.
pub(crate) fn to_bytes(value: &impl Serialize) -> Option<Vec<u8>> {
    postcard::serialize_with_flavor(value, Bytes(Vec::with_capacity(TYPICAL))).ok()
}

/// Most sessions take no more bytes than this.
const TYPICAL: usize = 2048;

struct Bytes(Vec<u8>);

impl postcard::ser_flavors::Flavor for Bytes {
    type Output = Vec<u8>;

    fn try_extend(&mut self, data: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(data);
        Ok(())
    }

    fn try_push(&mut self, data: u8) -> postcard::Result<()> {
        self.0.push(data);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        // What waits to be written takes no more memory than it needs.
        let mut bytes = self.0;
        bytes.shrink_to_fit();
        Ok(bytes)
    }
}

/// Reads what was written down of a group that looks the same now. `None` when it is not understood.
pub(crate) fn decode(
    (key, content): (u64, &[u8]),
    group: &Group,
    disk: &DiskSnapshot,
) -> Option<Vec<Digest>> {
    let sessions: Vec<Session> = postcard::from_bytes(content).ok()?;
    sessions.into_iter().map(|session| digest(session, key, group, disk)).collect()
}

fn digest(session: Session, key: u64, group: &Group, disk: &DiskSnapshot) -> Option<Digest> {
    let mut files = Vec::with_capacity(session.files.len());
    let mut kept = Vec::with_capacity(session.files.len());
    for file in session.files {
        let (folder, at) = group.files.get(file.at)?;
        let named_folder = disk.folders.get(*folder).is_some_and(|folder| folder.at.hash.is_none());
        let path = at.path.to_string_lossy().into_owned();
        kept.push(FileFacts { path, role: file.role, bytes: at.bytes, grammar: file.grammar });
        let outline = FileSummary {
            grammar: file.grammar,
            head: file.head,
            state: file.state,
            has_conversation: file.has_conversation,
            resumable: file.resumable,
            loadable: file.loadable,
        };
        let is_shared = file.is_shared;
        files.push(ScannedFile {
            folder: *folder,
            named_folder,
            is_shared,
            at: at.clone(),
            outline,
        });
    }
    // A base that is gone or was cut is not what was read.
    let is_there = |base: &FileFacts| {
        std::fs::metadata(&base.path).is_ok_and(|known| known.len() >= base.bytes)
    };
    // One that was missing may be there again.
    let was_missing = |problem: &Problem| problem.what == What::BaseMissing;
    if !session.bases.iter().all(is_there) || session.core.problem_list.iter().any(was_missing) {
        return None;
    }
    kept.extend(session.bases);
    let folder = files.get(session.main)?.folder;
    let facts = Arc::new(session.core.facts(group.source.name(), kept));
    Some(Digest {
        facts,
        folder,
        files: files.into(),
        agent_calls: session.agent_calls.into(),
        fresh: false,
        used: Used::With(key),
    })
}
