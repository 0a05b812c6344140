//! Undo: a plan like any other, with every step reverted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::content::NewContent;
use super::disk::Disk;
use super::journal::{Entries, Journal, JournalEnd, JournalEntry};
use super::places::Places;
use super::plan::{Folder, Plan, Step, UndoneSteps};
use super::refusal::{NotUndoableReason, Refusal};
use super::state::FileState;
use crate::Error;

/// The role of a log of names, to which agents only append.
const APPENDED: &str = "names";

/// All changes in the journals.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Entries,
}

impl History {
    /// Reads the journals of a data folder.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn read(disk: &dyn Disk, data: &Path) -> Result<Self, Error> {
        Ok(Self { entries: Journal { disk, data }.entries()? })
    }

    /// Returns the changes, oldest first.
    pub fn changes(&self) -> &[JournalEntry] {
        &self.entries.known
    }

    /// Returns invalid journals, and why.
    pub fn damaged(&self) -> &[(PathBuf, String)] {
        &self.entries.damaged
    }

    /// Whether a change was interrupted by a crash.
    pub fn is_cut_short(&self) -> bool {
        let open =
            |entry: &JournalEntry| matches!(entry.end, JournalEnd::Begun | JournalEnd::Prepared);
        self.entries.known.iter().any(open)
    }

    /// Returns the steps of a change that are in force, by number: made, and not undone since.
    pub fn in_force(&self, entry: &JournalEntry) -> BTreeSet<usize> {
        if entry.end != JournalEnd::Done {
            return BTreeSet::new();
        }
        let mut steps: BTreeSet<usize> = (0..entry.plan.steps.len()).collect();
        for undo in self.entries.known.iter().filter(|undo| undo.end == JournalEnd::Done) {
            if let Some(undoes) = undo.plan.undoes.as_ref().filter(|u| u.receipt == entry.id) {
                steps.retain(|step| !undoes.steps.contains(step));
            }
        }
        steps
    }

    /// Finds a change by its receipt or the start of one; the last one that can be undone if none is given.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn find(&self, wanted: Option<&str>) -> Result<&JournalEntry, Error> {
        let Some(wanted) = wanted else {
            let can = |entry: &&JournalEntry| {
                !self.is_undo(entry) && !entry.emptied && !self.in_force(entry).is_empty()
            };
            return self.entries.known.iter().rev().find(can).ok_or(Error::NothingToUndo);
        };
        if let Some(entry) = self.entries.known.iter().find(|entry| entry.id == wanted) {
            return Ok(entry);
        }
        let mut like = self.entries.known.iter().filter(|entry| entry.id.starts_with(wanted));
        match (like.next(), like.next()) {
            (Some(entry), None) => Ok(entry),
            (Some(_), Some(_)) => Err(Error::ManyReceipts(wanted.to_owned())),
            (None, _) => Err(Error::NoReceipt(wanted.to_owned())),
        }
    }

    /// Whether a change undoes another. One that undoes an undo redoes the change, and does not count.
    fn is_undo(&self, entry: &JournalEntry) -> bool {
        let undone = |entry: &JournalEntry| {
            let receipt = &entry.plan.undoes.as_ref()?.receipt;
            self.entries.known.iter().find(|known| known.id == *receipt)
        };
        // A damaged journal may be circular.
        let chain = std::iter::successors(Some(entry), |entry| undone(entry));
        let undos =
            chain.take(self.entries.known.len()).filter(|entry| entry.plan.undoes.is_some());
        undos.count() % 2 == 1
    }

    /// Plans to undo those steps of a change that are in force and that `wanted` selects.
    ///
    /// # Errors
    /// If it was already undone or cannot be, or a file has changed since.
    pub fn undo(
        &self,
        disk: &dyn Disk,
        data: &Path,
        entry: &JournalEntry,
        wanted: impl Fn(&Step) -> bool,
    ) -> Result<Plan, Error> {
        let refuse = |why| Error::from(Refusal::NotUndoable { id: entry.id.clone(), why });
        match entry.end {
            JournalEnd::Done if entry.emptied => return Err(refuse(NotUndoableReason::Emptied)),
            JournalEnd::Done => {}
            JournalEnd::TakenBack { .. } => return Err(refuse(NotUndoableReason::TakenBack)),
            JournalEnd::Begun | JournalEnd::Prepared => {
                return Err(refuse(NotUndoableReason::NotEnded));
            }
        }
        let places = Places { data, id: &entry.id };
        let in_force = self.in_force(entry);
        let mut numbers = Vec::new();
        let mut steps = Vec::new();
        // The last step is undone first.
        for (number, step) in entry.plan.steps.iter().enumerate().rev() {
            if in_force.contains(&number) && wanted(step) {
                numbers.push(number);
                steps.push(turned(disk, &places, number, step)?);
            }
        }
        if steps.is_empty() {
            return Err(refuse(NotUndoableReason::Undone));
        }
        let is_about = |id: &String| steps.iter().any(|step| step.session.as_ref() == Some(id));
        let sessions = entry.plan.sessions.iter().filter(|subject| is_about(&subject.id));
        let made = entry.plan.removed.iter().rev().filter(|folder| holds(folder, &steps));
        let made = made.cloned().collect();
        let removed = entry.plan.made.iter().rev().cloned().collect();
        let mut plan = Plan {
            command: "undo".to_owned(),
            sessions: sessions.cloned().collect(),
            made,
            removed,
            roots: entry.plan.roots.clone(),
            locks: entry.plan.locks.clone(),
            file_locks: entry.plan.file_locks.clone(),
            undoes: Some(UndoneSteps { receipt: entry.id.clone(), steps: numbers }),
            ..Plan::default()
        };
        // Others may have removed more since.
        for step in steps.iter().filter(|step| step.after.is_some()) {
            plan.add_parent_folders(disk, &step.path)?;
        }
        plan.steps = steps;
        Ok(plan)
    }
}

/// Undoes what was appended to a log that its agent has appended to since: only that is removed.
fn without_appended(
    disk: &dyn Disk,
    kept: &Path,
    step: &Step,
    (now, after): (&FileState, &FileState),
) -> Result<Step, Error> {
    let start = |bytes: u64| NewContent::default().then_stretch(&step.path, 0, bytes).measure(disk);
    let is_start = |state: &FileState| {
        Ok::<bool, Error>(state.bytes <= now.bytes && state.hash == Some(start(state.bytes)?.1))
    };
    let before = step.before.as_ref();
    let was_appended = before.is_none_or(|before| before.bytes <= after.bytes);
    if !was_appended || !is_start(after)? || !before.map_or(Ok(true), is_start)? {
        return Err(Refusal::Changed { path: step.path.clone() }.into());
    }
    let mut old = before.map_or_else(NewContent::default, |_| NewContent::of_file(kept));
    if let Some(before) = before {
        // Its last line had no end, and got one before something was appended: without it, two lines would become one.
        let first = NewContent::default().then_stretch(&step.path, before.bytes, 1);
        if first.measure(disk)? == NewContent::of_bytes(*b"\n").measure(disk)? {
            old = old.then_bytes(*b"\n");
        }
    }
    let content = old.then_stretch(&step.path, after.bytes, u64::MAX);
    let (bytes, hash) = content.measure(disk)?;
    let after = FileState { bytes, hash: Some(hash), ..now.clone() };
    let (before, after) = (Some(now.clone()), Some(after));
    Ok(Step { before, after, moved_to: None, content: Some(content), ..step.clone() })
}

/// Whether a restored file is in a folder that was removed.
fn holds(folder: &Folder, steps: &[Step]) -> bool {
    steps.iter().any(|step| step.after.is_some() && step.path.starts_with(&folder.path))
}

fn turned(disk: &dyn Disk, places: &Places<'_>, number: usize, step: &Step) -> Result<Step, Error> {
    let now = FileState::of(disk, &step.path)?;
    match (&now, &step.after) {
        (None, None) => {}
        (Some(now), Some(after)) if now.same_bytes(after) => {}
        (Some(now), Some(after)) if step.what == APPENDED => {
            let kept = places.kept(number, step);
            return without_appended(disk, &kept, step, (now, after));
        }
        (Some(_), None) => return Err(Refusal::Occupied { path: step.path.clone() }.into()),
        _ => return Err(Refusal::Changed { path: step.path.clone() }.into()),
    }
    let kept = step.before.as_ref().map(|_| NewContent::of_file(places.kept(number, step)));
    let after = step.before.clone();
    Ok(Step { before: now, after, moved_to: None, content: kept, ..step.clone() })
}
