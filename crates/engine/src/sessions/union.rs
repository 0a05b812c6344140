//! All messages of a session: the union of its files, each message once.

use std::collections::HashMap;

use recount_formats::outline::MessageEntry;
use recount_formats::source::{SessionFile, SessionFiles};
use recount_model::{Fate, FileRole};

/// One message of the full view: which file has its richest version, and its fate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) session_file: usize,
    pub(crate) entry: usize,
    pub(crate) fate: Fate,
    /// Its location in a file that the agent loads: the file and the entry.
    pub(crate) loaded: Option<(usize, usize)>,
}

/// Returns the messages of a session in order of first appearance. For one file, as most sessions have, no list is made.
pub(crate) fn rows(session_files: &SessionFiles) -> impl Iterator<Item = Row> {
    let alone = if let [one] = session_files.files.as_slice() { Some(one) } else { None };
    let own = alone.into_iter().flat_map(|one| {
        let entries = one.file.outline.entries.iter().enumerate();
        entries.map(move |(at, entry)| row(one, 0, at, entry))
    });
    own.chain(if alone.is_some() { Vec::new() } else { union(session_files) })
}

fn row(session_file: &SessionFile, number: usize, at: usize, entry: &MessageEntry) -> Row {
    let is_loaded = matches!(session_file.role, FileRole::Main | FileRole::Base);
    let loaded = is_loaded.then_some((number, at));
    Row { session_file: number, entry: at, fate: fate(session_file, entry), loaded }
}

/// Lists the messages of a session in order of first appearance.
pub(crate) fn union(session_files: &SessionFiles) -> Vec<Row> {
    let entries = session_files.files.iter().map(|one| one.file.outline.entries.len());
    let mut rows: Vec<Row> = Vec::with_capacity(entries.sum());
    let mut known: HashMap<&str, usize> = HashMap::new();
    let alone = session_files.files.len() == 1;
    for (number, session_file) in session_files.files.iter().enumerate() {
        for (at, entry) in session_file.file.outline.entries.iter().enumerate() {
            let row = row(session_file, number, at, entry);
            let Some(id) = entry.id.as_deref().filter(|_| !alone) else {
                rows.push(row);
                continue;
            };
            let place = *known.entry(id).or_insert(rows.len());
            match rows.get_mut(place) {
                // One id twice in one file: the agent shows both.
                Some(old) if old.session_file != number => merge(session_files, old, row),
                _ => rows.push(row),
            }
        }
    }
    rows
}

fn merge(session_files: &SessionFiles, old: &mut Row, new: Row) {
    let role =
        |row: &Row| session_files.files.get(row.session_file).map(|session_file| session_file.role);
    let fate = match (role(old), role(&new)) {
        (Some(FileRole::Main), _) => old.fate,
        (_, Some(FileRole::Main)) => new.fate,
        // Between two that the agent does not load, a message that was kept in one was not undone there.
        _ => old.fate.min(new.fate),
    };
    let loaded = match (role(old), role(&new)) {
        (Some(FileRole::Main), _) => old.loaded.or(new.loaded),
        _ => new.loaded.or(old.loaded),
    };
    let richer = rank(session_files, &new) > rank(session_files, old);
    let same =
        rank(session_files, &new) == rank(session_files, old) && role(&new) == Some(FileRole::Main);
    if richer || same {
        *old = new;
    }
    old.fate = fate;
    old.loaded = loaded;
}

fn rank(session_files: &SessionFiles, row: &Row) -> Option<u64> {
    let outline = &session_files.files.get(row.session_file)?.file.outline;
    let entry = outline.entries.get(row.entry)?;
    outline.versions.get(entry.best as usize).map(|version| version.rank)
}

fn fate(session_file: &SessionFile, entry: &MessageEntry) -> Fate {
    match (session_file.role, entry.fate) {
        (FileRole::Main | FileRole::Base, fate) => fate,
        (_, fate) if session_file.is_loaded => fate,
        (FileRole::Part, Fate::Kept) if session_file.compressed => Fate::Compressed,
        (_, Fate::Kept) => Fate::Replaced,
        (_, fate) => fate,
    }
}
