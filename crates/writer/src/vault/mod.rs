//! The vault: packed copies of users' files in recount's data folder, for when an agent deletes them.
//!
//! Each file has one or more generations. A generation is one file of zstd frames: while the original only grows, a frame
//! with the new part is added; otherwise a new generation begins and the old one stays. The index records the valid length
//! and the SHA-256 of each generation. It is written after the data is on disk and was read back, so it never promises more
//! than exists; anything after the valid length was left by a crash, and is cut off.
//!
//! ```text
//! read the original ─► add a frame, sync ─► read the frame back ─► (next file) ─► sync the folder ─► index: one line per file, sync
//!                     └──────────── a crash here: the index does not have it, the next run does it again ────────────┘
//! ```
//!
//! Without recount, `zstd -d` unpacks any of the files, and the index shows which is which.

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
use crate::change::state::metadata;
use crate::change::{Disk, Hash, NewContent, Refusal};
use crate::{Error, Lock};

pub use index::{FileOwner, VaultCopy, VaultIndex};
pub use keep::Outcome;

pub(crate) use pack::unpacked;

/// The lock on the vault, until dropped.
#[derive(Debug)]
pub struct Vault<'a> {
    disk: &'a dyn Disk,
    /// The folder of the vault.
    folder: PathBuf,
    index: VaultIndex,
    /// Copies that are on disk, and not in the index yet.
    pending: Vec<VaultCopy>,
    now: Timestamp,
    _turn: Option<Lock>,
}

impl<'a> Vault<'a> {
    /// Waits for the lock, and creates the vault if it does not exist. `data` is recount's data folder.
    ///
    /// # Errors
    /// [`Error::Busy`] if another run holds it for longer than `timeout`; if the vault cannot be created or read.
    pub fn open(
        disk: &'a dyn Disk,
        data: &Path,
        now: Timestamp,
        timeout: Duration,
    ) -> Result<Self, Error> {
        crate::create_private_folder(data)?;
        let turn = crate::lock(&data.join("vault"), timeout)?;
        if !turn.is_held() {
            return Err(Refusal::NoLocks { path: data.to_owned() }.into());
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
            if metadata(disk, inner)?.is_none() {
                make_private(disk, inner)?;
                sync(disk, outer)?;
            }
        }
        let index = VaultIndex::read(disk, data)?;
        Ok(Self { disk, folder, index, pending: Vec::new(), now, _turn: turn })
    }

    /// Returns the index.
    pub fn index(&self) -> &VaultIndex {
        &self.index
    }

    fn data_of(&self, copy: &VaultCopy) -> PathBuf {
        place(&self.folder, &copy.file, copy.generation)
    }
}

impl VaultCopy {
    /// Returns the content of this copy, to be used in a plan. `data` is recount's data folder.
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
