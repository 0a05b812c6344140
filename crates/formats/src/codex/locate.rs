//! Which files are ours: the layout below `.codex`.
//!
//! `sessions/YYYY/MM/DD/rollout-*.jsonl`, in the first releases `sessions/rollout-*.json`, and `archived_sessions/`. Each directory
//! is a folder of sessions that record their projects themselves.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{Problem, What};

use crate::folder::on_two_cores;
use crate::source::{
    EarlierListing, FileAt, FilePlacement, Linked, Located, ProjectFolder, Stamp, modified,
};

use super::{database, names};

/// How deep below `sessions` rollouts are: year, month, day.
const DEPTH: u8 = 3;

/// Lists what is below a `.codex` folder.
pub(super) fn locate(root: &Path, known: Option<&EarlierListing<'_>>) -> Located {
    let before = known.map(Before::new);
    let mut walk =
        Walk { root, before: before.as_ref(), located: Located::default(), pending: Vec::new() };
    walk.folder(&root.join("sessions"), DEPTH);
    walk.folder(&root.join("archived_sessions"), 0);
    let Walk { mut located, pending, .. } = walk;
    for (folder, problems) in on_two_cores(&pending, |folder| read(root, folder)) {
        located.folders.extend(folder);
        located.problems.extend(problems);
    }
    located.folders.sort_by(|one, next| one.path.cmp(&next.path));
    located.basis.files.push(names::index_file(root));
    // One that is not there yet is looked for under the name that releases have used for long.
    let index = database::files(root).map_or_else(|| vec![root.join(database::USUAL)], Vec::from);
    located.basis.files.extend(index);
    located.names = names::given(root);
    located
}

/// A folder whose files are not yet looked at.
struct Pending {
    path: PathBuf,
    files: Vec<Entry>,
}

/// A file that is not yet looked at. A `DirEntry` would keep its directory open, and there is one for each day.
struct Entry {
    path: PathBuf,
    is_link: bool,
}

struct Walk<'a> {
    root: &'a Path,
    before: Option<&'a Before<'a>>,
    located: Located,
    pending: Vec<Pending>,
}

impl Walk<'_> {
    fn folder(&mut self, path: &Path, depth: u8) {
        self.located.basis.directories.push(path.to_owned());
        if let Some((folder, inner)) = self.before.and_then(|before| before.unchanged(path)) {
            self.located.folders.extend(folder.cloned());
            for path in inner.iter().filter(|_| depth > 0) {
                self.folder(path, depth - 1);
            }
            return;
        }
        let mut files = Vec::new();
        for entry in entries(path, &mut self.located.problems) {
            let kind = entry.file_type();
            let is_folder = kind.as_ref().is_ok_and(fs::FileType::is_dir)
                || kind.is_ok_and(|kind| {
                    kind.is_symlink()
                        && leads_to_folder(&entry.path(), self.root, &mut self.located.problems)
                });
            if is_folder && depth > 0 {
                self.folder(&entry.path(), depth - 1);
            } else if entry.file_name().to_str().is_some_and(|name| names::rollout(name).is_some())
            {
                let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                files.push(Entry { path: entry.path(), is_link });
            }
        }
        if !files.is_empty() {
            self.pending.push(Pending { path: path.to_owned(), files });
        }
    }
}

/// What an earlier listing found, by directory.
struct Before<'a> {
    folders: HashMap<&'a Path, &'a ProjectFolder>,
    inner: HashMap<&'a Path, Vec<PathBuf>>,
    changed: HashSet<&'a Path>,
    /// Directories with a problem are listed again, to note it again.
    listed: HashSet<&'a Path>,
}

impl<'a> Before<'a> {
    fn new(known: &EarlierListing<'a>) -> Self {
        let mut inner: HashMap<&Path, Vec<PathBuf>> = HashMap::new();
        for directory in &known.basis.directories {
            if let Some(parent) = directory.parent() {
                inner.entry(parent).or_default().push(directory.clone());
            }
        }
        let with_problems = !known.problems.is_empty();
        Self {
            folders: known.folders.iter().map(|folder| (&*folder.path, *folder)).collect(),
            inner,
            changed: known.changed.iter().copied().collect(),
            listed: if with_problems {
                HashSet::new()
            } else {
                known.basis.directories.iter().map(PathBuf::as_path).collect()
            },
        }
    }

    /// Returns what is in a directory that has not changed.
    fn unchanged(&self, path: &Path) -> Option<(Option<&'a ProjectFolder>, &[PathBuf])> {
        if self.changed.contains(path) || !self.listed.contains(path) {
            return None;
        }
        let inner = self.inner.get(path).map(Vec::as_slice).unwrap_or_default();
        Some((self.folders.get(path).copied(), inner))
    }
}

/// Looks at the files of a folder.
fn read(root: &Path, folder: &Pending) -> (Option<ProjectFolder>, Vec<Problem>) {
    let mut problems = Vec::new();
    let files = folder.files.iter().filter_map(|entry| file_at(entry, root, &mut problems));
    let files: Vec<Arc<FileAt>> = files.map(Arc::new).collect();
    let name = folder.path.strip_prefix(root).unwrap_or(&folder.path);
    let found = ProjectFolder {
        name: name.to_string_lossy().into_owned(),
        path: folder.path.clone(),
        is_project: false,
        hash: None,
        markers: Vec::new(),
        bytes: files.iter().map(|file| file.bytes).sum(),
        files,
        linked: Linked::Nothing,
        notes: Vec::new(),
    };
    ((!found.files.is_empty()).then_some(found), problems)
}

fn file_at(entry: &Entry, root: &Path, problems: &mut Vec<Problem>) -> Option<FileAt> {
    let Entry { path, is_link } = entry;
    let (path, is_link) = (path.clone(), *is_link);
    if is_link && !stays_in(&path, root) {
        problems.push(problem(&path, What::LinkNotFollowed, "left out"));
        return None;
    }
    let metadata = if is_link { fs::metadata(&path) } else { fs::symlink_metadata(&path) };
    let Ok(metadata) = metadata else {
        problems.push(problem(&path, What::Unreadable, "left out"));
        return None;
    };
    if !metadata.is_file() {
        problems.push(problem(&path, What::NotAFile, "left out"));
        return None;
    }
    let group = names::of_path(&path)?.thread.to_owned();
    Some(FileAt {
        bytes: metadata.len(),
        is_link,
        modified: modified(&metadata),
        stamp: Stamp::of(&metadata),
        placement: FilePlacement::Main,
        group,
        path,
    })
}

fn leads_to_folder(path: &Path, root: &Path, problems: &mut Vec<Problem>) -> bool {
    if !path.is_dir() {
        return false;
    }
    let stays = stays_in(path, root);
    if !stays {
        problems.push(problem(path, What::LinkNotFollowed, "left out"));
    }
    stays
}

/// Whether a link leads to something below the root.
fn stays_in(path: &Path, root: &Path) -> bool {
    let (path, root) = (path.canonicalize(), root.canonicalize());
    path.ok().zip(root.ok()).is_some_and(|(path, root)| path.starts_with(root))
}

fn entries(path: &Path, problems: &mut Vec<Problem>) -> Vec<DirEntry> {
    let listed = match fs::read_dir(path) {
        Ok(listed) => listed,
        Err(error) => {
            let is_absent = matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            );
            if !is_absent {
                problems.push(problem(path, What::Unreadable, "left out; check its permissions"));
            }
            return Vec::new();
        }
    };
    let mut entries: Vec<DirEntry> = listed.flatten().collect();
    entries.sort_by_cached_key(DirEntry::file_name);
    entries
}

fn problem(path: &Path, what: What, done: &'static str) -> Problem {
    Problem { file: Arc::from(path.to_string_lossy()), span: None, what, done: done.into() }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests {
    use super::*;

    #[test]
    fn no_directory_stays_open_while_others_are_listed() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        for day in 10..30 {
            let folder = root.join(format!("sessions/2026/05/{day}"));
            fs::create_dir_all(&folder).unwrap();
            let id = format!("01a19c04-0a82-76b7-b26e-6e73e0eb4f{day}");
            let name = format!("rollout-2026-05-{day}T10-00-00-{id}.jsonl");
            fs::write(folder.join(name), "{}\n").unwrap();
        }
        let mut walk =
            Walk { root: &root, before: None, located: Located::default(), pending: Vec::new() };
        walk.folder(&root.join("sessions"), DEPTH);
        assert_eq!(walk.pending.len(), 20);
        // Where the system tells which files are open.
        let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        let open = open.filter_map(|entry| fs::read_link(entry.path()).ok());
        assert_eq!(open.filter(|path| path.starts_with(&root)).count(), 0);
        assert_eq!(locate(&root, None).folders.len(), 20);
    }
}
