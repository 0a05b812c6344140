//! Which folder a project directory stands for, and how that is known.
//!
//! A path whose hash is the directory's name is proven. So is one that the agent itself wrote into the directory, as
//! long as nothing contradicts it. A registry entry alone suggests.

use std::collections::BTreeSet;
use std::path::Path;

use recount_formats::Source;
use recount_formats::source::{ProjectFolder, Registered};
use recount_model::{Clue, Project, ProjectState, RecordedPath};

/// Paths that might be a project's, each with where it was found.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    paths: Vec<(RecordedPath, String)>,
    seen: BTreeSet<String>,
}

impl Candidates {
    /// Adds a path and every folder above it.
    pub fn add_with_ancestors(&mut self, path: &str, from: &str) {
        let mut rest = path.trim_end_matches(['/', '\\']);
        while rest.len() > 1 && self.seen.insert(rest.to_owned()) {
            self.paths.push((RecordedPath::new(rest), from.to_owned()));
            match rest.rfind(['/', '\\']) {
                Some(at) if at > 0 => rest = rest.get(..at).unwrap_or_default(),
                _ => break,
            }
        }
    }
}

/// Says which folder `folder` stands for.
pub fn resolve(
    source: &dyn Source,
    folder: &ProjectFolder,
    registry: &[Registered],
    candidates: &Candidates,
) -> Project {
    let mut evidence = Vec::new();
    let mut path = None;
    if let Some(hash) = &folder.hash {
        let known = registry.iter().map(|entry| (&entry.path, entry.from));
        let found = candidates.paths.iter().map(|(path, from)| (path, from.as_str()));
        let proven = known.chain(found).find(|(path, _)| source.project_hash(path) == *hash);
        if let Some((proven, from)) = proven {
            evidence.push(clue("hash", format!("SHA-256 of the path, found in {from}"), true));
            path = Some(proven.clone());
        }
    }
    for (marked, from) in &folder.markers {
        let contradicts = path.as_ref().is_some_and(|path| path != marked);
        let detail = if contradicts { format!("{from} names {marked} instead") } else { (*from).to_owned() };
        evidence.push(clue("marker", detail, !contradicts));
        path.get_or_insert_with(|| marked.clone());
    }
    for entry in registry.iter().filter(|entry| entry.slug.as_deref() == Some(&folder.name)) {
        let agrees = path.as_ref().is_none_or(|path| *path == entry.path);
        let detail = if agrees { entry.from.to_owned() } else { format!("{} names {}", entry.from, entry.path) };
        evidence.push(clue("registry", detail, false));
        path.get_or_insert_with(|| entry.path.clone());
    }
    let state = path.as_ref().map_or(ProjectState::Unknown, state);
    Project {
        state,
        slug: folder.hash.is_none().then(|| folder.name.clone()),
        hash: folder.hash.clone().or_else(|| path.as_ref().map(|path| source.project_hash(path))),
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
