//! Projects: their folders, and their usage.

pub(crate) mod learned;
pub(crate) mod matching;
pub(crate) mod moved;
pub(crate) mod paths;
pub(crate) mod resolve;
pub(crate) mod seek;
pub(crate) mod text_clues;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use recount_model::{
    Clue, Project, ProjectHash, ProjectState, RecordedPath, SessionFacts, SourceName, Tokens,
};
use recount_platform::Folders;
use recount_prices::Money;
use recount_store::Moved;
use serde::Serialize;

use crate::disk::Survey;
use crate::projects::matching::matching;
use crate::projects::moved::new_places;
use crate::projects::resolve::Effort;
use crate::projects::seek::Seek;
use crate::sessions::list::Listing;
use crate::snapshot::disk_scan::{DiskSnapshot, LocatedFolder, Progress};
use crate::{Engine, Error};

/// One project.
#[derive(Clone, Debug, Serialize)]
pub struct ProjectRow {
    /// The folder, as the agent wrote it; of several under one name, the most recent.
    pub path: Option<RecordedPath>,
    /// Its display name.
    pub name: String,
    /// Its alias.
    pub alias: Option<String>,
    /// Whether the folder still exists.
    pub state: ProjectState,
    /// The readable name of its directory.
    pub slug: Option<String>,
    /// The hash that names it.
    pub hash: Option<ProjectHash>,
    /// Agents that were used there.
    pub sources: Vec<SourceName>,
    /// Main sessions.
    pub sessions: u64,
    /// What humans typed.
    pub prompts: u64,
    /// Bytes of all session files.
    pub bytes: u64,
    /// Tokens, each request once.
    pub tokens: Tokens,
    /// Its cost, each request once; `null` if no price is known.
    pub cost_usd: Option<Money>,
    /// Whether less is recorded, or less has a price, than was billed.
    pub cost_is_lower_bound: bool,
    /// The earliest time of its sessions.
    pub began: Option<Timestamp>,
    /// The latest time of its sessions.
    pub last_used: Option<Timestamp>,
    /// The evidence for the path.
    pub evidence: Vec<Clue>,
    /// The likely new location of a missing folder.
    pub moved_to: Option<Moved>,
    /// The directories in which the agents keep it.
    pub parts: Vec<ProjectPart>,
}

/// A directory in which an agent keeps a project.
#[derive(Clone, Debug, Serialize)]
pub struct ProjectPart {
    /// The directory.
    #[serde(serialize_with = "recount_model::path_text::path")]
    pub directory: PathBuf,
    /// Its agent.
    pub source: SourceName,
    /// Its folder.
    pub path: Option<RecordedPath>,
    /// Whether that folder still exists.
    pub state: ProjectState,
    /// Session files in it.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

impl ProjectRow {
    /// Returns the total of tokens; `None` if nothing was recorded of what was used.
    pub fn known_tokens(&self) -> Option<u64> {
        let is_unknown =
            self.tokens.total == 0 && self.cost_usd.is_none() && self.cost_is_lower_bound;
        (!is_unknown).then_some(self.tokens.total)
    }

    /// Returns the project itself, without its evidence.
    pub fn project(&self) -> Project {
        Project {
            path: self.path.clone(),
            state: self.state,
            slug: self.slug.clone(),
            hash: self.hash.clone(),
            alias: self.alias.clone(),
            evidence: Vec::new(),
        }
    }
}

impl Engine {
    /// Lists projects, most recent first.
    ///
    /// # Errors
    /// If the aliases of projects are invalid.
    pub fn projects(
        &self,
        seek: Option<&Seek>,
        progress: &dyn Progress,
    ) -> Result<(Vec<ProjectRow>, Listing), Error> {
        self.aliases()?;
        let effort = seek.map_or(Effort::Projects, |seek| Effort::Scan(seek.clone()));
        let (listing, disk, resolved) = self.scan_all(&effort, progress)?;
        let mut usage = self.usage_by_project(&listing.sessions, progress)?;
        let mut rows: BTreeMap<String, ProjectRow> = BTreeMap::new();
        // Most recent first, so that the newest of several folders represents a name.
        for session in &listing.sessions {
            let row = rows.entry(session.project.key()).or_insert_with(|| blank(&session.project));
            add(row, session);
        }
        let mut parts = parts(&disk, &listing.sessions);
        for (key, row) in &mut rows {
            if let Some(figures) = usage.remove(key) {
                row.prompts = figures.prompts;
                row.tokens = figures.tokens;
                row.cost_usd = figures.cost_usd;
                row.cost_is_lower_bound = figures.cost_is_lower_bound;
            }
            let Some(parts) = parts.remove(key) else { continue };
            for project in resolved.recorded.values().filter(|known| known.key() == *key) {
                merge(row, project);
            }
            row.parts.extend(parts);
        }
        let directories = disk.folders.iter().zip(&resolved.projects);
        for (folder, project) in directories.filter(|(folder, _)| folder.at.is_project) {
            let row = rows.entry(project.key()).or_insert_with(|| blank(project));
            if !row.sources.contains(&folder.source.name()) {
                row.sources.push(folder.source.name());
            }
            merge(row, project);
            row.parts.push(ProjectPart {
                directory: folder.at.path.clone(),
                source: folder.source.name(),
                path: project.path.clone(),
                state: project.state,
                files: folder.at.files.len(),
                bytes: folder.at.bytes,
            });
        }
        let mut rows: Vec<ProjectRow> = rows.into_values().collect();
        rows.sort_by_cached_key(|row| {
            (std::cmp::Reverse(row.last_used), row.name.clone(), row.path.clone())
        });
        new_places(&mut rows, &disk, &resolved, self);
        Ok((rows, listing))
    }

    /// Keeps the rows of the only project that matches.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn keep_matching(
        rows: &mut Vec<ProjectRow>,
        wanted: &str,
        folders: &Folders,
    ) -> Result<(), Error> {
        let projects: Vec<Project> = rows.iter().map(ProjectRow::project).collect();
        let keep = matching(&projects.iter().collect::<Vec<_>>(), wanted, folders)?;
        let mut number = 0..;
        rows.retain(|_| number.next().is_some_and(|at| keep.contains(&at)));
        Ok(())
    }

    /// Returns the folder of the project that matches, or its hash if the folder is unknown.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn folder_of(&self, wanted: &str) -> Result<String, Error> {
        self.folder_in(&self.scan_files(&())?, wanted)
    }

    /// The same, among the projects of a survey.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn folder_in(&self, survey: &Survey, wanted: &str) -> Result<String, Error> {
        let all = survey.projects.iter().chain(&survey.recorded);
        let projects: Vec<&Project> = all.map(|project| &**project).collect();
        let found = matching(&projects, wanted, &self.folders)?;
        let project = found.first().and_then(|at| projects.get(*at));
        let folder = project.and_then(|project| {
            let path = project.path.as_ref().map(|path| path.as_str().to_owned());
            path.or_else(|| project.hash.as_ref().map(|hash| hash.as_str().to_owned()))
        });
        folder.ok_or_else(|| Error::NoProject(wanted.to_owned()))
    }
}

/// Lists the directories of sessions that record their own project, by the project's key.
fn parts(
    disk: &DiskSnapshot,
    sessions: &[Arc<SessionFacts>],
) -> BTreeMap<String, Vec<ProjectPart>> {
    let shared = disk.folders.iter().filter(|folder| !folder.at.is_project);
    let shared: HashMap<&Path, &LocatedFolder> =
        shared.map(|folder| (folder.at.path.as_path(), folder)).collect();
    let mut parts: BTreeMap<String, Vec<ProjectPart>> = BTreeMap::new();
    // The position of a directory in the list of a project.
    let mut places: HashMap<(String, &Path), usize> = HashMap::new();
    for session in sessions.iter().filter(|session| session.cwd.is_some()) {
        let key = session.project.key();
        let known = parts.entry(key.clone()).or_default();
        for file in session.own_files() {
            // The outermost one: a folder of days is below that of all sessions.
            let above = Path::new(&file.path).ancestors();
            let Some(folder) = above.filter_map(|path| shared.get(path)).last() else { continue };
            let place = (key.clone(), folder.at.path.as_path());
            let at = *places.entry(place).or_insert(known.len());
            match known.get_mut(at) {
                Some(part) => {
                    part.files += 1;
                    part.bytes += file.bytes;
                }
                None => known.push(ProjectPart {
                    directory: folder.at.path.clone(),
                    source: session.source,
                    path: session.project.path.clone(),
                    state: session.project.state,
                    files: 1,
                    bytes: file.bytes,
                }),
            }
        }
    }
    parts
}

fn blank(project: &Project) -> ProjectRow {
    ProjectRow {
        path: project.path.clone(),
        name: project.name().to_owned(),
        alias: project.alias.clone(),
        state: project.state,
        slug: project.slug.clone(),
        hash: project.hash.clone(),
        sources: Vec::new(),
        sessions: 0,
        prompts: 0,
        bytes: 0,
        tokens: Tokens::default(),
        cost_usd: None,
        cost_is_lower_bound: false,
        began: None,
        last_used: None,
        evidence: Vec::new(),
        moved_to: None,
        parts: Vec::new(),
    }
}

fn add(row: &mut ProjectRow, session: &SessionFacts) {
    row.sessions += u64::from(!session.kind.is_subagent());
    row.bytes += session.bytes();
    row.began = row.began.into_iter().chain(session.started).min();
    row.last_used = row.last_used.max(session.updated);
    if !row.sources.contains(&session.source) {
        row.sources.push(session.source);
    }
}

/// Adds what is known about one of a project's directories.
fn merge(row: &mut ProjectRow, project: &Project) {
    row.slug = row.slug.take().or_else(|| project.slug.clone());
    if row.path != project.path {
        // Another folder under the same name: its clues are its own.
        return;
    }
    for clue in &project.evidence {
        let same = |known: &&mut Clue| {
            (known.clue, &known.detail, &known.names) == (clue.clue, &clue.detail, &clue.names)
        };
        match row.evidence.iter_mut().find(same) {
            // A suggestion in one directory may be a proof in another.
            Some(known) if known.weight < clue.weight => *known = clue.clone(),
            Some(_) => {}
            None => row.evidence.push(clue.clone()),
        }
    }
}
