//! Which sessions are shown by default: one rule for every view.

use std::sync::Arc;

use recount_model::{SessionFacts, SessionKind};

use crate::sessions::list::Listing;

/// What is shown besides conversations of humans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visibility {
    /// Whether sessions started by another session are shown.
    pub subagents: bool,
    /// Whether sessions without a conversation are shown, even without problems.
    pub empty: bool,
}

/// Why a session is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// Another session started it.
    Subagent,
    /// It has no conversation.
    Empty,
}

/// The visible sessions of a list, and the number of hidden ones.
#[derive(Clone, Debug, Default)]
pub struct Visible {
    /// The visible ones.
    pub sessions: Vec<Arc<SessionFacts>>,
    /// The number of those hidden because another session started them.
    pub subagents: u64,
    /// The number of those hidden because they have no conversation.
    pub empty: u64,
}

impl Visibility {
    /// Everything is shown.
    pub const ALL: Self = Self { subagents: true, empty: true };

    /// Returns why a session is hidden, if it is.
    pub fn hides(self, session: &SessionFacts) -> Option<Hidden> {
        let is_subagent = session.kind == SessionKind::Subagent;
        let shown = (self.subagents || !is_subagent)
            && (self.empty || !session.is_empty() || session.problems > 0);
        let why = if is_subagent { Hidden::Subagent } else { Hidden::Empty };
        (!shown).then_some(why)
    }
}

impl Listing {
    /// Returns the visible part of the list: at most `limit` sessions.
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
