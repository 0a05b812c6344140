//! The current conversation: what the agent would load, and what it should have loaded.

use std::collections::{HashMap, HashSet};

use recount_formats::outline::{MessageEntry, Outline};
use recount_formats::source::{SessionFile, SessionFiles};
use recount_model::{Fate, FileRole, MessageKind, Span};

use crate::sessions::facts::main;
use crate::sessions::union::{Row, union};

/// The kept messages of a session, each once, in order.
#[derive(Debug)]
pub struct Conversation {
    /// The messages.
    pub records: Vec<Record>,
    /// Whether the agent itself would show nothing of it.
    pub(crate) is_buried: bool,
}

/// The location of a message, in the version that counts.
#[derive(Clone, Debug)]
pub struct Record {
    /// The number of its file in the session.
    pub session_file: usize,
    /// The number of its entry in that file.
    pub entry: usize,
    /// Its location in the file.
    pub span: Span,
    /// The other pieces of a message that was recorded in several.
    pub pieces: Vec<Span>,
    /// Its new id if its own is missing or in use.
    pub id: Option<String>,
}

impl Conversation {
    /// Merges the files of a session: what the agent would load, preceded by the sections of the conversation that it left
    /// in other files. If it would load nothing although there is a conversation, that is restored.
    pub fn of(session_files: &SessionFiles) -> Self {
        let mut rows = standing(session_files);
        let is_buried = !is_talk(session_files, &rows)
            && is_talk(session_files, &everything(session_files, |_| true));
        if is_buried {
            rows =
                everything(session_files, |fate| !matches!(fate, Fate::Rewound | Fate::Cancelled));
            if !is_talk(session_files, &rows) {
                rows = everything(session_files, |_| true);
            }
        }
        Self { records: records(session_files, &rows), is_buried }
    }

    /// Returns only what the agent itself would load.
    pub(crate) fn strict(session_files: &SessionFiles) -> Self {
        let is_loaded = |file: &SessionFile| {
            matches!(file.role, FileRole::Main | FileRole::Base) || file.is_loaded
        };
        let files = session_files.files.iter().enumerate().filter(|(_, file)| is_loaded(file));
        let rows: Vec<ShownVersion> = files.flat_map(|(at, file)| shown(at, file)).collect();
        Self { records: records(session_files, &rows), is_buried: false }
    }
}

/// A version of an entry of a file.
#[derive(Clone, Copy, Debug)]
struct ShownVersion {
    session_file: usize,
    entry: usize,
    version: u32,
}

fn outline(session_files: &SessionFiles, session_file: usize) -> Option<&Outline> {
    session_files.files.get(session_file).map(|session_file| &session_file.file.outline)
}

fn entry<'a>(session_files: &'a SessionFiles, shown: &ShownVersion) -> Option<&'a MessageEntry> {
    outline(session_files, shown.session_file)?.entries.get(shown.entry)
}

/// Returns what the agent would show of a file; for one that it cannot load, what it would show if it could.
fn shown(at: usize, session_file: &SessionFile) -> Vec<ShownVersion> {
    let outline = &session_file.file.outline;
    if outline.loadable {
        let strict = outline.strict.iter();
        let shown = strict.map(|shown| (shown.entry as usize, shown.version));
        return shown
            .map(|(entry, version)| ShownVersion { session_file: at, entry, version })
            .collect();
    }
    let kept = outline.entries.iter().enumerate().filter(|(_, entry)| entry.fate == Fate::Kept);
    kept.map(|(number, entry)| ShownVersion {
        session_file: at,
        entry: number,
        version: entry.last,
    })
    .collect()
}

fn standing(session_files: &SessionFiles) -> Vec<ShownVersion> {
    let main_ids: HashSet<&str> = main(session_files)
        .into_iter()
        .flat_map(|main| &main.file.outline.entries)
        .filter_map(|entry| entry.id.as_deref())
        .collect();
    let mut rows = Vec::new();
    for (at, session_file) in session_files.files.iter().enumerate() {
        match session_file.role {
            FileRole::Main | FileRole::Base => rows.extend(shown(at, session_file)),
            FileRole::Part if session_file.is_loaded => rows.extend(shown(at, session_file)),
            FileRole::Part => {
                let is_news = |row: &ShownVersion| {
                    let id = entry(session_files, row).and_then(|entry| entry.id.as_deref());
                    id.is_none_or(|id| !main_ids.contains(id))
                };
                rows.extend(shown(at, session_file).into_iter().filter(is_news));
            }
            FileRole::Copy | FileRole::Twin | FileRole::Stub | FileRole::Unreadable => {}
        }
    }
    rows
}

/// Returns everything ever recorded with a `wanted` fate, in the richest version.
fn everything(session_files: &SessionFiles, wanted: impl Fn(Fate) -> bool) -> Vec<ShownVersion> {
    let best = |row: Row| {
        let entry = outline(session_files, row.session_file)?.entries.get(row.entry)?;
        Some(ShownVersion { session_file: row.session_file, entry: row.entry, version: entry.best })
    };
    union(session_files).into_iter().filter(|row| wanted(row.fate)).filter_map(best).collect()
}

/// Whether there is a conversation.
fn is_talk(session_files: &SessionFiles, rows: &[ShownVersion]) -> bool {
    let is_said = |kind| !matches!(kind, MessageKind::Context | MessageKind::Notice);
    rows.iter().any(|row| entry(session_files, row).is_some_and(|entry| is_said(entry.kind)))
}

fn records(session_files: &SessionFiles, rows: &[ShownVersion]) -> Vec<Record> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut records = Vec::with_capacity(rows.len());
    let known: HashSet<&str> =
        rows.iter().filter_map(|row| entry(session_files, row)?.id.as_deref()).collect();
    // By the start of names, the last number that was tried.
    let mut numbers: HashMap<&str, u64> = HashMap::new();
    for row in rows {
        let versions = outline(session_files, row.session_file).map(|outline| &outline.versions);
        let Some(span) = versions.and_then(|all| all.get(row.version as usize)).map(|v| v.span)
        else {
            continue;
        };
        let own = entry(session_files, row).and_then(|entry| entry.id.as_deref());
        let is_free = own.is_some_and(|own| taken.insert(own.to_owned()));
        let id = (!is_free).then(|| {
            let start = own.unwrap_or("message");
            let number = numbers.entry(start).or_insert(1);
            loop {
                *number += 1;
                let name = format!("{start}-{number}");
                if !known.contains(name.as_str()) && !taken.contains(&name) {
                    break name;
                }
            }
        });
        taken.extend(id.clone());
        let outline = outline(session_files, row.session_file);
        let pieces = outline.zip(entry(session_files, row)).map(|(outline, entry)| {
            outline.pieces_of(entry).map(|version| version.span).collect::<Vec<_>>()
        });
        let (session_file, entry) = (row.session_file, row.entry);
        let pieces = pieces.unwrap_or_default();
        records.push(Record { session_file, entry, span, pieces, id });
    }
    records
}
