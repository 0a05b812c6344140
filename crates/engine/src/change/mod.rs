//! Changes to users' data: planned here, carried out by the writer's door, told from its journals.

mod carry;
pub(crate) mod common;
mod compact;
mod convert;
mod delete;
mod edition;
mod examine;
mod fork;
mod merge;
mod moving;
mod owners;
mod prune;
mod relocate;
mod rename;
mod repair;
mod restore;
mod resurrect;
mod revision;
mod sight;
mod told;
mod trim;

use std::collections::BTreeSet;

use recount_writer::change::{Door, Entry, History, Owner, Plan};
use recount_writer::{Error as WriteError, RealDisk};

use crate::sessions::list::Query;
use crate::snapshot::survey::Progress;
use crate::{Engine, Error};

pub use compact::Compaction;
pub use fork::Fork;
pub use merge::Merge;
pub use prune::Prune;
pub use recount_writer::change::{Recovered, Refusal, State, Step, Subject};
pub(crate) use repair::{examine_all, words};
pub use resurrect::Resurrectable;
pub use told::{Change, ChangeState, Trashed};
pub use trim::{Trim, Turn, TurnAt};

/// A change that was made.
#[derive(Clone, Debug)]
pub struct Made {
    /// Its receipt, which undoes it.
    pub receipt: String,
    /// What had been cut short and was ended first.
    pub recovered: Vec<Recovered>,
}

impl Engine {
    /// Finishes or takes back what a crash has cut short, if anything was.
    ///
    /// # Errors
    /// If that does not work, or our data folder cannot be used.
    pub fn recover(&self, progress: &dyn Progress) -> Result<Vec<Recovered>, Error> {
        // Nothing is written, not even for a turn, when there is nothing to do.
        if !self.is_cut_short()? {
            return Ok(Vec::new());
        }
        let sessions = self.list(&Query::default(), progress)?.sessions;
        let owners = self.owners(&sessions);
        let door = Door::open(&RealDisk, self.data()?, self.clock.now())?;
        Ok(door.recover(&|plan| is_owned(plan, &owners))?)
    }

    /// Whether a crash has cut a change short.
    ///
    /// # Errors
    /// If the journals cannot be read.
    pub fn is_cut_short(&self) -> Result<bool, Error> {
        Ok(self.folders.data.is_some() && self.changes_made()?.is_cut_short())
    }

    /// Carries out a plan, unless somebody is working in its sessions, a file has changed, or there is no room.
    ///
    /// # Errors
    /// What was refused, or what went wrong; then all was taken back.
    pub fn carry_out(&self, plan: Plan, progress: &dyn Progress) -> Result<Made, Error> {
        self.carry_out_beside(plan, None, progress)
    }

    /// The same, asked by an agent that works in the session `own` and has said which file of it it uses.
    pub(crate) fn carry_out_beside(
        &self,
        plan: Plan,
        own: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Made, Error> {
        let data = self.data()?;
        if let Some(root) = self.roots.iter().find(|root| data.starts_with(&root.path)) {
            return Err(Error::AgentsFolder(root.path.clone()));
        }
        let door = Door::open(&RealDisk, data, self.clock.now())?;
        let sessions = self.list(&Query::default(), progress)?.sessions;
        let mut owners = self.owners(&sessions);
        owners.retain(|owner| Some(owner.session.as_str()) != own);
        let recovered = door.recover(&|plan| is_owned(plan, &owners))?;
        let approved = plan.approve(&RealDisk, &owners, data)?;
        Ok(Made { receipt: door.apply(&approved)?, recovered })
    }

    /// Plans to take a change back: the last one if none is named.
    ///
    /// # Errors
    /// If there is no such change, or it cannot be undone.
    pub fn undo_plan(&self, receipt: Option<&str>) -> Result<Plan, Error> {
        let history = self.changes_made()?;
        let entry = history.find(receipt)?;
        Ok(history.undo(&RealDisk, self.data()?, entry, |_| true)?)
    }

    /// Plans to bring a session back from the trash: the last one that was deleted if none is named.
    ///
    /// # Errors
    /// If there is none, or several, or something lies in its place.
    fn untrash_plan(&self, wanted: Option<&str>) -> Result<Plan, Error> {
        let trash = self.trash()?;
        let id = match wanted {
            Some(wanted) => pick(trash.iter().map(|item| item.session.id.as_str()), wanted)?
                .ok_or_else(|| Error::NotInTrash(wanted.to_owned()))?,
            None => trash.first().map(|last| last.session.id.clone()).ok_or(Error::EmptyTrash)?,
        };
        let receipt = trash.iter().find(|item| item.session.id == id).map(|item| &item.receipt);
        let history = self.changes_made()?;
        let entry = history.find(receipt.map(String::as_str))?;
        let is_its = |step: &Step| step.session.as_ref() == Some(&id);
        let mut plan = history.undo(&RealDisk, self.data()?, entry, is_its)?;
        "restore".clone_into(&mut plan.command);
        Ok(plan)
    }

    /// Throws away what is in the trash, or what of it was there before a moment. Returns how many changes cannot be undone
    /// any more.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub fn empty_trash(&self, before: Option<jiff::Timestamp>) -> Result<usize, Error> {
        let door = Door::open(&RealDisk, self.data()?, self.clock.now())?;
        let history = self.changes_made()?;
        let is_old = |time| before.is_none_or(|before| time < before);
        let old = |entry: &&Entry| {
            let keeps = |number: &usize| {
                entry.plan.steps.get(*number).is_some_and(|step| step.before.is_some())
            };
            is_old(entry.time) && !entry.emptied && history.in_force(entry).iter().any(keeps)
        };
        let entries: Vec<_> = history.changes().iter().filter(old).cloned().collect();
        door.empty(&entries)?;
        Ok(entries.len())
    }

    fn changes_made(&self) -> Result<History, Error> {
        Ok(History::read(&RealDisk, self.data()?)?)
    }

    pub(crate) fn data(&self) -> Result<&std::path::Path, Error> {
        self.folders.data.as_deref().ok_or(Error::NoDataFolder)
    }
}

fn is_owned(plan: &Plan, owners: &[Owner]) -> bool {
    plan.sessions.iter().any(|subject| owners.iter().any(|owner| owner.session == subject.id))
}

/// Finds the one of some ids that begins like this.
fn pick<'a>(ids: impl Iterator<Item = &'a str>, wanted: &str) -> Result<Option<String>, Error> {
    if wanted.chars().count() < crate::sessions::select::SHORTEST {
        return Err(Error::TooShort(wanted.to_owned()));
    }
    let like: BTreeSet<&str> = ids.filter(|id| id.starts_with(wanted)).collect();
    let mut all = like.iter();
    match (like.get(wanted), all.next(), all.next()) {
        (Some(id), ..) | (None, Some(id), None) => Ok(Some((*id).to_owned())),
        (None, None, _) => Ok(None),
        (None, Some(_), Some(_)) => Err(Error::Write(WriteError::ManyReceipts(wanted.to_owned()))),
    }
}
