//! Which files are ours: sessions, and the sub-agents of all three layouts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{Problem, SessionId};

use super::log::is_agent_file;
use crate::folder::{ListedEntry, ListedFolder, entries, is_folder, on_two_cores};
use crate::source::{
    Basis, EarlierListing, FilePlacement, Linked, Located, ProjectFolder, ProjectLocation,
    RootShape,
};

/// The folder of a session in which its sub-agents are.
pub(super) const AGENTS: &str = "subagents";

/// The folder in which all projects are.
const PROJECTS: &str = "projects";

/// Returns the folder that holds the projects.
pub(crate) fn projects(root: &Path, shape: RootShape) -> PathBuf {
    match shape {
        RootShape::Whole => root.join(PROJECTS),
        RootShape::ProjectsOnly => root.to_owned(),
    }
}

/// Lists what is below a data folder; project directories in which nothing changed are not looked into again.
pub(crate) fn locate(root: &Path, shape: RootShape, known: Option<&EarlierListing<'_>>) -> Located {
    let mut located = Located::default();
    let projects = projects(root, shape);
    located.basis.directories.push(projects.clone());
    let mut directories: Vec<PathBuf> = Vec::new();
    for entry in entries(&projects, &mut located.problems) {
        // What the listing says of most entries saves a question for each.
        let plain = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if plain || is_folder(&entry.path(), root, &mut located.problems) {
            directories.push(entry.path());
        }
    }
    let look = |path: &PathBuf| {
        known.and_then(|known| unchanged(known, path)).unwrap_or_else(|| project(root, path))
    };
    for met in on_two_cores(&directories, look) {
        located.folders.extend(met.folder);
        located.problems.extend(met.problems);
        located.basis.extend(met.basis);
    }
    located
}

/// What was met in a project directory.
#[derive(Default)]
struct Met {
    folder: Option<ProjectFolder>,
    problems: Vec<Problem>,
    basis: Basis,
}

/// Returns what was found in a project directory, if it was looked into and nothing has changed there.
fn unchanged(known: &EarlierListing<'_>, path: &Path) -> Option<Met> {
    let folder = known.folders.iter().find(|folder| folder.path == path)?;
    if known.changed.iter().any(|changed| changed.starts_with(path)) {
        return None;
    }
    let below = |all: &[PathBuf]| -> Vec<PathBuf> {
        all.iter().filter(|known| known.starts_with(path)).cloned().collect()
    };
    let basis =
        Basis { directories: below(&known.basis.directories), files: below(&known.basis.files) };
    let problems =
        known.problems.iter().filter(|problem| Path::new(&*problem.file).starts_with(path));
    Some(Met { folder: Some((*folder).clone()), problems: problems.cloned().collect(), basis })
}

fn project(root: &Path, path: &Path) -> Met {
    let mut met = Met::default();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut folder = ProjectFolder {
        path: path.to_owned(),
        name,
        // Two folders may share one directory; each session records its own.
        is_project: false,
        hash: None,
        markers: Vec::new(),
        files: Vec::new(),
        linked: Linked::Nothing,
        bytes: 0,
        notes: Vec::new(),
    };
    met.basis.directories.push(path.to_owned());
    let listed = ListedFolder::list(path, &mut met.problems);
    for entry in &listed.entries {
        session(&listed, entry, root, &mut folder, &mut met);
    }
    folder.bytes = folder.files.iter().map(|file| file.bytes).sum();
    met.folder = (!folder.files.is_empty()).then_some(folder);
    met
}

fn session(
    listed: &ListedFolder,
    entry: &ListedEntry,
    root: &Path,
    folder: &mut ProjectFolder,
    met: &mut Met,
) {
    let name = entry.name.as_str();
    if let Some(stem) = name.strip_suffix(".jsonl") {
        if let Some(mut file) = listed.file(entry, root, &mut met.problems) {
            stem.strip_prefix("agent-").unwrap_or(stem).clone_into(&mut file.group);
            folder.files.push(Arc::new(file));
        }
        return;
    }
    if !entry.is_folder() || name == "memory" {
        return;
    }
    let agents = listed.path_of(entry).join(AGENTS);
    met.basis.files.push(agents.clone());
    if !is_folder(&agents, root, &mut met.problems) {
        return;
    }
    met.basis.directories.push(agents.clone());
    let agents = ListedFolder::list(&agents, &mut met.problems);
    for entry in &agents.entries {
        let agent = entry.name.as_str();
        let Some(stem) = agent.strip_suffix(".jsonl").filter(|_| is_agent_file(agent)) else {
            continue;
        };
        if let Some(mut file) = agents.file(entry, root, &mut met.problems) {
            file.group = format!("{name}/{}", stem.strip_prefix("agent-").unwrap_or(stem));
            file.placement = FilePlacement::SubagentOf(SessionId::new(name));
            folder.files.push(Arc::new(file));
        }
    }
}

/// Returns the session whose folder a sub-agent's file is in.
pub(crate) fn parent_in_path(path: &Path) -> Option<SessionId> {
    let session = session_folder(path)?.file_name()?.to_string_lossy();
    Some(SessionId::new(session))
}

/// Returns the folder of the session that a sub-agent's file is below.
pub(super) fn session_folder(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| folder.ends_with(AGENTS))?.parent()
}

/// Returns the project directory of a file, wherever it is.
pub(crate) fn project_folder(path: &Path) -> Option<PathBuf> {
    let folder = match path.parent() {
        Some(agents) if agents.ends_with(AGENTS) => agents.parent()?.parent()?,
        Some(folder) => folder,
        None => return None,
    };
    Some(folder.to_owned())
}

/// Returns the project directory that a file is or would be in, below a data folder.
pub(crate) fn place_of(root: &Path, shape: RootShape, file: &Path) -> Option<ProjectLocation> {
    let projects = projects(root, shape);
    let mut parts = file.strip_prefix(&projects).ok()?.components();
    let folder = projects.join(parts.next()?);
    let marker = folder.join(".project");
    // The directory needs no marker: sessions record their folder themselves.
    Some(ProjectLocation { folder, below: parts.as_path().to_owned(), is_hashed: true, marker })
}

/// Whether files of a group may hold a session whose id begins with `wanted`.
pub(crate) fn may_hold(group: &str, wanted: &str) -> bool {
    let name = group.rsplit('/').next().unwrap_or(group);
    name.starts_with(wanted) || wanted.starts_with(name)
}
