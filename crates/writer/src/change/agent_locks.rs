//! Locks shared with an agent's own processes: a folder of an agreed name that exists while its creator holds the lock, or
//! the system's lock on an agreed file.
//!
//! The creator of a lock folder refreshes the folder's time regularly; one that is older than ten seconds was left by a
//! dead process, and may be removed by the next one (proper-lockfile 4, with its defaults).

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recount_platform::system_nanos;

use super::disk::Disk;
use super::plan::Plan;
use crate::Error;

const STALE: i128 = 10_000_000_000;
/// How often the time is refreshed: the agent's own processes do so at half of the stale time.
const REFRESH: i128 = 2_500_000_000;
/// How long to wait: slightly longer than it takes to detect a dead holder.
const TIMEOUT: i128 = 15_000_000_000;
const PAUSE: Duration = Duration::from_millis(50);

/// The locks on some files, until dropped.
#[derive(Debug)]
pub(crate) struct AgentLocks<'a> {
    disk: &'a dyn Disk,
    held: Vec<PathBuf>,
    locked: Vec<Box<dyn Debug + 'a>>,
    refreshed: i128,
}

impl<'a> AgentLocks<'a> {
    /// Waits for each lock folder and lock file of a plan.
    pub(crate) fn take(disk: &'a dyn Disk, plan: &Plan) -> Result<Self, Error> {
        let mut locks =
            Self { disk, held: Vec::new(), locked: Vec::new(), refreshed: system_nanos() };
        for folder in &plan.locks {
            locks.wait_for(folder)?;
        }
        for file in &plan.file_locks {
            locks.wait_for_file(file)?;
        }
        Ok(locks)
    }

    fn wait_for_file(&mut self, file: &Path) -> Result<(), Error> {
        let began = system_nanos();
        loop {
            match self.disk.lock_file(file) {
                Ok(lock) => {
                    self.locked.extend(lock);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(source) => return Err(Error::ReadFile { path: file.to_owned(), source }),
            }
            if system_nanos() - began > TIMEOUT {
                return Err(Error::Busy { path: file.to_owned() });
            }
            self.refresh()?;
            std::thread::sleep(PAUSE);
        }
    }

    fn wait_for(&mut self, folder: &Path) -> Result<(), Error> {
        let began = system_nanos();
        loop {
            match self.disk.make_folder(folder, None) {
                Ok(()) => {
                    self.held.push(folder.to_owned());
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => {
                    return Err(Error::CreateFolder { path: folder.to_owned(), source });
                }
            }
            let metadata = self.disk.metadata(folder).ok().flatten();
            let age = metadata
                .and_then(|metadata| metadata.modified)
                .map(|at| system_nanos() - i128::from(at));
            if age.is_some_and(|age| age > STALE) {
                // If another process is faster, creating the folder fails again.
                let _removed = self.disk.remove_folder(folder);
                continue;
            }
            if system_nanos() - began > TIMEOUT {
                return Err(Error::Busy { path: folder.to_owned() });
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Shows others that the locks are still held.
    pub(crate) fn refresh(&mut self) -> Result<(), Error> {
        if self.held.is_empty() || system_nanos() - self.refreshed < REFRESH {
            return Ok(());
        }
        for folder in &self.held {
            self.disk
                .touch_folder(folder)
                .map_err(|source| Error::SetTime { path: folder.clone(), source })?;
        }
        self.refreshed = system_nanos();
        Ok(())
    }
}

impl Drop for AgentLocks<'_> {
    fn drop(&mut self) {
        for folder in &self.held {
            // A folder that cannot be removed is stale after ten seconds.
            let _removed = self.disk.remove_folder(folder);
        }
    }
}
