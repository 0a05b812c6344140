//! Plans to remove recount from agents: exactly what the ledger names.

use std::path::{Path, PathBuf};

use recount_formats::integration::{Edit, EditState, Part};
use recount_writer::RealDisk;
use recount_writer::change::{ChangeDetails, Plan};

use super::ledger::{EditedFile, Ledger, hash};
use super::plan::put;
use super::{IntegrateOptions, Target, agents, existing, unfit};
use crate::guard::retention::read;
use crate::{Changes, Error, Notice, Proposal};

impl Changes<'_> {
    /// Plans to remove what [`Changes::integrate_plan`] wrote. What users have changed since stays, unless it is forced.
    ///
    /// # Errors
    /// If settings are not understood.
    pub fn disintegrate_plan(self, options: &IntegrateOptions) -> Result<Proposal, Error> {
        let mut offer = Proposal::from(Plan::new("integrate", Vec::new()));
        let targets = match options.target.as_str() {
            "all" => agents().map(Target::Agent).chain([Target::Skill]).collect(),
            _ => self.targets(options),
        };
        for target in targets {
            let project = options.project.as_deref();
            let Some(ledger) = self.ledger(target.name(), project)? else { continue };
            self.remove_outdated(
                target,
                &ledger,
                &Ledger::default(),
                options.is_forced,
                &mut offer,
            )?;
            let path = self.ledger_path(target.name(), project)?;
            remove(&mut offer.plan, &path, "ledger", path.parent().map(Path::to_owned).as_slice())?;
            for folder in ledger.folders.iter().map(PathBuf::as_path).chain(path.parent()) {
                offer.plan.remove_folder(&RealDisk, folder)?;
            }
        }
        Ok(offer)
    }

    /// Removes what an old ledger names and a new one does not.
    pub(super) fn remove_outdated(
        self,
        target: Target,
        old: &Ledger,
        new: &Ledger,
        is_forced: bool,
        offer: &mut Proposal,
    ) -> Result<(), Error> {
        for file in old.files.iter().filter(|file| new.file(&file.path).is_none()) {
            match read(&file.path)? {
                None => {}
                Some(now) if hash(&now) == file.hash || is_forced => {
                    remove(&mut offer.plan, &file.path, "integration", &old.folders)?;
                }
                Some(_) => offer.notice(Notice::ChangedSince(file.path.clone())),
            }
        }
        let parts = self.parts_of(target, old)?;
        for file in old.edits.iter().filter(|file| new.edited(&file.path).is_none()) {
            let edits = parts.iter().find_map(|part| match part {
                Part::Shared { path, edits, is_rewritten, .. } if *path == file.path => {
                    Some((edits.as_slice(), *is_rewritten))
                }
                _ => None,
            });
            let (edits, is_rewritten) = edits.unwrap_or_default();
            if remove_edits(file, edits, is_forced, &old.folders, offer)? && is_rewritten {
                self.note_running(target, &file.path, offer);
            }
        }
        Ok(())
    }
}

/// Removes what was set in a file of the agent or the user. Returns whether the file changes.
fn remove_edits(
    file: &EditedFile,
    edits: &[Edit],
    is_forced: bool,
    folders: &[PathBuf],
    offer: &mut Proposal,
) -> Result<bool, Error> {
    let Some(now) = read(&file.path)? else { return Ok(false) };
    if let Some(text) = file.revert(&now) {
        if file.is_new {
            remove(&mut offer.plan, &file.path, "settings", folders)?;
        } else {
            put(&mut offer.plan, &file.path, Some(&now), &text, "settings")?;
        }
        return Ok(true);
    }
    let unfit = |why| unfit(&file.path, why);
    let mut text = now.clone();
    for edit in edits.iter().rev() {
        match edit.state(Some(&text)).map_err(unfit)? {
            EditState::Other if !is_forced && !file.is_ours(edit, &text) => {
                offer.notice(Notice::ChangedSince(file.path.clone()));
            }
            EditState::Missing => {}
            EditState::Same | EditState::Other => {
                text = edit.remove(&text).map_err(unfit)?.unwrap_or(text);
            }
        }
    }
    if text == now {
        return Ok(false);
    }
    if file.is_new && edits.iter().any(|edit| edit.is_blank(&text)) {
        remove(&mut offer.plan, &file.path, "settings", folders)?;
    } else {
        put(&mut offer.plan, &file.path, Some(&now), &text, "settings")?;
    }
    Ok(true)
}

/// Removes a file. The folders that are removed with it cannot be the limit of the plan: undoing it needs one that stays.
fn remove(plan: &mut Plan, path: &Path, what: &str, folders: &[PathBuf]) -> Result<(), Error> {
    let outermost = path.ancestors().skip(1).take_while(|above| folders.iter().any(|f| f == above));
    plan.roots.extend(existing(outermost.last().unwrap_or(path)));
    Ok(plan.remove(&RealDisk, path, ChangeDetails { session: None, what })?)
}
