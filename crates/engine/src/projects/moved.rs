//! Finds the likely new locations of missing folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;
use recount_catalog::{Catalog, StoredReader};
use recount_model::{ClueKind, ProjectState};
use recount_store::{FolderCandidate, MentionedFiles, MissingFolder, beside, present, propose};

use crate::Engine;
use crate::cache::refresh::hash;
use crate::projects::ProjectRow;
use crate::projects::paths::{mentioned_in, texts};
use crate::projects::resolve::ResolvedProjects;
use crate::projects::text_clues::stamp;
use crate::snapshot::disk_scan::{DiskSnapshot, LocatedFolder};

/// The maximum number of folders that are compared with a missing one.
const SPOTS: usize = 500;

/// Sets the likely new location for each row whose folder is missing.
pub(crate) fn new_places(
    rows: &mut [ProjectRow],
    disk: &DiskSnapshot,
    resolved: &ResolvedProjects,
    engine: &Engine,
) {
    if !rows.iter().any(|row| row.state == ProjectState::Missing) {
        return;
    }
    let began: BTreeMap<String, Timestamp> = rows
        .iter()
        .filter_map(|row| Some((row.path.as_ref()?.as_str().to_owned(), row.began?)))
        .collect();
    let homes = engine.homes();
    let known = known_folders(resolved);
    let mut looked: BTreeMap<String, FolderCandidate> = BTreeMap::new();
    let (catalog, mut read) = (engine.catalog(), Vec::new());
    for row in rows.iter_mut().filter(|row| row.state == ProjectState::Missing) {
        let Some(path) = row.path.clone() else { continue };
        let mut spots: BTreeSet<String> =
            beside(Path::new(path.as_str())).into_iter().take(SPOTS).collect();
        spots.extend(known.iter().take(SPOTS).cloned());
        // A home, or a system folder, contains everything; no project has moved there, nor into an agent's folder.
        let is_broad = |spot: &str| {
            Path::new(spot).components().count() < 3
                || homes.iter().any(|home| home.starts_with(spot))
                || engine.roots().any(|root| Path::new(spot).starts_with(root))
        };
        spots.retain(|spot| !is_broad(spot));
        if spots.is_empty() {
            continue;
        }
        let folders = disk.folders.iter().zip(&resolved.projects);
        let own = folders.filter(|(_, project)| project.path.as_ref() == Some(&path));
        let own: Vec<&LocatedFolder> = own.map(|(folder, _)| folder).collect();
        let spoken = spoken(&own, path.as_str(), catalog.as_ref(), &mut read);
        for spot in &spots {
            // The contents of a folder are listed once, for any number of missing ones.
            let new = || FolderCandidate::new(spot.as_str(), began.get(spot).copied());
            looked.entry(spot.clone()).or_insert_with(new);
        }
        let spots = spots.iter().filter_map(|spot| looked.get(spot));
        let repository = resolved.learned.repository(path.as_str());
        let gone = MissingFolder { path: &path, repository, began: row.began, spoken: &spoken };
        row.moved_to = propose(&gone, spots);
    }
    if !read.is_empty() {
        // What cannot be cached is read again.
        engine.write_later(move |catalog| {
            let _kept = catalog.keep_states(&read);
        });
    }
}

/// Returns the files that the sessions of a project mention. Its texts are only read again if one has changed.
fn spoken(
    folders: &[&LocatedFolder],
    project: &str,
    catalog: Option<&Catalog>,
    read: &mut Vec<(String, StoredReader)>,
) -> MentionedFiles {
    let stamps: Vec<String> =
        folders.iter().map(|folder| stamp(folder.source, &folder.at)).collect();
    let (key, print) = (format!("spoken:{project}"), hash(&stamps));
    let known = catalog.and_then(|catalog| catalog.state(&key).ok().flatten());
    let known = known.filter(|known| known.print == print);
    if let Some((below, names)) = known.and_then(|known| postcard::from_bytes(&known.content).ok())
    {
        return MentionedFiles { below, names };
    }
    let files: Vec<_> =
        folders.iter().flat_map(|folder| texts(folder.source, &folder.at)).collect();
    let spoken = mentioned_in(&files, project);
    if let Ok(content) = postcard::to_allocvec(&(&spoken.below, &spoken.names)) {
        read.push((key, StoredReader { inode: 0, offset: 0, print, content }));
    }
    spoken
}

/// Returns existing folders that may be a project: recorded ones, and those found by a search.
fn known_folders(resolved: &ResolvedProjects) -> Vec<String> {
    let on_record = |kind: ClueKind| !matches!(kind, ClueKind::Text | ClueKind::Beside);
    let recorded = resolved
        .candidates
        .paths()
        .filter(|(_, origins)| origins.iter().any(|origin| on_record(origin.kind)));
    let recorded = recorded.map(|(path, _)| path.as_str()).filter(|path| path.len() > 1);
    let mut all: Vec<String> =
        resolved.learned.spots().chain(recorded).take(2 * SPOTS).map(str::to_owned).collect();
    all.sort();
    all.dedup();
    let answers = present(all.clone());
    all.into_iter()
        .zip(answers)
        .filter(|(_, there)| *there == Some(true))
        .map(|(path, _)| path)
        .collect()
}
