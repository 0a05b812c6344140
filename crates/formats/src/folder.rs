//! Lists an agent's folders without following links that lead out of them.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use recount_files::{EntryType, FileStatus, OpenFolder};
use recount_model::{Problem, What};

use crate::bytes::accept_link;
use crate::source::{FileAt, FilePlacement, Stamp, modified_at};

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

/// A folder that was listed.
#[derive(Debug)]
pub(crate) struct ListedFolder {
    path: PathBuf,
    folder: Option<OpenFolder>,
    /// What is in it, sorted by name so that two runs see the same.
    pub(crate) entries: Vec<ListedEntry>,
}

/// An entry of a folder that was listed.
#[derive(Debug)]
pub(crate) struct ListedEntry {
    /// Its name as text.
    pub(crate) name: String,
    /// Its name, if that is no text.
    raw_name: Option<OsString>,
    kind: EntryType,
}

impl ListedEntry {
    fn os_name(&self) -> &OsStr {
        self.raw_name.as_deref().unwrap_or(OsStr::new(&self.name))
    }

    /// Whether it is a folder, not counting links.
    pub(crate) fn is_folder(&self) -> bool {
        self.kind == EntryType::Folder
    }

    /// Whether it is a link.
    pub(crate) fn is_link(&self) -> bool {
        self.kind == EntryType::Link
    }
}

impl ListedFolder {
    /// Lists a folder. One that is not there is empty.
    pub(crate) fn list(path: &Path, problems: &mut Vec<Problem>) -> Self {
        Self::listed(path.to_owned(), OpenFolder::open(path), problems)
    }

    /// Lists a folder in it.
    pub(crate) fn list_inner(&self, entry: &ListedEntry, problems: &mut Vec<Problem>) -> Self {
        let path = self.path_of(entry);
        let opened = match &self.folder {
            Some(folder) => folder.inner(entry.os_name()),
            None => OpenFolder::open(&path),
        };
        Self::listed(path, opened, problems)
    }

    fn listed(path: PathBuf, opened: io::Result<OpenFolder>, problems: &mut Vec<Problem>) -> Self {
        let listed = opened.and_then(|folder| folder.list().map(|listed| (folder, listed)));
        let (folder, listed) = match listed {
            Ok((folder, listed)) => (Some(folder), listed),
            Err(error) => {
                problems.extend(unlisted(path.as_path(), &error));
                (None, Vec::new())
            }
        };
        let entry = |(name, kind): (OsString, EntryType)| match name.into_string() {
            Ok(name) => ListedEntry { name, raw_name: None, kind },
            Err(raw) => {
                let name = raw.to_string_lossy().into_owned();
                ListedEntry { name, raw_name: Some(raw), kind }
            }
        };
        Self { path, folder, entries: listed.into_iter().map(entry).collect() }
    }

    /// Returns where an entry is.
    pub(crate) fn path_of(&self, entry: &ListedEntry) -> PathBuf {
        self.path.join(entry.os_name())
    }

    /// Reads the metadata of a listed file. Anything but a regular file within `root` is a problem.
    pub(crate) fn file(
        &self,
        entry: &ListedEntry,
        root: &Path,
        problems: &mut Vec<Problem>,
    ) -> Option<FileAt> {
        let path = self.path_of(entry);
        let mut problem = |what, done: &'static str| {
            let file = Arc::from(path.to_string_lossy());
            problems.push(Problem { file, span: None, what, done: done.into() });
            None
        };
        // Read through its open folder: the path is not resolved again for each file.
        let status = self.folder.as_ref().and_then(|folder| folder.status(entry.os_name()).ok());
        let Some(mut status) = status else {
            return problem(What::Unreadable, "left out");
        };
        let is_link = status.kind == EntryType::Link;
        if is_link {
            let inside = leads_inside(&path, root);
            match fs::metadata(&path) {
                Ok(target) if inside => {
                    accept_link(&path, &target);
                    status = FileStatus::of(&target);
                }
                _ => {
                    return problem(
                        What::LinkNotFollowed,
                        "left out: it leads out of the agent's folder",
                    );
                }
            }
        }
        if status.kind != EntryType::File {
            // Opening a pipe would block forever.
            return problem(What::NotAFile, "left out");
        }
        Some(FileAt {
            bytes: status.bytes,
            is_link,
            modified: modified_at(&status),
            stamp: Stamp::at(&status),
            path,
            placement: FilePlacement::Main,
            group: String::new(),
        })
    }
}

/// Gives each item to `look`, on two cores: most of the time is spent asking for sizes, which a second one can do as well.
/// Whoever is done takes the next one, as some folders are much larger than others.
pub fn on_two_cores<T: Sync, R: Send>(items: &[T], look: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return own };
            own.push((number, look(item)));
        }
    };
    if items.len() < 2 {
        return items.iter().map(look).collect();
    }
    let mut looked = std::thread::scope(|scope| {
        let second = scope.spawn(work);
        let mut looked = work();
        looked.extend(second.join().unwrap_or_default());
        looked
    });
    looked.sort_unstable_by_key(|(number, _)| *number);
    looked.into_iter().map(|(_, looked)| looked).collect()
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
            problems.extend(unlisted(path, &error));
            return Vec::new();
        }
    };
    let mut all: Vec<DirEntry> = listed.flatten().collect();
    all.sort_by_cached_key(DirEntry::file_name);
    all
}

/// Returns the problem with a folder that cannot be listed. One that is not there is none.
fn unlisted(path: &Path, error: &io::Error) -> Option<Problem> {
    if error.kind() == io::ErrorKind::NotFound {
        return None;
    }
    let file = Arc::from(path.to_string_lossy());
    let done = "its sessions are left out; check the folder's permissions";
    Some(Problem { file, span: None, what: What::Unreadable, done: done.into() })
}
