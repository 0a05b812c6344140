//! Orphaned files below `.gemini`: parts of deleted sessions, leftovers of interrupted writes, contradicting markers and
//! registry entries.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::artifacts::is_random_id;
use super::project::is_slug;
use crate::orphan::{Orphan, OrphanKind};
use crate::source::{Located, ProjectFolder, RootShape};

/// The agent treats a lock as stale that was not touched for ten seconds; more here, for slow disks.
const STALE: Duration = Duration::from_secs(60);

/// Lists orphaned files. `is_known` returns whether there is a session of that id.
pub(crate) fn all_orphans(
    root: &Path,
    shape: RootShape,
    located: &Located,
    is_known: &dyn Fn(&str) -> bool,
    now: SystemTime,
) -> Vec<Orphan> {
    let mut found = Vec::new();
    if shape == RootShape::Whole {
        beside_registry(root, now, &mut found);
    }
    let mut slugs: BTreeMap<&str, &str> = BTreeMap::new();
    for entry in located.registry.iter().filter(|entry| entry.from == "projects.json") {
        let Some(slug) = entry.slug.as_deref() else { continue };
        slugs.entry(slug).or_insert(entry.path.as_str());
        if !is_slug(slug) {
            let text = format!(
                "{slug:?} for {} has characters that make 0.43 and later forget all projects",
                entry.path
            );
            let what = OrphanKind::Contradiction { text, is_marker: false };
            found.push(Orphan { path: root.join("projects.json"), what });
        }
    }
    for folder in located.folders.iter().filter(|folder| super::is_ours(folder)) {
        markers(folder, slugs.get(folder.name.as_str()).copied(), &mut found);
        orphans(folder, is_known, &mut found);
        leftovers(&folder.path, &mut found);
    }
    found
}

fn names(folder: &Path) -> Vec<(PathBuf, String, bool)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            (entry.path(), entry.file_name().to_string_lossy().into_owned(), is_folder)
        })
        .collect();
    names.sort();
    names
}

fn beside_registry(root: &Path, now: SystemTime, found: &mut Vec<Orphan>) {
    for (path, name, is_folder) in names(root) {
        let is_draft = name.starts_with("projects.json.")
            && Path::new(&name).extension().is_some_and(|extension| extension == "tmp");
        if is_draft && !is_folder {
            found.push(Orphan { path, what: OrphanKind::Leftover });
        } else if name == "projects.json.lock" {
            let touched = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
            let age = touched.and_then(|touched| now.duration_since(touched).ok());
            if age.is_some_and(|age| age > STALE) {
                found.push(Orphan { path, what: OrphanKind::StaleLock });
            }
        }
    }
}

fn markers(folder: &ProjectFolder, registered: Option<&str>, found: &mut Vec<Orphan>) {
    if folder.hash.is_some() {
        return;
    }
    let path = folder.path.join(".project_root");
    let own = folder.markers.iter().find(|(_, from)| *from == ".project_root");
    let beside = folder.markers.iter().find(|(_, from)| *from != ".project_root");
    let mut contradiction = |text: String| {
        let what = OrphanKind::Contradiction { text, is_marker: true };
        found.push(Orphan { path: path.clone(), what });
    };
    if let (Some((own, _)), Some((beside, from))) = (own, beside)
        && own.as_str() != beside.as_str()
    {
        contradiction(format!("it names {own}, and {from} names {beside}"));
    }
    if let (Some((own, _)), Some(registered)) = (own, registered)
        && own.as_str() != registered
    {
        contradiction(format!("it names {own}, and projects.json names {registered}"));
    }
    if own.is_none() && (registered.is_some() || !folder.files.is_empty()) {
        found.push(Orphan { path, what: OrphanKind::NoMarker });
    }
}

fn orphans(folder: &ProjectFolder, is_known: &dyn Fn(&str) -> bool, found: &mut Vec<Orphan>) {
    let mut orphan = |path: PathBuf, what| {
        found.push(Orphan { path, what: OrphanKind::Orphan { what } });
    };
    for (path, name, is_folder) in names(&folder.path.join("chats")) {
        if is_folder && !is_known(&name) {
            orphan(path, "sub-agents");
        }
    }
    for (path, name, is_folder) in names(&folder.path.join("tool-outputs")) {
        if is_folder && name.strip_prefix("session-").is_some_and(|id| !is_known(id)) {
            orphan(path, "outputs of tools");
        }
    }
    for (path, name, is_folder) in names(&folder.path.join("logs")) {
        let id = name.strip_prefix("session-").and_then(|rest| rest.strip_suffix(".jsonl"));
        if !is_folder && id.is_some_and(|id| !is_known(id)) {
            orphan(path, "activity log");
        }
    }
    for (path, name, is_folder) in names(&folder.path) {
        if is_folder && is_random_id(&name) && !is_known(&name) {
            orphan(path, "plans and tasks");
        }
    }
}

fn leftovers(folder: &Path, found: &mut Vec<Orphan>) {
    for (path, name, is_folder) in names(folder).into_iter().chain(names(&folder.join("chats"))) {
        let is_backup = Path::new(&name).extension().is_some_and(|extension| extension == "bak");
        if !is_folder && (is_backup || name.contains(".jsonl.tmp-")) {
            found.push(Orphan { path, what: OrphanKind::Leftover });
        }
    }
}
