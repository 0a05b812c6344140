//! Groups files into sessions, for sources without rules of their own.

use std::collections::BTreeMap;

use recount_model::{FileRole, SessionId, SessionKind};

use crate::source::{FilePlacement, ScannedFile, SessionFile, SessionFiles};

/// Groups files by their session id; a file without one is a session by its name. Of several files the most recent is the
/// main one.
pub(crate) fn by_session_id(files: Vec<ScannedFile>) -> Vec<SessionFiles> {
    let mut sessions: BTreeMap<(Option<SessionId>, SessionId), Vec<ScannedFile>> = BTreeMap::new();
    for file in files {
        let parent = match &file.at.placement {
            FilePlacement::SubagentOf(parent) => Some(parent.clone()),
            FilePlacement::Main | FilePlacement::Leftover => file.outline.head.parent.clone(),
        };
        let name = || file.at.path.file_stem().unwrap_or_default().to_string_lossy();
        let id = file.outline.head.session_id.clone().unwrap_or_else(|| SessionId::new(name()));
        sessions.entry((parent, id)).or_default().push(file);
    }
    sessions.into_iter().map(|((parent, id), files)| one(id, parent, files)).collect()
}

fn one(id: SessionId, parent: Option<SessionId>, mut files: Vec<ScannedFile>) -> SessionFiles {
    files
        .sort_by_key(|file| (file.outline.head.updated.or(file.at.modified), file.at.path.clone()));
    let is_subagent = parent.is_some() || files.iter().any(|file| file.outline.head.subagent);
    let kind = if is_subagent { SessionKind::Subagent } else { SessionKind::Main };
    let last = files.len().saturating_sub(1);
    let member = |(at, file): (usize, ScannedFile)| {
        let role = if at == last { FileRole::Main } else { FileRole::Part };
        SessionFile { role, compressed: false, is_loaded: false, file }
    };
    let members = files.into_iter().enumerate().map(member).collect();
    SessionFiles { id, kind, parent, files: members }
}
