//! Going on with a session: which program, where, and why not.

use std::path::{Path, PathBuf};

use recount_formats::source::RootShape;
use recount_model::{ProjectState, SessionFacts, SessionKind};
use recount_store::Root;

use crate::sessions::list::Query;
use crate::snapshot::survey::{Ground, Progress};
use crate::{Engine, Error, Made};

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
    /// Variables to set, so that it looks where the session lies.
    pub variables: Vec<(&'static str, PathBuf)>,
}

impl Engine {
    /// Tells how the session that an argument names is gone on with.
    ///
    /// # Errors
    /// If there is no such session; [`Error::NotResumable`] when its agent would not go on with it, and why.
    pub fn resume(&self, wanted: &str, progress: &dyn Progress) -> Result<Resume, Error> {
        let opened = self.open(wanted, progress)?;
        let id = opened.facts.id.clone();
        let refuse = |why: String, hint: Option<String>| Error::NotResumable {
            id: id.short().to_owned(),
            why,
            hint,
        };
        if opened.is_saved() {
            let why = "it is a saved chat, which the agent loads by its tag".to_owned();
            let hint = "`recount export FILE` writes it as a session".to_owned();
            return Err(refuse(why, Some(hint)));
        }
        if let Some(parent) = opened.facts.parent.as_ref().filter(|_| is_agent(&opened.facts)) {
            let hint =
                format!("`recount resume {}` goes on with the one that ran it", parent.short());
            return Err(refuse("it is a sub-agent's".to_owned(), Some(hint)));
        }
        let source = opened.source();
        let Some((program, args)) = source.resume(&opened.facts.id) else {
            return Err(refuse("its agent cannot be started on a session".to_owned(), None));
        };
        // Only among all sessions is it known which of them the agent lists.
        let sessions = self.list(&Query::default(), progress)?.sessions;
        let facts = sessions.iter().find(|facts| facts.id == id && facts.source == source.name());
        let facts = facts.cloned().unwrap_or(opened.facts);
        let folder = folder(&facts).map_err(|(why, hint)| refuse(why, Some(hint)))?;
        let ground = Ground::look(&self.roots);
        if facts.agent_index.is_none() && !is_taken_over(&facts, &ground) {
            let (why, hint) = unlisted(&facts, &folder);
            return Err(refuse(why, Some(hint)));
        }
        if let Some(owner) =
            self.owners(&sessions).iter().find(|owner| owner.session == id.as_str())
        {
            let why = format!("process {} is at work in it", owner.process);
            return Err(refuse(
                why,
                Some("end it first; two would write over each other".to_owned()),
            ));
        }
        let variables = self.home_of(&facts).map_err(|(why, hint)| refuse(why, Some(hint)))?;
        Ok(Resume { facts, program, args, folder, variables })
    }

    /// Takes out of the way what would make the agent delete conversations of a session's project at its next start: what
    /// resumes leave behind, too. `None` when there is nothing of the kind.
    ///
    /// # Errors
    /// If that cannot be done; then nothing was changed.
    pub fn defuse(&self, resume: &Resume, progress: &dyn Progress) -> Result<Option<Made>, Error> {
        let project = resume.folder.to_string_lossy();
        let plan = self.fix_plan(Some(&project), None, progress)?.plan;
        if plan.is_empty() { Ok(None) } else { self.carry_out(plan, progress).map(Some) }
    }

    /// Says which variable leads the agent to the home that a session lies in, if it would not find it by itself.
    fn home_of(&self, facts: &SessionFacts) -> Result<Vec<(&'static str, PathBuf)>, Refused> {
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
        match folders.home_variable.zip(home) {
            Some((variable, home)) => Ok(vec![(variable, home)]),
            None => Err((
                format!("it lies in {}, where the agent does not look", root.path.display()),
                format!(
                    "`recount move {} --to PROJECT` brings it to a project of yours",
                    facts.id.short()
                ),
            )),
        }
    }
}

/// Why not, and what to do.
type Refused = (String, String);

fn is_agent(facts: &SessionFacts) -> bool {
    facts.kind == SessionKind::Subagent
}

/// Returns the folder of a session's project, which must be there.
fn folder(facts: &SessionFacts) -> Result<PathBuf, Refused> {
    let short = facts.id.short();
    let move_it =
        format!("`recount move {short} --to PROJECT` brings the session to another project");
    let Some(path) = &facts.project.path else {
        let why = "the folder of its project is not known".to_owned();
        return Err((why, format!("`recount projects --scan` may find it; {move_it}")));
    };
    let folder = PathBuf::from(path.as_str());
    if facts.project.state == ProjectState::Present || folder.is_dir() {
        return Ok(folder);
    }
    let why = format!("the folder of its project is gone: {path}");
    Err((why, format!("`recount relocate {path} NEW` if it was moved; {move_it}")))
}

/// Whether the session lies in a folder of older releases that the agent copies at its next start, as it has nothing newer.
fn is_taken_over(facts: &SessionFacts, ground: &Ground) -> bool {
    let is_old = |path: &str| {
        let folder =
            ground.folders.iter().find(|folder| Path::new(path).starts_with(&folder.at.path));
        folder.is_some_and(|folder| folder.at.hash.is_some())
    };
    let has_newer = ground.folders.iter().any(|folder| {
        let is_its = |(path, _): &(recount_model::RecordedPath, _)| {
            Some(path) == facts.project.path.as_ref()
        };
        folder.at.hash.is_none()
            && folder.at.markers.iter().any(is_its)
            && !folder.at.files.is_empty()
    });
    facts.counts.prompts > 0 && !has_newer && facts.files.iter().any(|file| is_old(&file.path))
}

/// Says why the agent does not list a session.
fn unlisted(facts: &SessionFacts, folder: &Path) -> Refused {
    let short = facts.id.short();
    if facts.counts.prompts == 0 && facts.counts.answers == 0 {
        return (
            "nobody said anything in it".to_owned(),
            format!("`recount delete {short}` clears it away"),
        );
    }
    let why = "the agent does not list it".to_owned();
    if facts.problems > 0 || facts.counts.undone > 0 {
        return (why, format!("`recount repair {short}` may mend that"));
    }
    let place = folder.display();
    (why, format!("`recount move {short} --to {place}` puts it where current releases look"))
}
