//! The next snapshot: only what changed is read, and only what depends on it is put together again.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use recount_formats::source::{ListedFile, ScannedFile};
use recount_model::SessionId;
use recount_platform::system_nanos;

use crate::cancel::stop_if_cancelled;
use crate::projects::resolve::{Effort, ResolvedProjects};
use crate::sessions::finish::finish;
use crate::sessions::list::{Digest, SortOrder, project_hints, sort};
use crate::snapshot::diff::{changed_projects, compare};
use crate::snapshot::disk::{NextDisk, look_again};
use crate::snapshot::disk_scan::{DiskSnapshot, Progress};
use crate::snapshot::seen::{Role, Suspects, beside};
use crate::snapshot::{Snapshot, SnapshotDiff, State};
use crate::{Engine, Error};

impl Engine {
    /// Returns the next snapshot and what is different in it. While nothing is, no directory is listed and no file is opened.
    ///
    /// # Errors
    /// If the names that the user gave to projects are not understood, or nobody waits any more.
    pub fn refresh(
        &self,
        snapshot: &Snapshot,
        progress: &dyn Progress,
    ) -> Result<(Snapshot, SnapshotDiff), Error> {
        self.refresh_suspects(snapshot, &Suspects::All, progress)
    }

    /// As [`Engine::refresh`], when only these paths may have changed: files, or directories in which something came or went.
    ///
    /// # Errors
    /// As [`Engine::refresh`].
    pub fn refresh_paths(
        &self,
        snapshot: &Snapshot,
        paths: &HashSet<PathBuf>,
        progress: &dyn Progress,
    ) -> Result<(Snapshot, SnapshotDiff), Error> {
        self.refresh_suspects(snapshot, &Suspects::Only(paths), progress)
    }

    fn refresh_suspects(
        &self,
        snapshot: &Snapshot,
        suspects: &Suspects<'_>,
        progress: &dyn Progress,
    ) -> Result<(Snapshot, SnapshotDiff), Error> {
        let state = &snapshot.state;
        let beside_changed = suspects.changed(&state.beside, state.disk.looked);
        let own = beside_changed.iter().any(|seen| seen.role == Role::Own);
        if own {
            self.aliases()?;
        }
        let Some(next) = look_again(&self.roots, &state.disk, &state.basis, suspects) else {
            if beside_changed.is_empty() {
                return Ok((snapshot.clone(), SnapshotDiff::default()));
            }
            // All was asked for its stamp, so what was too fresh to be trusted is known now.
            let mut disk = Arc::clone(&state.disk);
            if matches!(suspects, Suspects::All) {
                disk = Arc::new(DiskSnapshot { looked: system_nanos(), ..(*disk).clone() });
            }
            let unchanged = NextDisk {
                disk,
                basis: state.basis.clone(),
                groups: BTreeSet::new(),
                grown: HashSet::new(),
                evidence: true,
                numbers: (0..state.disk.folders.len()).map(Some).collect(),
            };
            return self.next(snapshot, unchanged, progress);
        };
        let evidence = next.evidence || !beside_changed.is_empty();
        self.next(snapshot, NextDisk { evidence, ..next }, progress)
    }

    fn next(
        &self,
        snapshot: &Snapshot,
        next: NextDisk,
        progress: &dyn Progress,
    ) -> Result<(Snapshot, SnapshotDiff), Error> {
        let state = &snapshot.state;
        let taken = self.clock.now();
        let known = self.digests_behind(snapshot, progress)?;
        let Merged { mut digests, mut touched } = self.merge(known, &next, progress)?;
        stop_if_cancelled(progress)?;
        let hints = project_hints(&digests);
        let mut projects = Arc::clone(&state.projects);
        let is_resolved = next.evidence || hints != state.hints;
        if is_resolved {
            projects = Arc::new(self.resolve_projects(&next.disk, &hints, &Effort::List, progress));
            touched.extend(0..next.disk.folders.len());
        }
        finish_touched(&next, &mut digests, &touched, &projects);
        let mut sessions: Vec<_> = digests.iter().map(|digest| Arc::clone(&digest.facts)).collect();
        let mut diff = compare(&state.sessions, &mut sessions, &next.grown);
        for (digest, facts) in digests.iter_mut().zip(&sessions) {
            digest.facts = Arc::clone(facts);
        }
        sort(&mut sessions, SortOrder::Updated);
        diff.projects = changed_projects(&state.projects.projects, &projects.projects);
        diff.problems = state.disk.problems != next.disk.problems;
        let state = State {
            number: state.number + u64::from(!diff.is_empty()),
            taken,
            // Without a new look at projects, what changed beside them is still to be found.
            beside: if is_resolved {
                beside(&projects, &self.own_files())
            } else {
                state.beside.clone()
            },
            disk: next.disk,
            basis: next.basis,
            sessions,
            projects,
            hints,
            digests: OnceLock::from(digests),
        };
        Ok((Snapshot { state: Arc::new(state) }, diff))
    }

    /// Reads the groups of files that changed, and takes over the rest.
    fn merge(
        &self,
        known: &[Digest],
        next: &NextDisk,
        progress: &dyn Progress,
    ) -> Result<Merged, Error> {
        let mut groups = next.groups.clone();
        // A session whose files do not bear its name is put together from several groups.
        loop {
            let before = groups.len();
            for digest in known {
                let is_in = |file: &ListedFile| groups.contains(&file.at.group);
                // What a session begins with may be there again, or no longer.
                let has_base_in = |file: &ListedFile| {
                    let base = file.outline.head.base.as_ref();
                    base.is_some_and(|base| groups.contains(&*base.group))
                };
                let is_touched = digest.files.iter().any(|f| is_in(f) || has_base_in(f));
                if is_touched && !digest.files.iter().all(is_in) {
                    groups.extend(digest.files.iter().map(|file| file.at.group.clone()));
                }
            }
            if groups.len() == before {
                break;
            }
        }
        let mut touched = BTreeSet::new();
        let mut kept = Vec::with_capacity(known.len());
        for digest in known {
            if digest.files.iter().any(|file| groups.contains(&file.at.group)) {
                let numbers = digest.files.iter().map(|file| next.numbers.get(file.folder));
                touched.extend(numbers.flatten().flatten());
            } else {
                kept.extend(renumbered(digest, &next.numbers));
            }
        }
        let read = self.read_groups(&next.disk, &groups, progress)?;
        let ids: BTreeSet<&SessionId> = kept
            .iter()
            .filter(|digest| !digest.facts.kind.is_subagent())
            .map(|digest| &digest.facts.id)
            .collect();
        if read.iter().any(|digest| ids.contains(&digest.facts.id)) {
            // Files of one session under different names: what belongs together is told by all of them.
            let digests = self.gather_on(&next.disk, progress)?;
            return Ok(Merged { touched: (0..next.disk.folders.len()).collect(), digests });
        }
        touched.extend(read.iter().flat_map(|digest| digest.files.iter().map(|file| file.folder)));
        kept.extend(read);
        kept.sort_by(|one, other| order(one).cmp(&order(other)));
        Ok(Merged { digests: kept, touched })
    }
}

struct Merged {
    digests: Vec<Digest>,
    /// Directories of which a session came, went or changed.
    touched: BTreeSet<usize>,
}

/// The order in which sessions come when all are read.
fn order(digest: &Digest) -> (&str, &str) {
    let group = digest.files.first().map_or("", |file| file.at.group.as_str());
    (digest.facts.source.as_str(), group)
}

/// Takes a session over into a listing in which directories have other numbers.
fn renumbered(digest: &Digest, numbers: &[Option<usize>]) -> Option<Digest> {
    let number = |old: usize| numbers.get(old).copied().flatten();
    let mut digest = digest.clone();
    if digest.files.iter().any(|file| number(file.folder) != Some(file.folder)) {
        let renumber = |file: &ListedFile| {
            number(file.folder).map(|folder| ScannedFile { folder, ..file.clone() })
        };
        let files = digest.files.iter().map(renumber);
        digest.files = files.collect::<Option<Vec<_>>>()?.into();
    }
    digest.folder = number(digest.folder)?;
    Some(digest)
}

/// Finishes the rows that may be different because something in these directories is.
fn finish_touched(
    next: &NextDisk,
    digests: &mut [Digest],
    touched: &BTreeSet<usize>,
    projects: &ResolvedProjects,
) {
    let mut touched = touched.clone();
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let mut relatives: BTreeMap<&SessionId, Vec<usize>> = BTreeMap::new();
    for (at, digest) in digests.iter().enumerate() {
        relatives.entry(&digest.facts.id).or_default().push(at);
        if let Some(parent) = &digest.facts.parent {
            relatives.entry(parent).or_default().push(at);
        }
    }
    // A row takes its number from its directory, and a sub-agent the call that ran it from its parent.
    loop {
        let before = (chosen.len(), touched.len());
        for (at, digest) in digests.iter().enumerate() {
            if chosen.contains(&at)
                || !digest.files.iter().any(|file| touched.contains(&file.folder))
            {
                continue;
            }
            chosen.insert(at);
            for id in [Some(&digest.facts.id), digest.facts.parent.as_ref()].into_iter().flatten() {
                for relative in relatives.get(id).into_iter().flatten() {
                    let folders = digests.get(*relative).map(|digest| &digest.files);
                    touched.extend(folders.iter().flat_map(|files| files.iter()).map(|f| f.folder));
                }
            }
        }
        if before == (chosen.len(), touched.len()) {
            break;
        }
    }
    let mut own: Vec<Digest> = chosen.iter().filter_map(|at| digests.get(*at).cloned()).collect();
    finish(&next.disk, &mut own, projects);
    for (at, digest) in chosen.into_iter().zip(own) {
        if let Some(slot) = digests.get_mut(at) {
            *slot = digest;
        }
    }
}
