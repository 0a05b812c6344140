//! Which sessions are shown when nobody asks for all: one rule for every view.

use std::sync::Arc;

use recount_model::{SessionFacts, SessionKind};

use crate::sessions::list::Listing;

/// What is shown beside conversations that humans had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visibility {
    /// Whether sessions are shown that another session started.
    pub subagents: bool,
    /// Whether sessions are shown in which nothing was said, even if nothing is wrong with them.
    pub empty: bool,
}

/// Why a session is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// Another session started it.
    Subagent,
    /// Nothing was said in it.
    Empty,
}

/// The sessions of a list that are shown, and how many are not.
#[derive(Clone, Debug, Default)]
pub struct Visible {
    /// Those that are shown.
    pub sessions: Vec<Arc<SessionFacts>>,
    /// How many are not, because another session started them.
    pub subagents: u64,
    /// How many are not, because nothing was said in them.
    pub empty: u64,
}

impl Visibility {
    /// Everything is shown.
    pub const ALL: Self = Self { subagents: true, empty: true };

    /// Says why a session is not shown, if it is not.
    pub fn hides(self, session: &SessionFacts) -> Option<Hidden> {
        let is_subagent = session.kind == SessionKind::Subagent;
        let shown = (self.subagents || !is_subagent)
            && (self.empty || !session.is_empty() || session.problems > 0);
        let why = if is_subagent { Hidden::Subagent } else { Hidden::Empty };
        (!shown).then_some(why)
    }
}

impl Listing {
    /// Returns what is shown of the list: no more than `limit` sessions.
    pub fn visible(&self, visibility: Visibility, limit: Option<usize>) -> Visible {
        let mut visible = Visible::default();
        let limit = limit.unwrap_or(usize::MAX);
        for session in &self.sessions {
            match visibility.hides(session) {
                Some(Hidden::Subagent) => visible.subagents += 1,
                Some(Hidden::Empty) => visible.empty += 1,
                None if visible.sessions.len() < limit => {
                    visible.sessions.push(Arc::clone(session));
                }
                None => {}
            }
        }
        visible
    }
}
