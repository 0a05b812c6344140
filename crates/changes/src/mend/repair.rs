//! Sessions made whole again: each as a plan of what its files will be.

use recount_engine::Progress;
use recount_engine::disk::{DiskSnapshot, LocatedFolder};
use recount_formats::Source;
use recount_formats::source::SessionFiles;
use recount_model::SessionId;
use recount_writer::RealDisk;
use recount_writer::change::ChangeDetails;

use super::compact::must_rewrite;
use super::examine::{Elsewhere, Examined, examine};
use crate::sessions::steps::{role, subject};
use crate::{Changes, Deed, Error, Notice, Proposal};

impl Changes<'_> {
    /// Plans to mend the sessions that these arguments name, or all but those that somebody works in.
    ///
    /// # Errors
    /// If an argument names none, or several; if a file cannot be read.
    pub fn repair_plan(
        self,
        wanted: &[String],
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let mut offer = self.offer("repair");
        let disk = self.engine.disk();
        let chosen = self.all_chosen(wanted, &mut offer, progress)?;
        // Of a session without problems there is nothing to say.
        for facts in chosen.iter().filter(|facts| !wanted.is_empty() && facts.problems > 0) {
            must_rewrite(facts, Deed::Repair)?;
        }
        let examined =
            examine_all(&disk, progress, |id| chosen.iter().any(|facts| facts.id == *id));
        for (id, files) in examined {
            let Some(facts) = chosen.iter().find(|facts| facts.id == id) else { continue };
            let steps = offer.plan.steps.len();
            for file in &files {
                mend(&mut offer, id.as_str(), file)?;
            }
            if offer.plan.steps.len() > steps {
                offer.plan.sessions.push(subject(facts));
            }
        }
        Ok(offer)
    }
}

/// Looks at the files of sessions for what keeps their agent from loading them.
pub(crate) fn examine_all(
    disk: &DiskSnapshot,
    progress: &dyn Progress,
    wanted: impl Fn(&SessionId) -> bool + Sync,
) -> Vec<(SessionId, Vec<Examined>)> {
    let look = |source: &'static dyn Source, session_files: SessionFiles| {
        let is_wanted = wanted(&session_files.id);
        let examined = is_wanted.then(|| examine_session(source, &session_files, disk))?;
        (!examined.is_empty()).then_some((session_files.id, examined))
    };
    let found = disk.each_session(progress, look);
    found.into_iter().flatten().collect()
}

/// Looks at the files of one session.
pub(crate) fn examine_session(
    source: &'static dyn Source,
    session_files: &SessionFiles,
    disk: &DiskSnapshot,
) -> Vec<Examined> {
    let rewriter = source.rewriter();
    let examine = |rewriter| examine(rewriter, session_files, &elsewhere(disk, session_files));
    rewriter.map(examine).unwrap_or_default()
}

/// Whether a file of a session says which session it is.
pub(crate) fn has_head(session_files: &SessionFiles) -> bool {
    session_files.files.iter().any(|file| file.file.outline.head.session_id.is_some())
}

/// What the place of a session's files, and what lies beside them, tell of it.
fn elsewhere(disk: &DiskSnapshot, session_files: &SessionFiles) -> Elsewhere {
    let is_its = |folder: &&LocatedFolder| {
        session_files
            .files
            .iter()
            .any(|session_file| session_file.file.at.path.starts_with(&folder.at.path))
    };
    let mut told = Elsewhere::default();
    for LocatedFolder { source, at, .. } in disk.folders.iter().filter(is_its) {
        let by_marker = || source.project_hash(at.markers.first()?.0.as_str());
        let hash = at.hash.clone().or_else(by_marker);
        told.project_hash = told.project_hash.or_else(|| hash.map(|hash| hash.to_string()));
        if !has_head(session_files) {
            let traces = source.traces(at);
            let is_its = |id: &&SessionId| id.as_str().starts_with(session_files.id.as_str());
            let mut ids = traces.iter().map(|trace| &trace.session).filter(is_its);
            told.id = told.id.or_else(|| ids.next().map(ToString::to_string));
        }
    }
    told
}

fn mend(offer: &mut Proposal, id: &str, file: &Examined) -> Result<(), Error> {
    let name = || file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let about = ChangeDetails { session: Some(id), what: role(file.role) };
    let aside = ChangeDetails { session: Some(id), what: "put aside" };
    let Some(revision) = &file.revision else {
        for &flaw in &file.flaws {
            offer.notice(Notice::Flaw { file: name(), flaw, mended: false });
        }
        if file.flaws.is_empty() {
            for path in &file.obsolete {
                offer.plan.remove(&RealDisk, path, aside)?;
                offer.notice(Notice::HoldsPutAside { file: name() });
            }
        }
        return Ok(());
    };
    match &file.target {
        Some(target) => {
            offer.plan.create(&RealDisk, target, revision.content(), about, None)?;
            offer.plan.remove(&RealDisk, &file.path, aside)?;
        }
        None => offer.plan.replace(&RealDisk, &file.path, revision.content(), about)?,
    }
    for path in &file.obsolete {
        offer.plan.remove(&RealDisk, path, aside)?;
    }
    for &flaw in &file.flaws {
        offer.notice(Notice::Flaw { file: name(), flaw, mended: true });
    }
    Ok(())
}
