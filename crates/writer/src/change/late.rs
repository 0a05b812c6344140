//! Who writes to a file in the very moment in which its name goes to another one writes where nobody would look any more.
//! So files are held while their names change, and what came late is put where it belongs.

use std::path::{Path, PathBuf};

use super::ChangeLock;
use super::disk::{Disk, HeldFile};
use super::plan::Step;
use super::state::{FileState, Hash};
use crate::Error;

/// Maximum number of open files: sessions come first in a plan, and only they are written to by others.
const MOST: usize = 64;

/// The files that a change has replaced or removed, still open.
#[derive(Default)]
pub(crate) struct Latecomers<'a> {
    held: Vec<(PathBuf, &'a FileState, Box<dyn HeldFile + 'a>)>,
}

/// What was written to a file that nobody finds any more.
#[derive(Debug)]
pub(crate) enum Late {
    /// Behind what it held.
    Behind(PathBuf, Vec<u8>),
    /// In the place of what it held.
    Instead(PathBuf, Vec<u8>),
}

impl<'a> Latecomers<'a> {
    /// Holds the file of a step, before it is touched.
    pub(crate) fn hold(&mut self, disk: &'a dyn Disk, step: &'a Step) -> Result<(), Error> {
        if let Some(before) = step.before.as_ref().filter(|_| self.held.len() < MOST) {
            let unread = |source| Error::ReadFile { path: step.path.clone(), source };
            let held = disk.hold(&step.path).map_err(unread)?;
            self.held.push((step.path.clone(), before, held));
        }
        Ok(())
    }

    /// Returns what was written to them since.
    pub(crate) fn all(self) -> Result<Vec<Late>, Error> {
        let mut late = Vec::new();
        for (path, before, mut held) in self.held {
            let unread = |source| Error::ReadFile { path: path.clone(), source };
            let now = held.look().map_err(unread)?;
            if before.looks_like(&now) {
                continue;
            }
            let bytes = held.bytes().map_err(unread)?;
            let known = usize::try_from(before.bytes).unwrap_or(usize::MAX);
            match bytes.split_at_checked(known) {
                Some((start, more)) if Some(Hash::of(start)) == before.hash => {
                    if !more.is_empty() {
                        late.push(Late::Behind(path, more.to_owned()));
                    }
                }
                _ => late.push(Late::Instead(path, bytes)),
            }
        }
        Ok(late)
    }
}

impl ChangeLock<'_> {
    /// Puts what came late where its writer meant it to be, once all is taken back.
    pub(crate) fn put_late(&self, late: &[Late]) -> Result<(), Error> {
        for late in late {
            let (path, written) = match late {
                Late::Behind(path, bytes) => (path, self.disk.append(path, bytes)),
                Late::Instead(path, bytes) => (path, self.disk.overwrite(path, bytes)),
            };
            written.map_err(|source| Error::WriteFile { path: path.clone(), source })?;
        }
        Ok(())
    }
}

impl Late {
    /// Returns where the file lies.
    pub(crate) fn path(&self) -> &Path {
        let (Self::Behind(path, _) | Self::Instead(path, _)) = self;
        path
    }
}
