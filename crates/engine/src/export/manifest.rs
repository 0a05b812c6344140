//! The manifest of an export folder: which session is in which file, and its state when it was written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use recount_export::names::is_safe;
use recount_export::site::SiteRow;
use recount_formats::bytes::read_limited;
use serde::{Deserialize, Serialize};

use super::plan::is_in_own;
use super::transcript::below;
use crate::Error;

/// The file in the folder.
const NAME: &str = "recount-export.json";
const SCHEMA: &str = "recount.export-folder/1";
/// The maximum size that is read.
const LARGEST: u64 = 512 * 1024 * 1024;

/// The maximum number of components of a path: a table, its source, its month, its file.
const DEEPEST: usize = 4;

/// The manifest of an export folder.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Manifest {
    schema: String,
    /// The folder of each project.
    pub(super) projects: BTreeMap<String, String>,
    /// What was written, by format, source and id.
    pub(super) sessions: BTreeMap<String, Entry>,
}

/// What was written for one session.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Entry {
    /// The stamp of the session; `null` while it is being written.
    pub(super) stamp: Option<String>,
    /// The options of the export.
    pub(super) options: String,
    /// Its files, in the order of the conversation.
    pub(super) files: Vec<Written>,
    /// Its row in the index, for HTML.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) row: Option<SiteRow>,
}

/// A file that was written.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Written {
    /// Its path in the folder, with `/` between.
    pub(super) name: String,
    /// Its size.
    pub(super) bytes: u64,
}

impl Manifest {
    /// Reads the manifest of a folder; an empty one if there is none.
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(NAME);
        let text = match read_limited(&path, LARGEST) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { schema: SCHEMA.into(), ..Self::default() });
            }
            Err(source) => return Err(Error::Unreadable { path, source }),
        };
        let read = serde_json::from_slice(&text).map_err(|error| error.to_string());
        let mut manifest: Self = match read {
            Ok(Self { schema, .. }) if schema != SCHEMA => {
                let message = format!("not a record of exports: its schema is '{schema}'");
                return Err(Error::Config { path, message });
            }
            Ok(manifest) => manifest,
            Err(message) => return Err(Error::Config { path, message }),
        };
        // Whatever the file has, nothing outside of the folder is ours.
        manifest.projects.retain(|_, folder| is_safe(folder));
        let ours = |written: &Written| {
            written.name.split('/').all(is_safe) && written.name.split('/').count() <= DEEPEST
        };
        manifest.sessions.retain(|_, entry| entry.files.iter().all(ours));
        Ok(manifest)
    }

    /// Removes unfinished files that a killed run left. The caller must hold the lock of the folder.
    pub(super) fn remove_unfinished(&self, folder: &Path) -> Result<(), Error> {
        let written = self.sessions.values().flat_map(|entry| &entry.files);
        let names: BTreeSet<&str> = written.map(|written| written.name.as_str()).collect();
        let above = names.iter().filter_map(|name| name.rsplit_once('/')).map(|(at, _)| at);
        let projects = self.projects.values().map(String::as_str);
        let folders: BTreeSet<&str> = std::iter::once("").chain(projects).chain(above).collect();
        for at in folders {
            let path = if at.is_empty() { folder.to_owned() } else { below(folder, at) };
            if !is_in_own(folder, &format!("{at}/")) {
                continue;
            }
            for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let Some(own) = name.to_str().and_then(unfinished) else { continue };
                let below = if at.is_empty() { own.to_owned() } else { format!("{at}/{own}") };
                if below == NAME || names.contains(below.as_str()) {
                    recount_writer::remove(&entry.path())?;
                }
            }
        }
        Ok(())
    }

    /// Saves the manifest in its folder.
    pub(super) fn save(&self, folder: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|e| Error::Output(e.into()))?;
        text.push(b'\n');
        Ok(recount_writer::write_atomically(&folder.join(NAME), &text)?)
    }
}

/// Returns the file of which `.NAME.PID-N.tmp` is an unfinished version.
fn unfinished(name: &str) -> Option<&str> {
    let (own, run) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?;
    let (process, count) = run.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(process) && is_number(count)).then_some(own)
}

impl Entry {
    /// Whether the files exist as written, for the same session with the same options.
    pub(super) fn is_fresh(&self, folder: &Path, stamp: Option<&String>, options: &str) -> bool {
        stamp.is_some()
            && self.stamp.as_ref() == stamp
            && self.options == options
            && self.is_there(folder)
    }

    /// Whether the files exist as written.
    pub(super) fn is_there(&self, folder: &Path) -> bool {
        let is_there = |written: &Written| {
            let found = below(folder, &written.name).symlink_metadata();
            found.is_ok_and(|found| found.is_file() && found.len() == written.bytes)
        };
        !self.files.is_empty() && self.files.iter().all(is_there)
    }

    /// Returns the files that are not among those written now.
    pub(super) fn left_over(&self, now: &[Written], folder: &Path) -> Vec<PathBuf> {
        let is_gone = |old: &&Written| now.iter().all(|new| new.name != old.name);
        self.files.iter().filter(is_gone).map(|old| below(folder, &old.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unfinished_versions_of_our_own_are_reported() {
        assert_eq!(unfinished(".a.part2.md.123-4.tmp"), Some("a.part2.md"));
        for other in ["a.md.1-2.tmp", ".a.md", ".a.md.tmp", ".a.md.x-1.tmp", ".a.md.1-.tmp", ".tmp"]
        {
            assert_eq!(unfinished(other), None, "{other}");
        }
    }
}
