//! One function per query. Every view calls this crate and nothing below it.

mod agent_folders;
mod cache;
mod cancel;
mod cites;
mod config;
pub mod disk;
mod error;
pub mod export;
pub mod live;
mod messages;
mod projects;
pub mod retention;
mod search;
mod sessions;
mod snapshot;
mod sql;
pub mod stats;
mod watch;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

pub use recount_formats::retention::RetentionNote;
pub use recount_formats::{SOURCES, Sources};
use recount_model::{Clock, SourceName};
use recount_platform::{Env, Folders, Processes, System};
use recount_store::Root;
use recount_store::scan::{DiskTree, FolderTree};

pub use cache::kept_rows::KeptListing;
pub use cache::notes::Noted;
pub use cancel::Cancel;
pub use cites::{Cite, CitedMessage, CitedRange, Verdict, Verification, passages};
pub use config::AppConfig;
pub use error::Error;
pub use export::{Export, Exported, Selection};
pub use messages::cursor::{MessageCursor, Position};
pub use messages::marks::MessageMark;
pub use messages::{Bound, Messages, RawFile, View};
pub use projects::seek::Seek;
pub use projects::{ProjectPart, ProjectRow};
pub use recount_catalog::sql::{SqlColumn, SqlValue, SqlView, VIEWS};
pub use recount_search::{Field, HitOrder, Snippet};
pub use recount_store::{Aliases, Moved, ReadMarks};
pub use recount_writer::Error as WriteError;
pub use retention::{
    Agent, Forecast, Guarded, Lost, ReleaseFrom, RetentionLimits, Safe, SessionAtRisk,
};
pub use search::find::Finder;
pub use search::index::{IndexReport, IndexStatus};
pub use search::{Match, RelaxedSearch, SearchNote, SearchRequest, SearchResults};
pub use sessions::caller::Caller;
pub use sessions::content_filter::ContentFilter;
pub use sessions::labels::LabelledSession;
pub use sessions::list::{ListQuery, Listing, SortOrder};
pub use sessions::lost::LostSession;
pub use sessions::open::Opened;
pub use sessions::owners::SessionOwner;
pub use sessions::resume::{Resume, Unresumable};
pub use sessions::scope::ListScope;
pub use sessions::visibility::{Hidden, Visibility, Visible};
pub use snapshot::disk_scan::Progress;
pub use snapshot::{Appended, SessionChange, Snapshot, SnapshotDiff};
pub use sql::SqlTable;
pub use watch::{Subscription, WatchEvent, WatchMode};

/// The setup of an engine.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Homes to read instead of the user's own.
    pub homes: Vec<PathBuf>,
    /// Every known source.
    pub known_sources: Sources,
    /// Sources to read; all if empty.
    pub sources: Vec<SourceName>,
    /// The environment.
    pub env: Env,
    /// The clock.
    pub clock: Clock,
}

/// Answers queries about the sessions of some homes.
///
/// An engine reads the disk again for each query. [`Engine::at`] returns one that answers from a [`Snapshot`], for
/// long-running programs; [`Engine::refresh`] updates the snapshot. Clones share everything.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Every known source.
    sources: Sources,
    roots: Arc<[Root]>,
    env: Arc<Env>,
    folders: Arc<Folders>,
    clock: Clock,
    /// Explicitly given homes.
    given: Arc<[PathBuf]>,
    config: Arc<config::Config>,
    processes: Arc<dyn Processes>,
    tree: Arc<dyn FolderTree>,
    /// What queries are answered from, instead of the current disk.
    pinned: snapshot::Pinned,
    /// Watches while there are subscribers.
    hub: Arc<Mutex<Weak<watch::Hub>>>,
    /// Pending writes to the catalog.
    writing: Arc<cache::refresh::PendingWrites>,
    outlines: Arc<cache::growth::Outlines>,
    /// What searches with every key are answered from.
    searcher: Arc<search::typed::KeptSearcher>,
    pricing: Arc<std::sync::OnceLock<stats::pricing::Pricing>>,
}

impl Engine {
    /// Finds the agents' folders.
    ///
    /// # Errors
    /// If a given home cannot be read, or the config is invalid.
    pub fn new(setup: Setup) -> Result<Self, Error> {
        let mut roots = recount_store::roots(setup.known_sources, &setup.homes, &setup.env)?;
        if !setup.sources.is_empty() {
            roots.retain(|root| setup.sources.contains(&root.source.name()));
        }
        for root in &mut roots {
            // A relative path means another folder elsewhere, and cached data is stored by path.
            if let Ok(path) = std::path::absolute(&root.path) {
                root.path = path;
            }
        }
        let folders = Folders::find(&setup.env);
        let processes: Arc<dyn Processes> = match setup.env.path("RECOUNT_PROCESS_TABLE") {
            Some(file) => Arc::new(live::TableProcesses::new(file)),
            None => Arc::new(System),
        };
        // It contains titles and prompts.
        let _is_there = folders.data.as_deref().is_some_and(recount_writer::close);
        Ok(Self {
            sources: setup.known_sources,
            roots: roots.into(),
            config: Arc::new(config::Config::read(&folders)?),
            folders: Arc::new(folders),
            env: Arc::new(setup.env),
            clock: setup.clock,
            given: setup.homes.into(),
            processes,
            tree: Arc::new(DiskTree::new()),
            pinned: snapshot::Pinned::default(),
            pricing: Arc::default(),
            writing: Arc::default(),
            hub: Arc::default(),
            outlines: Arc::default(),
            searcher: Arc::default(),
        })
    }

    /// Uses these processes instead of the system's, for tests.
    #[must_use]
    pub fn with_processes(mut self, processes: Arc<dyn Processes>) -> Self {
        self.processes = processes;
        self
    }

    /// Searches these folders instead of the disk's, for tests.
    #[must_use]
    pub fn with_tree(mut self, tree: Arc<dyn FolderTree>) -> Self {
        self.tree = tree;
        self
    }

    /// Returns the homes that agents and projects may be in: the given ones, and the user's.
    fn homes(&self) -> Vec<PathBuf> {
        let mut homes = self.given.to_vec();
        homes.extend(self.folders.home.clone().filter(|home| !self.given.contains(home)));
        homes
    }

    /// Returns the home that is read: the first given one, else the user's.
    pub fn first_home(&self) -> Option<PathBuf> {
        self.homes().into_iter().next()
    }

    /// Returns the data folders that are read.
    pub fn roots(&self) -> impl Iterator<Item = &PathBuf> {
        self.roots.iter().map(|root| &root.path)
    }

    /// Returns the folders in which agents keep sessions, each with its agent.
    pub fn data_folders(&self) -> &[Root] {
        &self.roots
    }

    /// Returns recount's own data folder.
    ///
    /// # Errors
    /// If there is none.
    pub fn own_data(&self) -> Result<&std::path::Path, Error> {
        self.folders.data.as_deref().ok_or(Error::NoDataFolder)
    }

    /// Writes a text to recount's own data folder, for a user whose clipboard does not take it. Returns the file.
    ///
    /// # Errors
    /// If there is no data folder, or it is not writable.
    pub fn keep_text(&self, text: &str) -> Result<PathBuf, Error> {
        let path = self.own_data()?.join("copied.txt");
        recount_writer::disk::write_private(&path, text.as_bytes())?;
        Ok(path)
    }

    /// Returns the environment of this run.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Returns recount's own folders, and the user's home.
    pub fn folders(&self) -> &Folders {
        &self.folders
    }

    /// Returns every source that is known.
    pub fn sources(&self) -> Sources {
        self.sources
    }

    /// Returns the clock of this run.
    pub fn clock(&self) -> Clock {
        self.clock
    }
}

/// Returns the names of all sources, in display order.
pub fn source_names() -> Vec<SourceName> {
    let read = SOURCES.iter().filter(|source| source.reads_sessions());
    read.map(|source| source.name()).collect()
}
