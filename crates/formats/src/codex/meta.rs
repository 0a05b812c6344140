//! What a rollout says of the thread as a whole.

use recount_model::{AgentNote, Entrypoint, RecordedPath, SessionId};
use serde::{Deserialize, Serialize};

use crate::json::{JsonTree, Scanner};
use crate::outline::{Base, Head};

use super::record::{Fields, number, string, text, time, word};

/// Where a rollout continues another one, without a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HistoryBase {
    /// The id of the other rollout.
    pub(super) rollout: Box<str>,
    /// The offset there, if it is recorded.
    pub(super) offset: Option<u64>,
    /// The number of the first record there that is not continued.
    pub(super) ordinal: Option<u64>,
}

/// What the first record of a file says, and a little more.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Meta {
    /// The thread.
    pub(super) id: Option<Box<str>>,
    pub(super) start: Option<i64>,
    /// Whether it begins with copies of another thread's messages, which keep their time.
    pub(super) has_copies: bool,
    pub(super) cwd: Option<Box<str>>,
    pub(super) branch: Option<Box<str>>,
    /// How it was started, as the file says.
    pub(super) source: Option<Box<str>>,
    pub(super) parent: Option<Box<str>>,
    pub(super) is_subagent: bool,
    /// The thread in which the conversation that it copied began.
    pub(super) root: Option<Box<str>>,
    /// The thread it was forked from.
    pub(super) forked_from: Option<Box<str>>,
    /// What it continues, without a copy.
    pub(super) base: Option<HistoryBase>,
    /// The number of the first record that has one.
    pub(super) first_ordinal: Option<u64>,
    /// Records below this number are copies of the parent's.
    pub(super) own_from: Option<u64>,
    /// The last name that the user gave it, in releases that record it here.
    pub(super) name: Option<Box<str>>,
    /// What a sub-agent is.
    pub(super) agent: Option<AgentNote>,
    /// Whether releases of the agent load it.
    pub(super) loadable: bool,
}

impl Meta {
    /// Takes the first record of a file.
    pub(super) fn take(&mut self, fields: &Fields<'_>) {
        let owned = |raw| string(raw).filter(|text| !text.is_empty()).map(Into::into);
        self.id = owned(fields.id);
        self.start = time(fields.timestamp);
        self.cwd = owned(fields.cwd);
        self.branch = fields.git.and_then(|git| member(git, "branch"));
        self.forked_from = owned(fields.forked_from_id);
        self.parent = owned(fields.parent_thread_id);
        self.own_from = number(fields.subagent_history_start_ordinal);
        self.base = fields.history_base.and_then(base);
        let thread_source = text(fields.thread_source).map(|text| text.decode().into_owned());
        self.is_subagent = thread_source.as_deref().is_some_and(|source| {
            matches!(source, "subagent" | "memory_consolidation" | "guardian")
        });
        self.agent =
            note(string(fields.agent_role.or(fields.agent_type)), string(fields.agent_nickname));
        self.started_by(fields.source);
        if self.is_subagent && self.parent.is_none() {
            // Reviews and the like name only the session that they belong to, or the thread that they begin from (0.136).
            self.parent = owned(fields.session_id)
                .filter(|session| Some(session) != self.id.as_ref())
                .or_else(|| self.forked_from.clone());
        }
        // Without these the agent cannot read the record (0.104 to 0.166).
        self.loadable =
            self.id.is_some() && fields.cli_version.is_some() && fields.originator.is_some();
    }

    /// Takes the header of releases before 0.32.
    pub(super) fn take_header(&mut self, fields: &Fields<'_>) {
        self.id = string(fields.id).map(Into::into);
        self.start = time(fields.timestamp);
        self.branch = fields.git.and_then(|git| member(git, "branch"));
        self.loadable = self.id.is_some();
    }

    /// Reads who started it: a word, or an object that names another agent.
    fn started_by(&mut self, source: Option<&[u8]>) {
        let Some(source) = source else { return };
        if let Some(word) = word(source) {
            self.source = Some(String::from_utf8_lossy(word).into());
            return;
        }
        let Ok(tree) = JsonTree::parse(source) else { return };
        let inner = tree.get("subagent").or_else(|| tree.get("internal"));
        self.is_subagent |= inner.is_some();
        self.source =
            tree.as_object().and_then(|fields| fields.first()).map(|(key, _)| key.as_str().into());
        let spawn = inner.and_then(|inner| inner.get("thread_spawn"));
        let parent = spawn.and_then(|spawn| spawn.text("parent_thread_id"));
        self.parent = self.parent.take().or_else(|| parent.map(Into::into));
        let said = |key: &str| spawn.and_then(|spawn| spawn.text(key)).map(str::to_owned);
        let kind = || said("agent_role").or_else(|| said("agent_type"));
        self.agent = self.agent.take().or_else(|| note(kind(), said("agent_nickname")));
    }

    /// Returns the facts that all sources have.
    pub(super) fn head(&self, updated: Option<i64>) -> Head {
        let id = |id: &Option<Box<str>>| id.as_deref().map(SessionId::new);
        Head {
            session_id: id(&self.id),
            start: self.start,
            has_copies: self.has_copies,
            updated,
            subagent: self.is_subagent,
            parent: id(&self.parent),
            agent: self.agent.clone().map(Box::new),
            name: self.name.as_deref().map(str::to_owned),
            cwd: self.cwd.as_deref().map(RecordedPath::new),
            branch: self.branch.clone(),
            entrypoint: self.entrypoint(),
            base: self.borrowed().map(Box::new),
            ..Head::default()
        }
    }

    /// Returns how it was started, if the file records it.
    fn entrypoint(&self) -> Option<Entrypoint> {
        match self.source.as_deref()? {
            "cli" => Some(Entrypoint::Terminal),
            "exec" => Some(Entrypoint::Headless),
            "vscode" => Some(Entrypoint::Ide),
            "mcp" | "custom" => Some(Entrypoint::Sdk),
            _ => None,
        }
    }

    /// Returns the thread whose start it begins with.
    fn borrowed(&self) -> Option<Base> {
        let HistoryBase { rollout, offset, ordinal } = self.base.as_ref()?;
        // A reverted thread continues an older rollout of itself, a fork continues one of the thread that it was forked from.
        let thread = self.forked_from.as_deref().unwrap_or(rollout);
        Some(Base {
            session: SessionId::new(thread),
            group: thread.into(),
            file: Some(rollout.clone()),
            end: offset.unwrap_or(u64::MAX),
            end_record: *ordinal,
        })
    }
}

fn note(kind: Option<String>, name: Option<String>) -> Option<AgentNote> {
    let said = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let note = AgentNote { kind: said(kind), name: said(name), description: None };
    (note != AgentNote::default()).then_some(note)
}

fn base(raw: &[u8]) -> Option<HistoryBase> {
    let (mut thread, mut offset, mut ordinal) = (None, None, None);
    Scanner::new(Some(raw).filter(|raw| raw.first() == Some(&b'{'))?)
        .object(|scanner, key| {
            let value = scanner.value()?;
            match key.name().as_ref() {
                b"thread_id" => thread = string(Some(value)),
                b"end_byte_offset" => offset = number(Some(value)),
                b"end_ordinal_exclusive" => ordinal = number(Some(value)),
                _ => {}
            }
            Ok(())
        })
        .ok()?;
    Some(HistoryBase { rollout: thread?.into(), offset, ordinal })
}

/// Returns the text of a member of a small object.
fn member(raw: &[u8], key: &str) -> Option<Box<str>> {
    JsonTree::parse(raw).ok()?.text(key).map(Into::into)
}

/// Returns the time in a version 7 UUID, in milliseconds.
pub(super) fn uuid_time(id: &str) -> Option<i64> {
    let bytes = id.as_bytes();
    if bytes.len() != 36 || bytes.get(14) != Some(&b'7') {
        return None;
    }
    let digits: String = id.chars().filter(|c| *c != '-').take(12).collect();
    i64::from_str_radix(&digits, 16).ok()
}
