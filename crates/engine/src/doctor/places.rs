//! What is wrong around sessions: directories, markers, the agent's record of projects, and what belongs to nobody.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use recount_formats::stray::{Stray, StrayKind};
use recount_model::{FileRole, ProjectState, What};

use super::{Finding, Severity, Topic};
use crate::sessions::list::Listing;
use crate::snapshot::survey::Ground;
use crate::{Engine, ProjectRow};

impl Engine {
    pub(super) fn check_places(
        &self,
        ground: &Ground,
        listing: &Listing,
        rows: &[ProjectRow],
        findings: &mut Vec<Finding>,
    ) {
        let ids: HashSet<&str> = listing.sessions.iter().map(|facts| facts.id.as_str()).collect();
        let now = SystemTime::from(self.clock.now());
        for root in self.roots.iter() {
            let located = root.source.locate(&root.path, root.shape);
            let strays =
                root.source.strays(&root.path, root.shape, &located, &|id| ids.contains(id), now);
            findings.extend(strays.into_iter().map(stray));
            check_readers(&root.path, findings);
        }
        for problem in ground.problems.iter().filter(|p| p.what == What::BrokenDocument) {
            let path = Path::new(&*problem.file);
            findings.push(finding(
                Severity::Error,
                "the agent's record of projects is damaged; some releases do not start then",
                path,
            ));
        }
        for (root, notes) in self.roots.iter().zip(&ground.notes) {
            for note in notes.iter().filter(|note| note.slug.is_some()) {
                findings.push(finding(Severity::Warning, &note.text, &root.path));
            }
        }
        for folder in &ground.folders {
            for note in &folder.at.notes {
                findings.push(finding(Severity::Warning, note, &folder.at.path));
            }
        }
        gone(rows, findings);
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
        let what = "other users of this machine can read what lies in it";
        findings.push(Finding {
            topic: Topic::Permissions,
            remedy: Some(format!("chmod go-rwx {}", root.display())),
            ..finding(Severity::Note, what, root)
        });
    }
}

#[cfg(not(unix))]
fn check_readers(_root: &Path, _findings: &mut Vec<Finding>) {}

fn finding(severity: Severity, what: &str, path: &Path) -> Finding {
    Finding {
        topic: Topic::Projects,
        severity,
        what: what.to_owned(),
        session: None,
        path: Some(path.to_owned()),
        remedy: None,
    }
}

fn stray(stray: Stray) -> Finding {
    let Stray { path, what } = stray;
    let left = |severity, what: &str, remedy: Option<&str>| Finding {
        topic: Topic::LeftOver,
        remedy: remedy.map(str::to_owned),
        ..finding(severity, what, &path)
    };
    match what {
        StrayKind::Orphan { what } => {
            let what = format!("{what} of a session that is gone");
            left(Severity::Note, &what, Some("recount prune --orphaned"))
        }
        StrayKind::Leftover => left(Severity::Note, "left behind by a write or a rename", None),
        StrayKind::StaleLock => left(Severity::Warning, "a lock that nobody holds any more", None),
        StrayKind::NoMarker => {
            finding(Severity::Warning, "missing: nothing here says which project it is", &path)
        }
        // A marker that is wrong is put right by saying where the project is.
        StrayKind::Contradiction { text } => {
            let is_marker = path.file_name().is_some_and(|name| name == ".project_root");
            let remedy = is_marker.then(|| "recount relocate".to_owned());
            Finding { remedy, ..finding(Severity::Error, &text, &path) }
        }
    }
}

/// Projects whose folder is gone.
fn gone(rows: &[ProjectRow], findings: &mut Vec<Finding>) {
    for row in rows.iter().filter(|row| row.state == ProjectState::Missing && row.sessions > 0) {
        let Some(path) = &row.path else { continue };
        let Some(part) = row.parts.first() else { continue };
        let command = row.moved_to.as_ref().map(|new| new.command.clone());
        let s = if row.sessions == 1 { "" } else { "s" };
        findings.push(Finding {
            remedy: Some(command.unwrap_or_else(|| format!("recount relocate {path} NEW"))),
            ..finding(
                Severity::Note,
                &format!("{path} is gone; {} session{s} cannot be resumed", row.sessions),
                &part.directory,
            )
        });
    }
}

/// Sessions that lie in the folders of older releases, too.
fn copies(listing: &Listing, findings: &mut Vec<Finding>) {
    let mut folders: BTreeMap<PathBuf, u64> = BTreeMap::new();
    for facts in &listing.sessions {
        for file in facts.files.iter().filter(|file| file.role == FileRole::Copy) {
            let folder = Path::new(&file.path).ancestors().nth(2).unwrap_or(Path::new(""));
            *folders.entry(folder.to_owned()).or_default() += 1;
        }
    }
    for (folder, count) in folders {
        let s = if count == 1 { " lies" } else { "s lie" };
        let what = format!("{count} session file{s} here once more, for older releases");
        findings.push(finding(Severity::Note, &what, &folder));
    }
}
