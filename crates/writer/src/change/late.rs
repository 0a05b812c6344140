//! A process that writes to a file at the moment it is renamed or removed writes to a file that nobody reads any more. So
//! files are kept open while their names change, and late writes are moved to the right file.

use std::path::{Path, PathBuf};

use super::ChangeLock;
use super::disk::{Disk, HeldFile};
use super::plan::Step;
use super::state::{FileState, Hash};
use crate::Error;

/// The maximum number of open files: sessions come first in a plan, and only they are written to by others.
const MOST: usize = 64;

/// The files that a change has replaced or removed, still open.
#[derive(Default)]
pub(crate) struct OpenFiles<'a> {
    held: Vec<(PathBuf, &'a FileState, Box<dyn HeldFile + 'a>)>,
}

/// A late write to a file that was replaced or removed.
#[derive(Debug)]
pub(crate) enum LateWrite {
    /// Appended to its content.
    Behind(PathBuf, Vec<u8>),
    /// Replaced its content.
    Instead(PathBuf, Vec<u8>),
}

impl<'a> OpenFiles<'a> {
    /// Opens the file of a step, before it is changed.
    pub(crate) fn hold(&mut self, disk: &'a dyn Disk, step: &'a Step) -> Result<(), Error> {
        if let Some(before) = step.before.as_ref().filter(|_| self.held.len() < MOST) {
            let unread = |source| Error::ReadFile { path: step.path.clone(), source };
            let held = disk.hold(&step.path).map_err(unread)?;
            self.held.push((step.path.clone(), before, held));
        }
        Ok(())
    }

    /// Returns what was written to them since.
    pub(crate) fn all(self) -> Result<Vec<LateWrite>, Error> {
        let mut late = Vec::new();
        for (path, before, mut held) in self.held {
            let unread = |source| Error::ReadFile { path: path.clone(), source };
            let now = held.metadata().map_err(unread)?;
            if before.matches_metadata(&now) {
                continue;
            }
            let bytes = held.bytes().map_err(unread)?;
            let known = usize::try_from(before.bytes).unwrap_or(usize::MAX);
            match bytes.split_at_checked(known) {
                Some((start, more)) if Some(Hash::of(start)) == before.hash => {
                    if !more.is_empty() {
                        late.push(LateWrite::Behind(path, more.to_owned()));
                    }
                }
                _ => late.push(LateWrite::Instead(path, bytes)),
            }
        }
        Ok(late)
    }
}

impl ChangeLock<'_> {
    /// Moves late writes to the files they were meant for, after a rollback.
    pub(crate) fn move_late_writes(&self, late: &[LateWrite]) -> Result<(), Error> {
        for late in late {
            let (path, written) = match late {
                LateWrite::Behind(path, bytes) => (path, self.disk.append(path, bytes)),
                LateWrite::Instead(path, bytes) => (path, self.disk.overwrite(path, bytes)),
            };
            written.map_err(|source| Error::WriteFile { path: path.clone(), source })?;
        }
        Ok(())
    }
}

impl LateWrite {
    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        let (Self::Behind(path, _) | Self::Instead(path, _)) = self;
        path
    }
}
