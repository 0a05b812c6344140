//! Relocates a project whose folder was moved or renamed: its sessions become those of the new folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_engine::disk::Survey;
use recount_engine::{Listing, Progress};
use recount_formats::Source;
use recount_formats::edit::Relocation;
use recount_model::{FileFacts, RecordedPath, SessionFacts};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, Plan};

use super::move_files::FileMover;
use crate::sessions::change_recorded_folder::change_recorded_folder;
use crate::sessions::steps::subject;
use crate::{Changes, Error, Notice, Proposal, Reason};

impl Changes<'_> {
    /// Plans to assign the sessions of one folder to another: to its likely new location, if none is given.
    ///
    /// # Errors
    /// If there is no such project, or no such folder; if the agent's record of projects is damaged.
    pub fn relocate_plan(
        self,
        old: &str,
        new: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let survey = self.scan_files(progress)?;
        let old = self.recorded_folder(&survey, old)?;
        let new = match new {
            Some(new) => self.existing_folder(&survey, new)?,
            None => self.likely_place(&survey, &old, progress)?,
        };
        let mut offer = self.offer("relocate");
        if old == new {
            offer.notice(Notice::NotMoved(old.to_string()));
            return Ok(offer);
        }
        let listing = &survey.listing;
        let mut is_known = false;
        for root in self.engine.data_folders() {
            let Some(editor) = root.source.editor() else { continue };
            if editor.folder_at(&root.path, None).is_some() {
                let is_its = |facts: &&Arc<SessionFacts>| {
                    facts.source == root.source.name()
                        && facts.cwd.as_ref() == Some(&old)
                        && facts
                            .own_files()
                            .any(|file| Path::new(&file.path).starts_with(&root.path))
                };
                let sessions: Vec<&SessionFacts> =
                    listing.sessions.iter().filter(is_its).map(|facts| &**facts).collect();
                is_known |= !sessions.is_empty();
                change_recorded_folder(&mut offer, editor, &survey, &root.path, (&sessions, &new))?;
                continue;
            }
            let change = editor.relocation(&root.path, root.shape, &old, &new);
            let Some(change) = change.map_err(Reason::Agent)? else { continue };
            is_known = true;
            let hash = root.source.project_hash(new.as_str()).map(|hash| hash.to_string());
            let hash = hash.unwrap_or_default();
            let mut mover = FileMover::new(root.source, editor, &listing.sessions, &hash)
                .in_folder(new.as_str());
            relocate(&mut offer, &mut mover, root.source, listing, &change)?;
        }
        if !is_known {
            return Err(Error::no_project(old.as_str()));
        }
        self.add_busy_sessions(&mut offer.plan, listing);
        if Path::new(old.as_str()).is_dir() {
            offer.notice(Notice::OldFolderThere(old.to_string()));
        }
        for (name, folders) in self.engine.aliases()?.iter() {
            if folders.contains(old.as_str()) && !folders.contains(new.as_str()) {
                offer.notice(Notice::AliasOfOldFolder(name.to_owned()));
            }
        }
        Ok(offer)
    }

    /// Returns the folder of a project that the user means; it need not exist any more.
    fn recorded_folder(self, survey: &Survey, wanted: &str) -> Result<RecordedPath, Error> {
        let path = self.engine.folders().expand(wanted);
        let text = if path.is_absolute() {
            path.to_string_lossy().into_owned()
        } else {
            self.engine.folder_in(survey, wanted)?
        };
        let trimmed = text.trim_end_matches('/');
        Ok(RecordedPath::new(if trimmed.is_empty() { text.as_str() } else { trimmed }))
    }

    /// Returns the likely new location of a missing folder.
    fn likely_place(
        self,
        survey: &Survey,
        old: &RecordedPath,
        progress: &dyn Progress,
    ) -> Result<RecordedPath, Error> {
        let (rows, _) = self.engine.projects(None, progress)?;
        let row = rows.into_iter().find(|row| row.path.as_ref() == Some(old));
        let row = row.ok_or_else(|| Error::no_project(old.as_str()))?;
        match row.moved_to {
            Some(place) if place.likely => self.existing_folder(survey, &place.path),
            Some(place) => Err(Reason::UnsureFolder { old: old.clone(), new: place.path }.into()),
            None => Err(Reason::LostFolder(old.clone()).into()),
        }
    }

    /// Adds sessions beside those of the plan that are in use where files will be created or changed: then it waits.
    fn add_busy_sessions(self, plan: &mut Plan, listing: &Listing) {
        let folders: Vec<&Path> = plan.steps.iter().filter_map(|step| step.path.parent()).collect();
        let is_beside = |facts: &&Arc<SessionFacts>| {
            facts.files.iter().any(|file| {
                folders.iter().any(|folder| Path::new(&file.path).parent() == Some(*folder))
            })
        };
        let owners = self.owners(&listing.sessions);
        let is_owned = |facts: &&Arc<SessionFacts>| {
            owners.iter().any(|owner| owner.session == facts.id.as_str())
        };
        for facts in listing.sessions.iter().filter(is_owned).filter(is_beside) {
            if !plan.sessions.iter().any(|subject| subject.id == facts.id.as_str()) {
                plan.sessions.push(subject(facts));
            }
        }
    }
}

fn relocate(
    offer: &mut Proposal,
    mover: &mut FileMover<'_>,
    source: &'static dyn Source,
    listing: &Listing,
    change: &Relocation,
) -> Result<(), Error> {
    let mut files: BTreeMap<PathBuf, (&SessionFacts, &FileFacts)> = BTreeMap::new();
    for facts in listing.sessions.iter().filter(|facts| facts.source == source.name()) {
        files.extend(facts.own_files().map(|file| (PathBuf::from(&file.path), (&**facts, file))));
    }
    for entry in &change.writes {
        mover.write(&mut offer.plan, entry)?;
    }
    for (from, to) in &change.inherited {
        mover.copy(&mut offer.plan, from, to)?;
    }
    let is_in = |path: &Path, facts: &SessionFacts| {
        !facts.kind.is_subagent()
            && facts.files.iter().any(|file| Path::new(&file.path).starts_with(path))
    };
    let touched = change.stays.iter().chain(change.goes.iter().map(|(from, _)| from));
    for folder in touched {
        for facts in listing.sessions.iter().filter(|facts| is_in(folder, facts)) {
            if !offer.plan.sessions.iter().any(|subject| subject.id == facts.id.as_str()) {
                offer.plan.sessions.push(subject(facts));
            }
        }
    }
    for (_, (facts, file)) in
        files.iter().filter(|(path, _)| change.stays.iter().any(|folder| path.starts_with(folder)))
    {
        mover.amend(&mut offer.plan, facts, file)?;
    }
    for (from, to) in &change.goes {
        let contents = source.editor().map(|editor| editor.contents(from)).unwrap_or_default();
        for file in &contents.files {
            if let Some((facts, session)) = files.get(&file.path) {
                mover.session(&mut offer.plan, facts, session, (from, to))?;
                continue;
            }
            let about = ChangeDetails { session: None, what: file.kind.as_str() };
            mover.file(&mut offer.plan, &file.path, (from, to), about)?;
        }
        for folder in &contents.folders {
            offer.plan.remove_folder(&RealDisk, folder)?;
        }
    }
    for entry in &change.removes {
        offer.plan.remove(
            &RealDisk,
            &entry.path,
            ChangeDetails { session: None, what: entry.what },
        )?;
        if let Some(folder) = entry.path.parent() {
            offer.plan.remove_folder(&RealDisk, folder)?;
        }
    }
    offer.plan.locks.extend(change.lock.clone());
    offer.notices.extend(change.notes.iter().cloned().map(Notice::Agent));
    Ok(())
}
