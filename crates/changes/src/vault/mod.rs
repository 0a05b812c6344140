//! Copies of sessions, held against what agents delete: made, listed, verified and thrown away.

mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use recount_engine::Progress;
use recount_engine::disk::Survey;
use recount_engine::retention::Scope;
use recount_model::{SessionFacts, SessionId, SourceName};
use recount_writer::RealDisk;
use recount_writer::vault::{Holding, Outcome, Vault, VaultIndex};
use serde::Serialize;

use crate::{Changes, Error};

pub(crate) use self::files::{OwnedFile, files_of};

/// How long a run waits for another that keeps copies.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a run of keeping has done.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KeepReport {
    /// Sessions that were looked at.
    pub sessions: u64,
    /// Their files.
    pub files: u64,
    /// The size of these.
    pub bytes: u64,
    /// Files that were not kept before.
    pub new: u64,
    /// Files of which what was new was added.
    pub grown: u64,
    /// Files that are not what they were; what they were stays kept.
    pub changed: u64,
    /// Files that are kept as they are.
    pub unchanged: u64,
    /// Files that could not be kept.
    pub failed: Vec<Failed>,
    /// What the whole vault takes.
    pub packed: u64,
}

/// A file that could not be kept, or whose copy is damaged.
#[derive(Clone, Debug, Serialize)]
pub struct Failed {
    /// The file.
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
    /// Their size, older generations left out.
    pub bytes: u64,
    /// What all copies take.
    pub packed: u64,
    /// Older generations of its files.
    pub older: u64,
    /// When something of it was kept last.
    pub kept: Timestamp,
    /// Whether all of its files are gone from their places.
    pub gone: bool,
}

/// What of the vault is thrown away.
#[derive(Clone, Copy, Debug)]
pub struct Unwanted {
    /// Generations that are not the last of their file.
    pub older: bool,
    /// What was last kept before.
    pub before: Option<Timestamp>,
}

impl Changes<'_> {
    /// Brings the copies of all sessions, or of one project's, up to date.
    ///
    /// # Errors
    /// If the project is not known, or the vault cannot be used. A file that cannot be kept is in the report.
    pub fn keep(self, project: Option<&str>, progress: &dyn Progress) -> Result<KeepReport, Error> {
        let scope = project.map_or(Scope::All, Scope::Project);
        self.keep_within(scope, PATIENCE, progress)
    }

    /// Brings the copies of some sessions up to date, and of their sub-agents. From a snapshot, nothing else is looked at.
    ///
    /// # Errors
    /// As [`Changes::keep`].
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
        self.keep_where(scope, PATIENCE, &is_wanted, &())
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
        let wanted = self.engine.within(scope, &survey)?;
        let Survey { listing, disk, .. } = survey;
        let wanted: Option<Vec<PathBuf>> = wanted.map(|numbers| {
            let folders = numbers.iter().filter_map(|number| disk.folders.get(*number));
            folders.map(|folder| folder.at.path.clone()).collect()
        });
        let data = self.data_apart()?;
        let mut vault = Vault::open(&RealDisk, data, self.engine.clock().now(), patience)?;
        let mut report = KeepReport::default();
        for facts in listing.sessions.iter().filter(|facts| is_session(facts)) {
            let its = files_of(facts, &listing.sessions, &disk);
            let is_wanted = |its: &OwnedFile| {
                wanted
                    .as_ref()
                    .is_none_or(|all| all.iter().any(|below| its.path.starts_with(below)))
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
        report.packed = vault.index().holdings().map(|holding| holding.packed).sum();
        Ok(report)
    }

    /// Lists the sessions in the vault, the last kept first, and how many lines of its index are not understood.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn vault(self) -> Result<(Vec<VaultedSession>, usize), Error> {
        let index = self.vault_index()?;
        let mut held: BTreeMap<(&str, &str), VaultedSession> = BTreeMap::new();
        for holding in index.holdings() {
            let whose = &holding.whose;
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
                    kept: holding.time,
                    gone: true,
                });
            row.packed += holding.packed;
            let is_last = index.newest(&holding.file).is_some_and(|last| last == holding);
            if !is_last {
                row.older += 1;
                continue;
            }
            row.files += 1;
            row.bytes += holding.bytes;
            row.kept = row.kept.max(holding.time);
            row.title = whose.title.clone().or(row.title.take());
            row.project = whose.project.clone().or(row.project.take());
            row.gone &= !holding.file.exists();
        }
        let mut rows: Vec<VaultedSession> = held.into_values().collect();
        rows.sort_by(|one, next| next.kept.cmp(&one.kept).then_with(|| one.id.cmp(&next.id)));
        Ok((rows, index.unread))
    }

    /// Unpacks every copy and compares it. Returns how many there are, and which are damaged.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn verify_vault(self, progress: &dyn Progress) -> Result<(u64, Vec<Failed>), Error> {
        let (index, data) = (self.vault_index()?, self.data()?);
        let total: u64 = index.holdings().map(|holding| holding.packed).sum();
        let (mut done, mut count, mut faults) = (0, 0, Vec::new());
        for holding in index.holdings() {
            if let Err(why) = VaultIndex::verify(&RealDisk, data, holding) {
                faults.push(Failed { path: holding.file.clone(), why });
            }
            done += holding.packed;
            count += 1;
            progress.advance(done, total);
        }
        Ok((count, faults))
    }

    /// Tells which copies would be thrown away, and what they take.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn unwanted_copies(self, prune: Unwanted) -> Result<(u64, u64), Error> {
        let index = self.vault_index()?;
        let unwanted = index.holdings().filter(|holding| is_unwanted(&index, prune, holding));
        Ok(unwanted.fold((0, 0), |(count, packed), one| (count + 1, packed + one.packed)))
    }

    /// Throws copies away for good. Returns how many bytes are free again.
    ///
    /// # Errors
    /// If something cannot be removed.
    pub fn prune_vault(self, prune: Unwanted) -> Result<u64, Error> {
        let mut vault = Vault::open(&RealDisk, self.data()?, self.engine.clock().now(), PATIENCE)?;
        let index = vault.index().clone();
        Ok(vault.prune(|holding| is_unwanted(&index, prune, holding))?)
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
            // Gone since it was listed: what was kept of it stays.
            Ok(Outcome::Missing) => self.files -= 1,
            Err(error) => {
                self.failed.push(Failed { path: its.path.clone(), why: Error::from(error).told() });
            }
        }
    }
}

fn is_unwanted(index: &VaultIndex, prune: Unwanted, holding: &Holding) -> bool {
    let is_old = prune.before.is_none_or(|before| holding.time < before);
    let is_last = index.newest(&holding.file).is_some_and(|last| last == holding);
    is_old && (!prune.older || !is_last)
}
