//! Which rollouts are one thread.
//!
//! A thread that was reverted goes on in a new file, which begins where an older one was cut. The newest is the one that is
//! loaded, with the starts of those it goes on from; what was cut off is undone.

use std::collections::{BTreeMap, HashMap, HashSet};

use recount_model::{Fate, FileRole, SessionId, SessionKind};

use crate::outline::{Base, Outline};
use crate::source::{ScannedFile, SessionFile, SessionFiles};

use super::names;
use super::state::CodexState;

/// Sorts files into threads.
pub(super) fn group_sessions(files: Vec<ScannedFile>) -> Vec<SessionFiles> {
    let mut threads: BTreeMap<SessionId, Vec<ScannedFile>> = BTreeMap::new();
    for file in files {
        let id = file.outline.head.session_id.clone().unwrap_or_else(|| by_name(&file));
        threads.entry(id).or_default().push(file);
    }
    threads.into_iter().map(|(id, files)| thread(id, files)).collect()
}

fn by_name(file: &ScannedFile) -> SessionId {
    match names::of_path(&file.at.path) {
        Some(name) => SessionId::new(name.thread),
        None => SessionId::new(file.at.path.file_stem().unwrap_or_default().to_string_lossy()),
    }
}

/// Returns the rollout's id and the time in the name.
fn rollout(file: &ScannedFile) -> (String, String) {
    let name = names::of_path(&file.at.path);
    name.map(|name| (name.time.to_owned(), name.rollout.to_owned())).unwrap_or_default()
}

fn is_compressed(file: &ScannedFile) -> bool {
    file.at.path.extension().is_some_and(|ending| ending == "zst")
}

fn is_archived(file: &ScannedFile) -> bool {
    file.at
        .path
        .parent()
        .and_then(|folder| folder.file_name())
        .is_some_and(|name| name == "archived_sessions")
}

fn thread(id: SessionId, mut files: Vec<ScannedFile>) -> SessionFiles {
    // By the time in the name, then by id; of equal ones that comes last which the agent takes: the plain one before the
    // compressed one, the active one before the archived one.
    files.sort_by_cached_key(|file| {
        let unread = file.outline.is_unread();
        (rollout(file), !unread, !is_archived(file), !is_compressed(file), file.at.path.clone())
    });
    let last = files.len().saturating_sub(1);
    let newest = files.last().map(rollout);
    let is_subagent = files.last().is_some_and(|file| file.outline.head.subagent);
    let parent = files.last().and_then(|file| file.outline.head.parent.clone());
    let mut members: Vec<SessionFile> = Vec::with_capacity(files.len());
    let mut files = files.into_iter().enumerate().peekable();
    while let Some((at, file)) = files.next() {
        let is_same = |next: Option<&(usize, ScannedFile)>| {
            next.is_some_and(|(_, next)| rollout(next) == rollout(&file))
        };
        let role = if at == last {
            FileRole::Main
        } else if is_same(files.peek()) || newest.as_ref() == Some(&rollout(&file)) {
            if is_compressed(&file) { FileRole::Twin } else { FileRole::Copy }
        } else {
            FileRole::Part
        };
        members.push(SessionFile { role, compressed: false, is_loaded: false, file });
    }
    go_on(&mut members);
    let is_subagent = is_subagent || parent.is_some();
    let kind = if is_subagent { SessionKind::Subagent } else { SessionKind::Main };
    SessionFiles { id, kind, parent: parent.filter(|_| is_subagent), files: members }
}

/// Follows what the main file goes on from, and says what of the others was undone.
fn go_on(members: &mut [SessionFile]) {
    let Some(main) = members.iter().position(|member| member.role == FileRole::Main) else {
        return;
    };
    let holders = holders(members);
    let mut loaded = HashSet::from([main]);
    let mut next = members.get(main).and_then(|member| CodexState::read(&member.file.outline).base);
    while let Some((rollout, end)) = next.take() {
        let at = holders.get(&*rollout).copied();
        let Some(at) = at.filter(|at| loaded.insert(*at)) else { break };
        let Some(member) = members.get_mut(at) else { break };
        member.is_loaded = true;
        undo_from(&mut member.file.outline, end);
        next = CodexState::read(&member.file.outline).base;
        let foreign = member.file.outline.head.base.clone();
        let foreign = foreign.filter(|_| {
            next.as_ref().is_some_and(|(rollout, _)| !holders.contains_key(&**rollout))
        });
        if let Some(main) = members.get_mut(main) {
            main.file.outline.head.base = foreign;
        }
    }
    for (at, member) in members.iter_mut().enumerate() {
        if member.role == FileRole::Part && !loaded.contains(&at) {
            undo_from(&mut member.file.outline, 0);
        }
    }
}

/// Returns the file of each rollout that is one of the thread's own stretches.
fn holders(members: &[SessionFile]) -> HashMap<String, usize> {
    let mut holders = HashMap::new();
    for (at, member) in members.iter().enumerate() {
        if matches!(member.role, FileRole::Part | FileRole::Main) {
            holders.entry(rollout(&member.file).1).or_insert(at);
        }
    }
    holders
}

/// Marks what was recorded at or behind an offset as undone.
fn undo_from(outline: &mut Outline, end: u64) {
    let Outline { entries, versions, strict, .. } = outline;
    let offset =
        |version: u32| versions.get(version as usize).map_or(0, |version| version.span.offset);
    for entry in entries.iter_mut() {
        if offset(entry.best) >= end && entry.fate == Fate::Kept {
            entry.fate = Fate::Rewound;
        }
    }
    strict.retain(|shown| offset(shown.version) < end);
}

/// Returns the part of a thread that another one begins with, nearest first, and what that goes on from.
pub(super) fn borrowed(
    session_files: SessionFiles,
    base: &Base,
) -> Option<(Vec<SessionFile>, Option<Base>)> {
    let holders = holders(&session_files.files);
    let mut files: Vec<Option<SessionFile>> = session_files.files.into_iter().map(Some).collect();
    let mut borrowed = Vec::new();
    let mut wanted = Some((base.file.clone().unwrap_or_else(|| base.group.clone()), base.end));
    let mut next = None;
    while let Some((rollout, end)) = wanted.take() {
        let at = holders.get(&*rollout).copied();
        let Some(found) = at.and_then(|at| files.get_mut(at)?.take()) else {
            if borrowed.is_empty() {
                return None;
            }
            break;
        };
        let file = found.file;
        wanted = CodexState::read(&file.outline).base;
        // The other thread begins with the messages as they were then, not with their later fate.
        let mut outline = file.outline.before(end);
        restore(&mut outline);
        next = wanted
            .as_ref()
            .filter(|(rollout, _)| {
                let at = holders.get(&**rollout).copied();
                at.and_then(|at| files.get(at)?.as_ref()).is_none()
            })
            .and(file.outline.head.base.clone());
        let file = ScannedFile { outline, ..file };
        borrowed.push(SessionFile {
            role: FileRole::Base,
            compressed: false,
            is_loaded: true,
            file,
        });
    }
    Some((borrowed, next))
}

/// Takes back that messages were undone by a later revert. Paginated threads, which alone are borrowed from, know no other way to
/// undo.
fn restore(outline: &mut Outline) {
    outline.strict.clear();
    for (at, entry) in outline.entries.iter_mut().enumerate() {
        entry.fate = Fate::Kept;
        let entry_number = u32::try_from(at).unwrap_or(u32::MAX);
        outline
            .strict
            .push(crate::outline::VisibleMessage { entry: entry_number, version: entry.best });
    }
}
