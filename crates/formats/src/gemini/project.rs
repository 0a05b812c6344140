//! How the agent names a project: hash, slug, registry file, marker file.

use std::path::Path;
use std::sync::Arc;

use recount_model::{Problem, ProjectHash, RecordedPath, What};
use sha2::{Digest as _, Sha256};

use crate::bytes::read_small;
use crate::json::Tree;
use crate::source::Registered;

/// Returns the hash that names the project at `path`: SHA-256 of the path exactly as written.
pub(crate) fn hash(path: &RecordedPath) -> ProjectHash {
    use std::fmt::Write as _;
    let digest = Sha256::digest(path.as_str().as_bytes());
    let mut hex = String::with_capacity(64);
    for byte in digest {
        let _infallible = write!(hex, "{byte:02x}");
    }
    #[expect(clippy::expect_used, reason = "32 bytes make 64 lower-case hex digits")]
    ProjectHash::new(&hex).expect("64 hex digits")
}

/// Reads the marker file in a project directory.
pub(crate) fn marker(folder: &Path) -> Option<RecordedPath> {
    let text = read_small(&folder.join(".project_root")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let path = text.trim();
    (!path.is_empty()).then(|| RecordedPath::new(path))
}

/// Reads `projects.json`: which path has which slug.
pub(crate) fn registry(root: &Path, problems: &mut Vec<Problem>) -> Vec<Registered> {
    let path = root.join("projects.json");
    let Ok(bytes) = read_small(&path) else { return Vec::new() };
    let tree = Tree::parse(&bytes).ok();
    let projects = tree.as_ref().and_then(|tree| tree.get("projects")).and_then(Tree::as_object);
    let Some(projects) = projects else {
        problems.push(Problem {
            file: Arc::from(path.to_string_lossy()),
            span: None,
            what: What::BrokenDocument,
            done: "projects are told by their markers and hashes instead",
        });
        return Vec::new();
    };
    let entry = |(path, slug): &(String, Tree)| Registered {
        path: RecordedPath::new(path.as_str()),
        slug: slug.as_str().map(str::to_owned),
        from: "projects.json",
    };
    projects.iter().map(entry).collect()
}

/// Reads the keys of `trustedFolders.json`: folders that exist or existed.
pub(crate) fn trusted(root: &Path) -> Vec<Registered> {
    let tree =
        read_small(&root.join("trustedFolders.json")).ok().and_then(|b| Tree::parse(&b).ok());
    let keys = tree.as_ref().and_then(Tree::as_object).unwrap_or_default();
    let entry = |(path, _): &(String, Tree)| Registered {
        path: RecordedPath::new(path.as_str()),
        slug: None,
        from: "trustedFolders.json",
    };
    keys.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_over_the_path_as_written() {
        let hash = hash(&RecordedPath::new("/home/dev/code/shop"));
        assert!(hash.as_str().starts_with("52efbb07"), "{hash}");
        assert!(hash.as_str().ends_with("46bee"), "{hash}");
    }
}
