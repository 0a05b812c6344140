//! The finished list, remembered row by row: while nothing on disk changes it is not put together again. Rows of
//! sessions that are gone stay until they are forgotten.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use recount_catalog::{Catalog, List, Listed};
use recount_formats::Sources;
use recount_model::{Project, RecordedPath, SessionFacts, SessionFile};
use serde::{Deserialize, Serialize};

use crate::cache::cached::Core;
use crate::cache::refresh::{RACY, hash, key};
use crate::projects::passport::{Effort, Passports, Sightings};
use crate::sessions::list::{Digest, Listing, Used};
use crate::snapshot::survey::{Folder, Ground, Progress};
use crate::{Engine, search::index::session_key};

/// What must be as it was for the rows to hold, beside the files.
#[derive(Serialize, Deserialize)]
struct Conditions {
    /// The paths of the projects.
    projects: u64,
    sightings: Sightings,
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
    files: Vec<SessionFile>,
}

/// A session of which we know the project directory, not yet the project.
#[derive(Clone, Debug)]
pub(crate) struct Unplaced {
    facts: SessionFacts,
    folder: Box<str>,
}

/// Projects by their directories.
#[derive(Debug)]
pub(crate) struct Places {
    by_folder: HashMap<String, Arc<Project>>,
    recorded: BTreeMap<RecordedPath, Arc<Project>>,
}

impl Places {
    pub(crate) fn new(ground: &Ground, passports: &Passports) -> Self {
        let path = |folder: &Folder| folder.at.path.to_string_lossy().into_owned();
        let folders = ground.folders.iter().map(path);
        let by_folder = folders.zip(passports.projects.iter().cloned()).collect();
        Self { by_folder, recorded: passports.recorded.clone() }
    }
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
        Some(Self { facts, folder: row.folder.into() })
    }

    /// Adds the project. That of a directory that is gone has its name.
    pub(crate) fn place(self, places: &Places) -> SessionFacts {
        let Self { mut facts, folder } = self;
        let nameless = || {
            let name = Path::new(&*folder).file_name();
            let slug = name.map(|name| name.to_string_lossy().into_owned());
            Arc::new(Project { slug, ..Project::default() })
        };
        let recorded = facts.cwd.as_ref().and_then(|cwd| places.recorded.get(cwd));
        let known = recorded.or_else(|| places.by_folder.get(&*folder));
        facts.project = known.map_or_else(nameless, Arc::clone);
        facts
    }
}

/// Writes a row down.
pub(crate) fn encode(facts: &SessionFacts, folder: &Path) -> Option<Listed> {
    let row = Row {
        source: facts.source.as_str(),
        core: Core::of(facts),
        folder: &folder.to_string_lossy(),
        parent_call: facts.parent_call.clone(),
        agent_index: facts.agent_index,
        agent_title: facts.agent_title.clone(),
        files: facts.files.clone(),
    };
    let content = postcard::to_allocvec(&row).ok()?;
    Some(Listed { session: session_key(facts), gone: false, content })
}

/// The last finished list.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) listing: Listing,
    pub(crate) disk: Arc<Ground>,
    pub(crate) projects: Passports,
    /// What sessions tell of their project directories.
    pub(crate) hints: Sightings,
}

/// What lies on disk, and the catalog if its last finished list is of just that.
#[derive(Debug)]
pub(crate) struct Unchanged {
    pub(crate) ground: Arc<Ground>,
    pub(crate) catalog: Catalog,
    conditions: Conditions,
}

impl Unchanged {
    /// Finds out which folders the projects are now.
    pub(crate) fn passports(
        &self,
        engine: &Engine,
        effort: &Effort,
        progress: &dyn Progress,
    ) -> Passports {
        engine.passports(&self.ground, &self.conditions.sightings, effort, progress)
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
        let (ground, known) = std::thread::scope(|scope| {
            let known = scope.spawn(|| {
                let catalog = self.catalog()?;
                let list = catalog.list(self.roots_key()).ok()??;
                let conditions: Conditions = postcard::from_bytes(&list.content).ok()?;
                let recalled = recall(&catalog);
                Some((catalog, list.shape, conditions, recalled))
            });
            (self.look(), known.join().unwrap_or_default())
        });
        match known {
            Some((catalog, shape, conditions, recalled))
                if shape == ground.shape() && !ground.is_racy() =>
            {
                Some((Unchanged { ground, catalog, conditions }, recalled))
            }
            _ => None,
        }
    }

    /// Returns the last finished list, if nothing has changed.
    pub(crate) fn list_as_before(
        &self,
        effort: &Effort,
        progress: &dyn Progress,
    ) -> Option<(Listing, Arc<Ground>, Passports)> {
        let (known, ()) = self.known_as_before(effort, progress, |_| Some(((), None)))?;
        Some((known.listing, known.disk, known.projects))
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
        let passports = unchanged.passports(self, effort, progress);
        // Numbers in the agent's own list depend on which folders are the same project.
        let same = projects(&passports) == unchanged.conditions.projects;
        let ground = unchanged.ground;
        let (rows, recalled) = (rows.filter(|_| same)?, recalled?);
        let places = Places::new(&ground, &passports);
        let sessions: Vec<_> = rows.into_iter().map(|row| Arc::new(row.place(&places))).collect();
        let (known, problems) = (sessions.len(), ground.problems.clone());
        let known = Known {
            listing: Listing { sessions, problems, known },
            disk: ground,
            projects: passports,
            hints: unchanged.conditions.sightings,
        };
        Some((known, recalled))
    }

    /// Remembers a finished list.
    pub(crate) fn remember_list(
        &self,
        ground: &Ground,
        digests: &[Digest],
        sightings: Sightings,
        passports: &Passports,
    ) {
        // Where names lie, what is kept of a group is not all of a session.
        let whole = digests.iter().all(|digest| matches!(digest.used, Used::With(_)));
        // What had to be read and could not be kept is read again: such a list would be written anew each time.
        let settled = whole || digests.iter().all(|digest| !digest.fresh);
        if ground.is_racy() || !settled {
            return;
        }
        let folder = |number: usize| ground.folders.get(number).map(|folder| &folder.at.path);
        let row = |digest: &Digest| encode(&digest.facts, folder(digest.folder)?);
        let rows: Option<Vec<Listed>> = digests.iter().map(row).collect();
        // Were two sessions the same to us, one would be lost.
        let is_one_each = |rows: &Vec<Listed>| {
            rows.iter().map(|row| row.session).collect::<HashSet<_>>().len() == rows.len()
        };
        let groups = if whole { ground.groups(|_, _| true) } else { Vec::new() };
        let groups = groups.iter().map(key).fold(0, met);
        let conditions = Conditions { projects: projects(passports), sightings, groups };
        let content = postcard::to_allocvec(&conditions).ok();
        if let (Some(rows), Some(content)) = (rows.filter(is_one_each), content) {
            let list = List { shape: ground.shape(), content };
            let roots = self.roots_key();
            // A list that cannot be kept is made again.
            self.write_later(move |catalog| {
                let _kept = catalog.keep_list(roots, &list, &rows);
            });
        }
    }
}

/// Adds a group, known by its key and stamp, to the sum that tells whether they are the same ones.
pub(crate) fn met(sum: u64, group: (u64, u64)) -> u64 {
    sum.wrapping_add(hash(&group))
}

fn projects(passports: &Passports) -> u64 {
    hash(&passports.projects.iter().map(|project| &project.path).collect::<Vec<_>>())
}

impl Ground {
    /// What changes when any file does.
    pub(crate) fn shape(&self) -> u64 {
        let files = |folder: &Folder| {
            let files = folder.at.files.iter().map(|file| (file.path.file_name(), file.stamp));
            hash(&(&folder.at.path, files.collect::<Vec<_>>()))
        };
        hash(&self.folders.iter().map(files).collect::<Vec<_>>())
    }

    /// Whether a file was written so short a time ago that it may change without a sign.
    pub(crate) fn is_racy(&self) -> bool {
        let mut files = self.folders.iter().flat_map(|folder| &folder.at.files);
        files.any(|file| self.looked - file.stamp.nanos < RACY)
    }
}
