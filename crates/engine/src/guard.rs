//! What an agent's next start would delete, and why.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_formats::Sweeper;
use recount_formats::sweep::{Chats, Installations, Retention, Settings, Variables};
use recount_model::{
    Doom, FileRole, Project, SessionFacts, SessionId, SessionKind, Sight, SourceName, TitleFrom,
};
use recount_platform::Env;
use serde::Serialize;

use crate::list::Listing;
use crate::matching::matching;
use crate::passport::{Effort, Passports};
use crate::survey::{Folder, Ground, Progress};
use crate::{Engine, Error};

/// What is foretold.
#[derive(Debug)]
pub struct Foretold {
    /// The agents that delete sessions, each with the release whose rules were taken.
    pub agents: Vec<Agent>,
    /// One per project directory with sessions, those that lose something first.
    pub projects: Vec<Guarded>,
    /// Every session there is, and what could not be looked at.
    pub listing: Listing,
}

/// An agent and its release.
#[derive(Clone, Debug, Serialize)]
pub struct Agent {
    /// Which.
    pub source: SourceName,
    /// The program, as people start it.
    pub program: &'static str,
    /// The release whose rules were taken.
    pub release: String,
    /// How it is known.
    pub release_from: ReleaseFrom,
    /// The file that says which release is installed.
    pub installed: Option<PathBuf>,
    /// The newest release whose rules are known.
    pub newest_known: &'static str,
    /// How the user keeps it from deleting sessions.
    pub remedy: &'static str,
}

/// How a release is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseFrom {
    /// The user named it.
    Asked,
    /// It is the one that is installed.
    Installed,
    /// None was found: the newest we know.
    Guessed,
}

/// What a project directory would lose.
#[derive(Clone, Debug, Serialize)]
pub struct Guarded {
    /// The project.
    pub project: Arc<Project>,
    /// Whose directory it is.
    pub source: SourceName,
    /// The directory.
    pub directory: PathBuf,
    /// What the agent keeps there.
    pub retention: Kept,
    /// Sessions that would lose files.
    pub sessions: Vec<DoomedSession>,
    /// Other files that would go.
    pub others: Vec<Doom>,
    /// Sessions that would lose nothing.
    pub safe: Safe,
}

/// What an agent keeps.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Kept {
    /// Whether sessions are cleaned up.
    pub on: bool,
    /// If not, why.
    pub off_because: Option<String>,
    /// How old a session may get.
    pub max_age: Option<String>,
    /// How many are kept.
    pub max_count: Option<u64>,
    /// Files that say so; none when it is the default.
    pub from: Vec<PathBuf>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// Sessions that would lose nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Safe {
    /// Main sessions.
    pub sessions: u64,
    /// Bytes of their files, and of their sub-agents'.
    pub bytes: u64,
}

/// A session that would lose files.
#[derive(Clone, Debug, Serialize)]
pub struct DoomedSession {
    /// Its id.
    pub id: SessionId,
    /// Whether a human or another session started it.
    pub kind: SessionKind,
    /// The main session of a sub-agent.
    pub parent: Option<SessionId>,
    /// Its title.
    pub title: Option<String>,
    /// Where the title comes from.
    pub title_from: TitleFrom,
    /// When it was last used.
    pub updated: Option<jiff::Timestamp>,
    /// What humans typed.
    pub prompts: u64,
    /// How much of it would be lost.
    pub lost: Lost,
    /// Bytes that would go.
    pub bytes: u64,
    /// Its own files that would go.
    pub files: Vec<Doom>,
    /// What lies beside them and would go, too.
    pub beside: Vec<Doom>,
}

/// How much of a session would be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Lost {
    /// All that was said.
    Whole,
    /// Some of what was said.
    Part,
    /// Only files that say nothing of their own: stubs, twins, copies.
    Spare,
}

impl Guarded {
    /// Returns all files that would go.
    pub fn dooms(&self) -> impl Iterator<Item = &Doom> {
        let sessions = self.sessions.iter().flat_map(|s| s.files.iter().chain(&s.beside));
        sessions.chain(&self.others)
    }

    /// Whether anything would go that is not wiped at every start.
    pub fn is_in_danger(&self) -> bool {
        self.dooms().any(|doom| !doom.why.is_routine())
    }
}

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
        let (listing, ground, passports) = self.survey_all(&Effort::List, progress);
        let wanted = project.map(|wanted| {
            let projects: Vec<&Project> = passports.projects.iter().map(|p| &**p).collect();
            matching(&projects, wanted, &self.folders)
        });
        let wanted = wanted.transpose()?;
        let swept = self.sweep(&listing.sessions, &ground, &passports, &agents);
        let mut projects = guarded(&listing.sessions, &ground, &passports, swept);
        if let Some(wanted) = wanted {
            projects.retain(|(number, _)| wanted.contains(number));
        }
        let mut projects: Vec<Guarded> = projects.into_iter().map(|(_, row)| row).collect();
        projects.sort_by_cached_key(|row| {
            let lost = row.sessions.iter().map(|session| session.lost).min();
            (!row.is_in_danger(), lost.is_none(), lost, row.project.key(), row.directory.clone())
        });
        Ok(Foretold { agents, projects, listing })
    }

    /// Marks the sessions that the next start of the installed release would delete.
    pub(crate) fn foretell(
        &self,
        sessions: &mut [SessionFacts],
        ground: &Ground,
        passports: &Passports,
    ) {
        let Ok(agents) = self.agents(None) else { return };
        let swept = self.sweep(sessions, ground, passports, &agents);
        let gone: BTreeSet<&str> =
            swept.iter().flat_map(|swept| &swept.dooms).map(|doom| doom.path.as_str()).collect();
        for session in sessions {
            if agents.iter().any(|agent| agent.source == session.source) {
                session.doomed =
                    Some(lost(session, |path| gone.contains(path)) == Some(Lost::Whole));
            }
        }
    }

    /// Finds out which releases are installed.
    fn agents(&self, release: Option<&str>) -> Result<Vec<Agent>, Error> {
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
                remedy: sweeper.remedy(),
            });
        }
        Ok(agents)
    }

    /// Tells what goes, directory by directory.
    fn sweep(
        &self,
        sessions: &[SessionFacts],
        ground: &Ground,
        passports: &Passports,
        agents: &[Agent],
    ) -> Vec<Swept> {
        let mut sights: HashMap<&Path, &Sight> = HashMap::new();
        for session in sessions {
            let files = session.files.iter().zip(&session.sights);
            sights.extend(files.map(|(file, sight)| (Path::new(&file.path), sight)));
        }
        let mut settings: BTreeMap<usize, Settings> = BTreeMap::new();
        let one = |(number, folder): (usize, &Folder)| {
            let sweeper = folder.source.sweeper()?;
            let agent = agents.iter().find(|agent| agent.source == folder.source.name())?;
            let settings = settings
                .entry(folder.root)
                .or_insert_with(|| self.settings_below(folder.root, sweeper));
            let project = passports.projects.get(number).and_then(|project| project.path.as_ref());
            let place = project.map(|path| Path::new(path.as_str()));
            let retention = sweeper.retention(settings, place, &agent.release);
            let files = &folder.at.files;
            let seen: Vec<Option<&Sight>> =
                files.iter().map(|file| sights.get(&*file.path).copied()).collect();
            let dooms = sweeper.sweep(&Chats {
                folder: &folder.at,
                sights: &seen,
                retention: &retention,
                release: &agent.release,
                now: self.clock.now().as_millisecond(),
            });
            Some(Swept { number, retention, dooms })
        };
        ground.folders.iter().enumerate().filter_map(one).collect()
    }

    fn settings_below(&self, root: usize, sweeper: &dyn Sweeper) -> Settings {
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

/// What would go of one directory.
struct Swept {
    number: usize,
    retention: Retention,
    dooms: Vec<Doom>,
}

/// Puts each file that goes to its session, and counts the rest.
fn guarded(
    sessions: &[SessionFacts],
    ground: &Ground,
    passports: &Passports,
    swept: Vec<Swept>,
) -> Vec<(usize, Guarded)> {
    let mut dooms: HashMap<String, (usize, Doom)> = HashMap::new();
    let mut rows: BTreeMap<usize, Guarded> = BTreeMap::new();
    for Swept { number, retention, dooms: found } in swept {
        let Some(folder) = ground.folders.get(number) else { continue };
        dooms.extend(found.into_iter().map(|doom| (doom.path.clone(), (number, doom))));
        let row = Guarded {
            project: passports.projects.get(number).cloned().unwrap_or_default(),
            source: folder.source.name(),
            directory: folder.at.path.clone(),
            retention: kept(retention),
            sessions: Vec::new(),
            others: Vec::new(),
            safe: Safe::default(),
        };
        rows.insert(number, row);
    }
    let numbers: HashMap<&Path, usize> = rows
        .keys()
        .filter_map(|number| Some((&*ground.folders.get(*number)?.at.path, *number)))
        .collect();
    let home_of = |session: &SessionFacts| {
        let main = session.files.iter().find(|file| file.role == FileRole::Main);
        let file = main.or_else(|| session.files.first())?;
        Path::new(&file.path).ancestors().find_map(|above| numbers.get(above)).copied()
    };
    let mut owners: HashMap<&SessionId, (usize, usize)> = HashMap::new();
    for session in sessions {
        let how = lost(session, |path| dooms.contains_key(path));
        let taken: Vec<(usize, Doom)> =
            session.files.iter().filter_map(|file| dooms.remove(&file.path)).collect();
        let place = taken.first().map(|(number, _)| *number).or_else(|| home_of(session));
        let Some((number, row)) = place.and_then(|at| Some((at, rows.get_mut(&at)?))) else {
            continue;
        };
        if let Some(lost) = how {
            if session.kind == SessionKind::Main {
                owners.insert(&session.id, (number, row.sessions.len()));
            }
            row.sessions.push(doomed(session, lost, taken));
        } else {
            row.safe.sessions += u64::from(session.kind == SessionKind::Main);
            row.safe.bytes += session.bytes();
        }
    }
    let mut left: Vec<(usize, Doom)> = dooms.into_values().collect();
    left.sort_by(|(_, one), (_, next)| one.path.cmp(&next.path));
    for (number, doom) in left {
        let owner = doom.session.as_ref().and_then(|id| owners.get(id));
        let (at, row) = owner.map_or((None, number), |(number, at)| (Some(*at), *number));
        let Some(row) = rows.get_mut(&row) else { continue };
        match at.and_then(|at| row.sessions.get_mut(at)) {
            Some(session) => {
                session.bytes += doom.bytes;
                session.beside.push(doom);
            }
            None => row.others.push(doom),
        }
    }
    let is_worth_a_row = |row: &Guarded| row.safe.sessions > 0 || row.dooms().next().is_some();
    rows.into_iter().filter(|(_, row)| is_worth_a_row(row)).collect()
}

fn kept(retention: Retention) -> Kept {
    Kept {
        on: retention.off.is_none(),
        off_because: retention.off,
        max_age: retention.max_age.map(|(text, _)| text),
        max_count: retention.max_count,
        from: retention.from,
        notes: retention.notes,
    }
}

fn doomed(session: &SessionFacts, lost: Lost, taken: Vec<(usize, Doom)>) -> DoomedSession {
    let files: Vec<Doom> = taken.into_iter().map(|(_, doom)| doom).collect();
    DoomedSession {
        id: session.id.clone(),
        kind: session.kind,
        parent: session.parent.clone(),
        title: session.title.clone(),
        title_from: session.title_from,
        updated: session.updated,
        prompts: session.counts.prompts,
        lost,
        bytes: files.iter().map(|doom| doom.bytes).sum(),
        files,
        beside: Vec::new(),
    }
}

/// Says how much of a session goes with the files that go; `None` when none does.
fn lost(session: &SessionFacts, goes: impl Fn(&str) -> bool) -> Option<Lost> {
    let (gone, stays): (Vec<_>, Vec<_>) = session.files.iter().partition(|file| goes(&file.path));
    if gone.is_empty() {
        return None;
    }
    let says = |role: FileRole| role != FileRole::Stub;
    let is_spare =
        |role: FileRole| matches!(role, FileRole::Stub | FileRole::Twin | FileRole::Copy);
    Some(if !stays.iter().any(|file| says(file.role)) {
        Lost::Whole
    } else if gone.iter().any(|file| !is_spare(file.role)) {
        Lost::Part
    } else {
        Lost::Spare
    })
}
