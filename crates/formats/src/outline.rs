//! The result of one pass over a file: the messages, their locations, and their fate.
//!
//! An outline has no text except titles. Message bodies are read from their spans on demand, so a list of thousands of
//! sessions stays small and one huge session can be streamed.

use std::cell::Cell;
use std::iter::successors;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::native::Fields;
use recount_model::{
    AgentNote, Entrypoint, Fate, Grammar, MessageKind, Problem, RawJson, RecordedPath, SessionId,
    SourceState, Span, Tokens, What,
};

/// The outline of one file.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The grammar of the file.
    pub grammar: Grammar,
    /// The session-level fields of the file.
    pub head: Head,
    /// Whether the agent's own loader accepts the file.
    pub loadable: bool,
    /// Every message ever recorded, in order of first appearance.
    pub entries: Vec<MessageEntry>,
    /// Every recorded version of every message.
    pub versions: Vec<Version>,
    /// For messages recorded in several pieces: the version of each piece after the first. Entries refer to them by index.
    pub pieces: Vec<u32>,
    /// The strict view: which entries the agent's loader shows, and which version of each.
    pub strict: Vec<VisibleMessage>,
    /// Models, in order of first use; entries refer to them by index.
    pub models: Vec<Box<str>>,
    /// Tools, in order of first use; entries refer to them by index.
    pub tools: Vec<Box<str>>,
    /// Calls that ran sub-agents.
    pub agent_calls: Vec<AgentCall>,
    /// The first human prompt, as a title.
    pub first_prompt: Option<String>,
    /// The start of the last human prompt, on one line.
    pub last_prompt: Option<String>,
    /// Whether there is any message of a human or a model.
    pub has_conversation: bool,
    /// Whether the agent would have anything to resume.
    pub resumable: bool,
    /// Facts that only the source understands.
    pub state: SourceState,
    /// The problems.
    pub problems: Problems,
    /// The other sessions in the same file.
    pub others: Vec<Self>,
}

/// What is known about a file as a whole: an [`Outline`] without its messages. Of these there is one for every file at once.
#[derive(Clone, Debug)]
pub struct FileSummary {
    /// How it is written.
    pub grammar: Grammar,
    /// Its session-level fields.
    pub head: Head,
    /// Facts that only its source understands.
    pub state: SourceState,
    /// Whether there is any message of a human or a model.
    pub has_conversation: bool,
    /// Whether the agent would have anything to resume.
    pub resumable: bool,
    /// Whether the agent's own loader accepts the file.
    pub loadable: bool,
}

/// The session-level fields of a file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Head {
    /// The session's id.
    pub session_id: Option<SessionId>,
    /// The hash of the project's path.
    pub project_hash: Option<Box<str>>,
    /// When it began, in milliseconds.
    pub start: Option<i64>,
    /// Whether it begins with copies of another session's messages, which are older than its start.
    pub has_copies: bool,
    /// When it was last written, in milliseconds.
    pub updated: Option<i64>,
    /// Whether it is marked as a sub-agent's.
    pub subagent: bool,
    /// The session that started it, if the file records it.
    pub parent: Option<SessionId>,
    /// What a sub-agent is, where the source records it.
    pub agent: Option<Box<AgentNote>>,
    /// The title that the user gave it in the agent.
    pub name: Option<String>,
    /// Whether the agent ran it for itself, and it is not a user's conversation.
    pub is_background: bool,
    /// The agent's own title.
    pub summary: Option<String>,
    /// The folder in which the session was started, where the source records it.
    pub cwd: Option<RecordedPath>,
    /// The git branch at the start, where the source records it.
    pub branch: Option<Box<str>>,
    /// How it was started, where the source records it.
    pub entrypoint: Option<Entrypoint>,
    /// The session whose first records this one begins with, without a copy of them.
    pub base: Option<Box<Base>>,
    /// Workspace folders.
    pub directories: Vec<String>,
    /// Notes that the agent's own memory made about the session.
    #[serde(with = "as_text")]
    pub memory: Option<RawJson>,
    /// Every raw field; only if requested, and never stored.
    #[serde(skip)]
    pub fields: Option<Fields>,
}

/// The start of another session that a session begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The other session.
    pub session: SessionId,
    /// The group that its files are in.
    pub group: Box<str>,
    /// Which of its files, by the source's own name for it, if it may have several.
    pub file: Option<Box<str>>,
    /// The end of its shared part, as an offset in its file. `u64::MAX` if that is not recorded.
    pub end: u64,
    /// The end of its shared part, as the number of a record, for sources that number records.
    pub end_record: Option<u64>,
}

/// The [`Outline::pieces`] of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PieceRange {
    /// The first one.
    pub start: u32,
    /// The number of pieces.
    pub count: u32,
}

impl PieceRange {
    /// Returns the range as indexes.
    pub fn range(self) -> Range<usize> {
        let start = self.start as usize;
        start..start.saturating_add(self.count as usize)
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }
}

/// One message, in its richest version.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MessageEntry {
    /// Its id; `None` in damaged or foreign files.
    pub id: Option<Box<str>>,
    /// What it is.
    pub kind: MessageKind,
    /// Its fate.
    pub fate: Fate,
    /// Its time, in milliseconds.
    pub time: Option<i64>,
    /// The richest version.
    pub best: u32,
    /// The version recorded last.
    pub last: u32,
    /// The pieces after the first, if it was recorded in several.
    pub pieces: PieceRange,
    /// What the request used.
    pub tokens: Option<Tokens>,
    /// The model, as an index into [`Outline::models`].
    pub model: Option<u16>,
    /// Tool calls: all, failed, cancelled.
    pub calls: [u32; 3],
    /// The number of requests that asked for them, as far as times show.
    pub rounds: u32,
    /// The tools that were called, in order.
    pub tools: Box<[ToolUse]>,
}

/// A tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The tool, as an index into [`Outline::tools`].
    pub tool: u16,
    /// How the call ended.
    pub end: CallEnd,
}

/// The outcome of a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallEnd {
    /// Successful, or unknown.
    #[default]
    Fine,
    /// It failed.
    Failed,
    /// The human stopped it.
    Cancelled,
}

/// A tool call that ran a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCall {
    /// The call's id.
    pub call: Box<str>,
    /// The agent's id, if the call names it.
    pub agent: Option<Box<str>>,
    /// When the call ended, in milliseconds.
    pub ended: Option<i64>,
}

/// One recorded version of a message.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Version {
    /// Its location.
    pub span: Span,
    /// The version of the same message before this one.
    pub before: Option<u32>,
    /// Richer versions have a greater rank.
    pub rank: u64,
}

/// One row of the strict view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisibleMessage {
    /// The entry.
    pub entry: u32,
    /// The shown version of it.
    pub version: u32,
}

/// Problems of one file: all are counted, the first ones kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Problems {
    /// The first ones.
    pub kept: Vec<Problem>,
    /// All of them.
    pub total: u64,
    /// Of these, records of a kind we do not know.
    pub not_understood: u64,
}

impl Problems {
    const KEPT: usize = 50;

    /// Counts a problem and keeps it up to a limit.
    pub fn note(&mut self, problem: Problem) {
        use recount_model::What;
        self.total += 1;
        if matches!(problem.what, What::UnknownRecord | What::UnknownType) {
            self.not_understood += 1;
        }
        if self.kept.len() < Self::KEPT {
            self.kept.push(problem);
        }
    }
}

/// The emptied lists of an outline that nobody needs any more. A thread that reads thousands of files allocates them once.
#[derive(Debug, Default)]
pub(crate) struct Emptied {
    pub(crate) entries: Vec<MessageEntry>,
    pub(crate) versions: Vec<Version>,
    pub(crate) strict: Vec<VisibleMessage>,
}

/// Lists for more messages than this are not kept.
const MOST_KEPT: usize = 4096;

thread_local! {
    static EMPTIED: Cell<Emptied> = const {
        Cell::new(Emptied { entries: Vec::new(), versions: Vec::new(), strict: Vec::new() })
    };
}

impl Emptied {
    /// Takes what this thread has kept.
    pub(crate) fn take() -> Self {
        EMPTIED.take()
    }
}

impl Outline {
    /// Drops an outline, and keeps the memory of its lists for the next one of this thread.
    pub fn recycle(self) {
        let Self { mut entries, mut versions, mut strict, .. } = self;
        entries.clear();
        versions.clear();
        strict.clear();
        if entries.capacity() <= MOST_KEPT && versions.capacity() <= MOST_KEPT {
            EMPTIED.set(Emptied { entries, versions, strict });
        }
    }

    /// Whether the file could not be read, so that nothing is known about it.
    pub fn is_unread(&self) -> bool {
        let kept = &self.problems.kept;
        kept.iter().any(|problem| problem.what == What::Unreadable && problem.span.is_none())
    }

    /// Whether anything of a message was recorded after this number of versions: a newer version of it, or another piece.
    pub fn is_recorded_since(&self, entry: &MessageEntry, versions: u64) -> bool {
        let pieces = self.pieces.get(entry.pieces.range()).unwrap_or_default();
        let mut all = pieces.iter().chain([&entry.last]);
        all.any(|&version| u64::from(version) >= versions)
    }

    /// Whether anything of a message was recorded before this number of versions.
    pub fn is_recorded_before(&self, entry: &MessageEntry, versions: u64) -> bool {
        let before = |version: &u32| self.versions.get(*version as usize)?.before;
        let pieces = self.pieces.get(entry.pieces.range()).unwrap_or_default();
        let mut all =
            successors(Some(entry.last), before).chain([entry.best]).chain(pieces.iter().copied());
        all.any(|version| u64::from(version) < versions)
    }

    /// Returns an empty outline, for files that cannot be read.
    pub fn empty(grammar: Grammar) -> Self {
        Self {
            grammar,
            head: Head::default(),
            loadable: false,
            entries: Vec::new(),
            versions: Vec::new(),
            pieces: Vec::new(),
            strict: Vec::new(),
            models: Vec::new(),
            tools: Vec::new(),
            agent_calls: Vec::new(),
            first_prompt: None,
            last_prompt: None,
            has_conversation: false,
            resumable: false,
            state: SourceState::default(),
            problems: Problems::default(),
            others: Vec::new(),
        }
    }

    /// Returns the outline of what was recorded before an offset. The fates of messages are the current ones.
    #[must_use]
    pub fn before(&self, end: u64) -> Self {
        let is_before = |version: u32| {
            let version = self.versions.get(version as usize);
            version.is_some_and(|version| version.span.offset < end)
        };
        let mut cut = self.clone();
        (cut.others, cut.pieces, cut.agent_calls) = (Vec::new(), Vec::new(), Vec::new());
        cut.head.summary = None;
        let mut numbers = vec![None; self.entries.len()];
        let mut kept: Vec<MessageEntry> = Vec::new();
        for (entry, slot) in self.entries.iter().zip(&mut numbers) {
            let Some(last) = self.last_version_before(entry, &is_before) else { continue };
            let best = if is_before(entry.best) { entry.best } else { last };
            let pieces = self.pieces.get(entry.pieces.range()).unwrap_or_default().iter().copied();
            let start = u32::try_from(cut.pieces.len()).unwrap_or(u32::MAX);
            cut.pieces.extend(pieces.filter(|piece| is_before(*piece)));
            let all = u32::try_from(cut.pieces.len()).unwrap_or(u32::MAX);
            let pieces = PieceRange { start, count: all.saturating_sub(start) };
            *slot = u32::try_from(kept.len()).ok();
            kept.push(MessageEntry { best, last, pieces, ..entry.clone() });
        }
        cut.strict.retain_mut(|shown| {
            let Some(number) = numbers.get(shown.entry as usize).copied().flatten() else {
                return false;
            };
            let best = kept.get(number as usize).map_or(shown.version, |entry| entry.best);
            let version = if is_before(shown.version) { shown.version } else { best };
            (shown.entry, shown.version) = (number, version);
            true
        });
        cut.entries = kept;
        cut
    }

    /// Returns the last version of an entry before a cut; for a message in pieces, its first piece.
    fn last_version_before(
        &self,
        entry: &MessageEntry,
        is_before: &dyn Fn(u32) -> bool,
    ) -> Option<u32> {
        let mut next = Some(entry.last);
        while let Some(version) = next {
            if is_before(version) && entry.pieces.is_empty() {
                return Some(version);
            }
            next = self.versions.get(version as usize).and_then(|version| version.before);
        }
        Some(entry.best).filter(|best| is_before(*best))
    }

    /// Returns what is known about the file as a whole, with the given state.
    pub fn summary(&self, state: SourceState) -> FileSummary {
        FileSummary {
            grammar: self.grammar,
            head: Head { memory: None, ..self.head.clone() },
            state,
            has_conversation: self.has_conversation,
            resumable: self.resumable,
            loadable: self.loadable,
        }
    }

    /// Whether a message is a copy of another session's.
    pub fn is_copy(&self, entry: &MessageEntry) -> bool {
        let times = entry.time.zip(self.head.start).filter(|_| self.head.has_copies);
        times.is_some_and(|(time, start)| time < start)
    }

    /// Returns the pieces of an entry after the first, in order.
    pub fn pieces_of(&self, entry: &MessageEntry) -> impl Iterator<Item = &Version> {
        let pieces = self.pieces.get(entry.pieces.range()).unwrap_or_default();
        pieces.iter().filter_map(|version| self.versions.get(*version as usize))
    }

    /// Returns the versions of an entry, newest first.
    pub fn versions_of(&self, entry: &MessageEntry) -> impl Iterator<Item = &Version> {
        let mut next = Some(entry.last);
        std::iter::from_fn(move || {
            let version = self.versions.get(next? as usize)?;
            next = version.before;
            Some(version)
        })
    }
}

/// JSON kept as text is text in the catalog, too.
mod as_text {
    use recount_model::RawJson;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "the form that serde asks for")]
    pub(super) fn serialize<S: Serializer>(
        json: &Option<RawJson>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        json.as_ref().map(RawJson::as_str).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<RawJson>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(RawJson::new))
    }
}
