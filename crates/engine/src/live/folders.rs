//! The directories and files below data folders that are followed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use recount_formats::live::LiveFeed;

/// Directories are looked at down to this depth below a data folder.
const DEPTH: usize = 5;
/// A directory that was changed so short a time before it was listed may change again without a sign.
const RACY: Duration = Duration::from_secs(2);

/// The directories that are followed. One that has not changed is not listed again: opening it would be reported to all who watch it.
#[derive(Debug, Default)]
pub(crate) struct FollowedDirectories {
    listed: HashMap<PathBuf, Subfolders>,
}

/// The folders in a directory, and when they were listed.
#[derive(Clone, Debug)]
struct Subfolders {
    modified: SystemTime,
    looked: SystemTime,
    folders: Vec<PathBuf>,
}

impl FollowedDirectories {
    /// Lists the directories that are followed now.
    pub(crate) fn find(&mut self, feed: &LiveFeed) -> Vec<PathBuf> {
        let mut before = std::mem::take(&mut self.listed);
        let mut found = Vec::new();
        for (source, root) in feed.roots() {
            let mut level = vec![root.to_owned()];
            for _ in 0..DEPTH {
                level.retain(|path| {
                    path.strip_prefix(root).is_ok_and(|below| source.is_followed_directory(below))
                });
                let below: Vec<PathBuf> =
                    level.iter().flat_map(|path| self.folders(path, &mut before)).collect();
                found.append(&mut level);
                level = below;
            }
        }
        found
    }

    /// Lists the files that are followed.
    pub(crate) fn files(&mut self, feed: &LiveFeed) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for folder in self.find(feed) {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let paths = entries.map(|entry| entry.path());
            files.extend(paths.filter(|path| feed.form(path).is_some()));
        }
        files
    }

    fn folders(&mut self, path: &Path, before: &mut HashMap<PathBuf, Subfolders>) -> Vec<PathBuf> {
        #[expect(clippy::disallowed_methods, reason = "compared with the time of a directory")]
        let looked = SystemTime::now();
        let modified = fs::metadata(path).and_then(|about| about.modified());
        let Ok(modified) = modified else { return Vec::new() };
        let known = before.remove(path).filter(|known| {
            let age = known.looked.duration_since(known.modified);
            known.modified == modified && age.is_ok_and(|age| age >= RACY)
        });
        let known =
            known.unwrap_or_else(|| Subfolders { modified, looked, folders: subfolders(path) });
        let folders = known.folders.clone();
        self.listed.insert(path.to_owned(), known);
        folders
    }
}

fn subfolders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_folder).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "directories to be followed")]

    use super::*;

    fn age(path: &Path) {
        let then = SystemTime::now() - Duration::from_secs(60);
        fs::File::open(path).unwrap().set_modified(then).unwrap();
    }

    #[test]
    fn only_directories_that_changed_are_listed_again() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join(".gemini");
        let chats = root.join("tmp/shop/chats");
        fs::create_dir_all(&chats).unwrap();
        for path in [&chats, &root.join("tmp/shop"), &root.join("tmp"), &root] {
            age(path);
        }
        let mut feed = LiveFeed::default();
        let source =
            recount_formats::SOURCES.iter().find(|source| source.name().as_str() == "gemini");
        feed.add(*source.unwrap(), &root);
        let mut followed = FollowedDirectories::default();
        let first = followed.find(&feed);
        assert!(first.contains(&chats), "{first:?}");
        let looked = |followed: &FollowedDirectories, path: &Path| followed.listed[path].looked;
        let (projects, shop) = (root.join("tmp"), root.join("tmp/shop"));
        let before = (looked(&followed, &projects), looked(&followed, &shop));
        assert_eq!(followed.find(&feed), first);
        assert_eq!((looked(&followed, &projects), looked(&followed, &shop)), before);
        let new = projects.join("parser/chats");
        fs::create_dir_all(&new).unwrap();
        assert!(followed.find(&feed).contains(&new));
        assert_eq!(looked(&followed, &shop), before.1);
        assert_ne!(looked(&followed, &projects), before.0);
        fs::remove_dir_all(projects.join("parser")).unwrap();
        assert_eq!(followed.find(&feed), first);
    }
}
