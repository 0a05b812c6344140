//! Resumes a session: which program, in which folder, or why not.

use std::path::{Path, PathBuf};

use recount_formats::source::RootShape;
use recount_model::{ProjectState, RecordedPath, SessionFacts, SessionId, SessionKind};
use recount_platform::quote;
use recount_store::Root;

use crate::sessions::list::ListQuery;
use crate::sessions::open::Opened;
use crate::snapshot::disk_scan::{DiskSnapshot, Progress};
use crate::{Engine, Error};

/// How an agent is started on a session.
#[derive(Clone, Debug)]
pub struct Resume {
    /// The session.
    pub facts: SessionFacts,
    /// The program.
    pub program: &'static str,
    /// Its arguments.
    pub args: Vec<String>,
    /// The folder to start it in.
    pub folder: PathBuf,
    /// Variables to set, so that it finds the session.
    pub variables: Vec<(&'static str, PathBuf)>,
}

impl Resume {
    /// Returns the command as a line for the shell.
    pub fn shell_line(&self) -> String {
        let mut words =
            vec!["cd".to_owned(), quote(&self.folder.to_string_lossy()), "&&".to_owned()];
        let set =
            |(name, home): &(&str, PathBuf)| format!("{name}={}", quote(&home.to_string_lossy()));
        words.extend(self.variables.iter().map(set));
        words.push(self.program.to_owned());
        words.extend(self.args.iter().map(|word| quote(word)));
        words.join(" ")
    }
}

/// Why a session cannot be resumed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unresumable {
    /// It is a saved chat, which the agent loads by its tag.
    #[error("it is a saved chat, which the agent loads by its tag")]
    SavedChat,
    /// It is a sub-agent's.
    #[error("it is a sub-agent's")]
    Subagent {
        /// The session that ran it.
        parent: SessionId,
    },
    /// Its agent cannot be started with a session.
    #[error("its agent cannot be started on a session")]
    NoProgram,
    /// The folder of its project is not known.
    #[error("the folder of its project is not known")]
    UnknownFolder,
    /// The folder of its project does not exist.
    #[error("the folder of its project is gone: {0}")]
    FolderGone(RecordedPath),
    /// It is in a folder that the agent does not use.
    #[error("it is in {}, where the agent does not look", .0.display())]
    OtherHome(PathBuf),
    /// It has no conversation.
    #[error("it has no messages")]
    NothingSaid,
    /// The agent does not list it.
    #[error("the agent does not list it")]
    Unlisted {
        /// Whether something in its files is the likely cause.
        damaged: bool,
        /// The folder of its project.
        folder: PathBuf,
    },
    /// A process uses it.
    #[error("process {process} is using it")]
    InUse {
        /// The process.
        process: u32,
    },
}

impl Engine {
    /// Returns how to resume the session that an argument matches.
    ///
    /// # Errors
    /// If there is no such session; [`Error::NotResumable`] if its agent would not resume it, with the reason.
    pub fn resume(&self, wanted: &str, progress: &dyn Progress) -> Result<Resume, Error> {
        let opened = self.open(wanted, progress)?;
        self.resume_opened(&opened, progress)
    }

    /// Returns how to resume a session that is open.
    ///
    /// # Errors
    /// As [`Engine::resume`].
    pub fn resume_opened(&self, opened: &Opened, progress: &dyn Progress) -> Result<Resume, Error> {
        let id = opened.facts.id.clone();
        let refuse = |why: Unresumable| Error::NotResumable { id: id.prefix().to_owned(), why };
        if opened.is_saved() {
            return Err(refuse(Unresumable::SavedChat));
        }
        if let Some(parent) = opened.facts.parent.as_ref().filter(|_| is_agent(&opened.facts)) {
            return Err(refuse(Unresumable::Subagent { parent: parent.clone() }));
        }
        let source = opened.source();
        let Some((program, args)) = source.resume(&opened.facts.id) else {
            return Err(refuse(Unresumable::NoProgram));
        };
        // Which of them the agent lists is only known among all sessions.
        let sessions = self.list(&ListQuery::default(), progress)?.sessions;
        let facts = sessions.iter().find(|facts| facts.id == id && facts.source == source.name());
        let facts = SessionFacts::clone(facts.map_or(&opened.facts, |facts| facts));
        let folder = folder(&facts).map_err(refuse)?;
        let disk = DiskSnapshot::look(&self.roots);
        let is_listed = facts.agent_index.is_some()
            || is_taken_over(&facts, &disk)
            || (!source.lists_by_number() && !facts.is_empty());
        if !is_listed {
            return Err(refuse(unlisted(&facts, &folder)));
        }
        if let Some(owner) = self.owners(&sessions).iter().find(|owner| owner.session == id) {
            return Err(refuse(Unresumable::InUse { process: owner.process }));
        }
        let variables = self.home_of(&facts).map_err(refuse)?;
        Ok(Resume { facts, program, args, folder, variables })
    }

    /// Returns the variable that leads the agent to the home of a session, if it would not find it by itself.
    fn home_of(&self, facts: &SessionFacts) -> Result<Vec<(&'static str, PathBuf)>, Unresumable> {
        let lies_in = |root: &&Root| {
            root.source.name() == facts.source
                && facts.files.iter().any(|file| Path::new(&file.path).starts_with(&root.path))
        };
        let Some(root) = self.roots.iter().find(lies_in) else { return Ok(Vec::new()) };
        let own = recount_store::roots(self.sources, &[], &self.env).unwrap_or_default();
        let is_own = |known: &Root| {
            known.shape == RootShape::Whole
                && known.path.canonicalize().ok() == root.path.canonicalize().ok()
        };
        if own.iter().any(is_own) {
            return Ok(Vec::new());
        }
        let folders = root.source.folders();
        let home = folders.below_home.first().and_then(|name| {
            let home = root.path.to_str()?.strip_suffix(name)?;
            Some(PathBuf::from(home.trim_end_matches(['/', '\\'])))
        });
        let data = folders.folder_variable.map(|variable| (variable, root.path.clone()));
        match folders.home_variable.zip(home).or(data) {
            Some((variable, folder)) => Ok(vec![(variable, folder)]),
            None => Err(Unresumable::OtherHome(root.path.clone())),
        }
    }
}

fn is_agent(facts: &SessionFacts) -> bool {
    facts.kind == SessionKind::Subagent
}

/// Returns the folder of a session's project, which must exist.
fn folder(facts: &SessionFacts) -> Result<PathBuf, Unresumable> {
    let Some(path) = &facts.project.path else { return Err(Unresumable::UnknownFolder) };
    let folder = PathBuf::from(path.as_str());
    if facts.project.state == ProjectState::Present || folder.is_dir() {
        return Ok(folder);
    }
    Err(Unresumable::FolderGone(path.clone()))
}

/// Whether the session is in a folder of older releases that the agent copies at its next start, as it has nothing newer.
fn is_taken_over(facts: &SessionFacts, disk: &DiskSnapshot) -> bool {
    let is_old = |path: &str| {
        let folder =
            disk.folders.iter().find(|folder| Path::new(path).starts_with(&folder.at.path));
        folder.is_some_and(|folder| folder.at.hash.is_some())
    };
    let has_newer = disk.folders.iter().any(|folder| {
        let is_its = |(path, _): &(RecordedPath, _)| Some(path) == facts.project.path.as_ref();
        folder.at.hash.is_none()
            && folder.at.markers.iter().any(is_its)
            && !folder.at.files.is_empty()
    });
    facts.counts.prompts > 0 && !has_newer && facts.files.iter().any(|file| is_old(&file.path))
}

/// Returns why the agent does not list a session.
fn unlisted(facts: &SessionFacts, folder: &Path) -> Unresumable {
    if facts.counts.prompts == 0 && facts.counts.answers == 0 {
        return Unresumable::NothingSaid;
    }
    let damaged = facts.problems > 0 || facts.counts.undone > 0;
    Unresumable::Unlisted { damaged, folder: folder.to_owned() }
}
