//! Journals of changes: one file per change in `journal/` of recount's data folder, one record per line.
//!
//! A line counts once its line break is on disk; an incomplete line is not a record. The first record is the plan, and is
//! on disk before anything else is touched.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::disk::Disk;
use super::plan::Plan;
use super::state::metadata;
use crate::Error;

/// Raised when records change so that an older release would misread them.
const FORMAT: u32 = 1;
/// A larger journal is damaged.
const MOST: u64 = 1024 * 1024 * 1024;

/// One line of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub(crate) enum Record {
    /// The plan.
    Plan { format: u32, time: Timestamp, plan: Box<Plan> },
    /// All old files are copied, all new ones are staged: from here on the change can be finished.
    Prepared,
    /// The change is made.
    Done { time: Timestamp },
    /// The change was rolled back.
    TakenBack { time: Timestamp, why: String, left: Vec<PathBuf> },
    /// The copies for undo are being deleted.
    Emptied { time: Timestamp },
}

/// One change in its journal.
#[derive(Clone, Debug)]
pub struct JournalEntry {
    /// Its receipt.
    pub id: String,
    /// When it was begun.
    pub time: Timestamp,
    /// What was planned.
    pub plan: Plan,
    /// How far it got.
    pub end: JournalEnd,
    /// Whether the copies for undo have been deleted.
    pub emptied: bool,
}

/// How far a change got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalEnd {
    /// It was begun, and none of it is in place yet.
    Begun,
    /// Everything is staged or in place.
    Prepared,
    /// It is made.
    Done,
    /// It was rolled back, except for files that others have changed meanwhile.
    TakenBack {
        /// Why.
        why: String,
        /// Files that were left as others had changed them.
        left: Vec<PathBuf>,
    },
}

/// All journals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    /// Those that could be read, the oldest first.
    pub(crate) known: Vec<JournalEntry>,
    /// Files that are not valid journals, or are from a newer release, and why.
    pub(crate) damaged: Vec<(PathBuf, String)>,
    /// Files whose first line is incomplete: nothing was done.
    pub(crate) incomplete: Vec<PathBuf>,
}

/// The journals of a data folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Journal<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) data: &'a Path,
}

impl Journal<'_> {
    /// Journals a plan, and returns the receipt's id.
    pub(crate) fn begin(&self, plan: &Plan, now: Timestamp) -> Result<String, Error> {
        let folder = self.folder();
        for (inner, outer) in [(self.data, self.data.parent()), (&folder, Some(self.data))] {
            if metadata(self.disk, inner)?.is_none() {
                make_private(self.disk, inner)?;
                outer.map_or(Ok(()), |outer| sync(self.disk, outer))?;
            }
        }
        let first = now.strftime("%Y%m%d-%H%M%S").to_string();
        let mut id = first.clone();
        let mut number = 1;
        while metadata(self.disk, &self.file(&id))?.is_some() {
            number += 1;
            id = format!("{first}-{number}");
        }
        let plan = Box::new(plan.clone());
        let written = self.append(&id, &Record::Plan { format: FORMAT, time: now, plan });
        let written = written.and_then(|()| sync(self.disk, &folder));
        if let Err(error) = written {
            // Nothing has been done yet, so no record is needed.
            let _gone = self.disk.remove(&self.file(&id));
            return Err(error);
        }
        Ok(id)
    }

    pub(crate) fn append(&self, id: &str, record: &Record) -> Result<(), Error> {
        let path = self.file(id);
        let failed = |source| Error::WriteFile { path: path.clone(), source };
        let line = serde_json::to_vec(record).map_err(|error| failed(error.into()))?;
        self.disk.append_line(&path, &line).map_err(failed)
    }

    /// Reads all journals.
    pub(crate) fn entries(&self) -> Result<Entries, Error> {
        let folder = self.folder();
        let mut entries = Entries::default();
        if metadata(self.disk, &folder)?.is_none() {
            return Ok(entries);
        }
        let unread = |source| Error::ReadFile { path: folder.clone(), source };
        for path in self.disk.list(&folder).map_err(unread)? {
            if path.extension().is_none_or(|ending| ending != "jsonl") {
                continue;
            }
            match self.entry(&path)? {
                Reading::Entry(entry) => entries.known.push(*entry),
                Reading::Stillborn => entries.incomplete.push(path),
                Reading::Damaged(why) => entries.damaged.push((path, why)),
            }
        }
        entries.known.sort_by_key(|entry| (entry.time, entry.id.len(), entry.id.clone()));
        Ok(entries)
    }

    fn entry(&self, path: &Path) -> Result<Reading, Error> {
        let unread = |source| Error::ReadFile { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        let input = self.disk.read(path).map_err(unread)?;
        input.take(MOST).read_to_end(&mut bytes).map_err(unread)?;
        // Anything after the last line break is incomplete.
        let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        lines.pop();
        let Some((first, rest)) = lines.split_first() else { return Ok(Reading::Stillborn) };
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let mut entry = match serde_json::from_slice(first) {
            Ok(Record::Plan { format: FORMAT, time, plan }) => JournalEntry {
                id: id.unwrap_or_default(),
                time,
                plan: *plan,
                end: JournalEnd::Begun,
                emptied: false,
            },
            Ok(Record::Plan { format, .. }) => {
                return Ok(Reading::Damaged(format!(
                    "written in form {format} by a newer release"
                )));
            }
            Ok(_) => return Ok(Reading::Damaged("begins without a plan".to_owned())),
            Err(error) => return Ok(Reading::Damaged(error.to_string())),
        };
        // A line that is not a record was cut short by a crash: it was written again.
        for record in rest.iter().filter_map(|line| serde_json::from_slice(line).ok()) {
            match record {
                Record::Plan { .. } => {}
                Record::Prepared => entry.end = JournalEnd::Prepared,
                Record::Done { .. } => entry.end = JournalEnd::Done,
                Record::TakenBack { why, left, .. } => {
                    entry.end = JournalEnd::TakenBack { why, left }
                }
                Record::Emptied { .. } => entry.emptied = true,
            }
        }
        Ok(Reading::Entry(Box::new(entry)))
    }

    fn folder(&self) -> PathBuf {
        self.data.join("journal")
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder().join(format!("{id}.jsonl"))
    }
}

enum Reading {
    Entry(Box<JournalEntry>),
    Stillborn,
    Damaged(String),
}

/// Creates a private folder of recount's own.
pub(crate) fn make_private(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    disk.make_folder(path, Some(0o700))
        .map_err(|source| Error::CreateFolder { path: path.to_owned(), source })
}

/// Syncs the names in a folder.
pub(crate) fn sync(disk: &dyn Disk, folder: &Path) -> Result<(), Error> {
    disk.sync_folder(folder).map_err(|source| Error::SyncFolder { path: folder.to_owned(), source })
}
