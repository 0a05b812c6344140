//! The directories and files below data folders that are followed.

use std::path::{Path, PathBuf};

use recount_formats::live::LiveFeed;

/// Directories are looked at down to this depth below a data folder.
const DEPTH: usize = 5;

/// Lists the directories that are followed.
pub(crate) fn directories(feed: &LiveFeed) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (source, root) in feed.roots() {
        let mut level = vec![root.to_owned()];
        for _ in 0..DEPTH {
            level.retain(|path| {
                path.strip_prefix(root).is_ok_and(|below| source.is_followed_directory(below))
            });
            let below: Vec<PathBuf> = level.iter().flat_map(|path| folders(path)).collect();
            found.append(&mut level);
            level = below;
        }
    }
    found
}

/// Lists the files that are followed.
pub(crate) fn files(feed: &LiveFeed) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in directories(feed) {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        files.extend(paths.filter(|path| feed.form(path).is_some()));
    }
    files
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_folder).map(|entry| entry.path()).collect()
}
