//! What agents keep and delete by themselves: what an agent's next start would delete, and why. Nothing is changed here.

mod report;
mod rows;
mod scope;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use recount_formats::Sweeper;
use recount_formats::sweep::{Chats, Installations, Retention, Settings, Variables};
use recount_model::{Project, SessionFacts, SourceState};
use recount_platform::Env;

pub use self::report::{Agent, DoomedSession, Foretold, Guarded, Kept, Lost, ReleaseFrom, Safe};
use self::rows::{Swept, guarded, lost};
pub use self::scope::Scope;
use crate::disk::Survey;
use crate::projects::passport::Passports;
use crate::snapshot::survey::{Folder, Ground, Progress};
use crate::{Engine, Error};

impl Engine {
    /// Tells what the next start of an agent would delete in each project. Nothing is changed.
    ///
    /// # Errors
    /// If the release is not one, or the project is not known or may be several.
    pub fn guard(
        &self,
        project: Option<&str>,
        release: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Foretold, Error> {
        self.aliases()?;
        let agents = self.agents(release)?;
        let survey = self.survey(progress)?;
        let scope = project.map_or(Scope::All, Scope::Project);
        let mut projects = self.forecast(&survey, scope, &agents)?;
        projects.sort_by_cached_key(|row| {
            let lost = row.sessions.iter().map(|session| session.lost).min();
            (!row.is_in_danger(), lost.is_none(), lost, row.project.key(), row.directory.clone())
        });
        Ok(Foretold { agents, projects, listing: survey.listing })
    }

    /// Tells what the next start of these agents would delete, directory by directory.
    ///
    /// # Errors
    /// If the project is not known or may be several.
    pub fn forecast(
        &self,
        survey: &Survey,
        scope: Scope<'_>,
        agents: &[Agent],
    ) -> Result<Vec<Guarded>, Error> {
        let Survey { listing, ground, projects, .. } = survey;
        let wanted = self.within(scope, survey)?;
        let swept = self.sweep(&listing.sessions, ground, projects, agents);
        let mut rows = guarded(&listing.sessions, ground, projects, swept);
        rows.retain(|(number, _)| wanted.as_ref().is_none_or(|all| all.contains(number)));
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// Marks the sessions that the next start of the installed release would delete.
    pub(crate) fn foretell(
        &self,
        sessions: &mut [Arc<SessionFacts>],
        ground: &Ground,
        passports: &Passports,
    ) {
        let Ok(agents) = self.agents(None) else { return };
        let swept = self.sweep(sessions, ground, &passports.projects, &agents);
        let gone: BTreeSet<&str> =
            swept.iter().flat_map(|swept| &swept.dooms).map(|doom| doom.path.as_str()).collect();
        for session in sessions {
            if agents.iter().any(|agent| agent.source == session.source) {
                let doomed = lost(session, |path| gone.contains(path)) == Some(Lost::Whole);
                Arc::make_mut(session).doomed = Some(doomed);
            }
        }
    }

    /// Finds out which releases are installed, or takes the rules of the given one.
    ///
    /// # Errors
    /// If the given release is not one.
    pub fn agents(&self, release: Option<&str>) -> Result<Vec<Agent>, Error> {
        let mut agents: Vec<Agent> = Vec::new();
        let mut places = None;
        for source in self.roots.iter().map(|root| root.source) {
            let Some(sweeper) = source.sweeper() else { continue };
            if agents.iter().any(|agent| agent.source == source.name()) {
                continue;
            }
            let places = places.get_or_insert_with(|| {
                recount_platform::Installations::find(&self.env, &self.folders)
            });
            let (programs, packages) = (&*places.programs, &*places.packages);
            let (release, release_from, installed) = match release {
                Some(asked) if !sweeper.is_release(asked) => {
                    return Err(Error::NotARelease(asked.to_owned()));
                }
                Some(asked) => (asked.to_owned(), ReleaseFrom::Asked, None),
                None => match sweeper.installed(&Installations { programs, packages }) {
                    Some(found) => (found.release, ReleaseFrom::Installed, Some(found.from)),
                    None => (sweeper.newest().to_owned(), ReleaseFrom::Guessed, None),
                },
            };
            agents.push(Agent {
                source: source.name(),
                program: sweeper.program(),
                release,
                release_from,
                installed,
                newest_known: sweeper.newest(),
                setting: sweeper.remedy(),
            });
        }
        Ok(agents)
    }

    /// Returns which release of an agent is installed, or the newest one.
    pub fn release(&self, source: &dyn recount_formats::Source) -> Option<String> {
        let agents = self.agents(None).ok()?;
        agents.into_iter().find(|agent| agent.source == source.name()).map(|agent| agent.release)
    }

    /// Tells what goes, directory by directory.
    fn sweep(
        &self,
        sessions: &[Arc<SessionFacts>],
        ground: &Ground,
        projects: &[Arc<Project>],
        agents: &[Agent],
    ) -> Vec<Swept> {
        let ask = |sweeper: &dyn Sweeper, chats: &Chats<'_>| sweeper.sweep(chats);
        let found = self.ask_each(sessions, ground, projects, agents, ask);
        let swept = |(number, retention, dooms)| Swept { number, retention, dooms };
        found.into_iter().map(swept).collect()
    }

    /// Asks each agent about each of its directories. Returns the answers with the directories' numbers.
    pub fn ask_sweepers<T>(
        &self,
        survey: &Survey,
        agents: &[Agent],
        ask: impl Fn(&dyn Sweeper, &Chats<'_>) -> T,
    ) -> Vec<(usize, T)> {
        let Survey { listing, ground, projects, .. } = survey;
        let found = self.ask_each(&listing.sessions, ground, projects, agents, ask);
        found.into_iter().map(|(number, _, answer)| (number, answer)).collect()
    }

    fn ask_each<T>(
        &self,
        sessions: &[Arc<SessionFacts>],
        ground: &Ground,
        projects: &[Arc<Project>],
        agents: &[Agent],
        ask: impl Fn(&dyn Sweeper, &Chats<'_>) -> T,
    ) -> Vec<(usize, Retention, T)> {
        let mut states: HashMap<&str, &SourceState> = HashMap::with_capacity(sessions.len());
        for session in sessions {
            let files = session.files.iter().zip(&session.states);
            states.extend(files.map(|(file, state)| (file.path.as_str(), state)));
        }
        let mut settings: BTreeMap<usize, Settings> = BTreeMap::new();
        let one = |(number, folder): (usize, &Folder)| {
            let sweeper = folder.source.sweeper()?;
            let agent = agents.iter().find(|agent| agent.source == folder.source.name())?;
            let settings = settings
                .entry(folder.root)
                .or_insert_with(|| self.settings_below(folder.root, sweeper));
            let project = projects.get(number).and_then(|project| project.path.as_ref());
            let place = project.map(|path| Path::new(path.as_str()));
            let retention = sweeper.retention(settings, place, &agent.release);
            let files = &folder.at.files;
            let seen: Vec<Option<&SourceState>> = files
                .iter()
                .map(|file| states.get(&*file.path.to_string_lossy()).copied())
                .collect();
            let answer = ask(
                sweeper,
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
        ground.folders.iter().enumerate().filter_map(one).collect()
    }

    /// Reads the settings that an agent would find for the data folder of this number.
    pub fn settings_below(&self, root: usize, sweeper: &dyn Sweeper) -> Settings {
        let Some(root) = self.roots.get(root) else { return Settings::default() };
        sweeper.settings(&root.path, root.shape, &Words(&self.env))
    }
}

/// The environment, as formats ask for it.
struct Words<'a>(&'a Env);

impl Variables for Words<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.0.text(name).map(str::to_owned)
    }
}
