//! All files of a session: its own, its sub-agents', and its artifacts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_engine::disk::DiskSnapshot;
use recount_formats::SOURCES;
use recount_formats::source::{Artifact, ArtifactKind};
use recount_model::{FileRole, SessionFacts, SessionKind};
use recount_writer::vault::FileOwner;

use crate::sessions::steps::{SUBAGENT, role};

/// A file of a session.
#[derive(Clone, Debug)]
pub(crate) struct OwnedFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    pub(crate) whose: FileOwner,
}

/// Lists all files of a session. Those of a sub-agent belong to its parent, if that is known; a stub has no content.
pub(crate) fn files_of(
    facts: &SessionFacts,
    sessions: &[Arc<SessionFacts>],
    disk: &DiskSnapshot,
) -> Vec<OwnedFile> {
    let is_parent = |other: &&SessionFacts| {
        other.source == facts.source && Some(&other.id) == facts.parent.as_ref()
    };
    let of = sessions.iter().map(|other| &**other).find(is_parent).unwrap_or(facts);
    let whose = |what: &str, used| FileOwner {
        source: facts.source.to_string(),
        session: of.id.to_string(),
        title: of.title.clone(),
        project: of.project.path.as_ref().map(|path| path.as_str().to_owned()),
        what: what.to_owned(),
        used,
    };
    let source = SOURCES.iter().find(|source| source.name() == facts.source);
    let policy = source.and_then(|source| source.retention_policy());
    let speaks = facts.own_files().any(|file| file.role != FileRole::Stub);
    let mut files = Vec::new();
    for (at, file) in facts.own_files().enumerate() {
        if speaks && file.role == FileRole::Stub {
            continue;
        }
        let used =
            policy.zip(facts.states.get(at)).and_then(|(policy, state)| policy.last_used(state));
        let what = if facts.kind == SessionKind::Subagent { SUBAGENT } else { role(file.role) };
        let path = PathBuf::from(&file.path);
        files.push(OwnedFile { path, bytes: file.bytes, whose: whose(what, used) });
    }
    if facts.kind == SessionKind::Subagent {
        return files;
    }
    let Some(source) = source else { return files };
    let own: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    let is_home = |folder: &Path| own.iter().any(|file| file.starts_with(folder));
    for folder in disk.folders.iter().filter(|folder| is_home(&folder.at.path)) {
        for Artifact { path, kind } in source.artifacts(&folder.at, &facts.id, &own).files {
            // Sub-agents are sessions of their own in the list.
            if kind == ArtifactKind::Subagent
                && path.extension().is_some_and(|e| e == "json" || e == "jsonl")
            {
                continue;
            }
            let Ok(metadata) = path.symlink_metadata() else { continue };
            files.push(OwnedFile {
                path,
                bytes: metadata.len(),
                whose: whose(kind.as_str(), None),
            });
        }
    }
    files
}
