//! Copies of sessions as protection against deletion by agents: created, listed, verified and deleted.

mod files;
mod raw;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use recount_engine::Progress;
use recount_engine::disk::Survey;
use recount_engine::retention::Scope;
use recount_model::{SessionFacts, SessionId, SourceName};
use recount_writer::RealDisk;
use recount_writer::vault::{Outcome, Vault, VaultCopy, VaultIndex};
use serde::Serialize;

use crate::sessions::steps::is_lossy;
use crate::{Changes, Error, Reason};

pub(crate) use self::files::{OwnedFile, files_of};
pub use self::raw::HomeFile;

/// How long a run waits for another that copies sessions.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KeepReport {
    /// Sessions that were checked.
    pub sessions: u64,
    /// Their files.
    pub files: u64,
    /// The size of these.
    pub bytes: u64,
    /// Files without an earlier copy.
    pub new: u64,
    /// Files whose new part was added.
    pub grown: u64,
    /// Files whose old content changed; the old copy is kept.
    pub changed: u64,
    /// Files whose copy is current.
    pub unchanged: u64,
    /// Files that could not be copied.
    pub failed: Vec<Failed>,
    /// The size of the whole vault.
    pub packed: u64,
}

/// A file that could not be copied, or whose copy is damaged.
#[derive(Clone, Debug, Serialize)]
pub struct Failed {
    /// The file.
    #[serde(serialize_with = "recount_model::path_text::path")]
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// A session in the vault.
#[derive(Clone, Debug, Serialize)]
pub struct VaultedSession {
    /// The agent.
    pub source: String,
    /// The session's id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// The path of its project.
    pub project: Option<String>,
    /// Files.
    pub files: u64,
    /// Their size, without older generations.
    pub bytes: u64,
    /// The size of all copies.
    pub packed: u64,
    /// Older generations of its files.
    pub older: u64,
    /// The time of the last copy.
    pub kept: Timestamp,
    /// Whether none of its files exists any more.
    pub gone: bool,
}

/// Which copies to delete.
#[derive(Clone, Copy, Debug)]
pub struct Unwanted {
    /// Generations that are not the last of their file.
    pub older: bool,
    /// Copies from before this time.
    pub before: Option<Timestamp>,
}

impl Changes<'_> {
    /// Updates the copies of all sessions, or of one project's.
    ///
    /// # Errors
    /// If the project is unknown, or the vault cannot be used. A file that cannot be copied is in the report.
    pub fn keep(self, project: Option<&str>, progress: &dyn Progress) -> Result<KeepReport, Error> {
        let scope = project.map_or(Scope::All, Scope::Project);
        self.keep_within(scope, TIMEOUT, progress)
    }

    /// Updates the copies of some sessions and of their sub-agents. With a snapshot, nothing else is read.
    ///
    /// # Errors
    /// Like [`Changes::keep`].
    pub fn keep_some(
        self,
        project: Option<&str>,
        wanted: &BTreeSet<(SourceName, SessionId)>,
    ) -> Result<KeepReport, Error> {
        let scope = project.map_or(Scope::All, Scope::Project);
        let is_wanted = |facts: &SessionFacts| {
            let is_one = |id: &SessionId| wanted.contains(&(facts.source, id.clone()));
            is_one(&facts.id) || facts.parent.as_ref().is_some_and(is_one)
        };
        self.keep_where(scope, TIMEOUT, &is_wanted, &())
    }

    pub(crate) fn keep_within(
        self,
        scope: Scope<'_>,
        patience: Duration,
        progress: &dyn Progress,
    ) -> Result<KeepReport, Error> {
        self.keep_where(scope, patience, &|_| true, progress)
    }

    fn keep_where(
        self,
        scope: Scope<'_>,
        patience: Duration,
        is_session: &dyn Fn(&SessionFacts) -> bool,
        progress: &dyn Progress,
    ) -> Result<KeepReport, Error> {
        self.engine.aliases()?;
        let survey = self.engine.scan_files(progress)?;
        let selected = self.engine.within(scope, &survey)?;
        let Survey { listing, disk, .. } = survey;
        let folders = disk.folders.iter().enumerate();
        let folders: Vec<&Path> = folders
            .filter(|(number, _)| selected.has_folder(*number))
            .map(|(_, folder)| &*folder.at.path)
            .collect();
        let data = self.data_apart()?;
        let mut vault = Vault::open(&RealDisk, data, self.engine.clock().now(), patience)?;
        let mut report = KeepReport::default();
        let is_wanted = |facts: &SessionFacts| is_session(facts) && selected.has_session(facts);
        for facts in listing.sessions.iter().filter(|facts| is_wanted(facts)) {
            let its = files_of(facts, &listing.sessions, &disk);
            let is_wanted = |its: &OwnedFile| {
                !matches!(scope, Scope::Folder(_))
                    || folders.iter().any(|below| its.path.starts_with(below))
            };
            let mut any = false;
            for its in its.into_iter().filter(is_wanted) {
                any = true;
                report.files += 1;
                report.count(&its, vault.keep(&its.path, &its.whose));
            }
            report.sessions += u64::from(any && !facts.kind.is_subagent());
        }
        vault.commit()?;
        report.packed = vault.index().copies().map(|copy| copy.packed).sum();
        Ok(report)
    }

    /// Lists the sessions in the vault, last copied first, and the number of invalid lines in its index.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn vault(self) -> Result<(Vec<VaultedSession>, usize), Error> {
        let index = self.vault_index()?;
        let mut held: BTreeMap<(&str, &str), VaultedSession> = BTreeMap::new();
        for copy in index.copies() {
            let whose = &copy.whose;
            let row =
                held.entry((&whose.source, &whose.session)).or_insert_with(|| VaultedSession {
                    source: whose.source.clone(),
                    id: whose.session.clone(),
                    title: None,
                    project: None,
                    files: 0,
                    bytes: 0,
                    packed: 0,
                    older: 0,
                    kept: copy.time,
                    gone: true,
                });
            row.packed += copy.packed;
            let is_last = index.newest(&copy.file).is_some_and(|last| last == copy);
            if !is_last {
                row.older += 1;
                continue;
            }
            row.files += 1;
            row.bytes += copy.bytes;
            row.kept = row.kept.max(copy.time);
            row.title = whose.title.clone().or(row.title.take());
            row.project = whose.project.clone().or(row.project.take());
            row.gone &= !copy.file.exists();
        }
        let mut rows: Vec<VaultedSession> = held.into_values().collect();
        rows.sort_by(|one, next| next.kept.cmp(&one.kept).then_with(|| one.id.cmp(&next.id)));
        Ok((rows, index.unread))
    }

    /// Unpacks every copy and compares it. Returns the number of copies, and the damaged ones.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn verify_vault(self, progress: &dyn Progress) -> Result<(u64, Vec<Failed>), Error> {
        let (index, data) = (self.vault_index()?, self.data()?);
        let total: u64 = index.copies().map(|copy| copy.packed).sum();
        let (mut done, mut count, mut faults) = (0, 0, Vec::new());
        for copy in index.copies() {
            if let Err(why) = VaultIndex::verify(&RealDisk, data, copy) {
                faults.push(Failed { path: copy.file.clone(), why });
            }
            done += copy.packed;
            count += 1;
            progress.advance(done, total);
        }
        Ok((count, faults))
    }

    /// Returns the number and size of the copies that would be deleted.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn unwanted_copies(self, prune: Unwanted) -> Result<(u64, u64), Error> {
        let index = self.vault_index()?;
        let unwanted = index.copies().filter(|copy| is_unwanted(&index, prune, copy));
        Ok(unwanted.fold((0, 0), |(count, packed), one| (count + 1, packed + one.packed)))
    }

    /// Deletes copies permanently. Returns the number of freed bytes.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub fn prune_vault(self, prune: Unwanted) -> Result<u64, Error> {
        let mut vault = Vault::open(&RealDisk, self.data()?, self.engine.clock().now(), TIMEOUT)?;
        let index = vault.index().clone();
        Ok(vault.prune(|copy| is_unwanted(&index, prune, copy))?)
    }

    pub(crate) fn vault_index(self) -> Result<VaultIndex, Error> {
        Ok(VaultIndex::read(&RealDisk, self.data()?)?)
    }
}

impl KeepReport {
    fn count(&mut self, its: &OwnedFile, outcome: Result<Outcome, recount_writer::Error>) {
        self.bytes += its.bytes;
        match outcome {
            Ok(Outcome::New) => self.new += 1,
            Ok(Outcome::Grown) => self.grown += 1,
            Ok(Outcome::Changed) => self.changed += 1,
            Ok(Outcome::Unchanged) => self.unchanged += 1,
            // Deleted since it was listed: its copy stays.
            Ok(Outcome::Missing) if !is_lossy(&its.path) => self.files -= 1,
            Ok(Outcome::Missing) => {
                self.files -= 1;
                let why = Reason::NotText(its.path.clone()).to_string();
                self.failed.push(Failed { path: its.path.clone(), why });
            }
            Err(error) => {
                self.failed.push(Failed {
                    path: its.path.clone(),
                    why: Error::from(error).full_message(),
                });
            }
        }
    }
}

fn is_unwanted(index: &VaultIndex, prune: Unwanted, copy: &VaultCopy) -> bool {
    let is_old = prune.before.is_none_or(|before| copy.time < before);
    let is_last = index.newest(&copy.file).is_some_and(|last| last == copy);
    is_old && (!prune.older || !is_last)
}
