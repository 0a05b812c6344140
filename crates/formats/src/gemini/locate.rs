//! Finds the agent's files: the layout below `.gemini`, in both directory forms.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{Problem, ProjectHash, SessionId};

use super::project::{is_slug, marker, marker_file, registry, registry_files, trusted};
use super::relocate::Before;
use crate::folder::{ListedEntry, ListedFolder, entries, entry_name, is_folder, on_two_cores};
use crate::source::{
    Basis, EarlierListing, FilePlacement, Linked, Located, ProjectFolder, RootShape,
};

/// Folders in `tmp/` that are not projects.
pub(crate) const NOT_PROJECTS: &[&str] = &["bin", "background-processes"];

/// Folders of a project with text about its files.
const OUTPUTS: &[&str] = &["checkpoints", "tool_output", "tool-outputs", "logs", "memory"];

/// Lists everything below a `.gemini` folder, or only below its `tmp/`.
pub(crate) fn locate(root: &Path, shape: RootShape) -> Located {
    locate_with(root, shape, None)
}

/// Lists it again, when only some of it has changed.
pub(crate) fn relocate(root: &Path, shape: RootShape, known: &EarlierListing<'_>) -> Located {
    locate_with(root, shape, Some(known))
}

fn locate_with(root: &Path, shape: RootShape, known: Option<&EarlierListing<'_>>) -> Located {
    let mut located = Located::default();
    let projects = match shape {
        RootShape::Whole => root.join("tmp"),
        RootShape::ProjectsOnly => root.to_owned(),
    };
    let mut names: Vec<(PathBuf, String)> = Vec::new();
    located.basis.directories.push(projects.clone());
    for entry in entries(&projects, &mut located.problems) {
        let name = entry_name(&entry);
        // The type in the listing saves a system call for most entries.
        let plain = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if NOT_PROJECTS.contains(&name.as_str()) {
            continue;
        }
        if plain || is_folder(&entry.path(), root, &mut located.problems) {
            names.push((entry.path(), name));
        } else if entry.path().is_dir() {
            let linked = Linked::Directory;
            located.folders.push(ProjectFolder { linked, ..empty(&entry.path(), name) });
        }
    }
    let history = History { folder: root.join("history"), is_there: root.join("history").is_dir() };
    let before = known.map(|known| Before::new(known, &projects, &history.folder));
    let look = |(path, name): &(PathBuf, String)| {
        if let Some(unchanged) = before.as_ref().and_then(|before| before.unchanged(path, name)) {
            return unchanged;
        }
        let mut met = Met::default();
        (project(root, &history, path, name.clone(), &mut met), met)
    };
    for (folder, met) in on_two_cores(&names, look) {
        located.folders.extend(folder);
        located.problems.extend(met.problems);
        located.basis.extend(met.basis);
    }
    located.basis.files.extend(registry_files(root));
    let registry = registry(root, &mut located.problems);
    located.notes = registry.notes;
    located.registry = registry.entries;
    located.registry.extend(trusted(root));
    located
}

/// Where the agent stores the histories of projects.
struct History {
    folder: PathBuf,
    is_there: bool,
}

/// What was found in a project directory.
#[derive(Default)]
pub(super) struct Met {
    pub(super) problems: Vec<Problem>,
    pub(super) basis: Basis,
}

fn project(
    root: &Path,
    history: &History,
    path: &Path,
    name: String,
    met: &mut Met,
) -> Option<ProjectFolder> {
    let mut markers = Vec::new();
    let beside = history.folder.join(&name);
    markers.extend(marker(path).map(|path| (path, ".project_root")));
    let marked = if history.is_there { marker(&beside) } else { None };
    markers.extend(marked.map(|path| (path, "history/.project_root")));
    met.basis.files.extend([marker_file(path), marker_file(&beside)]);
    let mut folder = ProjectFolder { markers, ..empty(path, name) };
    folder.notes = oddities(&folder);
    let chats = path.join("chats");
    if is_folder(&chats, root, &mut met.problems) {
        met.basis.directories.push(chats.clone());
        let listed = ListedFolder::list(&chats, &mut met.problems);
        for entry in &listed.entries {
            chat(&listed, entry, root, &mut folder, met);
        }
    } else {
        if chats.is_dir() {
            folder.linked = Linked::Files;
        }
        met.basis.files.push(chats);
    }
    let known = !folder.files.is_empty() || !folder.markers.is_empty() || has_traces(path);
    if !known {
        met.basis.files.push(path.join("logs.json"));
    }
    folder.bytes = folder.files.iter().map(|file| file.bytes).sum();
    known.then_some(folder)
}

/// Returns a project directory that was not read yet.
fn empty(path: &Path, name: String) -> ProjectFolder {
    ProjectFolder {
        path: path.to_owned(),
        is_project: true,
        hash: ProjectHash::new(&name),
        name,
        markers: Vec::new(),
        files: Vec::new(),
        linked: Linked::Nothing,
        bytes: 0,
        notes: Vec::new(),
    }
}

/// Returns unusual facts about a directory.
fn oddities(folder: &ProjectFolder) -> Vec<String> {
    let mut notes = Vec::new();
    if !is_slug(&folder.name) {
        notes.push("the directory's name is not one that the agent makes".to_owned());
    }
    for (path, from) in &folder.markers {
        if path.as_str().contains(['\n', '\r']) {
            notes.push(format!("{from} holds a line break"));
        }
    }
    notes
}

fn has_traces(path: &Path) -> bool {
    path.join("logs.json").is_file() || path.join("chats").is_dir()
}

/// Lists other files in a project directory that may mention its folder: logs, saved chats, shell commands, long outputs.
pub(crate) fn texts(folder: &Path) -> Vec<PathBuf> {
    let mut unheard = Vec::new();
    let mut texts = Vec::new();
    let is_text = |entry: &DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("checkpoint")
            || name.ends_with(".output")
            || name.ends_with(".txt")
            || matches!(&*name, "logs.json" | "shell_history")
    };
    for entry in entries(folder, &mut unheard) {
        let name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder && is_text(&entry) {
            texts.push(entry.path());
        } else if is_folder && OUTPUTS.iter().any(|outputs| name == *outputs) {
            for inner in entries(&entry.path(), &mut unheard) {
                if inner.file_type().is_ok_and(|kind| kind.is_dir()) {
                    texts.extend(entries(&inner.path(), &mut unheard).iter().map(DirEntry::path));
                } else {
                    texts.push(inner.path());
                }
            }
        }
    }
    texts.retain(|path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file()));
    texts
}

/// Lists the outputs among them.
pub(crate) fn outputs(folder: &Path) -> Vec<PathBuf> {
    let is_output = |path: &PathBuf| {
        let below = path.strip_prefix(folder).unwrap_or(path);
        let ends = below.extension().is_some_and(|ending| ending == "output" || ending == "txt");
        let is_beside = below.components().count() == 1;
        if is_beside {
            ends
        } else {
            below.starts_with("tool_output") || below.starts_with("tool-outputs")
        }
    };
    let mut texts = texts(folder);
    texts.retain(is_output);
    texts
}

fn chat(
    listed: &ListedFolder,
    entry: &ListedEntry,
    root: &Path,
    folder: &mut ProjectFolder,
    met: &mut Met,
) {
    let name = entry.name.as_str();
    if entry.is_folder() && !is_session(name) {
        let parent = SessionId::new(name);
        met.basis.directories.push(listed.path_of(entry));
        let agents = listed.list_inner(entry, &mut met.problems);
        for entry in &agents.entries {
            if is_session(&entry.name)
                && let Some(mut file) = agents.file(entry, root, &mut met.problems)
            {
                // An old document and its log are one sub-agent.
                let name = entry.name.as_str();
                let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
                file.group = format!("{parent}/{stem}");
                file.placement = FilePlacement::SubagentOf(parent.clone());
                folder.files.push(Arc::new(file));
            }
        }
        return;
    }
    // Most names have one dot, which is cheaper to find out than whether they contain others.
    let has_dots = name.bytes().filter(|byte| *byte == b'.').count() > 1;
    let leftover =
        has_dots && (name.contains(".jsonl.unreadable-") || name.contains(".jsonl.tmp-"));
    if !name.starts_with("session-") || !(is_session(name) || leftover) {
        return;
    }
    if let Some(mut file) = listed.file(entry, root, &mut met.problems) {
        short_id(name).clone_into(&mut file.group);
        if leftover {
            file.placement = FilePlacement::Leftover;
        }
        folder.files.push(Arc::new(file));
    } else if entry.is_link() {
        folder.linked = Linked::Files;
    }
}

fn is_session(name: &str) -> bool {
    let ending = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
    ending.is_some_and(|(_, ending)| ending == "json" || ending == "jsonl")
}

/// Returns the part of a file's name that comes from the session id: what follows the time.
///
/// `session-2026-09-02T08-00-3d2f9a10.jsonl` and, for imports, `session-1788336011000-3d2f9a10.jsonl`. Names from
/// `retention/disarm.rs`, with the whole id or a word after it, keep their group.
pub(crate) fn short_id(name: &str) -> &str {
    let id = after_time(name);
    let is_whole = id.len() == 36 && id.bytes().filter(|byte| *byte == b'-').count() == 4;
    let short = match id.contains('-') {
        true if is_whole => id.split_once('-'),
        true => id.split_once("-apart"),
        // Most have none, which is cheaper to find out.
        false => None,
    };
    short.map_or(id, |(short, _)| short)
}

fn after_time(name: &str) -> &str {
    let stem = name.strip_prefix("session-").unwrap_or(name);
    let stem = match stem.split_once('.') {
        Some((stem, ending)) if ending.starts_with("json") => stem,
        _ => stem.split_once(".json").map_or(stem, |(stem, _)| stem),
    };
    let is_time = |text: &str| {
        text.len() == 16 && text.as_bytes().get(10) == Some(&b'T') && text.is_char_boundary(10)
    };
    if let (Some(time), Some(id)) = (stem.get(..16), stem.get(17..))
        && is_time(time)
    {
        return id;
    }
    match stem.split_once('-') {
        Some((digits, id)) if digits.len() == 13 && digits.bytes().all(|b| b.is_ascii_digit()) => {
            id
        }
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_what_follows_the_time() {
        for (name, id) in [
            ("session-2026-09-02T08-00-3d2f9a10.jsonl", "3d2f9a10"),
            ("session-2026-09-02T08-00-3d2f9a10.json", "3d2f9a10"),
            ("session-1788336011000-3d2f9a10.jsonl", "3d2f9a10"),
            ("session-2026-09-02T08-00-my-task-.jsonl", "my-task-"),
            ("session-2026-09-02T08-00-3d2f9a10.jsonl.unreadable-1788336011000", "3d2f9a10"),
            ("session-free-form.json", "free-form"),
            ("session-2026-09-02T08-00-3d2f9a10-5c1b-4a5e-9f60-0b1c2d3e4f50.jsonl", "3d2f9a10"),
            ("session-2026-09-02T08-00-3d2f9a10-apart-2.jsonl", "3d2f9a10"),
        ] {
            assert_eq!(short_id(name), id, "{name}");
        }
    }
}
