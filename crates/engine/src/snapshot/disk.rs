//! The next listing of the disk: what did not change is taken over from the one before.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_formats::on_two_cores;
use recount_formats::source::{FileAt, ProjectFolder, Stamp, modified};
use recount_platform::system_nanos;
use recount_store::Root;

use crate::snapshot::disk_scan::{DiskSnapshot, LocatedFolder};
use crate::snapshot::seen::{FileNow, Role, Seen, Suspects, basis};

/// The next listing, and what is different in it.
pub(crate) struct NextDisk {
    pub(crate) disk: Arc<DiskSnapshot>,
    pub(crate) basis: Vec<Seen>,
    /// Groups of files of which one is different, came or went.
    pub(crate) groups: BTreeSet<String>,
    /// Files to which something was appended, and nothing else happened.
    pub(crate) grown: HashSet<PathBuf>,
    /// Whether what is known of project directories beside their files may be different.
    pub(crate) evidence: bool,
    /// For each directory of the listing before, its number now.
    pub(crate) numbers: Vec<Option<usize>>,
}

/// Looks again. `None` when nothing is different.
pub(crate) fn look_again(
    roots: &[Root],
    known: &DiskSnapshot,
    seen: &[Seen],
    suspects: &Suspects<'_>,
) -> Option<NextDisk> {
    let now = system_nanos();
    let changed = suspects.changed(seen, known.looked);
    let mut listed = BTreeSet::new();
    let mut evidence = false;
    for seen in &changed {
        match seen.role {
            Role::Directory(root) => {
                listed.insert(root);
            }
            Role::File(root) => {
                listed.insert(root);
                evidence = true;
            }
            Role::Project | Role::Own => {}
        }
    }
    let mut disk = known.clone();
    let mut files = Changes::default();
    stat_again(&mut disk, suspects, &mut files, &mut listed);
    let emptied = std::mem::take(&mut files.emptied);
    let mut paths: Vec<&Path> = changed.iter().map(|seen| &*seen.path).collect();
    paths.extend(emptied.iter().map(PathBuf::as_path));
    if listed.is_empty() && files.groups.is_empty() {
        return None;
    }
    let mut fresh_basis = None;
    if !listed.is_empty() {
        let again = DiskSnapshot::look_again(roots, &disk, &listed, &paths);
        files.compare(&disk, &again);
        disk = again;
        fresh_basis = Some(basis(&disk));
    }
    // Where only some paths were asked for, the others are as fresh as they were.
    disk.looked = if matches!(suspects, Suspects::All) { now } else { known.looked };
    let numbers = numbers(known, &disk);
    let moved = numbers.len() != disk.folders.len()
        || numbers.iter().enumerate().any(|(at, number)| *number != Some(at));
    Some(NextDisk {
        basis: fresh_basis.unwrap_or_else(|| seen.to_vec()),
        disk: Arc::new(disk),
        groups: files.groups,
        grown: files.grown,
        evidence: evidence || moved,
        numbers,
    })
}

#[derive(Default)]
struct Changes {
    groups: BTreeSet<String>,
    grown: HashSet<PathBuf>,
    /// Directories of files that are gone.
    emptied: BTreeSet<PathBuf>,
}

impl Changes {
    fn note(&mut self, old: &FileAt, new: &FileAt) {
        self.groups.insert(old.group.clone());
        let grew = old.stamp.inode == new.stamp.inode && old.bytes < new.bytes;
        if grew {
            self.grown.insert(old.path.clone());
        }
    }

    /// Notes what is different between two listings.
    fn compare(&mut self, before: &DiskSnapshot, after: &DiskSnapshot) {
        let files = |disk: &DiskSnapshot| -> HashMap<PathBuf, Arc<FileAt>> {
            let changed = disk.folders.iter().flat_map(|folder| &folder.at.files);
            changed.map(|file| (file.path.clone(), Arc::clone(file))).collect()
        };
        let shared: HashSet<*const ProjectFolder> =
            before.folders.iter().map(|folder| Arc::as_ptr(&folder.at)).collect();
        let only = |disk: &DiskSnapshot, other: &HashSet<*const ProjectFolder>| DiskSnapshot {
            folders: disk
                .folders
                .iter()
                .filter(|folder| !other.contains(&Arc::as_ptr(&folder.at)))
                .cloned()
                .collect(),
            ..DiskSnapshot::default()
        };
        let also: HashSet<*const ProjectFolder> =
            after.folders.iter().map(|folder| Arc::as_ptr(&folder.at)).collect();
        let mut old = files(&only(before, &also));
        let new = only(after, &shared);
        for file in new.folders.iter().flat_map(|folder| &folder.at.files) {
            match old.remove(&file.path) {
                Some(old) if old.stamp == file.stamp => {}
                Some(old) => self.note(&old, file),
                None => {
                    self.groups.insert(file.group.clone());
                }
            }
        }
        self.groups.extend(old.into_values().map(|file| file.group.clone()));
    }
}

/// Asks session files for their stamps. One that is gone has its root listed again.
fn stat_again(
    disk: &mut DiskSnapshot,
    suspects: &Suspects<'_>,
    changes: &mut Changes,
    listed: &mut BTreeSet<usize>,
) {
    let looked = disk.looked;
    let look = |folder: &LocatedFolder| {
        let files = folder.at.files.iter().enumerate();
        let now = files.map(|(at, file)| (at, suspects.look_at(&file.path, file.stamp, looked)));
        now.filter(|(_, now)| !matches!(now, FileNow::Same)).collect::<Vec<_>>()
    };
    let news = match suspects {
        Suspects::All => on_two_cores(&disk.folders, look),
        Suspects::Only(_) => disk.folders.iter().map(look).collect(),
    };
    for (folder, looked) in disk.folders.iter_mut().zip(news) {
        let mut news = Vec::new();
        for (at, now) in looked {
            match now {
                FileNow::Same => {}
                FileNow::Changed(metadata) => news.push((at, metadata)),
                FileNow::Gone => {
                    listed.insert(folder.root);
                    let file = folder.at.files.get(at);
                    let parent = file.and_then(|file| file.path.parent());
                    changes.emptied.extend(parent.map(Path::to_owned));
                }
            }
        }
        if news.is_empty() {
            continue;
        }
        let own = Arc::make_mut(&mut folder.at);
        for (at, metadata) in news {
            let Some(file) = own.files.get_mut(at) else { continue };
            let old = Arc::clone(file);
            let file = Arc::make_mut(file);
            file.bytes = metadata.len();
            file.modified = modified(&metadata);
            file.stamp = Stamp::of(&metadata);
            changes.note(&old, file);
        }
        own.bytes = own.files.iter().map(|file| file.bytes).sum();
    }
}

/// Finds the directories of one listing in another.
fn numbers(before: &DiskSnapshot, after: &DiskSnapshot) -> Vec<Option<usize>> {
    let now: HashMap<(usize, &Path), usize> = after
        .folders
        .iter()
        .enumerate()
        .map(|(at, folder)| ((folder.root, &*folder.at.path), at))
        .collect();
    before.folders.iter().map(|folder| now.get(&(folder.root, &*folder.at.path)).copied()).collect()
}
