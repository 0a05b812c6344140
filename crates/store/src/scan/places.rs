//! Where projects are likely to be.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{FolderTree, SKIPPED, ScanRoot};
use crate::presence::ask;

/// Below the home, where people keep their work; the home itself comes last.
const BELOW_HOME: &[&str] = &[
    "dev",
    "projects",
    "Projects",
    "src",
    "code",
    "Code",
    "work",
    "Work",
    "repos",
    "git",
    "workspace",
    "Developer",
    "Desktop",
    "Documents",
    "",
];
/// System folders for services.
const ELSEWHERE: &[&str] = &["/srv", "/opt", "/var/www"];
/// The maximum number of folders in a fingerprint.
const SHAPE: usize = 5000;

/// Where the homes of other users are, if one of them is read.
const OTHERS: &[&str] = &["/home", "/Users"];

/// Returns the likely places below some homes and elsewhere. `given` homes may be other users'.
pub fn likely(homes: &[PathBuf], given: bool) -> Vec<PathBuf> {
    let below = |home: &PathBuf| {
        let home = home.clone();
        BELOW_HOME
            .iter()
            .map(move |name| if name.is_empty() { home.clone() } else { home.join(name) })
    };
    let others = OTHERS.iter().filter(|_| given);
    let elsewhere = ELSEWHERE.iter().chain(others).map(PathBuf::from);
    homes.iter().flat_map(below).chain(elsewhere).collect()
}

/// An existing place, with a fingerprint of its upper levels.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The place, with links resolved: that is the path that an agent sees.
    pub place: ScanRoot,
    /// Changes when a folder is created or removed in its two upper levels.
    pub shape: String,
}

/// The result of checking places.
#[derive(Clone, Debug, Default)]
pub struct PlaceCheck {
    /// The existing places, without duplicates.
    pub seen: Vec<Seen>,
    /// Whether a place did not respond, so that its contents are unknown.
    pub silent: bool,
}

/// Checks places. Missing and unresponsive ones are skipped.
pub fn look(
    places: Vec<PathBuf>,
    depth: usize,
    patience: Duration,
    tree: &Arc<dyn FolderTree>,
) -> PlaceCheck {
    let tree = Arc::clone(tree);
    let looked = ask(places, move |path: &PathBuf| {
        let path = path.canonicalize().ok().filter(|path| path.is_dir())?;
        let shape = shape(&path, &*tree);
        Some(Seen { place: ScanRoot { path, depth, patience }, shape })
    });
    let silent = looked.iter().any(Option::is_none);
    let mut seen: Vec<Seen> = Vec::new();
    for new in looked.into_iter().flatten().flatten() {
        if !seen.iter().any(|known| known.place.path == new.place.path) {
            seen.push(new);
        }
    }
    PlaceCheck { seen, silent }
}

/// Returns the folder names of two levels. Times would change with every file that is written beside them.
fn shape(place: &Path, tree: &dyn FolderTree) -> String {
    let lister = tree.lister(place);
    let list = |folder: &Path| {
        let mut names: Vec<String> = Vec::new();
        // A folder that cannot be listed counts as empty.
        let _listed = tree.folders(folder, lister, &mut |entry| {
            if !entry.name.starts_with('.') && !SKIPPED.contains(&entry.name) {
                names.push(entry.name.to_owned());
            }
        });
        names.sort();
        names
    };
    let mut hasher = DefaultHasher::new();
    let mut left = SHAPE;
    for name in list(place) {
        let below = if left > 0 { list(&place.join(&name)) } else { Vec::new() };
        left = left.saturating_sub(below.len() + 1);
        (name, below).hash(&mut hasher);
    }
    format!("{:016x}", hasher.finish())
}
