//! Moves a session to another project: all its files and artifacts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use recount_engine::disk::{DiskSnapshot, LocatedFolder, Survey};
use recount_engine::{Listing, Progress};
use recount_formats::edit::ProjectDirectory;
use recount_formats::source::{Artifact, ArtifactKind, Artifacts};
use recount_formats::{Editor, Source};
use recount_model::{RecordedPath, SessionFacts, SourceName};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, Plan};

use super::delete::prompts_stay;
use super::move_files::FileMover;
use crate::sessions::change_recorded_folder::change_recorded_folder;
use crate::sessions::steps::{source, subject};
use crate::{Changes, Error, Notice, Operation, Proposal, Reason};

/// The part of a session that is in one project directory.
struct DirectoryPart<'a> {
    folder: &'a LocatedFolder,
    artifacts: Artifacts,
}

impl Changes<'_> {
    /// Plans to move a session to another project.
    ///
    /// # Errors
    /// As [`move_all_plan`](Self::move_all_plan).
    pub fn move_plan(
        self,
        wanted: &str,
        to: &str,
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        self.move_all_plan(&[wanted.to_owned()], to, progress)
    }

    /// Plans to move sessions to another project.
    ///
    /// # Errors
    /// If an argument matches nothing, or several; if the project has no folder; if the agent's record of projects is
    /// damaged.
    pub fn move_all_plan(
        self,
        wanted: &[String],
        to: &str,
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let survey = self.scan_files(progress)?;
        let mut chosen: BTreeMap<SourceName, Vec<&SessionFacts>> = BTreeMap::new();
        for wanted in wanted {
            let facts = self.chosen(&survey, wanted, Operation::Move)?;
            let own = chosen.entry(facts.source).or_default();
            if !own.iter().any(|known| known.id == facts.id) {
                own.push(facts);
            }
        }
        let path = self.existing_folder(&survey, to)?;
        let mut offer = self.offer("move");
        for all in chosen.values() {
            self.move_all(&mut offer, &survey, all, &path)?;
        }
        if wanted.len() > 1 {
            // Those that are there already are in the notices.
            let stay = |id: &str| {
                let is_it = |notice: &Notice| matches!(notice, Notice::AlreadyThere { session, .. } if session.as_str() == id);
                offer.notices.iter().any(is_it)
            };
            let sessions = std::mem::take(&mut offer.plan.sessions).into_iter();
            offer.plan.sessions = sessions.filter(|subject| !stay(&subject.id)).collect();
        }
        Ok(offer)
    }

    /// Moves sessions of one agent.
    fn move_all(
        self,
        offer: &mut Proposal,
        survey: &Survey,
        chosen: &[&SessionFacts],
        path: &RecordedPath,
    ) -> Result<(), Error> {
        let Some(first) = chosen.first() else { return Ok(()) };
        let (source, editor) = editor(first)?;
        let sessions = &survey.listing.sessions;
        let hash = source.project_hash(path.as_str()).map(|hash| hash.to_string());
        let hash = hash.unwrap_or_default();
        let mut mover = FileMover::new(source, editor, sessions, &hash).in_folder(path.as_str());
        let mut settled = BTreeSet::new();
        for facts in chosen {
            let before = offer.plan.steps.len();
            offer.plan.sessions.push(subject(facts));
            let session_files = session_files(facts, &survey.listing);
            if let Some(root) = self.root_of(survey, facts)
                && editor.folder_at(&root, facts.started).is_some()
            {
                change_recorded_folder(offer, editor, survey, &root, (&session_files, path))?;
            } else {
                let parts = parts(source, facts, &session_files, &survey.disk);
                let files = (parts.as_slice(), session_files.as_slice());
                self.move_parts(offer, &mut mover, (facts, path), files, &mut settled)?;
                if offer.plan.steps.len() > before {
                    offer.notices.extend(prompts_stay(&[*facts], &survey.disk));
                }
            }
            if offer.plan.steps.len() == before {
                let (session, project) = (facts.id.clone(), path.to_string());
                offer.notice(Notice::AlreadyThere { session, project });
            }
        }
        Ok(())
    }

    /// Moves the parts of a session; `settled` are the data folders in which the project is known.
    fn move_parts(
        self,
        offer: &mut Proposal,
        mover: &mut FileMover<'_>,
        (facts, path): (&SessionFacts, &RecordedPath),
        (parts, session_files): (&[DirectoryPart<'_>], &[&SessionFacts]),
        settled: &mut BTreeSet<usize>,
    ) -> Result<(), Error> {
        let (_, editor) = editor(facts)?;
        let before = offer.plan.steps.len();
        let roots: BTreeSet<usize> = parts.iter().map(|part| part.folder.root).collect();
        let place = |root: usize| Ok((root, self.place(editor, root, path)?));
        let places: BTreeMap<usize, ProjectDirectory> =
            roots.into_iter().map(place).collect::<Result<_, Error>>()?;
        for (root, place) in &places {
            let here = || parts.iter().filter(|part| part.folder.root == *root);
            let is_there = |part: &&DirectoryPart<'_>| {
                [&place.folder, &place.old_folder].contains(&&part.folder.at.path)
            };
            if here().all(|part| is_there(&part)) {
                continue;
            }
            if settled.insert(*root) {
                settle(offer, mover, place)?;
            }
            let is_named = here().any(|part| part.folder.at.hash.is_none());
            if !is_named {
                offer.notice(Notice::OldReleasesOnly(facts.id.clone()));
            }
            for part in here().filter(|part| !is_there(part)) {
                // A copy in the directory of old releases stays one.
                let is_copy = is_named && part.folder.at.hash.is_some();
                let to = if is_copy { &place.old_folder } else { &place.folder };
                move_part(&mut offer.plan, mover, part, session_files, to)?;
            }
        }
        let is_output =
            |part: &DirectoryPart<'_>| part.artifacts.files.iter().any(Artifact::is_output);
        if offer.plan.steps.len() > before
            && parts.iter().any(is_output)
            && !offer.notices.contains(&Notice::OutputsNamedByOldPlace)
        {
            offer.notice(Notice::OutputsNamedByOldPlace);
        }
        Ok(())
    }

    /// Returns the folder that the user means, which must exist: the agent works in it.
    pub(crate) fn existing_folder(
        self,
        survey: &Survey,
        wanted: &str,
    ) -> Result<RecordedPath, Error> {
        let path = self.engine.folders().expand(wanted);
        let folder = if path.is_absolute() {
            path
        } else {
            PathBuf::from(self.engine.folder_in(survey, wanted)?)
        };
        if !folder.is_absolute() {
            return Err(Reason::UnknownFolder(wanted.to_owned()).into());
        }
        // An agent sees its folder with links resolved.
        let there = folder.canonicalize().ok().filter(|there| there.is_dir());
        let there = there.ok_or_else(|| Reason::MissingFolder(folder.clone()))?;
        // On Windows the system then returns it in a form that no agent uses.
        let plain = |text: &str| RecordedPath::new(text.strip_prefix(r"\\?\").unwrap_or(text));
        let text = there.to_str().map(plain);
        text.ok_or_else(|| Reason::NotText(folder).into())
    }

    /// Finds where the agent keeps a project below one of the data folders.
    pub(crate) fn place(
        self,
        editor: &dyn Editor,
        root: usize,
        path: &RecordedPath,
    ) -> Result<ProjectDirectory, Error> {
        let root =
            self.engine.data_folders().get(root).ok_or_else(|| Error::no_project(path.as_str()))?;
        Ok(editor.place(&root.path, root.shape, path).map_err(Reason::Agent)?)
    }
}

/// Plans that the agent uses a place, and finds there what it would have found without it.
pub(crate) fn settle(
    offer: &mut Proposal,
    mover: &mut FileMover<'_>,
    place: &ProjectDirectory,
) -> Result<(), Error> {
    for entry in &place.writes {
        mover.write(&mut offer.plan, entry)?;
    }
    offer.plan.locks.extend(place.lock.clone());
    for file in &place.inherited {
        let below = file.strip_prefix(&place.old_folder).unwrap_or(file);
        mover.copy(&mut offer.plan, file, &place.folder.join(below))?;
    }
    if !place.inherited.is_empty() {
        offer.notice(Notice::TakenOver { from: place.old_folder.clone() });
    }
    Ok(())
}

/// Returns the agent of a session, and its editor.
pub(crate) fn editor(
    facts: &SessionFacts,
) -> Result<(&'static dyn Source, &'static dyn Editor), Error> {
    let source = source(facts.source)?;
    let editor = source.editor().ok_or(Reason::NotChangeable(facts.source))?;
    Ok((source, editor))
}

/// Returns a session and its sub-agents.
pub(crate) fn session_files<'a>(
    facts: &'a SessionFacts,
    listing: &'a Listing,
) -> Vec<&'a SessionFacts> {
    let is_agent = |other: &&SessionFacts| {
        other.source == facts.source && other.parent.as_ref() == Some(&facts.id)
    };
    let agents = listing.sessions.iter().map(|other| &**other).filter(is_agent);
    std::iter::once(facts).chain(agents).collect()
}

fn parts<'a>(
    source: &dyn Source,
    facts: &SessionFacts,
    session_files: &[&SessionFacts],
    disk: &'a DiskSnapshot,
) -> Vec<DirectoryPart<'a>> {
    let files = session_files.iter().flat_map(|facts| facts.own_files());
    let own: Vec<PathBuf> = files.map(|file| PathBuf::from(&file.path)).collect();
    let mut parts = Vec::new();
    for folder in disk.folders.iter().filter(|folder| folder.source.name() == facts.source) {
        let artifacts = source.artifacts(&folder.at, &facts.id, &own);
        let is_here = own.iter().any(|file| file.starts_with(&folder.at.path));
        if is_here || !artifacts.files.is_empty() {
            parts.push(DirectoryPart { folder, artifacts });
        }
    }
    parts
}

fn move_part(
    plan: &mut Plan,
    mover: &mut FileMover<'_>,
    part: &DirectoryPart<'_>,
    session_files: &[&SessionFacts],
    to: &Path,
) -> Result<(), Error> {
    let from = part.folder.at.path.as_path();
    for (facts, file) in
        session_files.iter().flat_map(|facts| facts.own_files().map(move |f| (facts, f)))
    {
        mover.session(plan, facts, file, (from, to))?;
    }
    let id = session_files.first().map(|facts| facts.id.as_str());
    for file in &part.artifacts.files {
        if file.kind == ArtifactKind::Subagent {
            mover.must_be_known(&file.path)?;
        }
        mover.file(
            plan,
            &file.path,
            (from, to),
            ChangeDetails { session: id, what: file.kind.as_str() },
        )?;
    }
    for folder in &part.artifacts.folders {
        plan.remove_folder(&RealDisk, folder)?;
    }
    Ok(())
}
