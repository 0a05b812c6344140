//! One function per thing a person can ask. Every view calls this room and nothing to its left.

mod cache;
mod change;
mod config;
mod doctor;
mod error;
pub mod export;
mod guard;
mod messages;
mod projects;
mod search;
mod sessions;
mod snapshot;
mod sql;
pub mod stats;
mod vault;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use recount_formats::{SOURCES, Source, Sources};
use recount_model::{Clock, SourceName};
use recount_platform::{Env, Folders, Processes, System};
use recount_store::Root;
use recount_store::scan::{Disk, Tree};

pub use change::{
    Change, ChangeState, Compaction, Fork, Made, Merge, Prune, Recovered, Refusal, Resurrectable,
    State, Step, Subject, Trashed, Trim, Turn, TurnAt,
};
pub use doctor::{Finding, Severity, Topic};
pub use error::Error;
pub use export::{Export, Exported, Selection};
pub use guard::{Agent, DoomedSession, Fix, Foretold, Guarded, Kept, Lost, ReleaseFrom, Safe};
pub use messages::{Bound, Messages, RawFile, View};
pub use projects::moved::NewPlace;
pub use projects::seek::Seek;
pub use projects::{Part, ProjectRow};
pub use recount_catalog::sql::{Cell, Column, VIEWS, View as SqlView};
pub use recount_formats::sweep::Wanted as RetentionWanted;
pub use recount_search::{Field, Snippet, Sort as HitSort};
pub use recount_store::Aliases;
pub use recount_writer::Error as WriteError;
pub use recount_writer::change::Plan;
pub use search::find::Finder;
pub use search::index::{IndexStatus, Indexed};
pub use search::{Answer, Asked, Match};
pub use sessions::deep::Holds;
pub use sessions::labels::LabelledSession;
pub use sessions::list::{Listing, Query, Sort};
pub use sessions::lost::LostSession;
pub use sessions::open::Opened;
pub use sessions::resume::Resume;
pub use snapshot::survey::Progress;
pub use sql::Table;
pub use vault::{Failed, Held, KeepReport, Unwanted};

/// What an engine works on.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Homes to read instead of the user's own.
    pub homes: Vec<PathBuf>,
    /// Every source that is known.
    pub known_sources: Sources,
    /// Sources to read; all when empty.
    pub sources: Vec<SourceName>,
    /// The environment.
    pub env: Env,
    /// The clock.
    pub clock: Clock,
}

/// Answers questions about the sessions of some homes.
#[derive(Debug)]
pub struct Engine {
    /// Every source that is known.
    sources: Sources,
    roots: Vec<Root>,
    env: Env,
    folders: Folders,
    clock: Clock,
    /// Homes that were given.
    given: Vec<PathBuf>,
    config: config::Config,
    processes: Arc<dyn Processes>,
    tree: Arc<dyn Tree>,
    looked: Mutex<Option<snapshot::survey::Ground>>,
    /// What is being written to the catalog.
    writing: Mutex<Vec<std::thread::JoinHandle<()>>>,
    outlines: cache::growth::Outlines,
    pricing: std::sync::OnceLock<stats::pricing::Pricing>,
}

/// What was read is not lost when the answer is out.
impl Drop for Engine {
    fn drop(&mut self) {
        self.finish_writing();
    }
}

impl Engine {
    /// Looks for the agents' folders.
    ///
    /// # Errors
    /// If a home that was given cannot be looked into, or the config is not understood.
    pub fn new(setup: Setup) -> Result<Self, Error> {
        let mut roots = recount_store::roots(setup.known_sources, &setup.homes, &setup.env)?;
        if !setup.sources.is_empty() {
            roots.retain(|root| setup.sources.contains(&root.source.name()));
        }
        for root in &mut roots {
            // The same words mean another folder elsewhere, and what is remembered is remembered by path.
            if let Ok(path) = std::path::absolute(&root.path) {
                root.path = path;
            }
        }
        let folders = Folders::find(&setup.env);
        Ok(Self {
            sources: setup.known_sources,
            roots,
            config: config::Config::read(&folders)?,
            folders,
            env: setup.env,
            clock: setup.clock,
            given: setup.homes,
            processes: Arc::new(System),
            tree: Arc::new(Disk::new()),
            looked: Mutex::new(None),
            pricing: std::sync::OnceLock::new(),
            writing: Mutex::default(),
            outlines: cache::growth::Outlines::default(),
        })
    }

    /// Looks at these processes instead of the system's, for tests.
    #[must_use]
    pub fn with_processes(mut self, processes: Arc<dyn Processes>) -> Self {
        self.processes = processes;
        self
    }

    /// Searches these folders instead of the disk's, for tests.
    #[must_use]
    pub fn with_tree(mut self, tree: Arc<dyn Tree>) -> Self {
        self.tree = tree;
        self
    }

    /// Returns the homes in which agents and projects may lie: those that were given, and the user's.
    fn homes(&self) -> Vec<PathBuf> {
        let mut homes = self.given.clone();
        homes.extend(self.folders.home.clone().filter(|home| !self.given.contains(home)));
        homes
    }

    /// Returns the folders that are looked at.
    pub fn roots(&self) -> impl Iterator<Item = &PathBuf> {
        self.roots.iter().map(|root| &root.path)
    }

    /// Whether there is any session file.
    pub fn has_sessions(&self) -> bool {
        let ground = snapshot::survey::Ground::look(&self.roots);
        let any = ground.folders.iter().any(|folder| !folder.at.files.is_empty());
        self.look_later(ground);
        any
    }

    /// Lists what lies on disk. What was listed a moment ago, to see whether there is anything, is used once.
    fn look(&self) -> snapshot::survey::Ground {
        let looked = self.looked.lock().ok().and_then(|mut looked| looked.take());
        looked.unwrap_or_else(|| snapshot::survey::Ground::look(&self.roots))
    }

    /// Keeps what was listed for the next who looks.
    fn look_later(&self, ground: snapshot::survey::Ground) {
        if let Ok(mut looked) = self.looked.lock() {
            *looked = Some(ground);
        }
    }

    /// Returns where we keep our own data, and the user's home.
    pub fn folders(&self) -> &Folders {
        &self.folders
    }

    /// Returns the source of a name.
    pub(crate) fn source(&self, name: SourceName) -> Option<&'static dyn Source> {
        self.sources.iter().copied().find(|source| source.name() == name)
    }

    /// Returns the clock of this run.
    pub fn clock(&self) -> Clock {
        self.clock
    }
}

/// Returns the names of all sources, in the order they are listed to people.
pub fn source_names() -> Vec<SourceName> {
    let read = SOURCES.iter().filter(|source| source.reads_sessions());
    read.map(|source| source.name()).collect()
}
