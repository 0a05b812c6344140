//! Groups files into sessions, and determines their roles.
//!
//! One conversation may be in a hash folder and a slug folder, in an old `.json` and its `.jsonl` successor, in several
//! sections (splits by `/compress` and `/clear`), with stubs that a resume left. All of them have the same session id.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use recount_model::{FileRole, Grammar, MessageKind, SessionId, SessionKind};

use super::locate::short_id;
use crate::source::{FilePlacement, ScannedFile, SessionFile, SessionFiles};

/// Groups files into sessions.
pub(crate) fn group_sessions(files: Vec<ScannedFile>) -> Vec<SessionFiles> {
    let mut sessions: BTreeMap<(Option<SessionId>, SessionId), Vec<ScannedFile>> = BTreeMap::new();
    let ids: Vec<SessionId> = known_ids(&files);
    for file in files {
        let parent = match &file.at.placement {
            FilePlacement::SubagentOf(parent) => Some(parent.clone()),
            FilePlacement::Main | FilePlacement::Leftover => None,
        };
        let id = session_id(&file, &ids);
        sessions.entry((parent, id)).or_default().push(file);
    }
    let mut grouped = Vec::new();
    for ((parent, id), files) in sessions {
        match parent {
            Some(parent) => {
                grouped.push(session_files(id, SessionKind::Subagent, Some(parent), files));
            }
            None => grouped.extend(main_sessions(&id, files)),
        }
    }
    grouped
}

fn known_ids(files: &[ScannedFile]) -> Vec<SessionId> {
    let mut ids: Vec<SessionId> =
        files.iter().filter_map(|file| file.outline.head.session_id.clone()).collect();
    ids.sort();
    ids.dedup();
    ids
}

/// Returns the id in the file, else the only id that the file's name abbreviates, else the id in the name.
fn session_id(file: &ScannedFile, ids: &[SessionId]) -> SessionId {
    if let Some(id) = &file.outline.head.session_id {
        return id.clone();
    }
    let name = name(file);
    let short = match file.at.placement {
        FilePlacement::SubagentOf(_) => {
            name.split_once('.').map_or(name.as_str(), |(stem, _)| stem)
        }
        FilePlacement::Main | FilePlacement::Leftover => short_id(&name),
    };
    // They are sorted, so those with the same start are adjacent.
    let from = ids.partition_point(|id| id.as_str() < short);
    let near = ids.get(from..).unwrap_or_default().iter();
    let mut same = near.take_while(|id| !short.is_empty() && id.as_str().starts_with(short));
    match (same.next(), same.next()) {
        (Some(id), None) => id.clone(),
        _ => SessionId::new(short),
    }
}

/// Up to 0.36 a sub-agent was recorded under its parent's id, in a separate file.
fn main_sessions(id: &SessionId, files: Vec<ScannedFile>) -> Vec<SessionFiles> {
    let (agents, mains) = split_agents(files);
    let mut grouped = Vec::new();
    if !mains.is_empty() {
        grouped.push(session_files(id.clone(), SessionKind::Main, None, mains));
    }
    let mut by_name: BTreeMap<String, Vec<ScannedFile>> = BTreeMap::new();
    for agent in agents {
        by_name.entry(stem(&agent)).or_default().push(agent);
    }
    if grouped.is_empty() && by_name.len() == 1 {
        // Nothing distinguishes it: the id is its own.
        let copies = by_name.into_values().flatten().collect();
        return vec![session_files(id.clone(), SessionKind::Subagent, None, copies)];
    }
    for (stem, copies) in by_name {
        let time = stem.strip_prefix("session-").and_then(|rest| rest.get(..16)).unwrap_or(&stem);
        let own = SessionId::new(format!("{id}@{time}"));
        grouped.push(session_files(own, SessionKind::Subagent, Some(id.clone()), copies));
    }
    grouped
}

fn split_agents(files: Vec<ScannedFile>) -> (Vec<ScannedFile>, Vec<ScannedFile>) {
    let mains = files.iter().filter(|file| !file.outline.head.subagent);
    let conversations = Conversations::new(
        mains.filter_map(|file| Some((stem(file), time_range(file)?))).collect(),
    );
    files.into_iter().partition(|file| {
        if file.outline.head.subagent {
            return true;
        }
        // Without `kind` (up to 0.30) a sub-agent is recognized by its time: it begins and ends while its parent continues.
        // A split begins after the part before it has ended.
        let Some((from, to)) = time_range(file) else { return false };
        conversations.surround(&stem(file), from, to)
    })
}

/// Conversations by start time, each with the two of different names that end last among those up to it.
struct Conversations {
    starts: Vec<i64>,
    longest: Vec<[Option<(i64, String)>; 2]>,
}

impl Conversations {
    fn new(mut conversations: Vec<(String, (i64, i64))>) -> Self {
        conversations.sort_by_key(|(_, (start, _))| *start);
        let starts = conversations.iter().map(|(_, (start, _))| *start).collect();
        let mut two: [Option<(i64, String)>; 2] = [None, None];
        let mut longest = Vec::with_capacity(conversations.len());
        for (name, (_, end)) in conversations {
            let [first, second] = &mut two;
            match first {
                Some((known, same)) if *same == name => *known = (*known).max(end),
                Some((known, _)) if *known >= end => {
                    if second.as_ref().is_none_or(|(known, _)| *known < end) {
                        *second = Some((end, name));
                    }
                }
                _ => {
                    *second = first.take();
                    *first = Some((end, name));
                }
            }
            longest.push(two.clone());
        }
        Self { starts, longest }
    }

    /// Whether a conversation of another name begins before and ends after.
    fn surround(&self, name: &str, from: i64, to: i64) -> bool {
        let before = self.starts.partition_point(|start| *start < from);
        let longest = before.checked_sub(1).and_then(|at| self.longest.get(at));
        let other = longest.into_iter().flatten().flatten().find(|(_, other)| other != name);
        other.is_some_and(|(end, _)| to < *end)
    }
}

/// The names of a session's files.
#[derive(Default)]
struct Names {
    /// By name, one folder that has it, and whether another one does.
    folders: HashMap<String, (usize, bool)>,
    /// Names of files with a conversation.
    spoken: HashSet<String>,
}

impl Names {
    fn of(files: &[ScannedFile]) -> Self {
        let mut names = Self::default();
        for file in files {
            let folders = names.folders.entry(name(file)).or_insert((file.folder, false));
            folders.1 |= folders.0 != file.folder;
            if !is_stub(file) {
                names.spoken.insert(name(file));
            }
        }
        names
    }

    /// Whether another folder has a file of this name.
    fn is_elsewhere(&self, name: &str, folder: usize) -> bool {
        self.folders.get(name).is_some_and(|(one, several)| *several || *one != folder)
    }
}

/// Returns the first and the last time of a conversation.
fn time_range(file: &ScannedFile) -> Option<(i64, i64)> {
    let said = file.outline.entries.iter().filter(|entry| entry.kind != MessageKind::Context);
    let times = || said.clone().filter_map(|entry| entry.time);
    Some((times().min()?, times().max()?))
}

fn session_files(
    id: SessionId,
    kind: SessionKind,
    parent: Option<SessionId>,
    files: Vec<ScannedFile>,
) -> SessionFiles {
    let main = main_file(&files);
    let names = Names::of(&files);
    let main_name = files.get(main).map(name).unwrap_or_default();
    let main_loads = files.get(main).is_some_and(|file| file.outline.loadable);
    let mut members: Vec<SessionFile> = files
        .into_iter()
        .enumerate()
        .map(|(at, file)| {
            let role = if at == main {
                FileRole::Main
            } else {
                role(&file, &names, &main_name, main_loads)
            };
            SessionFile { role, compressed: ends_compressed(&file), is_loaded: false, file }
        })
        .collect();
    members.sort_by_key(|session_file| {
        (began(&session_file.file), age(session_file.role), session_file.file.at.path.clone())
    });
    SessionFiles { id, kind, parent, files: members }
}

/// Returns the file that the agent would load: of the resumable ones the most recent; among equals the one in the newer
/// kind of folder, then the newer grammar.
fn main_file(files: &[ScannedFile]) -> usize {
    let key = |file: &ScannedFile| {
        (
            file.at.placement == FilePlacement::Main
                || matches!(file.at.placement, FilePlacement::SubagentOf(_)),
            file.outline.resumable,
            file.outline.loadable,
            !file.outline.entries.is_empty(),
            file.outline.head.updated.or(file.at.modified),
            file.named_folder,
            file.outline.grammar == Grammar::Jsonl,
        )
    };
    let best = files.iter().enumerate().max_by_key(|(at, file)| (key(file), Reverse(*at)));
    best.map_or(0, |(at, _)| at)
}

fn role(file: &ScannedFile, names: &Names, main_name: &str, main_loads: bool) -> FileRole {
    let own = name(file);
    if file.at.placement == FilePlacement::Leftover || (main_loads && !file.outline.loadable) {
        return FileRole::Unreadable;
    }
    if is_stub(file) {
        return FileRole::Stub;
    }
    if own == main_name || (!file.named_folder && names.is_elsewhere(&own, file.folder)) {
        return FileRole::Copy;
    }
    let successor = format!("{own}l");
    let succeeded = names.spoken.contains(&successor);
    if file.outline.grammar == Grammar::Json && succeeded { FileRole::Twin } else { FileRole::Part }
}

/// Whether a file has only headers, or headers and the context that every start records: there is no conversation.
fn is_stub(file: &ScannedFile) -> bool {
    file.outline.entries.iter().all(|entry| entry.kind == MessageKind::Context)
}

/// Up to 0.24 `/compress` continued in a new file; since 0.18 the old one ends with an empty notice.
fn ends_compressed(file: &ScannedFile) -> bool {
    let outline = &file.outline;
    outline.entries.last().is_some_and(|entry| {
        let version = outline.versions.get(entry.best as usize);
        entry.kind == MessageKind::Notice && version.is_some_and(|version| version.rank == 0)
    })
}

fn began(file: &ScannedFile) -> i64 {
    let first = file.outline.entries.iter().filter_map(|entry| entry.time).min();
    let starts = [file.outline.head.start, first];
    starts.into_iter().flatten().min().or(file.at.modified).unwrap_or(i64::MAX)
}

/// Of files that begin together, older states come first.
fn age(role: FileRole) -> u8 {
    match role {
        FileRole::Base | FileRole::Twin => 0,
        FileRole::Copy => 1,
        FileRole::Unreadable => 2,
        FileRole::Stub => 3,
        FileRole::Part => 4,
        FileRole::Main => 5,
    }
}

fn name(file: &ScannedFile) -> String {
    file.at.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn stem(file: &ScannedFile) -> String {
    let name = name(file);
    name.split_once(".json").map_or(name.as_str(), |(stem, _)| stem).to_owned()
}
