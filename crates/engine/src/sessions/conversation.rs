//! The conversation as it stands: what the agent would load, and what it should have loaded.

use std::collections::HashSet;

use recount_formats::outline::{Entry, Outline};
use recount_formats::source::{Family, Member};
use recount_model::{Fate, FileRole, MessageKind, Span};

use crate::sessions::facts::main;
use crate::sessions::union::{Row, union};

/// The messages of a session that stand, each once, in order.
#[derive(Debug)]
pub struct Conversation {
    /// The messages.
    pub records: Vec<Record>,
    /// Whether the agent itself would show nothing of it.
    pub(crate) is_buried: bool,
}

/// Where a message stands, in the version that counts.
#[derive(Clone, Debug)]
pub struct Record {
    /// The file, by its number in the family.
    pub member: usize,
    /// Which of that file's messages it is.
    pub entry: usize,
    /// Where it stands in the file.
    pub span: Span,
    /// What it must be called where its own id is missing or taken.
    pub id: Option<String>,
}

impl Conversation {
    /// Unites the files of a session: what the agent would load, and before it the stretches of the conversation that it
    /// left behind in other files. When it would load nothing, although something was said, that is brought back.
    pub fn of(family: &Family) -> Self {
        let mut rows = standing(family);
        let is_buried = !is_talk(family, &rows) && is_talk(family, &everything(family, |_| true));
        if is_buried {
            rows = everything(family, |fate| !matches!(fate, Fate::Rewound | Fate::Cancelled));
            if !is_talk(family, &rows) {
                rows = everything(family, |_| true);
            }
        }
        Self { records: records(family, &rows), is_buried }
    }

    /// What the agent itself would load, and nothing else.
    pub(crate) fn strict(family: &Family) -> Self {
        let place = family.members.iter().position(|member| member.role == FileRole::Main);
        let rows: Vec<Shown> =
            place.zip(main(family)).map(|(at, main)| shown(at, main)).unwrap_or_default();
        Self { records: records(family, &rows), is_buried: false }
    }
}

/// A version of an entry of a file.
#[derive(Clone, Copy, Debug)]
struct Shown {
    member: usize,
    entry: usize,
    version: u32,
}

fn outline(family: &Family, member: usize) -> Option<&Outline> {
    family.members.get(member).map(|member| &member.file.outline)
}

fn entry<'a>(family: &'a Family, shown: &Shown) -> Option<&'a Entry> {
    outline(family, shown.member)?.entries.get(shown.entry)
}

/// What of a file the agent would show; of one that it cannot load, what it would if it could.
fn shown(at: usize, member: &Member) -> Vec<Shown> {
    let outline = &member.file.outline;
    if outline.loadable {
        let strict = outline.strict.iter();
        let shown = strict.map(|shown| (shown.entry as usize, shown.version));
        return shown.map(|(entry, version)| Shown { member: at, entry, version }).collect();
    }
    let kept = outline.entries.iter().enumerate().filter(|(_, entry)| entry.fate == Fate::Kept);
    kept.map(|(number, entry)| Shown { member: at, entry: number, version: entry.last }).collect()
}

fn standing(family: &Family) -> Vec<Shown> {
    let main_ids: HashSet<&str> = main(family)
        .into_iter()
        .flat_map(|main| &main.file.outline.entries)
        .filter_map(|entry| entry.id.as_deref())
        .collect();
    let mut rows = Vec::new();
    for (at, member) in family.members.iter().enumerate() {
        match member.role {
            FileRole::Main | FileRole::Base => rows.extend(shown(at, member)),
            FileRole::Part => {
                let is_news = |row: &Shown| {
                    let id = entry(family, row).and_then(|entry| entry.id.as_deref());
                    id.is_none_or(|id| !main_ids.contains(id))
                };
                rows.extend(shown(at, member).into_iter().filter(is_news));
            }
            FileRole::Copy | FileRole::Twin | FileRole::Stub | FileRole::Unreadable => {}
        }
    }
    rows
}

/// Everything that was ever said and became of what `wanted` says, in the richest version.
fn everything(family: &Family, wanted: impl Fn(Fate) -> bool) -> Vec<Shown> {
    let best = |row: Row| {
        let entry = outline(family, row.member)?.entries.get(row.entry)?;
        Some(Shown { member: row.member, entry: row.entry, version: entry.best })
    };
    union(family).into_iter().filter(|row| wanted(row.fate)).filter_map(best).collect()
}

/// Whether anybody said anything.
fn is_talk(family: &Family, rows: &[Shown]) -> bool {
    let is_said = |kind| !matches!(kind, MessageKind::Context | MessageKind::Notice);
    rows.iter().any(|row| entry(family, row).is_some_and(|entry| is_said(entry.kind)))
}

fn records(family: &Family, rows: &[Shown]) -> Vec<Record> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut records = Vec::with_capacity(rows.len());
    let known: HashSet<&str> =
        rows.iter().filter_map(|row| entry(family, row)?.id.as_deref()).collect();
    for row in rows {
        let versions = outline(family, row.member).map(|outline| &outline.versions);
        let Some(span) = versions.and_then(|all| all.get(row.version as usize)).map(|v| v.span)
        else {
            continue;
        };
        let own = entry(family, row).and_then(|entry| entry.id.as_deref());
        let is_free = own.is_some_and(|own| taken.insert(own.to_owned()));
        let id = (!is_free).then(|| {
            let start = own.unwrap_or("message");
            let mut names = (2..).map(|number: u64| format!("{start}-{number}"));
            let is_new = |name: &String| !known.contains(name.as_str()) && !taken.contains(name);
            names.find(is_new).unwrap_or_default()
        });
        taken.extend(id.clone());
        records.push(Record { member: row.member, entry: row.entry, span, id });
    }
    records
}
