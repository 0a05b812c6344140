//! The agent's names of a project: hash, slug, registry file, marker file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{Problem, ProjectHash, RecordedPath, What};
use sha2::{Digest as _, Sha256};

use crate::bytes::read_small;
use crate::json::JsonTree;
use crate::source::{Registered, RegistryNote};

/// Returns the hash that names the project at `path`: SHA-256 of the path exactly as written.
pub(crate) fn hash(path: &str) -> ProjectHash {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    let digest = Sha256::digest(path.as_bytes());
    let hex: String = digest.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
    #[expect(clippy::expect_used, reason = "32 bytes make 64 lower-case hex digits")]
    ProjectHash::new(&hex).expect("64 hex digits")
}

/// Returns the slug that the project at `path` gets if no other has it: the last component in lower case, every run of
/// other characters a single `-`.
pub(crate) fn slug(path: &RecordedPath) -> String {
    let mut slug = String::new();
    for letter in path.leaf().to_lowercase().chars() {
        if letter.is_ascii_lowercase() || letter.is_ascii_digit() {
            slug.push(letter);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.strip_prefix('-').unwrap_or(&slug);
    let slug = slug.strip_suffix('-').unwrap_or(slug);
    if slug.is_empty() { "project".to_owned() } else { slug.to_owned() }
}

/// Whether a directory's name is a slug of the agent.
pub(crate) fn is_slug(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.bytes().all(allowed)
}

/// Returns the path of the marker file of a project directory.
pub(crate) fn marker_file(folder: &Path) -> PathBuf {
    folder.join(".project_root")
}

/// Returns the files that record the paths of projects.
pub(crate) fn registry_files(root: &Path) -> [PathBuf; 2] {
    [root.join("projects.json"), root.join("trustedFolders.json")]
}

/// Reads the marker file in a project directory.
pub(crate) fn marker(folder: &Path) -> Option<RecordedPath> {
    let text = read_small(&marker_file(folder)).ok()?;
    let text = String::from_utf8_lossy(&text);
    let path = text.trim();
    (!path.is_empty()).then(|| RecordedPath::new(path))
}

/// The contents of an agent's list of projects.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    pub(crate) entries: Vec<Registered>,
    /// Inconsistencies in it.
    pub(crate) notes: Vec<RegistryNote>,
}

/// Reads `projects.json`: the slug of each path. For a damaged file, the complete entries.
pub(crate) fn registry(root: &Path, problems: &mut Vec<Problem>) -> Registry {
    let mut registry = Registry::default();
    let path = root.join("projects.json");
    let Ok(bytes) = read_small(&path) else { return registry };
    let tree = JsonTree::parse(&bytes).ok();
    let projects =
        tree.as_ref().and_then(|tree| tree.get("projects")).and_then(JsonTree::as_object);
    let whole = projects.map(|projects| {
        let pair =
            |(path, slug): &(String, JsonTree)| (path.clone(), slug.as_str().map(str::to_owned));
        projects.iter().map(pair).collect()
    });
    let pairs: Vec<(String, Option<String>)> = whole.unwrap_or_else(|| {
        problems.push(Problem {
            file: Arc::from(path.to_string_lossy()),
            span: None,
            what: What::BrokenDocument,
            done: "its whole entries are used; other projects are told by markers and hashes"
                .into(),
        });
        let text = "projects.json is damaged; its whole entries are used".to_owned();
        registry.notes.push(RegistryNote { slug: None, text });
        salvage(&bytes)
    });
    let mut taken: BTreeMap<String, RecordedPath> = BTreeMap::new();
    for (path, slug) in pairs.into_iter().filter(|(path, _)| !path.is_empty()) {
        let path = RecordedPath::new(path);
        if let Some(slug) = &slug {
            if let Some(other) = taken.get(slug) {
                let text = format!("projects.json gives this name to both {other} and {path}");
                registry.notes.push(RegistryNote { slug: Some(slug.clone()), text });
            } else {
                taken.insert(slug.clone(), path.clone());
            }
        }
        registry.entries.push(Registered { path, slug, from: "projects.json" });
    }
    registry
}

/// Returns the pairs of a path and a name that are complete in a damaged file.
fn salvage(bytes: &[u8]) -> Vec<(String, Option<String>)> {
    let mut pairs = Vec::new();
    let mut key: Option<String> = None;
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'"', rest) {
        let between = rest.get(..at).unwrap_or_default().trim_ascii();
        rest = rest.get(at..).unwrap_or_default();
        let Some(end) = closing_quote(rest) else { break };
        let quoted = rest.get(..=end).unwrap_or_default();
        rest = rest.get(end + 1..).unwrap_or_default();
        let text = JsonTree::parse(quoted).ok().and_then(|tree| tree.as_str().map(str::to_owned));
        match (key.take(), text) {
            (Some(path), Some(slug)) if between == b":" => pairs.push((path, Some(slug))),
            (_, text) => key = text.filter(|text| text.contains(['/', '\\'])),
        }
    }
    pairs
}

/// Returns the end of the string at the start of `bytes`.
fn closing_quote(bytes: &[u8]) -> Option<usize> {
    let mut escaped = false;
    let closes = |&(_, &byte): &(usize, &u8)| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    };
    bytes.iter().enumerate().skip(1).find(closes).map(|(at, _)| at)
}

/// Reads the keys of `trustedFolders.json`: folders that exist or existed.
pub(crate) fn trusted(root: &Path) -> Vec<Registered> {
    let tree = read_small(&root.join("trustedFolders.json"))
        .ok()
        .and_then(|b| JsonTree::parse(&without_comments(&b)).ok());
    let keys = tree.as_ref().and_then(JsonTree::as_object).unwrap_or_default();
    let entry = |(path, _): &(String, JsonTree)| Registered {
        path: RecordedPath::new(path.as_str()),
        slug: None,
        from: "trustedFolders.json",
    };
    keys.iter().map(entry).collect()
}

/// Replaces comments by spaces; the agent allows them in its settings.
fn without_comments(bytes: &[u8]) -> Vec<u8> {
    let mut text = bytes.to_vec();
    let mut at = 0;
    while at < text.len() {
        let rest = text.get(at..).unwrap_or_default();
        let length = match rest {
            [b'"', ..] => {
                at += closing_quote(rest).unwrap_or(rest.len()) + 1;
                continue;
            }
            [b'/', b'/', ..] => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            [b'/', b'*', ..] => memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2),
            _ => {
                at += 1;
                continue;
            }
        };
        if let Some(comment) = text.get_mut(at..at + length) {
            comment.fill(b' ');
        }
        at += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_over_the_path_as_written() {
        let hash = hash("/home/dev/code/shop");
        assert!(hash.as_str().starts_with("52efbb07"), "{hash}");
        assert!(hash.as_str().ends_with("46bee"), "{hash}");
    }

    #[test]
    fn the_slug_is_made_as_the_agent_makes_it() {
        for (path, name) in [
            ("/home/dev/code/shop", "shop"),
            ("/home/dev/code/Shop", "shop"),
            ("/home/dev/code/api server", "api-server"),
            ("/home/dev/code/my.app_v2!", "my-app-v2"),
            ("/home/dev/工作/笔记", "project"),
            ("/home/dev/_a_", "a"),
            ("/", "project"),
        ] {
            assert_eq!(slug(&RecordedPath::new(path)), name, "{path}");
        }
        assert!(is_slug("shop-1") && !is_slug("Shop") && !is_slug("") && !is_slug("my_app"));
    }

    #[test]
    fn whole_entries_of_a_damaged_registry_are_used() {
        let cut =
            br#"{"projects": {"/home/dev/a \"b\"": "a-b", "/home/dev/c": "c", "/home/dev/d": "#;
        let pairs = salvage(cut);
        let expected = [("/home/dev/a \"b\"", "a-b"), ("/home/dev/c", "c")];
        let expected = expected.map(|(path, slug)| (path.to_owned(), Some(slug.to_owned())));
        assert_eq!(pairs, expected);
        assert!(salvage(b"\x00\"\"\"::").is_empty());
    }

    #[test]
    fn trusted_folders_may_have_comments() {
        let text = br#"{ // mine
            "/home/dev//x": "TRUST_FOLDER", /* "/no": 1, */ "/b": "DO_NOT_TRUST" }"#;
        let tree = JsonTree::parse(&without_comments(text)).unwrap();
        let keys: Vec<&str> =
            tree.as_object().unwrap().iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["/home/dev//x", "/b"]);
    }
}
