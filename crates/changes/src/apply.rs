//! Carries out plans, undoes them, and recovers interrupted ones.

use std::path::Path;
use std::sync::Arc;

use recount_engine::{Error as Unanswered, ListQuery, Progress};
use recount_model::SessionFacts;
use recount_writer::RealDisk;
use recount_writer::change::{ChangeLock, History, Owner, Plan, Recovered};

use crate::{Changes, Error, Proposal};

/// A change that was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// Its receipt, which undoes it.
    pub receipt: String,
    /// Interrupted changes that were finished or rolled back first.
    pub recovered: Vec<Recovered>,
}

impl<'e> Changes<'e> {
    /// Finishes or rolls back interrupted changes, if there are any.
    ///
    /// # Errors
    /// If that fails, or recount's data folder cannot be used.
    pub fn recover(self, progress: &dyn Progress) -> Result<Vec<Recovered>, Error> {
        // Nothing is written, not even a lock, if there is nothing to do.
        if !self.is_cut_short()? {
            return Ok(Vec::new());
        }
        let sessions = self.engine.list(&ListQuery::default(), progress)?.sessions;
        let owners = self.owners(&sessions);
        let change_lock = ChangeLock::open(&RealDisk, self.data()?, self.engine.clock().now())?;
        Ok(change_lock.recover(&|plan| is_owned(plan, &owners))?)
    }

    /// Whether a change was interrupted by a crash.
    ///
    /// # Errors
    /// If the journals cannot be read.
    pub fn is_cut_short(self) -> Result<bool, Error> {
        Ok(self.engine.folders().data.is_some() && self.changes_made()?.is_cut_short())
    }

    /// Carries out a plan, unless somebody uses its sessions, a file has changed, or there is not enough disk space.
    ///
    /// # Errors
    /// A refusal, or the cause of a failure; then everything was rolled back.
    pub fn carry_out(self, plan: Plan, progress: &dyn Progress) -> Result<Made, Error> {
        self.carry_out_beside(plan, None, progress)
    }

    /// The same, on behalf of an agent that uses the session `own` and has reported its file.
    pub(crate) fn carry_out_beside(
        self,
        plan: Plan,
        own: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Made, Error> {
        let data = self.data_apart()?;
        let change_lock = ChangeLock::open(&RealDisk, data, self.engine.clock().now())?;
        let sessions = self.engine.list(&ListQuery::default(), progress)?.sessions;
        let mut owners = self.owners(&sessions);
        owners.retain(|owner| Some(owner.session.as_str()) != own);
        let recovered = change_lock.recover(&|plan| is_owned(plan, &owners))?;
        let approved = plan.approve(&RealDisk, &owners, data)?;
        Ok(Made { receipt: change_lock.apply(&approved)?, recovered })
    }

    /// Plans to undo a change: the last one if none is given.
    ///
    /// # Errors
    /// If there is no such change, or it cannot be undone.
    pub fn undo_plan(self, receipt: Option<&str>) -> Result<Proposal, Error> {
        let history = self.changes_made()?;
        let entry = history.find(receipt)?;
        Ok(history.undo(&RealDisk, self.data()?, entry, |_| true)?.into())
    }

    pub(crate) fn changes_made(self) -> Result<History, Error> {
        Ok(History::read(&RealDisk, self.data()?)?)
    }

    /// Returns recount's own data folder.
    pub(crate) fn data(self) -> Result<&'e Path, Error> {
        Ok(self.engine.own_data()?)
    }

    /// Returns recount's own data folder, which must not be an agent's.
    pub(crate) fn data_apart(self) -> Result<&'e Path, Error> {
        let data = self.data()?;
        let holds = |path: &Path| data.starts_with(path);
        match self.engine.data_folders().iter().find(|root| holds(&root.path)) {
            Some(root) => Err(Unanswered::AgentsFolder(root.path.clone()).into()),
            None => Ok(data),
        }
    }

    /// Returns the processes that may use these sessions.
    pub(crate) fn owners(self, sessions: &[Arc<SessionFacts>]) -> Vec<Owner> {
        let owners = self.engine.owners(sessions).into_iter();
        let owner = |owner: recount_engine::SessionOwner| Owner {
            session: owner.session.to_string(),
            process: owner.process,
        };
        owners.map(owner).collect()
    }
}

fn is_owned(plan: &Plan, owners: &[Owner]) -> bool {
    plan.sessions.iter().any(|subject| owners.iter().any(|owner| owner.session == subject.id))
}
