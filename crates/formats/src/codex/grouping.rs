//! Which rollouts are one thread.
//!
//! A reverted thread continues in a new file, from where an older one was cut. The newest file is the one that is
//! loaded, with the starts of those that it continues; what was cut off is undone.

use std::collections::{BTreeMap, HashMap, HashSet};

use recount_model::{Fate, FileRole, SessionId, SessionKind};

use crate::outline::{Base, Outline};
use crate::source::{ScannedFile, SessionFile, SessionFiles};

use super::meta::HistoryBase;
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

/// Follows the files that the main file continues, and marks what of the others was undone.
fn go_on(members: &mut [SessionFile]) {
    let Some(main) = members.iter().position(|member| member.role == FileRole::Main) else {
        return;
    };
    let holders = holders(members);
    let mut loaded = HashSet::from([main]);
    let mut next = members.get(main).and_then(|member| CodexState::read(&member.file.outline).base);
    while let Some(base) = next.take() {
        let at = holders.get(&*base.rollout).copied();
        let Some(at) = at.filter(|at| loaded.insert(*at)) else { break };
        let Some(member) = members.get_mut(at) else { break };
        member.is_loaded = true;
        let end = cut(&member.file.outline, base.offset, base.ordinal);
        undo_from(&mut member.file.outline, end);
        next = CodexState::read(&member.file.outline).base;
        let foreign = member.file.outline.head.base.clone();
        let foreign = foreign
            .filter(|_| next.as_ref().is_some_and(|base| !holders.contains_key(&*base.rollout)));
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

/// Returns the offset at which a rollout is continued by another one. If only the number of a record is known, records are counted from
/// the first one: there is one per line.
fn cut(outline: &Outline, offset: Option<u64>, ordinal: Option<u64>) -> u64 {
    let by_number = || {
        let lines = ordinal?.saturating_sub(CodexState::read(outline).first_ordinal?);
        let behind = outline.versions.iter().filter(|v| u64::from(v.span.line) > lines);
        behind.map(|version| version.span.offset).min()
    };
    offset.or_else(by_number).unwrap_or(u64::MAX)
}

/// Marks what was recorded at or after an offset as undone.
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

/// Returns the part of a thread that another one begins with, nearest first, and what that continues.
pub(super) fn borrowed(
    session_files: SessionFiles,
    base: &Base,
) -> Option<(Vec<SessionFile>, Option<Base>)> {
    let holders = holders(&session_files.files);
    let mut files: Vec<Option<SessionFile>> = session_files.files.into_iter().map(Some).collect();
    let mut borrowed = Vec::new();
    let mut wanted = Some(HistoryBase {
        rollout: base.file.clone().unwrap_or_else(|| base.group.clone()),
        offset: Some(base.end).filter(|end| *end != u64::MAX),
        ordinal: base.end_record,
    });
    let mut next = None;
    while let Some(base) = wanted.take() {
        let at = holders.get(&*base.rollout).copied();
        let Some(found) = at.and_then(|at| files.get_mut(at)?.take()) else {
            if borrowed.is_empty() {
                return None;
            }
            break;
        };
        let file = found.file;
        wanted = CodexState::read(&file.outline).base;
        // The other thread begins with the messages as they were then, not with their later fate.
        let end = cut(&file.outline, base.offset, base.ordinal);
        let mut outline = file.outline.before(end);
        restore(&mut outline);
        next = wanted
            .as_ref()
            .filter(|base| {
                let at = holders.get(&*base.rollout).copied();
                at.and_then(|at| files.get(at)?.as_ref()).is_none()
            })
            .and(file.outline.head.base.as_deref().cloned());
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

#[cfg(test)]
mod tests {
    use recount_model::MessageKind;
    use recount_testkit::Home;

    use super::super::Codex;
    use super::*;
    use crate::bytes::Buffer;
    use crate::source::{RootShape, Source as _};

    const THREAD: &str = "01a1e06d-9d83-79a1-b887-d77d275061bd";
    const SECOND: &str = "01a1e06e-63ad-7dd3-b795-d79341dd1065";
    const THIRD: &str = "01a1e06f-63ad-7dd3-b795-d79341dd1065";

    /// A paginated rollout: its head and one prompt per word, each record with the next number.
    fn rollout(home: &Home, name: &str, first: u64, base: &str, words: &[&str]) {
        let head = format!(
            r#"{{"timestamp":"2026-11-15T18:00:00Z","ordinal":{first},"type":"session_meta","payload":{{"id":"{THREAD}","history_mode":"paginated"{base}}}}}"#
        );
        let prompt = |(at, word): (u64, &&str)| {
            format!(
                r#"{{"timestamp":"2026-11-15T18:00:0{at}Z","ordinal":{},"type":"event_msg","payload":{{"type":"item_completed","item":{{"type":"UserMessage","content":[{{"type":"text","text":"{word}"}}]}}}}}}"#,
                first + at
            )
        };
        let lines = std::iter::once(head).chain((1..).zip(words).map(prompt));
        let text: String = lines.map(|line| line + "\n").collect();
        home.write(
            &format!(".codex/sessions/2026/11/15/rollout-2026-11-15T18-0{name}.jsonl"),
            text,
        );
    }

    fn thread_of(home: &Home) -> SessionFiles {
        let located = Codex.locate(&home.path().join(".codex"), RootShape::Whole);
        let mut buffer = Buffer::new();
        let scan = |at: &std::sync::Arc<crate::source::FileAt>| ScannedFile {
            folder: 0,
            named_folder: true,
            is_shared: false,
            at: at.clone(),
            outline: Codex.outline(&at.path, &mut buffer),
        };
        let files = located.folders.iter().flat_map(|folder| &folder.files).map(scan).collect();
        let mut threads = group_sessions(files);
        assert_eq!(threads.len(), 1);
        threads.remove(0)
    }

    #[test]
    fn a_base_of_a_base_is_cut_by_the_number_of_its_record() {
        let home = Home::empty();
        rollout(&home, &format!("0-00-{THREAD}"), 0, "", &["a", "b", "c"]);
        let base =
            format!(r#","history_base":{{"thread_id":"{THREAD}","end_ordinal_exclusive":3}}"#);
        rollout(&home, &format!("1-00-{THREAD}_{SECOND}"), 3, &base, &["d", "e"]);
        let base =
            format!(r#","history_base":{{"thread_id":"{SECOND}","end_ordinal_exclusive":5}}"#);
        rollout(&home, &format!("2-00-{THREAD}_{THIRD}"), 5, &base, &["f"]);
        let thread = thread_of(&home);
        let fates = |file: &SessionFile| -> Vec<bool> {
            let entries = file.file.outline.entries.iter();
            let prompts = entries.filter(|entry| entry.kind == MessageKind::Prompt);
            prompts.map(|entry| entry.fate == Fate::Kept).collect()
        };
        let kept: Vec<Vec<bool>> = thread.files.iter().map(fates).collect();
        assert_eq!(kept, [vec![true, true, false], vec![true, false], vec![true]]);
        // A fork of the thread begins with the same, whatever happened to it later.
        let base = Base {
            session: SessionId::new(THREAD),
            group: THREAD.into(),
            file: Some(SECOND.into()),
            end: u64::MAX,
            end_record: Some(5),
        };
        let (borrowed, next) = borrowed(thread, &base).unwrap();
        let counts: Vec<usize> =
            borrowed.iter().map(|file| file.file.outline.entries.len()).collect();
        assert_eq!((counts, next), (vec![1, 2], None));
    }
}
