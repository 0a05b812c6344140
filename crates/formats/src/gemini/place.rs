//! Where a file lies in the layout, whether it is there or not.

use std::path::Path;

use recount_model::ProjectHash;

use crate::source::{Place, RootShape};

/// Tells in which project directory a file lies or would lie.
pub(crate) fn place_of(root: &Path, shape: RootShape, file: &Path) -> Option<Place> {
    let projects = match shape {
        RootShape::Whole => root.join("tmp"),
        RootShape::ProjectsOnly => root.to_owned(),
    };
    let mut parts = file.strip_prefix(&projects).ok()?.components();
    let name = parts.next()?;
    let folder = projects.join(name);
    let is_hashed = ProjectHash::new(&name.as_os_str().to_string_lossy()).is_some();
    let marker = folder.join(".project_root");
    Some(Place { folder, below: parts.as_path().to_owned(), is_hashed, marker })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_lies_below_its_project() {
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
