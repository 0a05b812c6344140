//! Lists an agent's folders without following links that lead out of them.

use std::borrow::Cow;
use std::fs::{self, DirEntry};
use std::path::Path;
use std::sync::Arc;

use recount_model::{Problem, What};

use crate::bytes::accept_link;
use crate::source::{FileAt, FilePlacement, Stamp, modified};

/// What in a project directory is reached through links that lead out of the agent's data folder. It is ignored everywhere
/// except when predicting what the agent deletes: the agent follows links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linked {
    /// Nothing.
    #[default]
    Nothing,
    /// Session files, or their folder.
    Files,
    /// The directory itself.
    Directory,
}

/// Reads the metadata of a listed file. Anything but a regular file within `root` is a problem.
pub(crate) fn file(entry: &DirEntry, root: &Path, problems: &mut Vec<Problem>) -> Option<FileAt> {
    let path = entry.path();
    let mut problem = |what, done: &'static str| {
        let file = Arc::from(path.to_string_lossy());
        problems.push(Problem { file, span: None, what, done: done.into() });
        None
    };
    // Read through its open folder: the path is not resolved again for each file.
    let Ok(mut metadata) = entry.metadata() else {
        return problem(What::Unreadable, "left out");
    };
    let is_link = metadata.is_symlink();
    if is_link {
        let inside = leads_inside(&path, root);
        match fs::metadata(&path) {
            Ok(target) if inside => {
                accept_link(&path, &target);
                metadata = target;
            }
            _ => {
                return problem(
                    What::LinkNotFollowed,
                    "left out: it leads out of the agent's folder",
                );
            }
        }
    }
    if !metadata.is_file() {
        // Opening a pipe would block forever.
        return problem(What::NotAFile, "left out");
    }
    Some(FileAt {
        bytes: metadata.len(),
        is_link,
        modified: modified(&metadata),
        stamp: Stamp::of(&metadata),
        path,
        placement: FilePlacement::Main,
        group: String::new(),
    })
}

/// Whether there is a folder, not counting links that lead out of the agent's own.
pub(crate) fn is_folder(path: &Path, root: &Path, problems: &mut Vec<Problem>) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    if !metadata.is_symlink() {
        return metadata.is_dir();
    }
    if !leads_inside(path, root) {
        let done = "left out: it leads out of the agent's folder";
        let file = Arc::from(path.to_string_lossy());
        problems.push(Problem { file, span: None, what: What::LinkNotFollowed, done: done.into() });
        return false;
    }
    path.is_dir()
}

/// Whether a path leads to something below `root`.
pub(crate) fn leads_inside(path: &Path, root: &Path) -> bool {
    let target = fs::canonicalize(path);
    target.is_ok_and(|target| fs::canonicalize(root).is_ok_and(|root| target.starts_with(root)))
}

/// Returns the name of an entry as text. Almost every name is valid, and checking that is cheaper than replacing what is not.
pub(crate) fn entry_name(entry: &DirEntry) -> String {
    entry.file_name().into_string().unwrap_or_else(|name| name.to_string_lossy().into_owned())
}

/// Returns a path as text.
pub(crate) fn path_text(path: &Path) -> Cow<'_, str> {
    path.to_str().map_or_else(|| path.to_string_lossy(), Cow::Borrowed)
}

/// Lists a folder, sorted by name so that two runs see the same.
pub(crate) fn entries(path: &Path, problems: &mut Vec<Problem>) -> Vec<DirEntry> {
    let listed = match fs::read_dir(path) {
        Ok(listed) => listed,
        Err(error) => {
            if error.kind() != std::io::ErrorKind::NotFound {
                let file = Arc::from(path.to_string_lossy());
                let done = "its sessions are left out; check the folder's permissions";
                problems.push(Problem {
                    file,
                    span: None,
                    what: What::Unreadable,
                    done: done.into(),
                });
            }
            return Vec::new();
        }
    };
    let mut all: Vec<DirEntry> = listed.flatten().collect();
    all.sort_by_cached_key(DirEntry::file_name);
    all
}
