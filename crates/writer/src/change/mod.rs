//! The change pipeline: how users' data changes, and how it comes back.
//!
//! A [`Plan`] says what every file is before and after, and changes nothing. [`Plan::approve`] refuses it while somebody works
//! in its sessions, when a file is not what it was, is outside the agents' folders, or there is no room. Only what is
//! [`Approved`] can be carried out, by [`ChangeLock::apply`], which leaves a receipt: a journal with the plan, and copies of all that
//! was replaced or removed. [`History::undo`] makes a plan that turns a receipt around, byte for byte.
//!
//! ```text
//! plan ─► approve ─► journal: plan ─► copies, new files beside their places ─► journal: prepared ─► rename, remove ─► journal: done
//!                    └──────── a crash here: taken back ─────────────────────┘└──── a crash here: finished, or taken back ────┘
//! ```
//!
//! Whoever holds a [`ChangeLock`] has the turn: of two runs at once, one waits. So a change that is not ended when the change pipeline is
//! opened was cut short by a crash, and [`ChangeLock::recover`] ends it.

pub(crate) mod apply;
mod approve;
pub(crate) mod content;
mod disk;
pub(crate) mod journal;
mod late;
mod places;
mod plan;
mod recover;
mod refusal;
pub(crate) mod state;
#[cfg(test)]
pub(crate) mod tests;
mod trash;
mod turns;
mod undo;

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use crate::{Error, Lock};

pub use approve::{Approved, Owner};
pub use content::{Likeness, Make, NewContent};
pub use disk::{Disk, FileKind, HeldFile, Look, NewFile};
pub use journal::{JournalEnd, JournalEntry};
pub use plan::{ChangeDetails, Folder, Plan, Step, Subject, Undoes};
pub use recover::Recovered;
pub use refusal::{Refusal, Spent};
pub use state::{FileState, Hash};
pub use undo::History;

use journal::Journal;

/// How long a run waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// The turn at users' data, until dropped.
#[derive(Debug)]
pub struct ChangeLock<'a> {
    disk: &'a dyn Disk,
    /// Our data folder, in which journals and copies lie.
    data: &'a Path,
    now: Timestamp,
    _turn: Option<Lock>,
}

impl<'a> ChangeLock<'a> {
    /// Waits for the turn. `data` is our data folder, `now` the time that is written down.
    ///
    /// # Errors
    /// [`Error::Busy`] when another run has it for long, [`Refusal::NoTurns`] where runs cannot take turns.
    pub fn open(disk: &'a dyn Disk, data: &'a Path, now: Timestamp) -> Result<Self, Error> {
        crate::create_private_folder(data)?;
        let turn = crate::lock(&data.join("door"), PATIENCE)?;
        if !turn.is_held() {
            return Err(Refusal::NoTurns { path: data.to_owned() }.into());
        }
        Ok(Self { disk, data, now, _turn: Some(turn) })
    }

    /// Returns our data folder.
    pub fn data(&self) -> &Path {
        self.data
    }

    fn journal(&self) -> Journal<'a> {
        Journal { disk: self.disk, data: self.data }
    }
}
