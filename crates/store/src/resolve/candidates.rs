//! Paths that may be a project's, each with its origins.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use recount_formats::Source;
use recount_model::{ClueKind, ProjectHash, RecordedPath, SourceName};

/// The maximum number of paths; a machine has fewer relevant folders.
const MOST: usize = 1_000_000;
/// The maximum number of origins per path.
const ORIGINS: usize = 4;

/// Where a path was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateOrigin {
    /// The kind of place.
    pub kind: ClueKind,
    /// The place.
    pub detail: String,
}

/// Paths that may be a project's, each with its origins.
#[derive(Debug, Default)]
pub struct Candidates {
    paths: Vec<Known>,
    seen: HashMap<String, usize>,
    hashes: Mutex<BTreeMap<SourceName, Hashes>>,
}

/// A path and its origins.
#[derive(Clone, Debug)]
struct Known {
    path: RecordedPath,
    origins: Vec<CandidateOrigin>,
    /// Whether its parent folders are candidates, too.
    with_ancestors: bool,
}

/// The index of each hash, as far as the paths are hashed.
#[derive(Clone, Debug, Default)]
struct Hashes {
    places: HashMap<ProjectHash, usize>,
    hashed: usize,
}

impl Candidates {
    /// Adds a path in each way that its system might write it.
    pub fn add(&mut self, path: &str, kind: ClueKind, detail: &str) {
        for path in spellings(path) {
            self.insert(&path, kind, detail);
        }
    }

    /// Adds a path and all of its parent folders.
    pub fn add_with_ancestors(&mut self, path: &str, kind: ClueKind, detail: &str) {
        for path in spellings(path) {
            let mut rest = Some(path.as_str());
            while let Some(path) = rest {
                self.insert(path, kind, detail);
                let known = self.seen.get(path).and_then(|&at| self.paths.get_mut(at));
                let Some(known) = known.filter(|known| !known.with_ancestors) else { break };
                known.with_ancestors = true;
                rest = above(path);
            }
        }
    }

    /// Adds one path.
    fn insert(&mut self, path: &str, kind: ClueKind, detail: &str) {
        let origin = || CandidateOrigin { kind, detail: detail.to_owned() };
        if let Some(Known { origins, .. }) =
            self.seen.get(path).and_then(|&at| self.paths.get_mut(at))
        {
            if origins.len() < ORIGINS && !origins.contains(&origin()) {
                origins.push(origin());
            }
        } else if !path.is_empty() && self.paths.len() < MOST {
            self.seen.insert(path.to_owned(), self.paths.len());
            let (path, origins) = (RecordedPath::new(path), vec![origin()]);
            self.paths.push(Known { path, origins, with_ancestors: false });
        }
    }

    /// Returns the path whose hash is `hash`, and its origin.
    pub fn prove(
        &self,
        source: &dyn Source,
        hash: &ProjectHash,
    ) -> Option<(&RecordedPath, &[CandidateOrigin])> {
        let mut hashes = self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        let known = hashes.entry(source.name()).or_default();
        for Known { path, .. } in self.paths.get(known.hashed..).unwrap_or_default() {
            if let Some(hash) = source.project_hash(path.as_str()) {
                known.places.insert(hash, known.hashed);
            }
            known.hashed += 1;
        }
        let Known { path, origins, .. } = self.paths.get(*known.places.get(hash)?)?;
        Some((path, origins))
    }

    /// Lists the paths in the order they were found.
    pub fn paths(&self) -> impl Iterator<Item = (&RecordedPath, &[CandidateOrigin])> {
        self.paths.iter().map(|known| (&known.path, known.origins.as_slice()))
    }
}

/// Returns the parent folder; a root ends in its separator: `/`, `C:\`.
fn above(path: &str) -> Option<&str> {
    let at = path.rfind(['/', '\\'])?;
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    match at {
        0 if path.len() > 1 => path.get(..1),
        2 if is_drive && path.len() > 3 => path.get(..3),
        _ if at == 0 || (is_drive && at == 2) => None,
        _ => path.get(..at),
    }
}

/// Returns the possible spellings of the same folder: a drive letter in either case, either separator, and the form it has
/// in a container or a Unix shell on Windows.
fn spellings(path: &str) -> Vec<String> {
    let trimmed = match path.trim_end_matches(['/', '\\']) {
        "" if path.starts_with('/') => "/",
        trimmed if trimmed.ends_with(':') => path,
        trimmed => trimmed,
    };
    let Some((drive, rest)) = drive(trimmed) else { return vec![trimmed.to_owned()] };
    let rest = rest.replace('\\', "/");
    let back = rest.replace('/', "\\");
    let (upper, lower) = (drive.to_ascii_uppercase(), drive.to_ascii_lowercase());
    let mut all = vec![trimmed.to_owned()];
    for spelling in [
        format!("{upper}:{back}"),
        format!("{lower}:{back}"),
        format!("{upper}:{rest}"),
        format!("{lower}:{rest}"),
        format!("/{lower}{rest}"),
        format!("/mnt/{lower}{rest}"),
    ] {
        if !all.contains(&spelling) {
            all.push(spelling);
        }
    }
    all
}

/// Splits a path on a Windows drive, in any spelling, into the drive letter and the rest.
fn drive(path: &str) -> Option<(char, &str)> {
    let mut letters = path.chars();
    if let (Some(drive), Some(':'), Some('\\' | '/')) =
        (letters.next(), letters.next(), letters.next())
        && drive.is_ascii_alphabetic()
    {
        return Some((drive, path.get(2..)?));
    }
    let unix = path.strip_prefix("/mnt/").or_else(|| path.strip_prefix('/'))?;
    let mut letters = unix.chars();
    let drive = letters.next().filter(char::is_ascii_alphabetic)?;
    (letters.next() == Some('/')).then_some((drive, unix.get(1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(path: &str) -> Vec<String> {
        let mut candidates = Candidates::default();
        candidates.add_with_ancestors(path, ClueKind::Text, "a test");
        candidates.paths().map(|(path, _)| path.as_str().to_owned()).collect()
    }

    #[test]
    fn every_folder_above_a_path_is_a_candidate() {
        assert_eq!(all("/home/dev/code/"), ["/home/dev/code", "/home/dev", "/home", "/"]);
        assert_eq!(all("/"), ["/"]);
        assert!(all("").is_empty());
    }

    #[test]
    fn a_windows_path_is_tried_in_every_spelling() {
        let paths = all(r"c:\Users\dev\Shop");
        for path in [
            r"C:\Users\dev\Shop",
            r"c:\Users\dev\Shop",
            "C:/Users/dev/Shop",
            "/c/Users/dev/Shop",
            "/mnt/c/Users/dev/Shop",
            r"C:\Users",
            r"C:\",
        ] {
            assert!(paths.iter().any(|known| known == path), "{path} not in {paths:?}");
        }
        assert!(all("/c/work").contains(&r"C:\work".to_owned()));
        assert_eq!(all("/home/x").len(), 3, "not a drive");
    }

    #[test]
    fn the_folders_above_are_added_even_when_the_path_was_known_alone() {
        let mut candidates = Candidates::default();
        candidates.add("/srv/b/c", ClueKind::Scan, "found before");
        candidates.add("/srv/b", ClueKind::Scan, "found before");
        candidates.add_with_ancestors("/srv/b/c/d.rs", ClueKind::Text, "a test");
        let paths: Vec<&str> = candidates.paths().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["/srv/b/c", "/srv/b", "/srv/b/c/d.rs", "/srv", "/"]);
    }

    #[test]
    fn a_path_found_twice_has_two_origins() {
        let mut candidates = Candidates::default();
        candidates.add_with_ancestors("/a/b", ClueKind::Text, "one");
        candidates.add("/a/b", ClueKind::Registry, "two");
        candidates.add("/a/b", ClueKind::Registry, "two");
        let (_, origins) = candidates.paths().next().unwrap();
        assert_eq!(origins.len(), 2);
    }
}
