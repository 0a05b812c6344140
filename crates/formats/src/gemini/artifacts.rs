//! Artifacts of a session beside its own files: tool outputs, activity log, plans, and the same of its sub-agents.
//!
//! The agent itself (0.35 to 0.61) removes these with a session, but finds them by the first eight characters of the id;
//! here they are found by the whole id. Files shared by several sessions (`logs.json`, saved chats, `checkpoints/`,
//! `history/`) belong to none of them.

use std::fs;
use std::path::{Path, PathBuf};

use recount_model::SessionId;

use crate::names::names_in;
use crate::source::{Artifact, ArtifactKind, Artifacts, ProjectFolder};

/// Folders of a project that never belong to a session, whatever its id (0.44 refuses the first three).
const SHARED: &[&str] = &[
    "chats",
    "logs",
    "tool-outputs",
    "tool_output",
    "checkpoints",
    "memory",
    "plans",
    "tracker",
    "tasks",
];

/// Deeper than anything the agent creates.
const DEEPEST: usize = 16;

/// Lists the artifacts of a session in one project directory. `files` are the session's own.
pub(crate) fn artifacts(folder: &ProjectFolder, id: &SessionId, files: &[PathBuf]) -> Artifacts {
    let mut found = Artifacts::default();
    // An id chosen by the user may also be another session's in another project; a random one is unique.
    let is_here = files.iter().any(|file| file.starts_with(&folder.path));
    if !is_plain(id.as_str()) || !(is_here || is_random_id(id.as_str())) {
        return found;
    }
    let agents = folder.path.join("chats").join(id.as_str());
    gather(&agents, ArtifactKind::Subagent, &mut found);
    let names: Vec<String> = found.files.iter().filter_map(|file| stem(&file.path)).collect();
    of_one(&folder.path, id.as_str(), &mut found);
    for agent in names.iter().filter(|name| is_plain(name)) {
        of_one(&folder.path, agent, &mut found);
    }
    found
}

/// Lists the ids that something in a project directory may belong to: [`artifacts`] uses only names.
pub(crate) fn ids(folder: &Path) -> Vec<String> {
    let session = |name: &str| name.strip_prefix("session-").map(str::to_owned);
    let logged = |name: String| session(name.strip_suffix(".jsonl")?);
    let mut ids: Vec<String> = names_in(folder).chain(names_in(&folder.join("chats"))).collect();
    ids.extend(names_in(&folder.join("tool-outputs")).filter_map(|name| session(&name)));
    ids.extend(names_in(&folder.join("logs")).filter_map(logged));
    ids
}

/// Lists everything in a project directory, and its folders.
pub(crate) fn contents(folder: &Path) -> Artifacts {
    let mut found = Artifacts::default();
    gather(folder, ArtifactKind::File, &mut found);
    found
}

fn of_one(folder: &Path, id: &str, found: &mut Artifacts) {
    gather(
        &folder.join("tool-outputs").join(format!("session-{id}")),
        ArtifactKind::ToolOutput,
        found,
    );
    let log = folder.join("logs").join(format!("session-{id}.jsonl"));
    if fs::symlink_metadata(&log).is_ok_and(|log| log.is_file()) {
        found.files.push(Artifact { path: log, kind: ArtifactKind::ActivityLog });
    }
    gather(&folder.join(id), ArtifactKind::Plans, found);
}

/// Adds everything in a folder, and the folder. Links are listed and not followed.
pub(super) fn gather(folder: &Path, kind: ArtifactKind, found: &mut Artifacts) {
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

fn stem(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    Some(name.split_once('.').map_or(name, |(stem, _)| stem).to_owned())
}

/// Whether the agent uses an id unchanged in names, and it is not the name of something else.
pub(super) fn is_plain(id: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !id.is_empty() && id.bytes().all(is_safe) && !SHARED.contains(&id)
}

pub(crate) fn is_random_id(id: &str) -> bool {
    id.len() == 36 && id.bytes().filter(|byte| *byte == b'-').count() == 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_never_leads_out_of_the_folder_or_to_what_is_shared() {
        for id in ["", "..", ".", "a/b", "a\\b", "chats", "logs", "tool-outputs", "a@b", "memory"] {
            assert!(!is_plain(id), "{id}");
        }
        for id in ["3d2f9a10-5c1b-4d11-b127-fab536451cda", "my-task_1", "e76q7e"] {
            assert!(is_plain(id), "{id}");
        }
        assert!(is_random_id("3d2f9a10-5c1b-4d11-b127-fab536451cda"));
        assert!(!is_random_id("my-task-1"));
    }
}
