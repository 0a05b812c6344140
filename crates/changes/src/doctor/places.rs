//! Problems around sessions: directories, markers, the agent's record of projects, and orphaned files.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use recount_engine::disk::DiskSnapshot;
use recount_engine::{Listing, ProjectRow};
use recount_formats::orphan::{Orphan, OrphanKind};
use recount_model::{FileRole, ProjectState, What};

use super::{Finding, Remedy, Severity, Symptom, Topic, shared_directories};
use crate::Changes;

impl Changes<'_> {
    pub(super) fn check_places(
        self,
        disk: &DiskSnapshot,
        listing: &Listing,
        rows: &[ProjectRow],
        findings: &mut Vec<Finding>,
    ) {
        let ids: HashSet<&str> = listing.sessions.iter().map(|facts| facts.id.as_str()).collect();
        let now = SystemTime::from(self.engine.clock().now());
        for root in self.engine.data_folders().iter().filter(|root| !root.is_ingested) {
            let located = root.source.locate(&root.path, root.shape);
            let orphans =
                root.source.orphans(&root.path, root.shape, &located, &|id| ids.contains(id), now);
            findings.extend(orphans.into_iter().map(orphan));
            check_readers(&root.path, findings);
        }
        for problem in disk.problems.iter().filter(|p| p.what == What::BrokenDocument) {
            let path = Path::new(&*problem.file);
            findings.push(finding(Severity::Error, Symptom::DamagedRegistry, path));
        }
        for (root, notes) in self.engine.data_folders().iter().zip(&disk.notes) {
            for note in notes.iter().filter(|note| note.slug.is_some()) {
                let what = Symptom::Agent(note.text.clone());
                findings.push(finding(Severity::Warning, what, &root.path));
            }
        }
        for folder in disk.folders.iter().filter(|folder| !folder.is_ingested) {
            for note in &folder.at.notes {
                let what = Symptom::Agent(note.clone());
                findings.push(finding(Severity::Warning, what, &folder.at.path));
            }
        }
        gone(rows, &shared_directories(disk), findings);
        copies(listing, findings);
    }
}

/// Whether other users of the machine can read sessions.
#[cfg(unix)]
fn check_readers(root: &Path, findings: &mut Vec<Finding>) {
    use std::os::unix::fs::PermissionsExt as _;
    let lets_in = |path: &Path| {
        std::fs::metadata(path).is_ok_and(|known| known.permissions().mode() & 0o001 != 0)
    };
    if root.ancestors().filter(|path| !path.as_os_str().is_empty()).all(lets_in) {
        findings.push(Finding {
            topic: Topic::Permissions,
            remedy: Some(Remedy::MakePrivate(root.to_owned())),
            ..finding(Severity::Note, Symptom::OpenToOthers, root)
        });
    }
}

#[cfg(not(unix))]
fn check_readers(_root: &Path, _findings: &mut Vec<Finding>) {}

fn finding(severity: Severity, what: Symptom, path: &Path) -> Finding {
    Finding {
        topic: Topic::Projects,
        severity,
        what,
        session: None,
        path: Some(path.to_owned()),
        remedy: None,
    }
}

fn orphan(orphan: Orphan) -> Finding {
    let Orphan { path, what } = orphan;
    let left = |severity, what, remedy| Finding {
        topic: Topic::LeftOver,
        remedy,
        ..finding(severity, what, &path)
    };
    match what {
        OrphanKind::Orphan { what } => {
            left(Severity::Note, Symptom::Orphan { what }, Some(Remedy::PruneOrphaned))
        }
        OrphanKind::Leftover => left(Severity::Note, Symptom::LeftOver, None),
        OrphanKind::StaleLock => left(Severity::Warning, Symptom::StaleLock, None),
        OrphanKind::NoMarker => finding(Severity::Warning, Symptom::NoMarker, &path),
        // A wrong marker is fixed by relocating the project.
        OrphanKind::Contradiction { text, is_marker } => {
            let remedy = is_marker.then_some(Remedy::Relocate { old: None, new: None });
            Finding { remedy, ..finding(Severity::Error, Symptom::Agent(text), &path) }
        }
    }
}

/// Reports projects whose folder does not exist.
fn gone(rows: &[ProjectRow], shared: &HashSet<&Path>, findings: &mut Vec<Finding>) {
    for row in rows.iter().filter(|row| row.state == ProjectState::Missing && row.sessions > 0) {
        let Some(path) = &row.path else { continue };
        let Some(part) = row.parts.first() else { continue };
        // The name of a directory with sessions of several projects says nothing about this one.
        let is_shared = shared.contains(part.directory.as_path());
        let place = if is_shared { Path::new(path.as_str()) } else { &part.directory };
        let new = row.moved_to.as_ref().map(|new| new.path.clone());
        let what = Symptom::FolderGone { folder: path.clone(), sessions: row.sessions };
        findings.push(Finding {
            remedy: Some(Remedy::Relocate { old: Some(path.clone()), new }),
            ..finding(Severity::Note, what, place)
        });
    }
}

/// Reports sessions that are also in the folders of older releases.
fn copies(listing: &Listing, findings: &mut Vec<Finding>) {
    let mut folders: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for facts in &listing.sessions {
        for file in facts.files.iter().filter(|file| file.role == FileRole::Copy) {
            let folder = Path::new(&file.path).ancestors().nth(2).unwrap_or(Path::new(""));
            *folders.entry(folder.to_owned()).or_default() += 1;
        }
    }
    for (folder, count) in folders {
        findings.push(finding(Severity::Note, Symptom::Copies(count), &folder));
    }
}
