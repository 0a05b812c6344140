//! Which folder a project directory stands for, and how that is known.
//!
//! A path whose hash is the directory's name is proven. So is one that the agent itself wrote into the directory, as
//! long as nothing contradicts it. A registry entry alone suggests.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use recount_formats::Source;
use recount_formats::source::{ProjectFolder, Registered};
use recount_model::{Clue, Project, ProjectHash, ProjectState, RecordedPath, SourceName};

/// Paths that might be a project's, each with where it was found.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    paths: Vec<(RecordedPath, String)>,
    seen: BTreeSet<String>,
    /// Per source, the place of each hash in `paths`; made when first asked for.
    hashes: RefCell<BTreeMap<SourceName, BTreeMap<ProjectHash, usize>>>,
}

impl Candidates {
    /// Adds a path and every folder above it.
    pub fn add_with_ancestors(&mut self, path: &str, from: &str) {
        // A root ends in its separator: `/`, `C:\`.
        let root = path.find(['/', '\\']).and_then(|at| path.get(..=at)).unwrap_or_default();
        if (root == "/" || root.ends_with(":\\")) && self.seen.insert(root.to_owned()) {
            self.paths.push((RecordedPath::new(root), from.to_owned()));
        }
        let mut rest = path.trim_end_matches(['/', '\\']);
        while rest.len() > 1 && self.seen.insert(rest.to_owned()) {
            self.paths.push((RecordedPath::new(rest), from.to_owned()));
            match rest.rfind(['/', '\\']) {
                Some(at) if at > 0 => rest = rest.get(..at).unwrap_or_default(),
                _ => break,
            }
        }
        self.hashes.take();
    }

    /// Returns the path whose hash is `hash`, and where it was found.
    fn prove(&self, source: &dyn Source, hash: &ProjectHash) -> Option<&(RecordedPath, String)> {
        let mut hashes = self.hashes.borrow_mut();
        let by_hash = hashes.entry(source.name()).or_insert_with(|| {
            let paths = self.paths.iter().map(|(path, _)| source.project_hash(path));
            paths.enumerate().map(|(at, hash)| (hash, at)).collect()
        });
        by_hash.get(hash).and_then(|&at| self.paths.get(at))
    }
}

/// Says which folder `folder` stands for. `written` is the hash that its sessions carry.
pub fn resolve(
    source: &dyn Source,
    folder: &ProjectFolder,
    written: Option<&ProjectHash>,
    registry: &[Registered],
    candidates: &Candidates,
) -> Project {
    let mut evidence = Vec::new();
    let mut path = None;
    if let Some(hash) = folder.hash.as_ref().or(written.filter(|_| folder.markers.is_empty()))
        && let Some((proven, from)) = candidates.prove(source, hash)
    {
        evidence.push(clue("hash", format!("SHA-256 of the path, found in {from}"), true));
        path = Some(proven.clone());
    }
    for (marked, from) in &folder.markers {
        let contradicts = path.as_ref().is_some_and(|path| path != marked);
        let detail =
            if contradicts { format!("{from} names {marked} instead") } else { (*from).to_owned() };
        evidence.push(clue("marker", detail, !contradicts));
        path.get_or_insert_with(|| marked.clone());
    }
    for entry in registry.iter().filter(|entry| entry.slug.as_deref() == Some(&folder.name)) {
        let agrees = path.as_ref().is_none_or(|path| *path == entry.path);
        let detail = if agrees {
            entry.from.to_owned()
        } else {
            format!("{} names {}", entry.from, entry.path)
        };
        evidence.push(clue("registry", detail, false));
        path.get_or_insert_with(|| entry.path.clone());
    }
    let state = path.as_ref().map_or(ProjectState::Unknown, state);
    Project {
        state,
        slug: folder.hash.is_none().then(|| folder.name.clone()),
        hash: folder
            .hash
            .clone()
            .or_else(|| path.as_ref().map(|path| source.project_hash(path)))
            .or_else(|| written.cloned()),
        path,
        evidence,
    }
}

fn clue(clue: &'static str, detail: String, proves: bool) -> Clue {
    Clue { clue, detail, proves }
}

fn state(path: &RecordedPath) -> ProjectState {
    if Path::new(path.as_str()).is_dir() { ProjectState::Present } else { ProjectState::Missing }
}
