//! What the plans of all commands share.

use std::path::Path;
use std::sync::Arc;

use recount_formats::edit::Patch;
use recount_formats::{OwnForm, SOURCES, Source};
use recount_model::{FileRole, SessionFacts, SessionId, SessionKind, SourceName};
use recount_writer::change::{Content, Plan, Subject};

use crate::sessions::list::{Listing, Query};
use crate::snapshot::survey::Progress;
use crate::{Engine, Error};

/// The agent takes files for one session by so many characters of the id when it cleans up.
const TELLING: usize = 8;

impl Engine {
    /// Returns a plan without steps that may change files below the agents' folders.
    pub(crate) fn blank_plan(&self, command: &str) -> Plan {
        Plan::new(command, self.roots.iter().map(|root| root.path.clone()).collect())
    }

    /// Finds the session that an argument names, among all: its files are known by the ids in them, whatever their names say.
    /// What goes with something else is not taken on its own; `done` is what would be done to it, in words.
    pub(crate) fn chosen(
        &self,
        wanted: &str,
        done: &str,
        progress: &dyn Progress,
    ) -> Result<(Arc<SessionFacts>, Listing), Error> {
        let opened = self.open(wanted, progress)?;
        if opened.is_saved() {
            let why = format!("a saved chat cannot be {done}: it is no session of its own");
            return Err(Error::Declined(why));
        }
        let id = opened.facts.id;
        let listing = self.list(&Query::default(), progress)?;
        let facts = listing.sessions.iter().find(|facts| facts.id == id).cloned();
        let facts = facts.ok_or_else(|| Error::NoSession(id.to_string()))?;
        if facts.kind == SessionKind::Subagent {
            let whose = facts.parent.as_ref().map(|parent| format!(" {}", parent.short()));
            let whose = whose.unwrap_or_default();
            let why = format!(
                "{} is a sub-agent, which cannot be {done} on its own: it belongs to the session{whose} that ran it",
                id.short()
            );
            return Err(Error::Declined(why));
        }
        Ok((facts, listing))
    }

    /// Returns an id for a new session that begins like that of no other.
    pub(crate) fn new_id(&self, form: &dyn OwnForm, sessions: &[Arc<SessionFacts>]) -> SessionId {
        let now = self.clock.now().as_nanosecond();
        let is_free = |id: &SessionId| {
            let start = |id: &SessionId| id.as_str().chars().take(TELLING).collect::<String>();
            let own = start(id);
            sessions.iter().all(|facts| start(&facts.id) != own)
        };
        let mut ids = (0_u32..).map(|number| form.made_up_id(&format!("{now} {number}")));
        ids.find(is_free).unwrap_or_else(|| form.made_up_id(&now.to_string()))
    }
}

/// Returns the agent of this name.
pub(crate) fn source(name: SourceName) -> Result<&'static dyn Source, Error> {
    let source = SOURCES.iter().find(|source| source.name() == name);
    source.copied().ok_or_else(|| Error::Declined(format!("{name} is no agent that we know")))
}

/// Returns what will be in a file when bytes of it are replaced; the others are copied.
pub(crate) fn patched(file: &Path, patches: &[Patch]) -> Content {
    let mut content = Content::default();
    let mut at = 0;
    for Patch { at: place, bytes, with } in patches {
        content = content.then_stretch(file, at, place - at).then_bytes(with.clone());
        at = place + bytes;
    }
    content.then_stretch(file, at, u64::MAX)
}

/// Names a session in a plan.
pub(crate) fn subject(facts: &SessionFacts) -> Subject {
    Subject {
        source: facts.source.to_string(),
        id: facts.id.as_str().to_owned(),
        title: facts.title.clone(),
        project: facts.project.path.as_ref().map(|path| path.as_str().to_owned()),
    }
}

/// Says what a file is to its session.
pub(crate) fn role(role: FileRole) -> &'static str {
    match role {
        FileRole::Main => "session",
        FileRole::Part => "part",
        FileRole::Copy => "copy",
        FileRole::Twin => "twin",
        FileRole::Stub => "stub",
        FileRole::Unreadable => "unreadable",
    }
}
