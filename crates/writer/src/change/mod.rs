//! The door: how users' data changes, and how it comes back.
//!
//! A [`Plan`] says what every file is before and after, and changes nothing. [`Plan::approve`] refuses it while somebody works
//! in its sessions, when a file is not what it was, lies outside of the agents' folders, or there is no room. Only what is
//! [`Approved`] can be carried out, by [`Door::apply`], which leaves a receipt: a journal with the plan, and copies of all that
//! was replaced or removed. [`History::undo`] makes a plan that turns a receipt around, byte for byte.
//!
//! ```text
//! plan ─► approve ─► journal: plan ─► copies, new files beside their places ─► journal: prepared ─► rename, remove ─► journal: done
//!                    └──────── a crash here: taken back ─────────────────────┘└──── a crash here: finished, or taken back ────┘
//! ```
//!
//! Whoever holds a [`Door`] has the turn: of two runs at once, one waits. So a change that is not ended when the door is
//! opened was cut short by a crash, and [`Door::recover`] ends it.

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
pub use content::{Content, Likeness, Make};
pub use disk::{Disk, Held, Kind, Look, NewFile};
pub use journal::{End, Entry};
pub use plan::{About, Folder, Plan, Step, Subject, Undoes};
pub use recover::Recovered;
pub use refusal::{Refusal, Spent};
pub use state::{Hash, State};
pub use undo::History;

use journal::Journal;

/// How long a run waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// The turn at users' data, until dropped.
#[derive(Debug)]
pub struct Door<'a> {
    disk: &'a dyn Disk,
    /// Our data folder, in which journals and copies lie.
    data: &'a Path,
    now: Timestamp,
    _turn: Option<Lock>,
}

impl<'a> Door<'a> {
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
