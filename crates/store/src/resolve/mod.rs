//! Resolves a project directory to a folder, with evidence.
//!
//! A path is proven if its hash is the directory's name or is in its sessions. All else is a suggestion with a weight: what
//! the agent itself uses comes first, so that our answer is the agent's as long as it has one.

mod candidates;
mod rank;

use recount_formats::Source;
use recount_formats::source::{ProjectFolder, Registered, RegistryNote};
use recount_model::{Clue, ClueKind, Project, ProjectHash, ProjectState, RecordedPath};

pub use candidates::{CandidateOrigin, Candidates};
use rank::{MARKER, OTHER_MARKER, PROOF, REGISTRY, weight};

/// A project directory and its context.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The source.
    pub source: &'static dyn Source,
    /// The directory.
    pub folder: &'a ProjectFolder,
    /// The hashes in its sessions, most frequent first, with the number of sessions.
    pub hashes: &'a [(ProjectHash, usize)],
    /// The agent's own record of projects.
    pub registry: &'a [Registered],
    /// Inconsistencies in that record.
    pub notes: &'a [RegistryNote],
    /// Paths in the directory's own sessions.
    pub own: &'a Candidates,
}

impl Case<'_> {
    /// Returns the hash of the path to find.
    pub fn wanted(&self) -> Option<&ProjectHash> {
        self.folder.hash.as_ref().or_else(|| self.hashes.first().map(|(hash, _)| hash))
    }

    /// Resolves the directory to a folder. Whether that folder exists is checked later.
    pub fn resolve(&self, candidates: &Candidates) -> Project {
        let mut evidence = Vec::new();
        let named = self.named();
        let proven = self.proven(candidates);
        // Two paths may have one name; then the sessions decide.
        let is_proven = |path: &RecordedPath| proven.is_some_and(|(proven, _)| proven == path);
        let strongest = named.iter().max_by_key(|named| (named.weight, is_proven(named.path)));
        let strongest = strongest.map(|named| named.path);
        // The agent uses its markers even if the sessions were recorded elsewhere.
        let path = match (&self.folder.hash, strongest, &proven) {
            (Some(_), _, Some((path, _))) | (None, None, Some((path, _))) => Some(*path),
            (_, Some(path), _) => Some(path),
            _ => None,
        }
        .cloned()
        .or_else(|| self.suggested(&mut evidence));
        if let Some(path) = &path {
            self.judge(path, &named, proven, &mut evidence);
        }
        self.note(path.as_ref(), candidates, &mut evidence);
        let own = || path.as_ref().and_then(|path| self.source.project_hash(path.as_str()));
        let hash = self.folder.hash.clone().or_else(own).or_else(|| self.wanted().cloned());
        let state = if path.is_some() { ProjectState::Missing } else { ProjectState::Unknown };
        let slug = self.folder.hash.is_none().then(|| self.folder.name.clone());
        Project { path, state, slug, hash, alias: None, evidence }
    }

    /// Returns the paths that the agent's own files name for this directory.
    fn named(&self) -> Vec<Named<'_>> {
        let mut named = Vec::new();
        for (at, (path, detail)) in self.folder.markers.iter().enumerate() {
            let weight = if at == 0 { MARKER } else { OTHER_MARKER };
            named.push(Named { path, kind: ClueKind::Marker, detail, weight });
        }
        let own = |entry: &&Registered| entry.slug.as_deref() == Some(&self.folder.name);
        for entry in self.registry.iter().filter(own) {
            let (path, detail) = (&entry.path, entry.from);
            named.push(Named { path, kind: ClueKind::Registry, detail, weight: REGISTRY });
        }
        named
    }

    fn proven<'c>(
        &self,
        candidates: &'c Candidates,
    ) -> Option<(&'c RecordedPath, &'c [CandidateOrigin])> {
        candidates.prove(self.source, self.wanted()?)
    }

    /// Weighs the evidence for `path` and notes the evidence against it.
    fn judge(
        &self,
        path: &RecordedPath,
        named: &[Named<'_>],
        proven: Option<(&RecordedPath, &[CandidateOrigin])>,
        evidence: &mut Vec<Clue>,
    ) {
        let hash = self.source.project_hash(path.as_str());
        let is_name = hash.is_some() && self.folder.hash == hash;
        for named in named {
            let agrees = named.path == path;
            let weight = if is_name && agrees { PROOF } else { named.weight };
            evidence.push(Clue {
                clue: named.kind,
                detail: named.detail.to_owned(),
                proves: is_name && agrees,
                weight,
                names: (!agrees).then(|| named.path.clone()),
            });
        }
        // What the agent itself uses needs no more evidence.
        let is_named = named.iter().any(|named| named.path == path);
        let places = proven.filter(|(proven, _)| *proven == path && !is_named);
        let places = places.map(|(_, origins)| origins);
        for origin in places.into_iter().flatten() {
            let known = |clue: &Clue| clue.clue == origin.kind && clue.detail == origin.detail;
            if evidence.iter().any(known) {
                continue;
            }
            let weight = if is_name { PROOF } else { weight(origin.kind) };
            let (clue, detail) = (origin.kind, origin.detail.clone());
            evidence.push(Clue { clue, detail, proves: is_name, weight, names: None });
        }
        if self.hashes.iter().any(|(written, _)| Some(written) == hash.as_ref()) {
            let detail = "session files carry the SHA-256 of the path".to_owned();
            let clue = ClueKind::SessionHash;
            // If the directory's name differs, its sessions may have come from elsewhere.
            let is_proof = is_name || self.folder.hash.is_none();
            let weight = if is_proof { PROOF } else { weight(clue) };
            evidence.push(Clue { clue, detail, proves: is_proof, weight, names: None });
        }
    }

    /// Without a proof, a path in the directory's own sessions may suggest a folder by its name.
    fn suggested(&self, evidence: &mut Vec<Clue>) -> Option<RecordedPath> {
        if self.folder.hash.is_some() || !self.hashes.is_empty() {
            // The right path would have been proven.
            return None;
        }
        let fits = self.own.paths().filter_map(|(path, origins)| {
            let origin = origins.iter().max_by_key(|origin| weight(origin.kind))?;
            self.source.is_directory_of(&self.folder.name, path).then_some((path, origin))
        });
        let (path, origin) = fits.max_by_key(|(_, origin)| weight(origin.kind))?;
        evidence.push(Clue {
            clue: origin.kind,
            detail: origin.detail.clone(),
            proves: false,
            weight: weight(origin.kind),
            names: None,
        });
        Some(path.clone())
    }

    /// Adds notes about inconsistencies.
    fn note(&self, path: Option<&RecordedPath>, candidates: &Candidates, evidence: &mut Vec<Clue>) {
        let mut notes: Vec<(String, Option<RecordedPath>)> = Vec::new();
        let hash = path.and_then(|path| self.source.project_hash(path.as_str()));
        if let (Some(hash), Some(name)) = (&hash, &self.folder.hash)
            && hash != name
        {
            notes.push(("the directory's name is the hash of another path".to_owned(), None));
        }
        for (written, count) in self
            .hashes
            .iter()
            .filter(|(written, _)| hash.is_some() && Some(written) != hash.as_ref())
        {
            let other = candidates.prove(self.source, written).map(|(path, _)| path.clone());
            let words = if *count == 1 { "file here carries" } else { "files here carry" };
            notes.push((format!("{count} {words} the hash of another folder"), other));
        }
        let ours =
            |note: &&RegistryNote| note.slug.as_ref().is_none_or(|slug| *slug == self.folder.name);
        let around = self.notes.iter().filter(ours).map(|note| &note.text);
        notes.extend(around.chain(&self.folder.notes).map(|note| (note.clone(), None)));
        evidence.extend(notes.into_iter().map(|(detail, names)| Clue {
            clue: ClueKind::Note,
            detail,
            proves: false,
            weight: 0,
            names,
        }));
    }
}

/// A path that the agent's own files name for a directory.
struct Named<'a> {
    path: &'a RecordedPath,
    kind: ClueKind,
    detail: &'a str,
    weight: u8,
}
