//! One function per thing a person can ask. Every view calls this room and nothing to its left.

mod agent_row;
mod deep;
mod error;
mod facts;
mod last_list;
mod list;
mod lost;
mod messages;
mod open;
mod paths;
mod projects;
mod select;
mod survey;
mod union;
mod window;

use std::path::PathBuf;

use recount_formats::SOURCES;
use recount_model::{Clock, SourceName};
use recount_platform::{Env, Folders};
use recount_store::Root;

pub use deep::Holds;
pub use error::Error;
pub use list::{Listing, Query, Sort};
pub use lost::LostSession;
pub use messages::{Bound, Messages, RawFile, View};
pub use open::Opened;
pub use projects::ProjectRow;
pub use survey::Progress;

/// What an engine works on.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Homes to read instead of the user's own.
    pub homes: Vec<PathBuf>,
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
    roots: Vec<Root>,
    env: Env,
    folders: Folders,
    clock: Clock,
}

impl Engine {
    /// Looks for the agents' folders.
    ///
    /// # Errors
    /// If a home that was given cannot be looked into.
    pub fn new(setup: Setup) -> Result<Self, Error> {
        let mut roots = recount_store::roots(&setup.homes, &setup.env)?;
        if !setup.sources.is_empty() {
            roots.retain(|root| setup.sources.contains(&root.source.name()));
        }
        let folders = Folders::find(&setup.env);
        Ok(Self { roots, env: setup.env, folders, clock: setup.clock })
    }

    /// Returns the folders that are looked at.
    pub fn roots(&self) -> impl Iterator<Item = &PathBuf> {
        self.roots.iter().map(|root| &root.path)
    }

    /// Whether there is any session file.
    pub fn has_sessions(&self) -> bool {
        let ground = survey::Ground::look(&self.roots);
        ground.folders.iter().any(|folder| !folder.at.files.is_empty())
    }

    /// Returns where we keep our own data, and the user's home.
    pub fn folders(&self) -> &Folders {
        &self.folders
    }

    /// Returns the clock of this run.
    pub fn clock(&self) -> Clock {
        self.clock
    }
}

/// Returns the names of all sources, in the order they are listed to people.
pub fn source_names() -> Vec<SourceName> {
    SOURCES.iter().map(|source| source.name()).collect()
}
