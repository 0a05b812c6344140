//! Retention: what an agent's next start would delete, and why. Nothing is changed here.

mod report;
mod rows;
mod scope;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use foldhash::fast::RandomState;
use recount_formats::RetentionPolicy;
use recount_formats::retention::{Chats, InstallFolders, RetentionSettings, Settings, Variables};
use recount_formats::source::FileAt;
use recount_model::{FileRole, Project, SessionFacts, SessionKey, SourceState};
use recount_platform::Env;

pub use self::report::{
    Agent, Forecast, Guarded, Lost, ReleaseFrom, RetentionLimits, Safe, SessionAtRisk,
};
use self::rows::{FolderDeletions, guarded, lost};
pub use self::scope::{Scope, Selected};
use crate::disk::Survey;
use crate::projects::resolve::{Effort, ResolvedProjects};
use crate::snapshot::disk_scan::{DiskSnapshot, LocatedFolder, Progress};
use crate::{Engine, Error};

/// Number of files from which a second thread pays.
const MANY: usize = 512;

/// Settings of agents, by the number of the data folder.
type SettingsByRoot = BTreeMap<usize, Settings>;

/// Facts about files, by their paths.
type ByPath<'a, T> = HashMap<&'a str, T, RandomState>;

impl Engine {
    /// Returns what the next start of an agent would delete in each project. Nothing is changed.
    ///
    /// # Errors
    /// If the release is invalid, or the project is unknown or ambiguous.
    pub fn guard(
        &self,
        project: Option<&str>,
        release: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Forecast, Error> {
        self.aliases()?;
        let agents = self.agents(release)?;
        let survey = self.scan_files(progress)?;
        let scope = project.map_or(Scope::All, Scope::Project);
        let mut projects = self.forecast(&survey, scope, &agents)?;
        projects.sort_by_cached_key(|row| {
            let lost = row.sessions.iter().map(|session| session.lost).min();
            (!row.is_in_danger(), lost.is_none(), lost, row.project.key(), row.directory.clone())
        });
        Ok(Forecast { agents, projects, listing: survey.listing })
    }

    /// Returns what the next start of these agents would delete, directory by directory.
    ///
    /// # Errors
    /// If the project is unknown or ambiguous.
    pub fn forecast(
        &self,
        survey: &Survey,
        scope: Scope<'_>,
        agents: &[Agent],
    ) -> Result<Vec<Guarded>, Error> {
        let Survey { listing, disk, projects, .. } = survey;
        let selected = self.within(scope, survey)?;
        let by_folder = self.predict(states(&listing.sessions), disk, projects, agents);
        Ok(guarded(&listing.sessions, disk, projects, by_folder, &selected))
    }

    /// Returns the sessions that the next start of the installed release would delete, without a copy of their rows.
    ///
    /// # Errors
    /// As [`Engine::list`].
    pub fn at_risk(&self, progress: &dyn Progress) -> Result<HashSet<SessionKey>, Error> {
        let (listing, disk, resolved) = self.scan_all(&Effort::List, progress)?;
        let sessions = &listing.sessions;
        let rows = sessions.iter().map(|session| (session.source.as_str(), roles(session)));
        let pending = self.pending_deletions(states(sessions), rows, &disk, &resolved);
        let is_listed = |(session, pending): &(&Arc<SessionFacts>, Option<bool>)| {
            *pending == Some(true) && !session.is_background
        };
        let at_risk = sessions.iter().zip(pending).filter(is_listed);
        Ok(at_risk.map(|(session, _)| session.key()).collect())
    }

    /// Marks the sessions that the next start of the installed release would delete.
    pub(crate) fn mark_pending_deletions(
        &self,
        sessions: &mut [Arc<SessionFacts>],
        disk: &DiskSnapshot,
        resolved: &ResolvedProjects,
    ) {
        let pending = {
            let sessions = &*sessions;
            let rows = sessions.iter().map(|session| (session.source.as_str(), roles(session)));
            self.pending_deletions(states(sessions), rows, disk, resolved)
        };
        for (session, pending) in sessions.iter_mut().zip(pending) {
            if pending.is_some() {
                Arc::make_mut(session).pending_deletion = pending;
            }
        }
    }

    /// Returns for each session whether the next start of the installed release would delete it; `None` if that agent deletes none.
    pub(crate) fn pending_deletions<'a, F: Iterator<Item = (&'a str, FileRole)>>(
        &self,
        states: impl Iterator<Item = (&'a str, &'a [u8])>,
        sessions: impl Iterator<Item = (&'a str, F)>,
        disk: &DiskSnapshot,
        resolved: &ResolvedProjects,
    ) -> Vec<Option<bool>> {
        let agents = self.agents(None).unwrap_or_default();
        let ask = |policy: &dyn RetentionPolicy, chats: &Chats<'_>| policy.deleted_files(chats);
        let by_folder = self.ask_each(states, disk, &resolved.projects, &agents, ask);
        // Whether each file that is deleted is a link.
        let mut gone: HashMap<Cow<'_, str>, bool, RandomState> = HashMap::default();
        for (number, _, is_deleted) in by_folder {
            let files = disk.folders.get(number).into_iter().flat_map(|folder| &folder.at.files);
            let deleted = files.zip(is_deleted).filter(|(_, is_deleted)| *is_deleted);
            gone.extend(deleted.map(|(file, _)| (file.path.to_string_lossy(), file.is_link)));
        }
        let is_pending = |(source, files): (&str, F)| {
            let has_policy = agents.iter().any(|agent| agent.source.as_str() == source);
            has_policy.then(|| lost(files, |path| gone.get(path).copied()) == Some(Lost::Whole))
        };
        sessions.map(is_pending).collect()
    }

    /// Finds the installed releases, or uses the rules of the given one.
    ///
    /// # Errors
    /// If the given release is invalid.
    pub fn agents(&self, release: Option<&str>) -> Result<Vec<Agent>, Error> {
        let mut agents: Vec<Agent> = Vec::new();
        let mut places = None;
        // A release is that of the agents whose own releases have the same first number; if there is none, of all.
        let is_like = |policy: &dyn RetentionPolicy| {
            release.is_some_and(|asked| first_number(asked) == first_number(policy.newest()))
        };
        let policies = self.roots.iter().filter_map(|root| root.source.retention_policy());
        let is_anyones = { policies }.any(&is_like);
        for source in self.roots.iter().filter(|root| !root.is_ingested).map(|root| root.source) {
            let Some(retention_policy) = source.retention_policy() else { continue };
            if agents.iter().any(|agent| agent.source == source.name()) {
                continue;
            }
            let places = places.get_or_insert_with(|| {
                recount_platform::Installations::find(&self.env, &self.folders)
            });
            let (programs, packages) = (&*places.programs, &*places.packages);
            let release = release.filter(|_| !is_anyones || is_like(retention_policy));
            let (release, release_from, installed) = match release {
                Some(asked) if !retention_policy.is_release(asked) => {
                    return Err(Error::NotARelease(asked.to_owned()));
                }
                Some(asked) => (asked.to_owned(), ReleaseFrom::Asked, None),
                None => match retention_policy.installed(&InstallFolders { programs, packages }) {
                    Some(found) => (found.release, ReleaseFrom::Installed, Some(found.from)),
                    None => (retention_policy.newest().to_owned(), ReleaseFrom::Guessed, None),
                },
            };
            agents.push(Agent {
                source: source.name(),
                program: retention_policy.program(),
                release,
                release_from,
                installed,
                newest_known: retention_policy.newest(),
                setting: retention_policy.remedy(),
            });
        }
        Ok(agents)
    }

    /// Returns the installed release of an agent, or the newest one.
    pub fn release(&self, source: &dyn recount_formats::Source) -> Option<String> {
        let agents = self.agents(None).ok()?;
        agents.into_iter().find(|agent| agent.source == source.name()).map(|agent| agent.release)
    }

    /// Returns what is deleted, directory by directory.
    fn predict<'a>(
        &self,
        states: impl Iterator<Item = (&'a str, &'a [u8])>,
        disk: &DiskSnapshot,
        projects: &[Arc<Project>],
        agents: &[Agent],
    ) -> Vec<FolderDeletions> {
        let ask = |retention_policy: &dyn RetentionPolicy, chats: &Chats<'_>| {
            retention_policy.pending_deletions(chats)
        };
        let found = self.ask_each(states, disk, projects, agents, ask);
        let by_folder =
            |(number, retention, deletions)| FolderDeletions { number, retention, deletions };
        found.into_iter().map(by_folder).collect()
    }

    /// Queries each agent's policy for each of its directories. Returns the answers with the directories' numbers.
    pub fn ask_policies<T: Send>(
        &self,
        survey: &Survey,
        agents: &[Agent],
        ask: impl Fn(&dyn RetentionPolicy, &Chats<'_>) -> T + Sync,
    ) -> Vec<(usize, T)> {
        let Survey { listing, disk, projects, .. } = survey;
        let found = self.ask_each(states(&listing.sessions), disk, projects, agents, ask);
        found.into_iter().map(|(number, _, answer)| (number, answer)).collect()
    }

    fn ask_each<'a, T: Send>(
        &self,
        states: impl Iterator<Item = (&'a str, &'a [u8])>,
        disk: &DiskSnapshot,
        projects: &[Arc<Project>],
        agents: &[Agent],
        ask: impl Fn(&dyn RetentionPolicy, &Chats<'_>) -> T + Sync,
    ) -> Vec<(usize, RetentionSettings, T)> {
        let files: usize = disk.folders.iter().map(|folder| folder.at.files.len()).sum();
        let mut by_path: ByPath<'a, &[u8]> =
            HashMap::with_capacity_and_hasher(files, RandomState::default());
        by_path.extend(states);
        let one = |settings: &mut SettingsByRoot, number: usize, folder: &LocatedFolder| {
            // No agent uses it.
            if folder.is_ingested {
                return None;
            }
            let retention_policy = folder.source.retention_policy()?;
            let agent = agents.iter().find(|agent| agent.source == folder.source.name())?;
            let settings = settings
                .entry(folder.root)
                .or_insert_with(|| self.settings_below(folder.root, retention_policy));
            let project = projects.get(number).and_then(|project| project.path.as_ref());
            let place = project.map(|path| Path::new(path.as_str()));
            let retention = retention_policy.retention(settings, place, &agent.release);
            let files = &folder.at.files;
            let state = |file: &Arc<FileAt>| match file.path.to_str() {
                Some(path) => by_path.get(path).copied(),
                None => by_path.get(&*file.path.to_string_lossy()).copied(),
            };
            let seen: Vec<Option<&[u8]>> = files.iter().map(state).collect();
            let answer = ask(
                retention_policy,
                &Chats {
                    folder: &folder.at,
                    states: &seen,
                    retention: &retention,
                    release: &agent.release,
                    now: self.clock.now().as_millisecond(),
                },
            );
            Some((number, retention, answer))
        };
        let some = |from: usize, folders: &[LocatedFolder]| {
            let mut settings = SettingsByRoot::new();
            let one = |(at, folder): (usize, &LocatedFolder)| one(&mut settings, from + at, folder);
            folders.iter().enumerate().filter_map(one).collect::<Vec<_>>()
        };
        if files < MANY {
            return some(0, &disk.folders);
        }
        let half = disk.folders.len() / 2;
        let (first, later) = disk.folders.split_at(half);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| some(half, later));
            let mut all = some(0, first);
            all.extend(second.join().unwrap_or_else(|_| some(half, later)));
            all
        })
    }

    /// Reads the settings that an agent would find for the data folder of this number.
    pub fn settings_below(&self, root: usize, retention_policy: &dyn RetentionPolicy) -> Settings {
        let Some(root) = self.roots.get(root) else { return Settings::default() };
        retention_policy.settings(&root.path, root.shape, &Words(&self.env))
    }
}

/// Returns the states of all files of sessions, by path.
fn states(sessions: &[Arc<SessionFacts>]) -> impl Iterator<Item = (&str, &[u8])> {
    sessions.iter().flat_map(|session| {
        let states = session.states.iter().map(SourceState::as_bytes);
        session.files.iter().map(|file| file.path.as_str()).zip(states)
    })
}

/// Returns the files of a session, with their roles.
fn roles(session: &SessionFacts) -> impl Iterator<Item = (&str, FileRole)> {
    session.files.iter().map(|file| (file.path.as_str(), file.role))
}

/// The environment, with the interface of formats.
struct Words<'a>(&'a Env);

impl Variables for Words<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.0.text(name).map(str::to_owned)
    }
}

/// Returns the first number of a release.
fn first_number(release: &str) -> &str {
    release.split('.').next().unwrap_or(release)
}
