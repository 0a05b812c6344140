//! Which files are one session: a session is one file, but files are copied.

use std::collections::BTreeMap;

use recount_model::{FileRole, SessionId, SessionKind};

use super::locate::parent_in_path;
use crate::source::{ScannedFile, SessionFile, SessionFiles};

/// Sorts files into sessions. Of files with the same id in several directories the one written last is the session, the others are
/// copies of it.
pub(crate) fn group_sessions(files: Vec<ScannedFile>) -> Vec<SessionFiles> {
    let mut sessions: BTreeMap<(Option<SessionId>, SessionId), Vec<ScannedFile>> = BTreeMap::new();
    for file in files {
        let head = &file.outline.head;
        let by_path =
            parent_in_path(&file.at.path).filter(|_| !file.is_shared || head.parent.is_none());
        let parent = by_path.or_else(|| head.parent.clone());
        let stem = || file.at.path.file_stem().unwrap_or_default().to_string_lossy();
        let id = head.session_id.clone().unwrap_or_else(|| SessionId::new(stem()));
        sessions.entry((parent, id)).or_default().push(file);
    }
    sessions.into_iter().map(|((parent, id), files)| one(id, parent, files)).collect()
}

fn one(id: SessionId, parent: Option<SessionId>, mut files: Vec<ScannedFile>) -> SessionFiles {
    let is_agent = parent.is_some() || files.iter().any(|file| file.outline.head.subagent);
    let kind = if is_agent { SessionKind::Subagent } else { SessionKind::Main };
    let age = |file: &ScannedFile| {
        let outline = &file.outline;
        (outline.has_conversation, outline.head.updated.or(file.at.modified), outline.entries.len())
    };
    files
        .sort_by(|one, next| age(one).cmp(&age(next)).then_with(|| next.at.path.cmp(&one.at.path)));
    let last = files.len().saturating_sub(1);
    let member = |(at, file): (usize, ScannedFile)| {
        let role = if at == last {
            FileRole::Main
        } else if file.outline.has_conversation {
            FileRole::Copy
        } else {
            FileRole::Stub
        };
        SessionFile { role, compressed: false, is_loaded: false, file }
    };
    SessionFiles { id, kind, parent, files: files.into_iter().enumerate().map(member).collect() }
}
