//! The finished list, remembered row by row: while nothing on disk changes it is not put together again. Rows of
//! sessions that are gone stay until they are forgotten.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher as _;
use std::path::Path;
use std::sync::{Arc, OnceLock, mpsc};

use foldhash::fast::RandomState;
use recount_catalog::{Catalog, List, ListRow};
use recount_formats::Sources;
use recount_model::{FileFacts, Project, RecordedPath, SessionFacts};
use serde::{Deserialize, Serialize};

use crate::cache::cached::{Core, to_bytes};
use crate::cache::kept_rows::{self, StoredRows, map_rows};
use crate::cache::refresh::{RACY, hash};
use crate::projects::resolve::{Effort, ProjectHints, ResolvedProjects};
use crate::sessions::list::{Digest, Listing, SortOrder, Used, sort};
use crate::snapshot::disk_scan::{DiskSnapshot, LocatedFolder, Progress};
use crate::{Engine, search::index::session_key};

/// Number of rows of a finished list that are written at once.
const ROWS_AT_ONCE: usize = 512;

/// The maximum number of such parts that wait for the writer.
const PARTS_WAITING: usize = 4;

/// What must be as it was for the rows to hold, beside the files.
#[derive(Serialize, Deserialize)]
struct Conditions {
    /// The paths of the projects.
    projects: u64,
    hints: ProjectHints,
    /// The groups of files, each as it was.
    groups: u64,
}

/// One session, with all that takes a look at others.
#[derive(Serialize, Deserialize)]
struct Row<'a> {
    source: &'a str,
    core: Core,
    /// The project directory.
    folder: &'a str,
    parent_call: Option<String>,
    agent_index: Option<u32>,
    agent_title: Option<String>,
    files: Vec<FileFacts>,
}

/// A session of which we know the project directory, not yet the project.
#[derive(Clone, Debug)]
pub(crate) struct Unplaced {
    facts: Arc<SessionFacts>,
    folder: Box<str>,
}

/// Projects by their directories.
#[derive(Debug)]
pub(crate) struct Places {
    by_folder: HashMap<String, Arc<Project>, RandomState>,
    recorded: BTreeMap<RecordedPath, Arc<Project>>,
}

impl Places {
    pub(crate) fn new(disk: &DiskSnapshot, resolved: &ResolvedProjects) -> Self {
        let path = |folder: &LocatedFolder| folder.at.path.to_string_lossy().into_owned();
        let folders = disk.folders.iter().map(path);
        let by_folder = folders.zip(resolved.projects.iter().cloned()).collect();
        Self { by_folder, recorded: resolved.recorded.clone() }
    }

    /// Adds the project to a session of a project directory.
    pub(crate) fn place(&self, facts: &mut Arc<SessionFacts>, folder: &str) {
        let project = self.project(folder, facts.cwd.as_ref().map(RecordedPath::as_str));
        Arc::make_mut(facts).project = project;
    }

    /// Returns the project of a session: the folder that it records itself, else that of its directory. That of a directory that is
    /// gone has its name.
    pub(crate) fn project(&self, folder: &str, cwd: Option<&str>) -> Arc<Project> {
        let recorded = cwd.and_then(|cwd| self.recorded.get(&RecordedPath::new(cwd)));
        let known = recorded.or_else(|| self.by_folder.get(folder));
        known.map_or_else(|| nameless(folder), Arc::clone)
    }
}

/// Returns the project of a directory that is gone: it has the directory's name.
fn nameless(folder: &str) -> Arc<Project> {
    let name = Path::new(folder).file_name();
    let slug = name.map(|name| name.to_string_lossy().into_owned());
    Arc::new(Project { slug, ..Project::default() })
}

impl Unplaced {
    /// Reads a row. `None` when it is not understood.
    pub(crate) fn decode(content: &[u8], sources: Sources) -> Option<Self> {
        let row: Row<'_> = postcard::from_bytes(content).ok()?;
        let source = sources.iter().map(|source| source.name());
        let source = { source }.find(|source| source.as_str() == row.source)?;
        let mut facts = row.core.facts(source, row.files);
        facts.parent_call = row.parent_call;
        facts.agent_index = row.agent_index;
        facts.agent_title = row.agent_title;
        Some(Self { facts: Arc::new(facts), folder: row.folder.into() })
    }

    /// Adds the project.
    pub(crate) fn place(self, places: &Places) -> Arc<SessionFacts> {
        let Self { mut facts, folder } = self;
        places.place(&mut facts, &folder);
        facts
    }

    /// Separates the session from its project directory.
    pub(crate) fn into_parts(self) -> (Arc<SessionFacts>, Box<str>) {
        (self.facts, self.folder)
    }
}

/// Writes a row down.
pub(crate) fn encode(facts: &SessionFacts, folder: &Path) -> Option<ListRow> {
    let row = Row {
        source: facts.source.as_str(),
        core: Core::of(facts),
        folder: &folder.to_string_lossy(),
        parent_call: facts.parent_call.clone(),
        agent_index: facts.agent_index,
        agent_title: facts.agent_title.clone(),
        files: facts.files.clone(),
    };
    let content = to_bytes(&row)?;
    Some(ListRow { session: session_key(facts), gone: false, content })
}

/// The last finished list.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) listing: Listing,
    pub(crate) disk: Arc<DiskSnapshot>,
    pub(crate) projects: ResolvedProjects,
    /// What sessions tell of their project directories.
    pub(crate) hints: ProjectHints,
}

/// What lies on disk, if the last finished list is of just that.
#[derive(Debug)]
pub(crate) struct Unchanged {
    pub(crate) disk: Arc<DiskSnapshot>,
    conditions: Conditions,
}

impl Unchanged {
    /// Finds out which folders the projects are now.
    pub(crate) fn resolve_projects(
        &self,
        engine: &Engine,
        effort: &Effort,
        progress: &dyn Progress,
    ) -> ResolvedProjects {
        engine.resolve_projects(&self.disk, &self.conditions.hints, effort, progress)
    }

    /// Whether they are the folders that they were when the list was made: numbers in the agent's own list depend on which
    /// directories are the same project.
    pub(crate) fn has_projects(&self, resolved: &ResolvedProjects) -> bool {
        projects(resolved) == self.conditions.projects
    }
}

impl std::fmt::Debug for Conditions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conditions").finish_non_exhaustive()
    }
}

impl Engine {
    /// Looks at what lies on disk. If it is what the last finished list was made of, what `recall` got from the
    /// catalog meanwhile comes with it.
    pub(crate) fn unchanged<T: Send>(
        &self,
        recall: impl FnOnce(&Catalog) -> T + Send,
    ) -> Option<(Unchanged, T)> {
        let (unchanged, recalled, _) =
            self.unchanged_and(|catalog, _| Some(recall(catalog)), |_, _| ())?;
        Some((unchanged, recalled))
    }

    /// The same, with what `conclude` makes of the listing while `recall` may still be at work; `None` if there was not time for
    /// that. `recall` gets the shape of what was listed, and returns `None` if there is no use in going on.
    pub(crate) fn unchanged_and<T: Send, U>(
        &self,
        recall: impl FnOnce(&Catalog, u64) -> Option<T> + Send,
        conclude: impl FnOnce(&DiskSnapshot, &ProjectHints) -> U,
    ) -> Option<(Unchanged, T, Option<U>)> {
        let finished: OnceLock<(u64, Conditions)> = OnceLock::new();
        let (disk, concluded, recalled) = std::thread::scope(|scope| {
            let recalled = scope.spawn(|| {
                let catalog = self.catalog()?;
                let list = catalog.list(self.roots_key()).ok()??;
                // If the disk was listed already, rows that do not hold any more need not be read.
                if self.listed().is_some_and(|disk| disk.shape() != list.shape) {
                    return None;
                }
                let conditions = postcard::from_bytes(&list.content).ok()?;
                finished.get_or_init(|| (list.shape, conditions));
                recall(&catalog, list.shape)
            });
            let disk = self.look();
            let shape = Some(disk.shape()).filter(|_| !disk.is_racy());
            let hints = |(known, conditions): &(u64, Conditions)| {
                (Some(*known) == shape).then(|| conclude(&disk, &conditions.hints))
            };
            let concluded = finished.get().and_then(hints);
            (disk, (shape, concluded), recalled.join().unwrap_or_default())
        });
        let ((shape, concluded), recalled) = (concluded, recalled?);
        let (known, conditions) = finished.into_inner()?;
        (Some(known) == shape).then(|| (Unchanged { disk, conditions }, recalled, concluded))
    }

    /// Returns the last finished list, if nothing has changed.
    pub(crate) fn list_as_before(
        &self,
        effort: &Effort,
        progress: &dyn Progress,
    ) -> Option<(Listing, Arc<DiskSnapshot>, ResolvedProjects)> {
        let (known, ()) = self.known_as_before(effort, progress, |_| Some(((), None)))?;
        Some((known.listing, known.disk, known.projects))
    }

    /// Whether a session that was listed before is still there.
    pub(crate) fn has_remembered_session(&self) -> bool {
        let row = || {
            let content = self.catalog()?.any_listed(self.roots_key()).ok()??;
            Unplaced::decode(&content, self.sources)
        };
        row().is_some_and(|row| row.facts.files.iter().any(|file| Path::new(&file.path).exists()))
    }

    /// Returns the rows of the last finished list, last used first, without a look at the disk: for a view that shows something at
    /// once and corrects it soon. Projects have the folder that their sessions record, else the name of their directory. Empty when
    /// nothing is remembered. If a number is given, at most that many are returned: those that were used last.
    pub fn remembered_list(&self, newest: Option<usize>) -> Vec<Arc<SessionFacts>> {
        let Some(catalog) = self.catalog() else { return Vec::new() };
        let mut places: HashMap<String, Arc<Project>, RandomState> = HashMap::default();
        let mut sessions = Vec::new();
        // Rows that cannot be read are read from the disk a moment later.
        let stored = StoredRows::read(&catalog, self.roots_key()).unwrap_or_default();
        let mut contents = stored.contents();
        if let Some(many) = newest.filter(|many| *many < contents.len()) {
            contents = kept_rows::newest(&contents, many);
        }
        let rows = map_rows(&contents, &|content| Unplaced::decode(content, self.sources));
        for row in rows.into_iter().flatten() {
            let Some(Unplaced { mut facts, folder }) = row else { continue };
            let cwd = facts.cwd.as_ref();
            let place = cwd.map_or(&*folder, RecordedPath::as_str);
            let project = places.get(place).cloned().unwrap_or_else(|| {
                let project = match cwd {
                    Some(cwd) => {
                        Arc::new(Project { path: Some(cwd.clone()), ..Project::default() })
                    }
                    None => nameless(&folder),
                };
                places.insert(place.to_owned(), Arc::clone(&project));
                project
            });
            Arc::make_mut(&mut facts).project = project;
            if !facts.is_background {
                sessions.push(facts);
            }
        }
        sort(&mut sessions, SortOrder::Updated);
        // Closing it takes longer than to read it, and nobody has to wait for that.
        std::thread::spawn(move || drop(catalog));
        sessions
    }

    /// Returns the last finished list with all that belongs to it, if nothing has changed.
    pub(crate) fn list_with_hints(&self, progress: &dyn Progress) -> Option<Known> {
        let (known, ()) = self.known_as_before(&Effort::List, progress, |_| Some(((), None)))?;
        Some(known)
    }

    /// Returns the last finished list with what else `recall` gets from the catalog, if nothing has changed: not the files, nor,
    /// where `recall` tells them, the groups that it met.
    pub(crate) fn known_as_before<T: Send>(
        &self,
        effort: &Effort,
        progress: &dyn Progress,
        recall: impl FnOnce(&Catalog) -> Option<(T, Option<u64>)> + Send,
    ) -> Option<(Known, T)> {
        let (unchanged, (rows, recalled)) = self.unchanged(|catalog| {
            let mut rows = Some(Vec::new());
            let mut visit = |_, gone, content: &[u8]| {
                if let (false, Some(known)) = (gone, &mut rows) {
                    match Unplaced::decode(content, self.sources) {
                        Some(row) => known.push(row),
                        None => rows = None,
                    }
                }
            };
            let read = catalog.each_listed(self.roots_key(), &mut visit);
            (rows.filter(|_| read.is_ok()), recall(catalog))
        })?;
        let met =
            |groups: &Option<u64>| groups.is_none_or(|met| met == unchanged.conditions.groups);
        let recalled = recalled.filter(|(_, groups)| met(groups)).map(|(recalled, _)| recalled);
        let resolved = unchanged.resolve_projects(self, effort, progress);
        let same = unchanged.has_projects(&resolved);
        let disk = unchanged.disk;
        let (rows, recalled) = (rows.filter(|_| same)?, recalled?);
        let places = Places::new(&disk, &resolved);
        let sessions: Vec<_> = rows.into_iter().map(|row| row.place(&places)).collect();
        let (known, problems) = (sessions.len(), disk.problems.clone());
        let known = Known {
            listing: Listing { sessions, problems, known, scope: None },
            disk,
            projects: resolved,
            hints: unchanged.conditions.hints,
        };
        Some((known, recalled))
    }

    /// Remembers a finished list.
    pub(crate) fn remember_list(
        &self,
        disk: &DiskSnapshot,
        digests: &[Digest],
        hints: ProjectHints,
        resolved: &ResolvedProjects,
    ) {
        // Where names lie, what is kept of a group is not all of a session.
        let whole = digests.iter().all(|digest| !matches!(digest.used, Used::Now { .. }));
        // What had to be read and could not be kept is read again: such a list would be rewritten each time.
        let settled = whole || digests.iter().all(|digest| !digest.fresh);
        if disk.is_racy() || !settled {
            return;
        }
        let folder = |number: usize| disk.folders.get(number).map(|folder| &folder.at.path);
        let row = |digest: &Digest| encode(&digest.facts, folder(digest.folder)?);
        let mut order: Vec<(u64, &Digest)> =
            digests.iter().map(|digest| (session_key(&digest.facts), digest)).collect();
        order.sort_unstable_by_key(|(session, _)| session.cast_signed());
        // Were two sessions the same to us, one would be lost.
        if order.windows(2).any(|pair| matches!(pair, [one, next] if one.0 == next.0)) {
            return;
        }
        let groups = if whole { disk.group_keys().into_iter().fold(0, met) } else { 0 };
        let conditions = Conditions { projects: projects(resolved), hints, groups };
        let Ok(content) = postcard::to_allocvec(&conditions) else { return };
        let list = List { shape: disk.shape(), content };
        let roots = self.roots_key();
        let count = order.len();
        // Rows are written while others are encoded, so that they need not all wait in memory. A list that cannot be kept, or
        // lacks a row, is made again.
        let (parts, inbox) = mpsc::sync_channel::<Vec<ListRow>>(PARTS_WAITING);
        self.write_later(move |catalog| {
            let _kept = catalog.keep_list(roots, &list, count, inbox);
        });
        for part in order.chunks(ROWS_AT_ONCE) {
            let rows: Option<Vec<ListRow>> = part.iter().map(|(_, digest)| row(digest)).collect();
            if rows.is_none_or(|rows| parts.send(rows).is_err()) {
                return;
            }
        }
    }
}

/// Adds a group, known by its key and stamp, to the sum that tells whether they are the same ones.
pub(crate) fn met(sum: u64, group: (u64, u64)) -> u64 {
    sum.wrapping_add(hash(&group))
}

fn projects(resolved: &ResolvedProjects) -> u64 {
    hash(&resolved.projects.iter().map(|project| &project.path).collect::<Vec<_>>())
}

impl DiskSnapshot {
    /// What changes when any file does.
    pub(crate) fn shape(&self) -> u64 {
        // Thousands of paths are hashed in every run, and nobody chooses inode numbers and times of change.
        let quick = foldhash::quality::FixedState::default();
        let files = |folder: &LocatedFolder| {
            let files = folder.at.files.iter().map(|file| (file.path.as_os_str(), file.stamp));
            quick.hash_one((folder.at.path.as_os_str(), files.collect::<Vec<_>>()))
        };
        // Names that users gave lie beside the sessions, and change without them.
        hash(&(self.folders.iter().map(files).collect::<Vec<_>>(), &self.names))
    }

    /// Whether a file was written so short a time ago that it may change without a sign.
    pub(crate) fn is_racy(&self) -> bool {
        let mut files = self.folders.iter().flat_map(|folder| &folder.at.files);
        files.any(|file| self.looked - file.stamp.nanos < RACY)
    }
}
