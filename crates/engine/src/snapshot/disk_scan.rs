//! Every session file, read once, on all cores, largest first.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use recount_formats::Source;
use recount_formats::bytes::{self, Buffer, IdleCores};
use recount_formats::outline::Base;
use recount_formats::source::{
    Basis, EarlierListing, FileAt, Linked, Located, ProjectFolder, Registered, RegistryNote,
    ScannedFile, SessionFile, SessionFiles,
};
use recount_model::{FileRole, Problem, SessionId, SessionKind, SourceName, What};
use recount_platform::system_nanos;
use recount_store::Root;

use crate::cache::growth::Reading;
use crate::sessions::facts::main;

/// Told how far a scan is.
pub trait Progress: Debug + Sync {
    /// Bytes read, and bytes in total.
    fn advance(&self, done: u64, total: u64);

    /// The disk is searched for folders: number of folders visited, and number of wanted folders found.
    fn search(&self, _folders: u64, _found: usize, _wanted: usize) {}

    /// Whether nobody waits for the answer any more. What is asked often in a question that takes long, which then ends with
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Nobody is told.
impl Progress for () {
    fn advance(&self, _done: u64, _total: u64) {}
}

/// A project directory and whose it is.
#[derive(Clone, Debug)]
pub struct LocatedFolder {
    /// Whose it is.
    pub source: &'static dyn Source,
    /// The number of the data folder it is below.
    pub root: usize,
    /// Where it is, and what is in it.
    pub at: Arc<ProjectFolder>,
    /// Whether it is ours, with sessions made from headless output.
    pub is_ingested: bool,
}

/// What is on disk, not yet read.
#[derive(Clone, Debug, Default)]
pub struct DiskSnapshot {
    /// When it was looked at, in nanoseconds.
    pub(crate) looked: i128,
    /// The project directories.
    pub folders: Vec<LocatedFolder>,
    /// Per root.
    pub(crate) registry: Vec<Vec<Registered>>,
    /// Per root: what does not fit in the registry.
    pub notes: Vec<Vec<RegistryNote>>,
    /// Per root: names that users gave to sessions.
    pub names: Vec<Vec<(SessionId, String)>>,
    /// What could not be listed.
    pub problems: Vec<Problem>,
    /// Per root: the directories that were listed, and the other files that were read.
    pub(crate) basis: Vec<Basis>,
    /// Where the files of each group are; made when somebody asks.
    pub(crate) by_group: OnceLock<GroupIndex>,
}

/// Folder and file by source and group.
pub(crate) type GroupIndex = HashMap<(SourceName, Box<str>), Vec<(usize, usize)>>;

/// Files that may belong to one session.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) source: &'static dyn Source,
    pub(crate) files: Vec<(usize, Arc<FileAt>)>,
}

impl DiskSnapshot {
    /// Lists what lies below the roots.
    pub(crate) fn look(roots: &[Root]) -> Self {
        let mut disk = Self { looked: system_nanos(), ..Self::default() };
        let mut seen = BTreeSet::new();
        for (number, located) in located(roots).into_iter().enumerate() {
            disk.add(roots, number, located, &mut seen);
        }
        disk
    }

    fn add(
        &mut self,
        roots: &[Root],
        number: usize,
        located: Located,
        seen: &mut BTreeSet<PathBuf>,
    ) {
        let Located { folders, registry, notes, names, problems, basis } = located;
        let Some(Root { source, path: root, is_ingested, .. }) = roots.get(number) else { return };
        let (source, is_ingested) = (*source, *is_ingested);
        // What was listed here is opened later, when a folder on the way may have become a link.
        let listed = folders.iter().filter(|folder| folder.linked != Linked::Directory);
        let parents: BTreeSet<&Path> = listed.filter_map(|folder| folder.path.parent()).collect();
        bytes::confine(root, parents);
        for at in folders {
            // One root may lie within another, and a link may lead to a directory beside it.
            let is_link = || at.path.symlink_metadata().is_ok_and(|known| known.is_symlink());
            let only = roots.len() == 1 && !is_link();
            let path = if only { None } else { at.path.canonicalize().ok() };
            if seen.insert(path.unwrap_or_else(|| at.path.clone())) {
                let at = Arc::new(at);
                self.folders.push(LocatedFolder { source, root: number, at, is_ingested });
            }
        }
        self.registry.push(registry);
        self.notes.push(notes);
        self.names.push(names);
        self.problems.extend(problems);
        self.basis.push(basis);
    }

    /// Lists what lies below the roots, where some of `listed` changed at `paths`. Directories that did not change are shared with
    /// `known`.
    pub(crate) fn look_again(
        roots: &[Root],
        known: &Self,
        listed: &BTreeSet<usize>,
        changed: &[&Path],
    ) -> Self {
        let mut disk = Self { looked: system_nanos(), ..Self::default() };
        let mut seen = BTreeSet::new();
        for (number, root) in roots.iter().enumerate() {
            let folders: Vec<&ProjectFolder> =
                known.folders.iter().filter(|f| f.root == number).map(|f| &*f.at).collect();
            let basis = known.basis.get(number).cloned().unwrap_or_default();
            let changed = if listed.contains(&number) { changed } else { &[] };
            let known = EarlierListing {
                folders: &folders,
                basis: &basis,
                problems: &known.problems,
                changed,
            };
            let located = root.source.relocate(&root.path, root.shape, &known);
            disk.add(roots, number, located, &mut seen);
        }
        let before: BTreeMap<(usize, &Path), &Arc<ProjectFolder>> = known
            .folders
            .iter()
            .map(|folder| ((folder.root, &*folder.at.path), &folder.at))
            .collect();
        for folder in &mut disk.folders {
            if let Some(old) = before.get(&(folder.root, &*folder.at.path))
                && is_same(old, &folder.at)
            {
                folder.at = Arc::clone(old);
            }
        }
        disk
    }

    /// Returns the bytes of all session files.
    pub(crate) fn bytes(&self) -> u64 {
        self.folders.iter().map(|folder| folder.at.bytes).sum()
    }

    /// Returns the files of one group of a source.
    fn in_group(&self, source: &dyn Source, group: &str) -> Vec<(usize, Arc<FileAt>)> {
        let index = self.by_group.get_or_init(|| {
            let mut index: GroupIndex = HashMap::new();
            for (number, folder) in self.folders.iter().enumerate() {
                for (at, file) in folder.at.files.iter().enumerate() {
                    let key = (folder.source.name(), file.group.as_str().into());
                    index.entry(key).or_default().push((number, at));
                }
            }
            index
        });
        let places = index.get(&(source.name(), group.into()));
        let file = |(folder, at): &(usize, usize)| {
            let file = self.folders.get(*folder)?.at.files.get(*at)?;
            Some((*folder, Arc::clone(file)))
        };
        places.into_iter().flatten().filter_map(file).collect()
    }

    /// Groups files that may belong together; `wanted` picks groups by their key.
    pub(crate) fn groups(&self, wanted: impl Fn(&dyn Source, &str) -> bool) -> Vec<Group> {
        let mut groups: BTreeMap<(&str, &str), Group> = BTreeMap::new();
        for (number, folder) in self.folders.iter().enumerate() {
            let files = folder.at.files.iter();
            for file in files.filter(|file| wanted(folder.source, &file.group)) {
                let key = (folder.source.name().as_str(), file.group.as_str());
                let group = groups
                    .entry(key)
                    .or_insert_with(|| Group { source: folder.source, files: Vec::new() });
                group.files.push((number, Arc::clone(file)));
            }
        }
        groups.into_values().collect()
    }
}

/// Lists all roots at the same time: most of it is waiting for the kernel.
fn located(roots: &[Root]) -> Vec<Located> {
    let one = |root: &Root| root.source.locate(&root.path, root.shape);
    let Some((first, others)) = roots.split_first() else { return Vec::new() };
    std::thread::scope(|scope| {
        let others: Vec<_> =
            others.iter().map(|root| (root, scope.spawn(move || one(root)))).collect();
        let mut located = vec![one(first)];
        // One that failed is listed again here, where the failure is seen.
        let rest =
            others.into_iter().map(|(root, listing)| listing.join().unwrap_or_else(|_| one(root)));
        located.extend(rest);
        located
    })
}

/// Whether two listings of a directory found the same.
fn is_same(one: &ProjectFolder, other: &ProjectFolder) -> bool {
    let files = |folder: &ProjectFolder| folder.files.len();
    let same_file = |(one, other): (&Arc<FileAt>, &Arc<FileAt>)| {
        one.stamp == other.stamp && one.path == other.path && one.group == other.group
    };
    files(one) == files(other)
        && one.markers == other.markers
        && one.notes == other.notes
        && one.linked == other.linked
        && one.files.iter().zip(&other.files).all(same_file)
}

impl Group {
    /// Returns the bytes of its files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, file)| file.bytes).sum()
    }

    /// Reads the files and sorts them into sessions.
    pub(crate) fn group_sessions(
        &self,
        disk: &DiskSnapshot,
        reading: &dyn Reading,
        buffer: &mut Buffer,
    ) -> Vec<SessionFiles> {
        let source = self.source;
        let mut grouped = source.group_sessions(self.scan(disk, reading, buffer));
        for session_files in &mut grouped {
            let folder =
                session_files.files.first().and_then(|one| disk.folders.get(one.file.folder));
            if !session_files.kind.is_subagent() && folder.is_some_and(|folder| folder.is_ingested)
            {
                session_files.kind = SessionKind::Headless;
            }
            let base = main(session_files)
                .and_then(|main| main.file.outline.head.base.as_deref().cloned());
            if let Some(base) = base {
                let mut bases = Vec::new();
                let is_whole = borrow(source, base, disk, reading, buffer, &mut bases);
                if !is_whole {
                    note_missing_base(session_files);
                }
                session_files.files.splice(0..0, bases.into_iter().rev());
            }
        }
        grouped
    }

    /// Reads the files. One that holds several sessions is there once for each of them.
    fn scan(
        &self,
        disk: &DiskSnapshot,
        reading: &dyn Reading,
        buffer: &mut Buffer,
    ) -> Vec<ScannedFile> {
        let source = self.source;
        let mut scanned = Vec::with_capacity(self.files.len());
        for (folder, at) in &self.files {
            let named_folder = disk.folders.get(*folder).is_some_and(|f| f.at.hash.is_none());
            let mut outline = reading.outline(source, at, buffer);
            let others = std::mem::take(&mut outline.others);
            let is_shared = !others.is_empty();
            for outline in std::iter::once(outline).chain(others) {
                scanned.push(ScannedFile {
                    folder: *folder,
                    named_folder,
                    is_shared,
                    at: at.clone(),
                    outline,
                });
            }
        }
        drop_joined(disk, &mut scanned);
        scanned
    }

    /// Reads the files of one session. Without those of its parent, an old sub-agent goes by its parent's id.
    pub(crate) fn session_files(
        &self,
        id: &SessionId,
        disk: &DiskSnapshot,
        reading: &dyn Reading,
        buffer: &mut Buffer,
    ) -> Option<SessionFiles> {
        let mut grouped = self.group_sessions(disk, reading, buffer);
        let place = grouped.iter().position(|session_files| session_files.id == *id);
        let alone = || (grouped.len() == 1).then_some(0);
        place.or_else(alone).map(|place| grouped.swap_remove(place))
    }
}

/// Leaves out what was ingested of a session that is on disk: the agent's own record has all of it, and the two are one.
fn drop_joined(disk: &DiskSnapshot, scanned: &mut Vec<ScannedFile>) {
    let is_ingested =
        |file: &ScannedFile| disk.folders.get(file.folder).is_some_and(|folder| folder.is_ingested);
    if !scanned.iter().any(is_ingested) {
        return;
    }
    let own = |file: &ScannedFile| {
        let head = &file.outline.head;
        head.session_id
            .clone()
            .filter(|_| file.outline.has_conversation)
            .map(|id| (head.subagent, id))
    };
    let on_disk: BTreeSet<(bool, SessionId)> =
        scanned.iter().filter(|file| !is_ingested(file)).filter_map(own).collect();
    scanned.retain(|file| {
        let head = &file.outline.head;
        let key = head.session_id.clone().map(|id| (head.subagent, id));
        !is_ingested(file) || !key.is_some_and(|key| on_disk.contains(&key))
    });
}

/// How many sessions one may borrow from, one through the other.
const DEEPEST: usize = 16;

/// Adds what a session borrows from another one, and that one from others, nearest first. Returns whether all of it is there.
fn borrow(
    source: &'static dyn Source,
    base: Base,
    disk: &DiskSnapshot,
    reading: &dyn Reading,
    buffer: &mut Buffer,
    bases: &mut Vec<SessionFile>,
) -> bool {
    let mut next = Some(base);
    let mut seen = BTreeSet::new();
    while let Some(base) = next.take() {
        if bases.len() >= DEEPEST || !seen.insert(base.session.clone()) {
            return false;
        }
        let files = disk.in_group(source, &base.group);
        let scanned = Group { source, files }.scan(disk, reading, buffer);
        let grouped = source.group_sessions(scanned);
        let session_files =
            grouped.into_iter().find(|session_files| session_files.id == base.session);
        let borrowed = session_files.and_then(|files| source.borrowed(files, &base));
        let Some((files, further)) = borrowed else { return false };
        bases.extend(files);
        next = further;
    }
    true
}

fn note_missing_base(session_files: &mut SessionFiles) {
    let Some(main) =
        session_files.files.iter_mut().find(|session_file| session_file.role == FileRole::Main)
    else {
        return;
    };
    let problems = &mut main.file.outline.problems;
    // An outline that was kept has it already.
    if problems.kept.iter().any(|problem| problem.what == What::BaseMissing) {
        return;
    }
    problems.note(Problem {
        file: Arc::from(main.file.at.path.to_string_lossy()),
        span: None,
        what: What::BaseMissing,
        done: "the rest of the conversation is shown".into(),
    });
}

/// Reads all `groups` and turns each session into what `digest` makes of it, with the number of its group. The order of
/// the result is that of the groups, whatever thread was faster. One that is cancelled returns what it had by then.
pub(crate) fn scan_files<T: Send>(
    disk: &DiskSnapshot,
    groups: &[Group],
    reading: &dyn Reading,
    progress: &dyn Progress,
    digest: impl Fn(&'static dyn Source, SessionFiles) -> T + Sync,
) -> Vec<(usize, T)> {
    let digests = |_: usize, group: &Group, sessions: Vec<SessionFiles>| -> Vec<T> {
        sessions.into_iter().map(|session_files| digest(group.source, session_files)).collect()
    };
    let read = scan_groups(disk, groups, reading, progress, digests);
    let with_number = |(number, digests): (usize, Vec<T>)| {
        digests.into_iter().map(move |digest| (number, digest))
    };
    read.into_iter().flat_map(with_number).collect()
}

/// The same for whole groups: `digest` gets the number of a group, and all its sessions.
pub(crate) fn scan_groups<T: Send>(
    disk: &DiskSnapshot,
    groups: &[Group],
    reading: &dyn Reading,
    progress: &dyn Progress,
    digest: impl Fn(usize, &Group, Vec<SessionFiles>) -> T + Sync,
) -> Vec<(usize, T)> {
    let total: u64 = groups.iter().map(Group::bytes).sum();
    // Largest first, so that no core is left with a large one at the end.
    let mut queue: Vec<(u64, usize)> =
        groups.iter().enumerate().map(|(number, group)| (group.bytes(), number)).collect();
    queue.sort_by_key(|(bytes, number)| (std::cmp::Reverse(*bytes), *number));
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let results = Mutex::new(Vec::with_capacity(queue.len()));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(queue.len());
    let idle = Arc::new(IdleCores::new(cores, threads));
    let work = || {
        let mut buffer = Buffer::sharing(Arc::clone(&idle));
        let mut own = Vec::new();
        while let Some((bytes, number)) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
            if progress.is_cancelled() {
                break;
            }
            let Some(group) = groups.get(*number) else { continue };
            let sessions = group.group_sessions(disk, reading, &mut buffer);
            own.push((*number, digest(*number, group, sessions)));
            let read = done.fetch_add(*bytes, Ordering::Relaxed) + bytes;
            progress.advance(read, total);
        }
        // The last sessions may use it.
        idle.add_one();
        if let Ok(mut results) = results.lock() {
            results.append(&mut own);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(number, _)| *number);
    results
}
