//! Resolves each project directory to a folder: with all clues, the cheap ones first.
//!
//! The agent's own records settle most. Only for directories that are still unknown, their sessions' text is read, then the
//! rest of the machine is searched, then the disk; and what gave no result before is not repeated until something changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use recount_model::{Clue, ClueKind, Project, ProjectHash, ProjectState, RecordedPath};
use recount_store::{Aliases, Candidates, Case, Learned, Machine, folders_with_repositories};
use serde::{Deserialize, Serialize};

use crate::Engine;
use crate::projects::seek::Seek;
use crate::snapshot::disk_scan::{DiskSnapshot, Progress};

/// The maximum number of bytes of other projects' sessions that a list of projects reads.
const OTHER_TEXTS: u64 = 64 * 1024 * 1024;

/// How much effort is spent to find folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// For one directory: only what is readily available.
    Single(usize),
    /// For a list: the whole machine, but hardly any waiting.
    List,
    /// For a list of projects: missing folders, too.
    Projects,
    /// The user requested a scan.
    Scan(Seek),
}

/// What sessions show about their project directories, by the directory's number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProjectHints {
    /// Hashes in session files, with the number of files.
    pub(crate) hashes: BTreeMap<usize, BTreeMap<ProjectHash, usize>>,
    /// Folders that sessions had open.
    pub(crate) directories: BTreeMap<usize, BTreeSet<String>>,
    /// Folders that sessions record as their own.
    pub(crate) paths: BTreeSet<RecordedPath>,
}

impl ProjectHints {
    /// Adds what one file of a directory shows.
    pub(crate) fn add(&mut self, folder: usize, hash: Option<&str>, directories: &[String]) {
        if let Some(hash) = hash.and_then(ProjectHash::new) {
            *self.hashes.entry(folder).or_default().entry(hash).or_default() += 1;
        }
        if !directories.is_empty() {
            self.directories.entry(folder).or_default().extend(directories.iter().cloned());
        }
    }
}

/// What is known about all project directories.
#[derive(Debug, Default)]
pub(crate) struct ResolvedProjects {
    /// By number of the directory.
    pub(crate) projects: Vec<Arc<Project>>,
    /// By the folder that a session records as its own.
    pub(crate) recorded: BTreeMap<RecordedPath, Arc<Project>>,
    /// Every path that was found.
    pub(crate) candidates: Candidates,
    /// What earlier runs and this one have learned.
    pub(crate) learned: Learned,
}

impl ResolvedProjects {
    /// Returns the project of a session: the folder that it records itself, else that of its directory.
    pub(crate) fn project_of(&self, folder: usize, cwd: Option<&RecordedPath>) -> Arc<Project> {
        let recorded = cwd.and_then(|cwd| self.recorded.get(cwd));
        recorded.or_else(|| self.projects.get(folder)).cloned().unwrap_or_default()
    }
}

/// The work on all directories at once.
pub(crate) struct ResolveContext<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) disk: &'a DiskSnapshot,
    hashes: Vec<Vec<(ProjectHash, usize)>>,
    /// Paths in each directory's own sessions.
    pub(crate) own: Vec<Candidates>,
    /// The only directory of interest.
    only: Option<usize>,
    pub(crate) candidates: Candidates,
    /// What earlier runs learned.
    pub(crate) learned: Learned,
    /// What this run learns.
    pub(crate) news: Learned,
    pub(crate) projects: Vec<Project>,
    /// The projects of sessions that record their own folder.
    recorded: Vec<Project>,
}

impl Engine {
    /// Resolves each project directory to a folder.
    pub(crate) fn resolve_projects(
        &self,
        disk: &DiskSnapshot,
        hints: &ProjectHints,
        effort: &Effort,
        progress: &dyn Progress,
    ) -> ResolvedProjects {
        let mut context = ResolveContext::new(self, disk, hints);
        if let Effort::Single(number) = effort {
            context.only = Some(*number);
        }
        let single = context.only.is_some();
        context.resolve();
        let read = context.read_own_texts();
        let asked = matches!(effort, Effort::Scan(_));
        if (asked || *effort == Effort::Projects) && context.is_open() {
            context.read_other_texts(&read, if asked { u64::MAX } else { OTHER_TEXTS });
        }
        if !asked && !single && context.is_open() && context.is_news_possible(effort) {
            context.ask_machine();
        }
        context.look_for_folders();
        let silent = context.seek(effort, progress);
        if asked && context.is_open() {
            // A requested search comes first.
            context.ask_machine();
            context.look_for_folders();
        }
        if !single && context.is_open() {
            context.mark_unfinished(silent);
        }
        if !single {
            context.learn();
        }
        let aliases = self.aliases().unwrap_or_default();
        let mut learned = context.learned;
        learned.absorb(context.news);
        let with_name = |project| Arc::new(named(project, &aliases));
        let projects = context.projects.into_iter().map(with_name).collect();
        let recorded = context.recorded.into_iter().map(with_name);
        let recorded = recorded.filter_map(|project| Some((project.path.clone()?, project)));
        let recorded = recorded.collect();
        ResolvedProjects { projects, recorded, candidates: context.candidates, learned }
    }

    /// Returns the project of one session: the folder that it records itself, else that of its directory.
    pub(crate) fn project_of(
        &self,
        disk: &DiskSnapshot,
        number: usize,
        hints: &ProjectHints,
        cwd: Option<&RecordedPath>,
    ) -> Arc<Project> {
        let resolved = self.resolve_projects(disk, hints, &Effort::Single(number), &());
        resolved.project_of(number, cwd)
    }
}

/// Returns the project of a session that records its folder. Whether that folder exists is checked later.
fn recorded(path: RecordedPath) -> Project {
    let evidence = vec![Clue {
        clue: ClueKind::Session,
        detail: "recorded in the session".to_owned(),
        proves: true,
        weight: 100,
        names: None,
    }];
    Project { path: Some(path), state: ProjectState::Missing, evidence, ..Project::default() }
}

fn named(mut project: Project, aliases: &Aliases) -> Project {
    project.alias = aliases.of(&project).map(str::to_owned);
    project
}

impl<'a> ResolveContext<'a> {
    fn new(engine: &'a Engine, disk: &'a DiskSnapshot, hints: &ProjectHints) -> Self {
        let learned = engine.learned();
        let mut candidates = Candidates::default();
        let mut own = Vec::new();
        let mut hashes = Vec::new();
        for entry in disk.registry.iter().flatten() {
            let kind = if entry.slug.is_some() { ClueKind::Registry } else { ClueKind::Trusted };
            candidates.add_with_ancestors(entry.path.as_str(), kind, entry.from);
        }
        for (path, from) in disk.folders.iter().flat_map(|folder| &folder.at.markers) {
            candidates.add_with_ancestors(path.as_str(), ClueKind::Marker, from);
        }
        for number in 0..disk.folders.len() {
            let mut here = Candidates::default();
            for path in hints.directories.get(&number).into_iter().flatten() {
                let detail = "a session's workspace folders";
                candidates.add_with_ancestors(path, ClueKind::Workspace, detail);
                here.add(path, ClueKind::Workspace, detail);
            }
            own.push(here);
            let seen = hints.hashes.get(&number).into_iter().flatten();
            let mut seen: Vec<(ProjectHash, usize)> =
                seen.map(|(hash, count)| (hash.clone(), *count)).collect();
            seen.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            hashes.push(seen);
        }
        if let Some(here) = engine.env.current_folder().and_then(|path| path.to_str()) {
            candidates.add_with_ancestors(here, ClueKind::CurrentFolder, "the current folder");
        }
        let sources: BTreeMap<_, _> =
            disk.folders.iter().map(|folder| (folder.source.name(), folder.source)).collect();
        for entry in sources.values().flat_map(|source| learned.proven(*source)) {
            candidates.add(entry.path.as_str(), entry.clue, &entry.detail);
        }
        let news = Learned::default();
        Self {
            engine,
            disk,
            hashes,
            own,
            only: None,
            candidates,
            learned,
            news,
            projects: Vec::new(),
            recorded: hints.paths.iter().cloned().map(recorded).collect(),
        }
    }

    /// Returns everything that is known about a directory.
    fn case(&self, number: usize) -> Option<Case<'_>> {
        let folder = self.disk.folders.get(number)?;
        Some(Case {
            source: folder.source,
            folder: &folder.at,
            hashes: self.hashes.get(number).map(Vec::as_slice).unwrap_or_default(),
            registry: self.disk.registry.get(folder.root).map(Vec::as_slice).unwrap_or_default(),
            notes: self.disk.notes.get(folder.root).map(Vec::as_slice).unwrap_or_default(),
            own: self.own.get(number)?,
        })
    }

    /// Resolves every directory that is not resolved yet.
    pub(crate) fn resolve(&mut self) {
        for number in 0..self.disk.folders.len() {
            if self.projects.get(number).is_some_and(|project| project.path.is_some()) {
                continue;
            }
            let Some(case) = self.case(number) else { continue };
            let is_project = case.folder.is_project;
            let project =
                if is_project { case.resolve(&self.candidates) } else { Project::default() };
            match self.projects.get_mut(number) {
                Some(slot) => *slot = project,
                None => self.projects.push(project),
            }
        }
    }

    /// Lists the directories with an unknown folder, with the wanted hash, if one is known.
    pub(crate) fn unknown(&self) -> Vec<(usize, Option<ProjectHash>)> {
        let numbered =
            self.projects.iter().enumerate().filter(|(_, project)| project.path.is_none());
        let is_project = |number: usize| {
            self.disk.folders.get(number).is_some_and(|folder| folder.at.is_project)
        };
        let numbered = numbered.filter(|(number, _)| is_project(*number));
        let wanted = |number: usize| self.case(number).and_then(|case| case.wanted().cloned());
        let asked = numbered.filter(|(number, _)| self.only.is_none_or(|only| only == *number));
        asked.map(|(number, _)| (number, wanted(number))).collect()
    }

    /// Lists the directories with an unknown folder, with the wanted hash.
    pub(crate) fn open(&self) -> Vec<(usize, ProjectHash)> {
        self.unknown().into_iter().filter_map(|(number, hash)| Some((number, hash?))).collect()
    }

    fn is_open(&self) -> bool {
        !self.open().is_empty()
    }

    /// Whether the machine may know more than at the last search. A list does not search every time.
    fn is_news_possible(&self, effort: &Effort) -> bool {
        let now = self.engine.clock.now();
        let is_new = |(number, hash): &(usize, ProjectHash)| {
            let folder = self.disk.folders.get(*number);
            folder.is_some_and(|folder| !self.learned.asked_recently(folder.source, hash, now))
        };
        *effort != Effort::List || self.open().iter().any(is_new)
    }

    /// Searches the rest of the machine.
    fn ask_machine(&mut self) {
        let machine = Machine {
            env: &self.engine.env,
            folders: &self.engine.folders,
            homes: &self.engine.homes(),
            sources: self.engine.sources,
            processes: &*self.engine.processes,
        };
        machine.gather(&mut self.candidates);
        self.resolve();
        let now = self.engine.clock.now();
        for (number, hash) in self.open() {
            let Some(folder) = self.disk.folders.get(number) else { continue };
            self.news.record_failed_search(&self.learned, folder.source, &hash, now);
        }
    }

    /// Checks which of the folders exist, and their repositories.
    pub(crate) fn look_for_folders(&mut self) {
        let is_unseen = |project: &Project| project.state == ProjectState::Missing;
        let path = |project: &Project| project.path.as_ref().map(|path| path.as_str().to_owned());
        let known = self.projects.iter().chain(&self.recorded);
        let unseen = known.filter(|project| is_unseen(project));
        let wanted: BTreeSet<String> = unseen.filter_map(path).collect();
        let wanted: Vec<String> = wanted.into_iter().collect();
        let answers = folders_with_repositories(wanted.clone());
        let answers: BTreeMap<String, _> = wanted.into_iter().zip(answers).collect();
        let known = self.projects.iter_mut().chain(&mut self.recorded);
        for project in known.filter(|project| is_unseen(project)) {
            let answer = project.path.as_ref().and_then(|path| answers.get(path.as_str()));
            project.state = match answer {
                Some(Some((true, _))) => ProjectState::Present,
                Some(None) => ProjectState::Scanning,
                _ => ProjectState::Missing,
            };
        }
        for (path, answer) in answers {
            if let Some(repository) = answer.and_then(|(_, repository)| repository)
                && self.learned.repository(&path) != Some(&repository)
            {
                self.news.record_repository(&path, repository);
            }
        }
    }

    /// Keeps what is proven.
    fn learn(&mut self) {
        let now = self.engine.clock.now();
        for (project, folder) in self.projects.iter().zip(&self.disk.folders) {
            let Some(path) = &project.path else { continue };
            let found = project.evidence.iter().find(|clue| {
                clue.names.is_none() && !matches!(clue.clue, ClueKind::SessionHash | ClueKind::Note)
            });
            if let Some(found) = found
                && project.is_proven()
                && let Some(hash) = folder.source.project_hash(path.as_str())
                && !self.learned.knows(folder.source, &hash)
            {
                self.news.prove(folder.source, path, (found.clue, &found.detail), now);
            }
        }
        // A data folder that cannot be written only costs time.
        let _kept = self.engine.learn(self.news.clone());
    }
}
