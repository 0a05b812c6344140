//! A project whose folder was moved or renamed: its sessions become those of the new folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_formats::Source;
use recount_formats::edit::Relocation;
use recount_model::{RecordedPath, SessionFacts, SessionFile, SessionKind};
use recount_writer::RealDisk;
use recount_writer::change::{About, Plan};

use super::carry::Carrier;
use super::common::subject;
use crate::config::expand;
use crate::sessions::list::{Listing, Query};
use crate::snapshot::survey::Progress;
use crate::{Engine, Error};

impl Engine {
    /// Plans to make the sessions of one folder those of another: of the one it has likely become, if none is named.
    ///
    /// # Errors
    /// If there is no such project, or no such folder; if the agent's record of projects is damaged.
    pub fn relocate_plan(
        &self,
        old: &str,
        new: Option<&str>,
        progress: &dyn Progress,
    ) -> Result<Plan, Error> {
        let old = self.recorded_folder(old)?;
        let new = match new {
            Some(new) => self.standing_folder(new)?,
            None => self.likely_place(&old, progress)?,
        };
        let mut plan = self.blank_plan("relocate");
        if old == new {
            plan.notes.push(format!("{old} is where it was"));
            return Ok(plan);
        }
        let listing = self.list(&Query::default(), progress)?;
        let mut is_known = false;
        for root in self.roots.iter() {
            let Some(editor) = root.source.editor() else { continue };
            let change = editor.relocation(&root.path, root.shape, &old, &new);
            let Some(change) = change.map_err(Error::Declined)? else { continue };
            is_known = true;
            let hash = root.source.project_hash(new.as_str()).to_string();
            let mut carrier = Carrier::new(root.source, editor, &listing.sessions, &hash);
            relocate(&mut plan, &mut carrier, root.source, &listing, &change)?;
        }
        if !is_known {
            return Err(Error::NoProject(old.to_string()));
        }
        self.keep_off_busy(&mut plan, &listing);
        if Path::new(old.as_str()).is_dir() {
            plan.notes
                .push(format!("{old} is still there: an agent that is used in it begins anew"));
        }
        for (name, folders) in self.aliases()?.iter() {
            if folders.contains(old.as_str()) && !folders.contains(new.as_str()) {
                plan.notes.push(format!("the name '{name}' stands for the old folder: `recount projects alias {name} PATH` gives it to the new one"));
            }
        }
        Ok(plan)
    }

    /// Returns the folder of a project that a person means; it need not be there any more.
    fn recorded_folder(&self, wanted: &str) -> Result<RecordedPath, Error> {
        let path = expand(wanted, &self.folders);
        let text = if path.is_absolute() {
            path.to_string_lossy().into_owned()
        } else {
            self.folder_of(wanted)?
        };
        let trimmed = text.trim_end_matches('/');
        Ok(RecordedPath::new(if trimmed.is_empty() { text.as_str() } else { trimmed }))
    }

    /// Returns where a folder that is gone has likely gone to.
    fn likely_place(
        &self,
        old: &RecordedPath,
        progress: &dyn Progress,
    ) -> Result<RecordedPath, Error> {
        let (rows, _) = self.projects(None, progress)?;
        let row = rows.into_iter().find(|row| row.path.as_ref() == Some(old));
        let row = row.ok_or_else(|| Error::NoProject(old.to_string()))?;
        match row.moved_to {
            Some(place) if place.moved.likely => self.standing_folder(&place.moved.path),
            Some(place) => Err(Error::Declined(format!(
                "{old} has perhaps become {}, which is not sure enough: name the new folder",
                place.moved.path
            ))),
            None => Err(Error::Declined(format!(
                "nobody knows where {old} has gone: name the new folder"
            ))),
        }
    }

    /// Names sessions beside those of the plan that somebody is working in where files will come or change: then it waits.
    fn keep_off_busy(&self, plan: &mut Plan, listing: &Listing) {
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
    plan: &mut Plan,
    carrier: &mut Carrier<'_>,
    source: &'static dyn Source,
    listing: &Listing,
    change: &Relocation,
) -> Result<(), Error> {
    let mut files: BTreeMap<PathBuf, (&SessionFacts, &SessionFile)> = BTreeMap::new();
    for facts in listing.sessions.iter().filter(|facts| facts.source == source.name()) {
        files.extend(facts.files.iter().map(|file| (PathBuf::from(&file.path), (&**facts, file))));
    }
    for entry in &change.writes {
        carrier.write(plan, entry)?;
    }
    for (from, to) in &change.inherited {
        carrier.copy(plan, from, to)?;
    }
    let is_in = |path: &Path, facts: &SessionFacts| {
        facts.kind == SessionKind::Main
            && facts.files.iter().any(|file| Path::new(&file.path).starts_with(path))
    };
    let touched = change.stays.iter().chain(change.goes.iter().map(|(from, _)| from));
    for folder in touched {
        for facts in listing.sessions.iter().filter(|facts| is_in(folder, facts)) {
            if !plan.sessions.iter().any(|subject| subject.id == facts.id.as_str()) {
                plan.sessions.push(subject(facts));
            }
        }
    }
    for (_, (facts, file)) in
        files.iter().filter(|(path, _)| change.stays.iter().any(|folder| path.starts_with(folder)))
    {
        carrier.amend(plan, facts, file)?;
    }
    for (from, to) in &change.goes {
        let contents = source.editor().map(|editor| editor.contents(from)).unwrap_or_default();
        for file in &contents.files {
            if let Some((facts, session)) = files.get(&file.path) {
                carrier.session(plan, facts, session, (from, to))?;
                continue;
            }
            let about = About { session: None, what: file.what };
            carrier.file(plan, &file.path, (from, to), about)?;
        }
        for folder in &contents.folders {
            plan.remove_folder(&RealDisk, folder)?;
        }
    }
    for entry in &change.removes {
        plan.remove(&RealDisk, &entry.path, About { session: None, what: entry.what })?;
        if let Some(folder) = entry.path.parent() {
            plan.remove_folder(&RealDisk, folder)?;
        }
    }
    plan.locks.extend(change.lock.clone());
    plan.notes.extend(change.notes.iter().cloned());
    Ok(())
}
