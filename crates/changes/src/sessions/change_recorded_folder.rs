//! Changes the recorded folder of sessions that record it themselves and are not moved.

use std::path::{Path, PathBuf};

use recount_engine::disk::Survey;
use recount_formats::Editor;
use recount_model::{RecordedPath, SessionFacts};
use recount_writer::RealDisk;
use recount_writer::change::ChangeDetails;

use crate::sessions::steps::{SUBAGENT, patched, role, subject};
use crate::{Error, Proposal, Reason};

/// Plans to change the recorded folder of the sessions in one data folder. A session that records none cannot be changed.
pub(super) fn change_recorded_folder(
    offer: &mut Proposal,
    editor: &dyn Editor,
    survey: &Survey,
    root: &Path,
    (sessions, new): (&[&SessionFacts], &RecordedPath),
) -> Result<(), Error> {
    let mut by_folder: Vec<(&str, Vec<PathBuf>)> = Vec::new();
    for facts in sessions {
        let Some(old) = facts.cwd.as_ref().map(RecordedPath::as_str) else {
            return Err(Reason::NoFolderRecorded(facts.id.clone()).into());
        };
        let files = facts.own_files().map(|file| PathBuf::from(&file.path));
        match by_folder.iter_mut().find(|(known, _)| *known == old) {
            Some((_, known)) => known.extend(files),
            None => by_folder.push((old, files.collect())),
        }
    }
    for (old, files) in by_folder.into_iter().filter(|(old, _)| *old != new.as_str()) {
        let changes = editor.refoldered(root, &files, old, new.as_str());
        for (path, patches) in changes.map_err(Reason::Agent)? {
            let owner = survey
                .listing
                .sessions
                .iter()
                .find(|facts| facts.own_files().any(|file| Path::new(&file.path) == path));
            let file = owner
                .and_then(|facts| facts.own_files().find(|file| Path::new(&file.path) == path));
            let is_agents = owner.is_some_and(|facts| facts.parent.is_some());
            let what =
                if is_agents { SUBAGENT } else { file.map_or("session", |file| role(file.role)) };
            let session = owner.map(|facts| facts.id.as_str());
            let about = ChangeDetails { session, what };
            offer.plan.replace(&RealDisk, &path, patched(&path, &patches), about)?;
            // Other sessions that refer to a file change with it, and must not be in use.
            if let Some(facts) = owner
                && facts.parent.is_none()
                && !offer.plan.sessions.iter().any(|known| known.id == facts.id.as_str())
            {
                offer.plan.sessions.push(subject(facts));
            }
        }
    }
    Ok(())
}
