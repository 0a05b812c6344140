//! Every project: which folder it is, and what was done there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use recount_formats::source::ProjectFolder;
use recount_model::{
    Clue, Project, ProjectHash, ProjectState, RecordedPath, SessionFacts, SessionKind, SourceName,
    Tokens,
};
use recount_platform::Folders;
use recount_store::{Candidates, resolve};
use serde::Serialize;

use crate::list::Listing;
use crate::paths::paths_in;
use crate::survey::{Folder, Ground, Progress};
use crate::{Engine, Error};

/// One project.
#[derive(Clone, Debug, Serialize)]
pub struct ProjectRow {
    /// The folder, as the agent wrote it.
    pub path: Option<RecordedPath>,
    /// The name people know it by.
    pub name: String,
    /// What became of the folder.
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
    /// The last moment of its sessions.
    pub last_used: Option<Timestamp>,
    /// How the path is known.
    pub evidence: Vec<Clue>,
}

impl Engine {
    /// Lists projects, last used first.
    pub fn projects(&self, progress: &dyn Progress) -> (Vec<ProjectRow>, Listing) {
        let listing = self.list_all(progress);
        let mut rows: BTreeMap<String, ProjectRow> = BTreeMap::new();
        for session in &listing.sessions {
            let row = rows.entry(key(&session.project)).or_insert_with(|| blank(&session.project));
            add(row, session);
        }
        let ground = Ground::look(&self.roots);
        for number in 0..ground.folders.len() {
            // Projects of which no session is left.
            let project = self.project_by_folder(&ground, number, &listing);
            rows.entry(key(&project)).or_insert_with(|| ProjectRow {
                sources: ground.folders.get(number).map(|f| f.source.name()).into_iter().collect(),
                evidence: project.evidence.clone(),
                ..blank(&project)
            });
        }
        let mut rows: Vec<ProjectRow> = rows.into_values().collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.last_used), row.name.clone()));
        (rows, listing)
    }

    /// Collects the paths that any project might have.
    pub(crate) fn candidates<'a>(
        &self,
        ground: &Ground,
        directories: impl IntoIterator<Item = &'a String>,
    ) -> Candidates {
        let mut candidates = Candidates::default();
        if let Some(here) = self.env.current_folder().and_then(|path| path.to_str()) {
            candidates.add_with_ancestors(here, "the current folder");
        }
        for (path, from) in ground.folders.iter().flat_map(|folder| &folder.at.markers) {
            candidates.add_with_ancestors(path.as_str(), from);
        }
        for entry in ground.registry.iter().flatten() {
            candidates.add_with_ancestors(entry.path.as_str(), entry.from);
        }
        for directory in directories {
            candidates.add_with_ancestors(directory, "a session's workspace folders");
        }
        candidates
    }

    /// The project of a directory, by the sessions in it if there are any.
    pub(crate) fn project_by_folder(
        &self,
        ground: &Ground,
        number: usize,
        listing: &Listing,
    ) -> Arc<Project> {
        let Some(folder) = ground.folders.get(number) else { return Arc::default() };
        let own = |session: &&SessionFacts| is_in(session, &folder.at);
        match listing.sessions.iter().find(own) {
            Some(session) => Arc::clone(&session.project),
            None => Arc::new(settle(ground, folder, None, &self.candidates(ground, []))),
        }
    }
}

/// Says which folder a project directory stands for; its sessions' text is looked at only when nothing else helps.
pub(crate) fn settle(
    ground: &Ground,
    folder: &Folder,
    hash: Option<&ProjectHash>,
    candidates: &Candidates,
) -> Project {
    let registry = ground.registry.get(folder.root).map(Vec::as_slice).unwrap_or_default();
    let resolve =
        |candidates: &Candidates| resolve(folder.source, &folder.at, hash, registry, candidates);
    let project = resolve(candidates);
    if project.path.is_some() || folder.at.files.is_empty() {
        return project;
    }
    let mut settled = project;
    paths_in(&folder.at.files, |paths| {
        let mut found = Candidates::default();
        for path in paths {
            found.add_with_ancestors(path, "the text of a session");
        }
        settled = resolve(&found);
        settled.path.is_some()
    });
    settled
}

fn is_in(session: &SessionFacts, folder: &ProjectFolder) -> bool {
    session.files.iter().any(|file| Path::new(&file.path).starts_with(&folder.path))
}

/// What tells one project from another: the path, else what names its directory.
fn key(project: &Project) -> String {
    let hash = || project.hash.as_ref().map(|hash| hash.as_str().to_owned());
    let path = project.path.as_ref().map(|path| path.as_str().to_owned());
    path.or_else(|| project.slug.clone()).or_else(hash).unwrap_or_default()
}

fn blank(project: &Project) -> ProjectRow {
    ProjectRow {
        path: project.path.clone(),
        name: project.name().to_owned(),
        state: project.state,
        slug: project.slug.clone(),
        hash: project.hash.clone(),
        sources: Vec::new(),
        sessions: 0,
        prompts: 0,
        bytes: 0,
        tokens: Tokens::default(),
        last_used: None,
        evidence: Vec::new(),
    }
}

fn add(row: &mut ProjectRow, session: &SessionFacts) {
    row.sessions += u64::from(session.kind == SessionKind::Main);
    if session.kind == SessionKind::Main {
        row.prompts += session.counts.prompts;
    }
    row.bytes += session.bytes();
    row.tokens += session.tokens;
    row.last_used = row.last_used.max(session.updated);
    row.slug = row.slug.take().or_else(|| session.project.slug.clone());
    if !row.sources.contains(&session.source) {
        row.sources.push(session.source);
    }
    for clue in &session.project.evidence {
        if !row.evidence.contains(clue) {
            row.evidence.push(clue.clone());
        }
    }
}

/// Returns the numbers of those that are the project a person means.
pub(crate) fn matching(
    projects: &[&Project],
    wanted: &str,
    folders: &Folders,
) -> Result<BTreeSet<usize>, Error> {
    let tests: [&dyn Fn(&Project) -> bool; 5] = [
        &|project| project.path.as_ref().is_some_and(|path| is_path(path, wanted, folders)),
        &|project| project.slug.as_deref() == Some(wanted),
        &|project| project.name() == wanted,
        &|project| {
            let hash = project.hash.as_ref().map(ProjectHash::as_str).unwrap_or_default();
            wanted.len() >= 4 && hash.starts_with(wanted)
        },
        &|project| {
            let path = project.path.as_ref().map_or_else(|| project.name(), RecordedPath::as_str);
            path.to_lowercase().contains(&wanted.to_lowercase())
        },
    ];
    for test in tests {
        let numbered = projects.iter().enumerate();
        let hits: Vec<(usize, &&Project)> = numbered.filter(|(_, project)| test(project)).collect();
        let names: BTreeSet<String> = hits.iter().map(|(_, project)| key(project)).collect();
        match names.len() {
            0 => {}
            1 => return Ok(hits.into_iter().map(|(at, _)| at).collect()),
            _ => {
                let candidates = names.into_iter().collect();
                return Err(Error::AmbiguousProject { wanted: wanted.to_owned(), candidates });
            }
        }
    }
    Err(Error::NoProject(wanted.to_owned()))
}

fn is_path(path: &RecordedPath, wanted: &str, folders: &Folders) -> bool {
    let wanted = wanted.trim_end_matches('/');
    let expanded = match (wanted.strip_prefix("~/"), &folders.home) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => wanted.to_owned(),
    };
    path.as_str() == expanded
}
