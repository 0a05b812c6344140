//! Taking turns with an agent's own processes: while a folder of an agreed name exists, its maker has the turn; or who has the
//! system's lock on an agreed file.
//!
//! The maker of a folder sets the folder's time again and again; one that is older than ten seconds was left by a process that is
//! gone, and may be removed by whoever is next (proper-lockfile 4, with its defaults).

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recount_platform::system_nanos;

use super::disk::Disk;
use super::plan::Plan;
use crate::Error;

const STALE: i128 = 10_000_000_000;
/// How often the time is set: the agent's own processes do so at half of what is stale.
const REFRESH: i128 = 2_500_000_000;
/// How long we wait: a little longer than it takes to see that a holder is gone.
const PATIENCE: i128 = 15_000_000_000;
const PAUSE: Duration = Duration::from_millis(50);

/// The turn at some files, until dropped.
#[derive(Debug)]
pub(crate) struct Turns<'a> {
    disk: &'a dyn Disk,
    held: Vec<PathBuf>,
    locked: Vec<Box<dyn Debug + 'a>>,
    refreshed: i128,
}

impl<'a> Turns<'a> {
    /// Waits for the turn at each folder and file by which a plan takes turns.
    pub(crate) fn take(disk: &'a dyn Disk, plan: &Plan) -> Result<Self, Error> {
        let mut turns =
            Self { disk, held: Vec::new(), locked: Vec::new(), refreshed: system_nanos() };
        for folder in &plan.locks {
            turns.wait_for(folder)?;
        }
        for file in &plan.file_locks {
            turns.wait_for_file(file)?;
        }
        Ok(turns)
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
            if system_nanos() - began > PATIENCE {
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
            let look = self.disk.look(folder).ok().flatten();
            let age = look.and_then(|look| look.modified).map(|at| system_nanos() - i128::from(at));
            if age.is_some_and(|age| age > STALE) {
                // If another one is faster, making ours fails again.
                let _removed = self.disk.remove_folder(folder);
                continue;
            }
            if system_nanos() - began > PATIENCE {
                return Err(Error::Busy { path: folder.to_owned() });
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Shows others that we are still there.
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

impl Drop for Turns<'_> {
    fn drop(&mut self) {
        for folder in &self.held {
            // One that stays is stale after ten seconds.
            let _removed = self.disk.remove_folder(folder);
        }
    }
}
