//! Leaves out sessions that a process uses.

use std::sync::Arc;

use recount_engine::SessionOwner;
use recount_model::SessionFacts;
use recount_writer::Error as WriteError;
use recount_writer::change::Refusal;

use crate::{Changes, Error};

impl Changes<'_> {
    /// Returns the ids of the sessions that no process uses, and who uses the others.
    ///
    /// # Errors
    /// If all of them are used.
    pub fn not_running(
        self,
        chosen: &[Arc<SessionFacts>],
    ) -> Result<(Vec<String>, Vec<SessionOwner>), Error> {
        let owners = self.engine.owners(chosen);
        let (mut ids, mut used) = (Vec::new(), Vec::new());
        for facts in chosen {
            match owners.iter().find(|owner| owner.session == facts.id) {
                Some(owner) => used.push(owner.clone()),
                None => ids.push(facts.id.as_str().to_owned()),
            }
        }
        match used.last() {
            Some(SessionOwner { session, process }) if ids.is_empty() => {
                let refusal = Refusal::Live { session: session.to_string(), process: *process };
                Err(WriteError::Refused(refusal).into())
            }
            _ => Ok((ids, used)),
        }
    }
}
