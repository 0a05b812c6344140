//! What the plans of all commands share.

use recount_formats::OwnForm;
use recount_model::{FileRole, SessionFacts, SessionId};
use recount_writer::change::{Plan, Subject};

use crate::Engine;

/// The agent takes files for one session by so many characters of the id when it cleans up.
const TELLING: usize = 8;

impl Engine {
    /// Returns a plan without steps that may change files below the agents' folders.
    pub(crate) fn blank_plan(&self, command: &str) -> Plan {
        Plan::new(command, self.roots.iter().map(|root| root.path.clone()).collect())
    }

    /// Returns an id for a new session that begins like that of no other.
    pub(crate) fn new_id(&self, form: &dyn OwnForm, sessions: &[SessionFacts]) -> SessionId {
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
