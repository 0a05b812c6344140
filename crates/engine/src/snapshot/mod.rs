//! What is on disk now, and what was read of it: an immutable view that questions are answered from.

mod diff;
mod disk;
pub(crate) mod disk_scan;
mod refresh;
mod seen;

use std::any::Any;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use jiff::Timestamp;
use recount_model::{Problem, Project, SessionFacts};

use crate::projects::resolve::{Effort, ProjectHints, ResolvedProjects};
use crate::search::index::session_key;
use crate::sessions::finish::finish;
use crate::sessions::list::{After, Digest, Listing, SortOrder, project_hints, sort};
use crate::snapshot::disk_scan::{DiskSnapshot, LocatedFolder, Progress};
use crate::snapshot::seen::Seen;
use crate::{Engine, Error};

pub use diff::{Appended, SessionChange, SnapshotDiff};

/// All sessions at one moment. Clones share what is in it.
///
/// ```text
/// let mut snapshot = engine.snapshot(&())?;
/// let listing = engine.at(&snapshot).list(&query, &())?;
/// let (next, diff) = engine.refresh(&snapshot, &())?;
/// ```
#[derive(Clone, Debug)]
pub struct Snapshot {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    number: u64,
    taken: Timestamp,
    disk: Arc<DiskSnapshot>,
    /// What the listing depends on.
    basis: Vec<Seen>,
    /// What the rows depend on beside it.
    beside: Vec<Seen>,
    /// Newest first.
    sessions: Vec<Arc<SessionFacts>>,
    projects: Arc<ResolvedProjects>,
    /// What sessions tell of their project directories.
    hints: ProjectHints,
    /// What is needed to make rows again, once somebody asks for it.
    digests: OnceLock<Vec<Digest>>,
}

/// What an engine answers from, instead of the disk as it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pinned {
    /// Listed by the first who needs it.
    disk: Option<Arc<OnceLock<Arc<DiskSnapshot>>>>,
    snapshot: Option<Snapshot>,
    /// What was used for answers and is large, until this goes too.
    aside: Option<Aside>,
}

/// What is taken apart later.
type Aside = Arc<Mutex<Vec<Box<dyn Any + Send>>>>;

impl Snapshot {
    /// Returns its number: each snapshot that differs from the one before has a higher one.
    pub fn number(&self) -> u64 {
        self.state.number
    }

    /// Returns when it was taken.
    pub fn taken(&self) -> Timestamp {
        self.state.taken
    }

    /// Returns the rows of all sessions, last used first.
    pub fn sessions(&self) -> &[Arc<SessionFacts>] {
        &self.state.sessions
    }

    /// Returns what each project directory stands for.
    pub fn projects(&self) -> &[Arc<Project>] {
        &self.state.projects.projects
    }

    /// Returns what the project directories were resolved to.
    pub(crate) fn resolved(&self) -> &ResolvedProjects {
        &self.state.projects
    }

    /// Whether another one is this very one.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }

    /// Returns the directories that were listed and the other files that were read.
    pub(crate) fn basis(&self) -> (impl Iterator<Item = &Path>, impl Iterator<Item = &Path>) {
        let basis = &self.state.disk.basis;
        let directories = basis.iter().flat_map(|basis| &basis.directories).map(PathBuf::as_path);
        let files = basis.iter().flat_map(|basis| &basis.files).map(PathBuf::as_path);
        (directories, files)
    }

    /// Returns what could not be looked at and belongs to no session.
    pub fn problems(&self) -> &[Problem] {
        &self.state.disk.problems
    }
}

impl Engine {
    /// Reads what there is, from the catalog where it has not changed.
    ///
    /// # Errors
    /// If the names that the user gave to projects are not understood, or nobody waits any more.
    pub fn snapshot(&self, progress: &dyn Progress) -> Result<Snapshot, Error> {
        self.aliases()?;
        let engine = self.afresh().pin();
        self.snapshot_of(&engine, 1, progress)
    }

    /// Makes a snapshot of the directory listing that `engine` is pinned to.
    fn snapshot_of(
        &self,
        engine: &Self,
        number: u64,
        progress: &dyn Progress,
    ) -> Result<Snapshot, Error> {
        let taken = self.clock.now();
        let basis = seen::basis(&engine.look());
        let (mut sessions, disk, projects, hints, digests);
        if let Some(known) = engine.list_with_hints(progress) {
            (sessions, disk) = (known.listing.sessions, known.disk);
            (projects, hints) = (Arc::new(known.projects), known.hints);
            digests = OnceLock::new();
        } else {
            let (looked, found) = engine.gather_rows(progress)?;
            hints = project_hints(&found);
            let concluded =
                engine.conclude(&looked, found, (&Effort::List, After::Digests), progress)?;
            (sessions, disk) = (concluded.listing.sessions, looked);
            (projects, digests) = (concluded.resolved, OnceLock::from(concluded.digests));
        }
        sort(&mut sessions, SortOrder::Updated);
        let beside = seen::beside(&projects, &self.own_files());
        let state =
            State { number, taken, disk, basis, beside, sessions, projects, hints, digests };
        Ok(Snapshot { state: Arc::new(state) })
    }

    /// Returns an engine that answers from a snapshot, at the moment of now.
    #[must_use]
    pub fn at(&self, snapshot: &Snapshot) -> Self {
        let disk = OnceLock::from(Arc::clone(&snapshot.state.disk));
        let pinned =
            Pinned { disk: Some(Arc::new(disk)), snapshot: Some(snapshot.clone()), aside: None };
        Self { pinned, clock: self.clock.stopped(), ..self.clone() }
    }

    /// Returns an engine that lists directories once, when the first question needs it, and reads no more than each question
    /// needs: for a run that answers one.
    #[must_use]
    pub fn pin(&self) -> Self {
        let mut pinned = self.clone();
        pinned.pinned.disk.get_or_insert_default();
        pinned.pinned.aside.get_or_insert_default();
        pinned
    }

    /// Returns an engine that looks at the disk anew for each question.
    #[must_use]
    pub fn afresh(&self) -> Self {
        Self { pinned: Pinned::default(), ..self.clone() }
    }

    /// Lets go of what was large and is no longer needed. A run that answers one question ends soon after, and has better to do than
    /// to take it apart.
    pub(crate) fn set_aside(&self, value: impl Any + Send) {
        if let Some(aside) = &self.pinned.aside
            && let Ok(mut aside) = aside.lock()
        {
            aside.push(Box::new(value));
        }
    }

    /// The same as [`Engine::has_sessions`], for questions that need no listing of the disk: mostly it is enough to look for one file
    /// that was there before.
    pub fn has_sessions_still(&self) -> bool {
        (self.listed().is_none() && self.has_remembered_session()) || self.has_sessions()
    }

    /// Whether any agent has left something: session files, or at least a directory of a project.
    pub fn has_sessions(&self) -> bool {
        let is_used = |folder: &LocatedFolder| folder.at.is_project || !folder.at.files.is_empty();
        self.look().folders.iter().any(is_used)
    }

    /// Lists what lies on disk, or returns the listing that this engine is pinned to.
    pub(crate) fn look(&self) -> Arc<DiskSnapshot> {
        let look = || Arc::new(DiskSnapshot::look(&self.roots));
        self.pinned.disk.as_ref().map_or_else(look, |disk| Arc::clone(disk.get_or_init(look)))
    }

    /// Returns the listing of the disk, if this engine is pinned to one and has made it.
    pub(crate) fn listed(&self) -> Option<&Arc<DiskSnapshot>> {
        self.pinned.disk.as_ref()?.get()
    }

    /// Returns the snapshot that this engine answers from.
    pub(crate) fn own_snapshot(&self) -> Option<&Snapshot> {
        self.pinned.snapshot.as_ref()
    }

    /// Whether this engine answers from a snapshot.
    pub(crate) fn is_at_snapshot(&self) -> bool {
        self.pinned.snapshot.is_some()
    }

    /// Returns the rows of the snapshot that this engine answers from, if that is how hard projects were looked for.
    pub(crate) fn rows_of_snapshot(
        &self,
        effort: &Effort,
    ) -> Option<(Listing, Arc<ResolvedProjects>)> {
        let state = &self.pinned.snapshot.as_ref().filter(|_| *effort == Effort::List)?.state;
        let (sessions, problems) = (state.sessions.clone(), state.disk.problems.clone());
        let known = sessions.len();
        Some((Listing { sessions, problems, known, scope: None }, Arc::clone(&state.projects)))
    }

    /// Returns what the rows of the snapshot were made from.
    pub(crate) fn digests_of_snapshot(
        &self,
        progress: &dyn Progress,
    ) -> Result<Option<Vec<Digest>>, Error> {
        let Some(snapshot) = &self.pinned.snapshot else { return Ok(None) };
        self.digests_behind(snapshot, progress).map(|digests| Some(digests.to_vec()))
    }

    fn digests_behind<'a>(
        &self,
        snapshot: &'a Snapshot,
        progress: &dyn Progress,
    ) -> Result<&'a [Digest], Error> {
        let state = &snapshot.state;
        if let Some(known) = state.digests.get() {
            return Ok(known);
        }
        let mut digests = self.gather_on(&state.disk, progress)?;
        finish(&state.disk, &mut digests, &state.projects);
        let rows: HashMap<u64, &Arc<SessionFacts>> =
            state.sessions.iter().map(|facts| (session_key(facts), facts)).collect();
        for digest in &mut digests {
            if let Some(facts) = rows.get(&session_key(&digest.facts)) {
                digest.facts = Arc::clone(facts);
            }
        }
        Ok(state.digests.get_or_init(|| digests))
    }

    /// Finds every session of a listing.
    fn gather_on(
        &self,
        disk: &Arc<DiskSnapshot>,
        progress: &dyn Progress,
    ) -> Result<Vec<Digest>, Error> {
        let disk = Some(Arc::new(OnceLock::from(Arc::clone(disk))));
        let engine = Self { pinned: Pinned { disk, ..Pinned::default() }, ..self.clone() };
        Ok(engine.gather_rows(progress)?.1)
    }

    /// Returns our own files that rows depend on.
    fn own_files(&self) -> Vec<PathBuf> {
        [self.aliases_file(), self.labels_file()].into_iter().flatten().collect()
    }
}
