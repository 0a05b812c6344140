//! The index of the vault: one line per change; the last one about a generation counts.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::folder;
use crate::Error;
use crate::change::state::metadata;
use crate::change::{Disk, Hash};

/// The index of this format version. One of another version has another name, and is left alone.
const NAME: &str = "index-1.jsonl";

/// A kept copy: one generation of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VaultCopy {
    /// The path of the file, which may no longer exist.
    pub file: PathBuf,
    /// The number of the generation, from 1.
    pub generation: u32,
    /// Its size.
    pub bytes: u64,
    /// The SHA-256 of its bytes.
    pub hash: Hash,
    /// Its packed size.
    pub packed: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified: Option<i64>,
    /// Its permissions, where the system has them.
    pub mode: Option<u32>,
    /// When it was kept.
    pub time: Timestamp,
    /// Its owner.
    pub whose: FileOwner,
}

/// The session that a file belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOwner {
    /// The agent.
    pub source: String,
    /// The session's id.
    pub session: String,
    /// Its title.
    pub title: Option<String>,
    /// The path of its project.
    pub project: Option<String>,
    /// The role of the file in the session, for people.
    pub what: String,
    /// When the session was last used according to the file, in milliseconds.
    pub used: Option<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Record {
    Kept(Box<VaultCopy>),
    Gone { file: PathBuf, generation: u32 },
}

/// What the vault holds.
#[derive(Clone, Debug, Default)]
pub struct VaultIndex {
    copies: BTreeMap<(PathBuf, u32), VaultCopy>,
    /// Lines that are not records: cut short by a crash, or damaged.
    pub unread: usize,
}

impl VaultIndex {
    /// Reads the index; does not create one.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(disk: &dyn Disk, data: &Path) -> Result<Self, Error> {
        let path = file(&folder(data));
        let mut index = Self::default();
        if metadata(disk, &path)?.is_none() {
            return Ok(index);
        }
        let unread = |source| Error::ReadFile { path: path.clone(), source };
        let mut bytes = Vec::new();
        disk.read(&path).map_err(unread)?.read_to_end(&mut bytes).map_err(unread)?;
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(record) => index.take(record),
                Err(_) => index.unread += 1,
            }
        }
        Ok(index)
    }

    /// Returns all copies, file by file, the generations of each in order.
    pub fn copies(&self) -> impl Iterator<Item = &VaultCopy> {
        self.copies.values()
    }

    /// Returns the last generation of a file.
    pub fn newest(&self, file: &Path) -> Option<&VaultCopy> {
        let all = self.copies.range((file.to_owned(), 0)..=(file.to_owned(), u32::MAX));
        all.map(|(_, copy)| copy).next_back()
    }

    pub(super) fn take(&mut self, record: Record) {
        match record {
            Record::Kept(copy) => {
                self.copies.insert((copy.file.clone(), copy.generation), *copy);
            }
            Record::Gone { file, generation } => {
                self.copies.remove(&(file, generation));
            }
        }
    }
}

pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// Returns records as lines of the index.
pub(super) fn lines(records: &[Record]) -> Result<Vec<u8>, serde_json::Error> {
    let lines = records.iter().map(serde_json::to_vec).collect::<Result<Vec<_>, _>>()?;
    Ok(lines.join(&b'\n'))
}
