//! The vault: packed copies of users' files in our data folder, for when an agent deletes them.
//!
//! Each file has one generation after another. A generation is one file of zstd frames: while the original only grows, a frame with
//! what is new is added; when it is anything else, a new generation begins and the old one stays. The index says how much of which
//! generation counts, with the SHA-256 of all of it. It is written after the data is on disk and was read back, so it
//! never promises more than there is; whatever lies behind what it says was left by a crash, and is cut off.
//!
//! ```text
//! read the original ─► add a frame, sync ─► read the frame back ─► (next file) ─► sync the folder ─► index: one line per file, sync
//!                     └──────────── a crash here: nothing is said of it, the next run does it again ────────────┘
//! ```
//!
//! Without us, `zstd -d` unpacks any of the files, and the index says which is which.

mod index;
mod keep;
mod pack;
mod prune;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use crate::change::journal::{make_private, sync};
use crate::change::state::look;
use crate::change::{Disk, Hash, NewContent, Refusal};
use crate::{Error, Lock};

pub use index::{Holding, VaultIndex, Whose};
pub use keep::Outcome;

pub(crate) use pack::unpacked;

/// The turn at the vault, until dropped.
#[derive(Debug)]
pub struct Vault<'a> {
    disk: &'a dyn Disk,
    /// The folder of the vault.
    folder: PathBuf,
    index: VaultIndex,
    /// What is on disk, and not in the index yet.
    pending: Vec<Holding>,
    now: Timestamp,
    _turn: Option<Lock>,
}

impl<'a> Vault<'a> {
    /// Waits for the turn, and makes the vault if there is none. `data` is our data folder.
    ///
    /// # Errors
    /// [`Error::Busy`] when another run has it for longer than `patience`; if it cannot be made or read.
    pub fn open(
        disk: &'a dyn Disk,
        data: &Path,
        now: Timestamp,
        patience: Duration,
    ) -> Result<Self, Error> {
        crate::create_private_folder(data)?;
        let turn = crate::lock(&data.join("vault"), patience)?;
        if !turn.is_held() {
            return Err(Refusal::NoTurns { path: data.to_owned() }.into());
        }
        Self::found(disk, data, now, Some(turn))
    }

    fn found(
        disk: &'a dyn Disk,
        data: &Path,
        now: Timestamp,
        turn: Option<Lock>,
    ) -> Result<Self, Error> {
        let folder = folder(data);
        for (inner, outer) in [(&folder, data), (&folder.join("files"), &folder)] {
            if look(disk, inner)?.is_none() {
                make_private(disk, inner)?;
                sync(disk, outer)?;
            }
        }
        let index = VaultIndex::read(disk, data)?;
        Ok(Self { disk, folder, index, pending: Vec::new(), now, _turn: turn })
    }

    /// What the vault holds.
    pub fn index(&self) -> &VaultIndex {
        &self.index
    }

    fn data_of(&self, holding: &Holding) -> PathBuf {
        place(&self.folder, &holding.file, holding.generation)
    }
}

impl Holding {
    /// What is in this copy, to be put into a plan. `data` is our data folder.
    pub fn content(&self, data: &Path) -> NewContent {
        let place = place(&folder(data), &self.file, self.generation);
        NewContent::default().then_packed(place, self.packed)
    }
}

fn folder(data: &Path) -> PathBuf {
    data.join("vault")
}

fn place(folder: &Path, file: &Path, generation: u32) -> PathBuf {
    let name = Hash::of(file.as_os_str().as_encoded_bytes()).to_string();
    let name: String = name.chars().take(20).collect();
    folder.join("files").join(format!("{name}-{generation}.zst"))
}
