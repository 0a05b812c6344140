//! Everything that was ever said in a session: the union of its files, each message once.

use std::collections::HashMap;

use recount_formats::outline::Entry;
use recount_formats::source::{Family, Member};
use recount_model::{Fate, FileRole};

/// One message of the full view: which file has its richest version, and what became of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) member: usize,
    pub(crate) entry: usize,
    pub(crate) fate: Fate,
}

/// Lists the messages of a session in order of first appearance.
pub(crate) fn union(family: &Family) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let alone = family.members.len() == 1;
    for (number, member) in family.members.iter().enumerate() {
        for (at, entry) in member.file.outline.entries.iter().enumerate() {
            let row = Row { member: number, entry: at, fate: fate(member, entry) };
            let Some(id) = entry.id.as_deref().filter(|_| !alone) else {
                rows.push(row);
                continue;
            };
            let place = *known.entry(id).or_insert(rows.len());
            match rows.get_mut(place) {
                None => rows.push(row),
                Some(old) => merge(family, old, row),
            }
        }
    }
    rows
}

fn merge(family: &Family, old: &mut Row, new: Row) {
    let role = |row: &Row| family.members.get(row.member).map(|member| member.role);
    let fate = match (role(old), role(&new)) {
        (Some(FileRole::Main), _) => old.fate,
        (_, Some(FileRole::Main)) => new.fate,
        // Between two that the agent does not load, what was kept anywhere was not undone there.
        _ => old.fate.min(new.fate),
    };
    let richer = rank(family, &new) > rank(family, old);
    let same = rank(family, &new) == rank(family, old) && role(&new) == Some(FileRole::Main);
    if richer || same {
        *old = new;
    }
    old.fate = fate;
}

fn rank(family: &Family, row: &Row) -> Option<u64> {
    let outline = &family.members.get(row.member)?.file.outline;
    let entry = outline.entries.get(row.entry)?;
    outline.versions.get(entry.best as usize).map(|version| version.rank)
}

fn fate(member: &Member, entry: &Entry) -> Fate {
    match (member.role, entry.fate) {
        (FileRole::Main | FileRole::Base, fate) => fate,
        (FileRole::Part, Fate::Kept) if member.compressed => Fate::Compressed,
        (_, Fate::Kept) => Fate::Replaced,
        (_, fate) => fate,
    }
}
