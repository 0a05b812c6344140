//! The location of a file in the layout, whether it exists or not.

use std::path::Path;

use recount_model::{ProjectHash, SessionId};

use crate::source::{FilePlacement, Placement, ProjectLocation, RootShape};

/// The folder with the sessions of a project directory.
pub(crate) const SESSIONS: &str = "chats";

/// Returns the project directory that a file is or would be in.
pub(crate) fn place_of(root: &Path, shape: RootShape, file: &Path) -> Option<ProjectLocation> {
    let projects = match shape {
        RootShape::Whole => root.join("tmp"),
        RootShape::ProjectsOnly => root.to_owned(),
    };
    let mut parts = file.strip_prefix(&projects).ok()?.components();
    let name = parts.next()?;
    let folder = projects.join(name);
    let is_hashed = ProjectHash::new(&name.as_os_str().to_string_lossy()).is_some();
    let marker = folder.join(".project_root");
    Some(ProjectLocation { folder, below: parts.as_path().to_owned(), is_hashed, marker })
}

/// Returns what the path of a file shows about it. Sessions are in `chats`, sub-agents in a folder below it that is named
/// after the session that ran them, saved chats beside it.
pub(crate) fn placement(path: &Path) -> Placement {
    let parent = path.parent();
    let above = parent.and_then(Path::parent).and_then(Path::file_name);
    let placement = match parent.and_then(Path::file_name) {
        Some(name) if above.is_some_and(|above| above == SESSIONS) => {
            FilePlacement::SubagentOf(SessionId::new(name.to_string_lossy()))
        }
        _ => FilePlacement::Main,
    };
    let sessions = path.ancestors().skip(1).take(2).find(|folder| folder.ends_with(SESSIONS));
    let beside = || parent.filter(|folder| folder.join(SESSIONS).is_dir());
    let folder = sessions.and_then(Path::parent).or_else(beside);
    Placement { project_folder: folder.map(Path::to_owned), placement }
}

/// Whether files of a group may contain a session whose id begins with `wanted`: a group is the start of an id in a file's
/// name, or for sub-agents the parent's id and the file's name. A name without the start of an id may be any session's.
pub(crate) fn may_hold(group: &str, wanted: &str) -> bool {
    let is_id = group.len() == 8 && group.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_id && !group.contains('/') {
        return true;
    }
    let name = group.rsplit('/').next().unwrap_or(group);
    let name = name.split_once(".json").map_or(name, |(stem, _)| stem);
    !name.is_empty() && (name.starts_with(wanted) || wanted.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_below_its_project() {
        let root = Path::new("/home/dev/.gemini");
        let file = root.join("tmp/shop/chats/a/b.jsonl");
        let place = place_of(root, RootShape::Whole, &file).unwrap();
        assert_eq!(place.folder, root.join("tmp/shop"));
        assert_eq!(place.below, Path::new("chats/a/b.jsonl"));
        assert!(!place.is_hashed);
        let hashed = root.join("tmp").join("ab".repeat(32)).join("chats/b.json");
        assert!(place_of(root, RootShape::Whole, &hashed).unwrap().is_hashed);
        assert_eq!(place_of(root, RootShape::Whole, Path::new("/etc/passwd")), None);
    }
}
