//! Checks whether a plan may be carried out now.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::disk::{Disk, FileKind};
use super::plan::{Plan, Step};
use super::refusal::Refusal;
use super::state::metadata;
use crate::Error;

/// Space left free on a disk: journals and folders take space too.
const SPARE: u64 = 1024 * 1024;

/// A plan that may be carried out. Only [`Plan::approve`] creates one.
#[derive(Debug)]
pub struct Approved(Plan);

impl Approved {
    pub(crate) fn plan(&self) -> &Plan {
        &self.0
    }
}

/// A running process that uses a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The session.
    pub session: String,
    /// The process id.
    pub process: u32,
}

impl Plan {
    /// Checks that nobody uses the plan's sessions, that every file is unchanged and in an agent's folder, and that there
    /// is enough disk space. `data` is recount's data folder.
    ///
    /// # Errors
    /// A [`Refusal`], or an error if something could not be checked.
    pub fn approve(
        mut self,
        disk: &dyn Disk,
        owners: &[Owner],
        data: &Path,
    ) -> Result<Approved, Error> {
        let is_ours = |owner: &&Owner| self.sessions.iter().any(|s| s.id == owner.session);
        if let Some(owner) = owners.iter().find(is_ours) {
            let Owner { session, process } = owner.clone();
            return Err(Refusal::Live { session, process }.into());
        }
        let mut roots = Vec::new();
        for root in &self.roots {
            // A folder that no longer exists contains nothing that could be changed.
            roots.extend(disk.resolve(root).ok());
        }
        for step in &self.steps {
            inside(disk, step, &roots)?;
            unchanged(disk, step)?;
        }
        room(disk, &self, data)?;
        self.complete(disk)?;
        Ok(Approved(self))
    }
}

fn inside(disk: &dyn Disk, step: &Step, roots: &[PathBuf]) -> Result<(), Error> {
    let outside = || Error::from(Refusal::Outside { path: step.path.clone() });
    let plain = |part: Component<'_>| !matches!(part, Component::ParentDir | Component::CurDir);
    if !step.path.is_absolute() || !step.path.components().all(plain) {
        return Err(outside());
    }
    // The nearest existing folder decides: those below it will be created by recount.
    let there = step.path.ancestors().skip(1).find_map(|folder| disk.resolve(folder).ok());
    let there = there.ok_or_else(outside)?;
    if roots.iter().any(|root| there.starts_with(root)) { Ok(()) } else { Err(outside()) }
}

/// Compares the metadata; the bytes are compared when they are copied, before anything is changed.
fn unchanged(disk: &dyn Disk, step: &Step) -> Result<(), Error> {
    let path = step.path.clone();
    match (metadata(disk, &step.path)?, &step.before) {
        (None, None) => Ok(()),
        (Some(now), Some(before)) if before.matches_metadata(&now) && before.mode == now.mode => {
            Ok(())
        }
        (Some(now), Some(_)) if now.kind != FileKind::File => {
            Err(Refusal::NotAFile { path }.into())
        }
        (Some(_), None) => Err(Refusal::Occupied { path }.into()),
        _ => Err(Refusal::Changed { path }.into()),
    }
}

/// Old files are copied to recount's disk; new ones are staged beside their destination.
fn room(disk: &dyn Disk, plan: &Plan, data: &Path) -> Result<(), Error> {
    let mut needs: BTreeMap<u64, (u64, u64, PathBuf)> = BTreeMap::new();
    let mut need = |place: &Path, bytes: u64| {
        let there = place.ancestors().find_map(|folder| Some((folder, disk.room(folder)?)));
        if let Some((folder, room)) = there {
            let known = needs.entry(room.device);
            known.or_insert((0, room.free, folder.to_owned())).0 += bytes;
        }
    };
    for step in &plan.steps {
        need(data, step.before.as_ref().map_or(0, |state| state.bytes));
        need(&step.path, step.after.as_ref().map_or(0, |state| state.bytes));
    }
    for (needed, free, path) in needs.into_values() {
        let needed = needed.saturating_add(SPARE);
        if free < needed {
            return Err(Refusal::NoRoom { path, needed, free }.into());
        }
    }
    Ok(())
}
