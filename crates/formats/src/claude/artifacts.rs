//! What belongs to a session beside its own file: its folder with sub-agents and outputs, copies of files, lists of tasks.

use std::fs;
use std::path::{Path, PathBuf};

use recount_model::SessionId;

use crate::source::{Artifact, ArtifactKind, Artifacts, ProjectFolder};

/// Deeper than the agent ever puts anything.
const DEEPEST: usize = 8;

/// Lists what belongs to a session. `files` are its own.
pub(crate) fn artifacts(folder: &ProjectFolder, id: &SessionId, files: &[PathBuf]) -> Artifacts {
    let mut found = Artifacts::default();
    let is_here = files.iter().any(|file| file.starts_with(&folder.path));
    if !is_plain(id.as_str()) || !is_here {
        return found;
    }
    gather(&folder.path.join(id.as_str()), ArtifactKind::File, &mut found);
    for artifact in &mut found.files {
        let below =
            artifact.path.strip_prefix(folder.path.join(id.as_str())).unwrap_or(&artifact.path);
        let name = below.components().next().map(|part| part.as_os_str().to_owned());
        artifact.kind = match name.as_deref().and_then(std::ffi::OsStr::to_str) {
            // Each transcript may have a file of metadata beside it.
            Some("subagents") if below.extension().is_some_and(|ending| ending == "jsonl") => {
                ArtifactKind::Subagent
            }
            Some("tool-results") => ArtifactKind::ToolOutput,
            _ => ArtifactKind::File,
        };
    }
    // Sub-agents that were listed as sessions of their own come with these.
    found.files.retain(|artifact| !files.contains(&artifact.path));
    found
}

/// Lists everything in a project directory, and its folders.
pub(crate) fn contents(folder: &Path) -> Artifacts {
    let mut found = Artifacts::default();
    gather(folder, ArtifactKind::File, &mut found);
    found
}

/// Lists the folders of sessions that are gone.
pub(crate) fn orphans(folder: &Path, is_there: &dyn Fn(&str) -> bool) -> Artifacts {
    let mut found = Artifacts::default();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    names.sort();
    for path in names {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_uuid(&name) && !is_there(&name) && !folder.join(format!("{name}.jsonl")).exists() {
            gather(&path, ArtifactKind::File, &mut found);
        }
    }
    found
}

/// Whether a name is one that cannot lead elsewhere.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.contains(['/', '\\'])
        && name != "."
        && name != ".."
        && name != "memory"
}

fn is_uuid(name: &str) -> bool {
    name.len() == 36 && name.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Adds everything in a folder, and the folder. Links are listed and not followed.
fn gather(folder: &Path, kind: ArtifactKind, found: &mut Artifacts) {
    let is_folder =
        |path: &Path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    if !is_folder(folder) {
        return;
    }
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            if is_folder(&path) && depth < DEEPEST {
                open.push((path, depth + 1));
            } else {
                found.files.push(Artifact { path, kind });
            }
        }
        found.folders.push(folder);
    }
}
