//! What must change when a project's folder has moved: the register, both markers, and the location of sessions.

use std::fs;
use std::path::{Path, PathBuf};

use recount_model::RecordedPath;

use super::place::{MARKER, Names, marker, place};
use super::register::is_same;
use crate::bytes::read_small;
use crate::edit::{RegistryEntry, Relocation};
use crate::gemini::project;
use crate::source::RootShape;

/// Returns what must change; `None` if nothing is recorded for the old folder.
pub(crate) fn relocation(
    root: &Path,
    shape: RootShape,
    old: &RecordedPath,
    new: &RecordedPath,
) -> Result<Option<Relocation>, String> {
    let mut names = Names::read(root, shape)?;
    let hashed = |path: &RecordedPath| names.projects.join(project::hash(path.as_str()).as_str());
    let (old_hash, new_hash) = (hashed(old), hashed(new));
    let mut change = Relocation { lock: names.lock.clone(), ..Relocation::default() };
    match (names.known(old), old_hash.is_dir()) {
        (None, false) => return Ok(None),
        // Only old releases were used there: from now on new ones find it, too.
        (None, true) => {
            let place = place(root, shape, new)?;
            let to = |file: PathBuf| {
                let below = file.strip_prefix(&place.old_folder).unwrap_or(&file).to_owned();
                (file, place.folder.join(below))
            };
            change.inherited = place.inherited.into_iter().map(to).collect();
            change.writes = place.writes;
            change.notes.push(format!(
                "only releases before 0.29 were used there, and they do not look in {}",
                place.folder.display()
            ));
            change.goes.push((old_hash, place.folder));
        }
        (Some(slug), is_hashed) => {
            named(&mut change, &mut names, &slug, old, new);
            if is_hashed {
                change.goes.push((old_hash, new_hash));
            }
        }
    }
    let shadow = root.join("history").join(project::hash(old.as_str()).as_str());
    if shape == RootShape::Whole && shadow.is_dir() {
        change.notes.push(format!("{} stays: only old releases look there", shadow.display()));
    }
    if project::trusted(root).iter().any(|known| is_same(&known.path, old)) {
        let file = root.join("trustedFolders.json");
        change.notes.push(format!(
            "{} still names the old folder: the agent asks again whether it may trust the new one",
            file.display()
        ));
    }
    Ok(Some(change))
}

/// A project with a name keeps it, unless the new folder already has one: then both are merged.
fn named(
    change: &mut Relocation,
    names: &mut Names,
    slug: &str,
    old: &RecordedPath,
    new: &RecordedPath,
) {
    let marked = names.marked(old);
    let target = names.known(new).filter(|target| target != slug);
    match &target {
        None => {
            if let Some(register) = names.register.as_mut() {
                register.rename(old, new);
                if register.slug(new) != Some(slug) {
                    register.set(new, slug);
                }
            }
            let others = marked.iter().map(String::as_str).filter(|other| *other != slug);
            for slug in std::iter::once(slug).chain(others) {
                change.stays.push(names.projects.join(slug));
                change.writes.extend(names.both(slug).map(|folder| marker(&folder, new)));
            }
        }
        Some(target) => {
            if let Some(register) = names.register.as_mut() {
                register.remove(old);
                if register.slug(new) != Some(target.as_str()) {
                    register.set(new, target);
                }
            }
            let to = names.projects.join(target);
            let others = marked.iter().map(String::as_str).filter(|other| *other != slug);
            for slug in std::iter::once(slug).chain(others) {
                let mut folders = names.both(slug);
                change.goes.extend(folders.next().map(|folder| (folder, to.clone())));
                folders.for_each(|folder| shadow_goes(change, &folder));
            }
        }
    }
    change.writes.extend(names.register.as_ref().and_then(super::register::Register::entry));
    // Files that are already correct are not written again.
    change.writes.retain(|entry| read_small(&entry.path).ok().as_ref() != Some(&entry.bytes));
}

/// Only the marker of a shadow history is removed, and only if there is nothing else: two of them cannot be merged.
fn shadow_goes(change: &mut Relocation, folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut others = entries.filter(|entry| entry.file_name() != MARKER);
    if others.next().is_some() {
        let folder = folder.display();
        change
            .notes
            .push(format!("{folder} stays: it holds a history of files, and so does the other"));
        return;
    }
    let path = folder.join(MARKER);
    change.removes.push(RegistryEntry { path, bytes: Vec::new(), what: "marker" });
}
