//! What the vault holds: one line per change, the last one about a generation counts.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::folder;
use crate::Error;
use crate::change::state::look;
use crate::change::{Disk, Hash};

/// The index of this form. One of another form has another name, and is left alone.
const NAME: &str = "index-1.jsonl";

/// A kept copy: one generation of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// Where the file lies, or lay.
    pub file: PathBuf,
    /// Which of its generations, counted from 1.
    pub generation: u32,
    /// Its size.
    pub bytes: u64,
    /// The SHA-256 of its bytes.
    pub hash: Hash,
    /// How many packed bytes it takes.
    pub packed: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified: Option<i64>,
    /// Its permissions, where the system has such.
    pub mode: Option<u32>,
    /// When it was kept.
    pub time: Timestamp,
    /// Whose it is.
    pub whose: Whose,
}

/// The session that a file belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whose {
    /// The agent.
    pub source: String,
    /// The session's id.
    pub session: String,
    /// Its title.
    pub title: Option<String>,
    /// The path of its project.
    pub project: Option<String>,
    /// What the file is to the session, for people.
    pub what: String,
    /// When a session file says it was last used, in milliseconds.
    pub used: Option<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Record {
    Kept(Box<Holding>),
    Gone { file: PathBuf, generation: u32 },
}

/// What the vault holds.
#[derive(Clone, Debug, Default)]
pub struct VaultIndex {
    holdings: BTreeMap<(PathBuf, u32), Holding>,
    /// Lines that are no records: what a crash left of one, or damage.
    pub unread: usize,
}

impl VaultIndex {
    /// Reads the index; nothing is made if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(disk: &dyn Disk, data: &Path) -> Result<Self, Error> {
        let path = file(&folder(data));
        let mut index = Self::default();
        if look(disk, &path)?.is_none() {
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

    /// All copies, file by file, the generations of each in their order.
    pub fn holdings(&self) -> impl Iterator<Item = &Holding> {
        self.holdings.values()
    }

    /// The last generation of a file.
    pub fn newest(&self, file: &Path) -> Option<&Holding> {
        let all = self.holdings.range((file.to_owned(), 0)..=(file.to_owned(), u32::MAX));
        all.map(|(_, holding)| holding).next_back()
    }

    pub(super) fn take(&mut self, record: Record) {
        match record {
            Record::Kept(holding) => {
                self.holdings.insert((holding.file.clone(), holding.generation), *holding);
            }
            Record::Gone { file, generation } => {
                self.holdings.remove(&(file, generation));
            }
        }
    }
}

pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// Lines of the index.
pub(super) fn lines(records: &[Record]) -> Result<Vec<u8>, serde_json::Error> {
    let lines = records.iter().map(serde_json::to_vec).collect::<Result<Vec<_>, _>>()?;
    Ok(lines.join(&b'\n'))
}
