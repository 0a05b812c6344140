//! The change pipeline: how users' data is changed and restored.
//!
//! A [`Plan`] lists every file before and after, and changes nothing. [`Plan::approve`] refuses it while somebody uses its
//! sessions, or if a file has changed, is outside the agents' folders, or there is not enough disk space. Only an
//! [`Approved`] plan can be carried out, by [`ChangeLock::apply`], which leaves a receipt: a journal with the plan, and
//! copies of all files that were replaced or removed. [`History::undo`] makes a plan that reverts a receipt, byte for byte.
//!
//! ```text
//! plan ─► approve ─► journal: plan ─► copies, new files beside their places ─► journal: prepared ─► rename, remove ─► journal: done
//!                    └──────── a crash here: rolled back ────────────────────┘└──── a crash here: finished, or rolled back ───┘
//! ```
//!
//! Only the holder of the [`ChangeLock`] may make changes: of two concurrent runs, one waits. So an unfinished change that
//! is found when the lock is taken was interrupted by a crash, and [`ChangeLock::recover`] finishes it or rolls it back.

mod agent_locks;
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
mod undo;

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use crate::{Error, Lock};

pub use approve::{Approved, Owner};
pub use content::{Likeness, Make, NewContent};
pub use disk::{Disk, FileKind, FileMetadata, HeldFile, NewFile};
pub use journal::{JournalEnd, JournalEntry};
pub use plan::{ChangeDetails, Folder, Plan, Step, Subject, UndoneSteps};
pub use recover::Recovered;
pub use refusal::{NotUndoableReason, Refusal};
pub use state::{FileState, Hash};
pub use undo::History;

use journal::Journal;

/// How long a run waits for the lock.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The lock on users' data, until dropped.
#[derive(Debug)]
pub struct ChangeLock<'a> {
    disk: &'a dyn Disk,
    /// recount's data folder, with the journals and copies.
    data: &'a Path,
    now: Timestamp,
    _turn: Option<Lock>,
}

impl<'a> ChangeLock<'a> {
    /// Waits for the lock. `data` is recount's data folder, `now` the time to record.
    ///
    /// # Errors
    /// [`Error::Busy`] if another run holds it for long, [`Refusal::NoLocks`] where locks are not supported.
    pub fn open(disk: &'a dyn Disk, data: &'a Path, now: Timestamp) -> Result<Self, Error> {
        crate::create_private_folder(data)?;
        let turn = crate::lock(&data.join("changes"), TIMEOUT)?;
        if !turn.is_held() {
            return Err(Refusal::NoLocks { path: data.to_owned() }.into());
        }
        Ok(Self { disk, data, now, _turn: Some(turn) })
    }

    /// Returns recount's data folder.
    pub fn data(&self) -> &Path {
        self.data
    }

    fn journal(&self) -> Journal<'a> {
        Journal { disk: self.disk, data: self.data }
    }
}
