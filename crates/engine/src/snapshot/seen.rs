//! What a snapshot depends on beside its session files, with what it looked like: while all of that stays, a refresh need
//! not list a directory nor open a file.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use recount_formats::on_two_cores;
use recount_formats::source::Stamp;

use crate::cache::refresh::RACY;
use crate::projects::resolve::ResolvedProjects;
use crate::snapshot::disk_scan::DiskSnapshot;

/// The number of paths that one of two threads looks at before it takes the next ones.
const AT_ONCE: usize = 32;

/// What the snapshot takes from a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A directory that was listed, of the root with this number.
    Directory(usize),
    /// Another file that was read, of the root with this number.
    File(usize),
    /// A project's own folder, of which only counts whether it is there.
    Project,
    /// One of our own files: names of projects, tags and pins.
    Own,
}

/// One path, with what it looked like.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: PathBuf,
    pub(crate) role: Role,
    stamp: Option<Stamp>,
}

impl Seen {
    fn new(path: &Path, role: Role) -> Self {
        Self { stamp: stamp(path, role), path: path.to_owned(), role }
    }

    /// Whether it may be different from what it was at `looked`, in nanoseconds.
    fn is_changed(&self, looked: i128) -> bool {
        let racy = |stamp: Stamp| self.role != Role::Project && looked - stamp.nanos < RACY;
        self.stamp.is_some_and(racy) || stamp(&self.path, self.role) != self.stamp
    }
}

fn stamp(path: &Path, role: Role) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some(if role == Role::Project { Stamp::default() } else { Stamp::of(&metadata) })
}

/// Takes down what a listing depends on.
pub(crate) fn basis(disk: &DiskSnapshot) -> Vec<Seen> {
    let mut seen = Vec::new();
    for (root, basis) in disk.basis.iter().enumerate() {
        seen.extend(basis.directories.iter().map(|path| Seen::new(path, Role::Directory(root))));
        seen.extend(basis.files.iter().map(|path| Seen::new(path, Role::File(root))));
    }
    seen
}

/// Takes down where projects are, and our own files.
pub(crate) fn beside(projects: &ResolvedProjects, own: &[PathBuf]) -> Vec<Seen> {
    let known = projects.projects.iter().chain(projects.recorded.values());
    let folders = known.filter_map(|project| project.path.as_ref());
    let folders: HashSet<&Path> = folders.map(|path| Path::new(path.as_str())).collect();
    let mut folders: Vec<&Path> = folders.into_iter().collect();
    folders.sort_unstable();
    let mut seen: Vec<Seen> =
        folders.into_iter().map(|path| Seen::new(path, Role::Project)).collect();
    seen.extend(own.iter().map(|path| Seen::new(path, Role::Own)));
    seen
}

/// What a session file is like, compared with what it was.
#[derive(Debug)]
pub(crate) enum FileNow {
    /// As it was.
    Same,
    /// Perhaps different.
    Changed(fs::Metadata),
    /// No longer there.
    Gone,
}

/// Which paths may have changed, by who knows.
#[derive(Debug)]
pub(crate) enum Suspects<'a> {
    /// Any: each is asked for its stamp.
    All,
    /// These, and nothing else.
    Only(&'a HashSet<PathBuf>),
}

impl Suspects<'_> {
    /// Returns those of `seen` that changed.
    pub(crate) fn changed<'s>(&self, seen: &'s [Seen], looked: i128) -> Vec<&'s Seen> {
        match self {
            Self::All => {
                let parts: Vec<&[Seen]> = seen.chunks(AT_ONCE).collect();
                let changed = |part: &&'s [Seen]| {
                    part.iter().filter(|seen| seen.is_changed(looked)).collect::<Vec<_>>()
                };
                on_two_cores(&parts, changed).concat()
            }
            Self::Only(paths) => {
                // A directory changes when something in it comes or goes.
                let parents: HashSet<&Path> =
                    paths.iter().filter_map(|path| path.parent()).collect();
                let named = |seen: &&Seen| {
                    let is_parent =
                        matches!(seen.role, Role::Directory(_)) && parents.contains(&*seen.path);
                    // A file that is looked for comes with the directory that it is in.
                    let is_inside = matches!(seen.role, Role::File(_))
                        && seen.path.parent().is_some_and(|folder| paths.contains(folder));
                    ((is_parent || is_inside) && seen.is_changed(looked))
                        || paths.contains(&seen.path)
                };
                seen.iter().filter(named).collect()
            }
        }
    }

    /// Looks at a session file that is known with a stamp.
    pub(crate) fn look_at(&self, path: &Path, known: Stamp, looked: i128) -> FileNow {
        if let Self::Only(paths) = self
            && !paths.contains(path)
        {
            return FileNow::Same;
        }
        let trusted = matches!(self, Self::All) && looked - known.nanos >= RACY;
        match fs::metadata(path) {
            Ok(now) if trusted && Stamp::of(&now) == known => FileNow::Same,
            Ok(now) if now.is_file() => FileNow::Changed(now),
            _ => FileNow::Gone,
        }
    }
}
