//! Finds files that cause the deletion of others, and names under which they would not: a pure function of what is known
//! about them.
//!
//! The program groups files by the eight letters or digits at the end of a name, and deletes the whole group with one of
//! its files. A file without content of its own (a stub, a document that continues in a log) can be removed; others get a
//! name with a different ending. The list of the program accepts any name that begins with `session-`, and uses the id
//! inside.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use recount_model::{DeletionReason, SessionId};

use super::deletions::{Candidate, causes, is_looked_at, short_id, updated};
use super::rules::{Grouping, Rules};
use crate::retention::{RetentionSettings, Trap, TrapKind};

/// What is known about the files of one directory.
struct DirectoryFiles<'a> {
    paths: &'a [&'a Path],
    files: &'a [Candidate<'a>],
    /// Why files are deleted on their own.
    causes: BTreeMap<usize, DeletionReason>,
    /// Names in use.
    names: BTreeSet<String>,
}

/// Returns the files to remove or rename, so that none causes the deletion of another that would be kept.
pub(crate) fn traps(
    paths: &[&Path],
    files: &[Candidate<'_>],
    retention: &RetentionSettings,
    rules: &Rules,
    now: i64,
) -> Vec<Trap> {
    let causes = causes(files, retention, rules, now).into_iter().collect();
    let names = files.iter().map(|file| file.name.to_owned()).collect();
    let mut chamber = DirectoryFiles { paths, files, causes, names };
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, file) in files.iter().enumerate().filter(|(_, file)| is_looked_at(file, rules)) {
        match short_id(file.name, rules.grouping) {
            Some(short) => groups.entry(short).or_default().push(at),
            // It is deleted alone, whatever it is.
            None => groups.entry(file.name).or_default().push(at),
        }
    }
    let mut traps = Vec::new();
    for members in groups.values() {
        chamber.disarm(members, now, &mut traps);
    }
    traps
}

impl DirectoryFiles<'_> {
    /// Finds the files of a group that must be removed from it.
    fn disarm(&mut self, members: &[usize], now: i64, traps: &mut Vec<Trap>) {
        let mut stubs = Vec::new();
        let mut twins = Vec::new();
        let mut rest = Vec::new();
        for &at in members {
            if self.causes.get(&at) == Some(&DeletionReason::Stub) {
                stubs.push(at);
            } else if self.successor(at, members).is_some_and(|log| self.stays(log)) {
                twins.push(at);
            } else {
                rest.push(at);
            }
        }
        // If nothing would be kept, nothing else can be deleted with it.
        let keeper = rest
            .iter()
            .copied()
            .filter(|at| self.stays(*at))
            .max_by_key(|at| self.files.get(*at).and_then(|file| updated(file, now)));
        for at in stubs {
            let beside = self.same_session(at);
            if keeper.is_some() || beside.iter().any(|at| self.stays(*at)) {
                traps.extend(self.trap(at, TrapKind::Stub, &beside, keeper.is_some()));
            }
        }
        if keeper.is_none() {
            return;
        }
        for at in twins {
            let beside: Vec<usize> = self.successor(at, members).into_iter().collect();
            traps.extend(self.trap(at, TrapKind::Twin, &beside, true));
        }
        for at in rest.into_iter().filter(|at| Some(*at) != keeper) {
            traps.extend(self.trap(at, TrapKind::SameName, &[], true));
        }
    }

    /// Whether a file has no reason of its own to be deleted.
    fn stays(&self, at: usize) -> bool {
        !self.causes.contains_key(&at)
    }

    /// Returns the log that was created from a document, if both have the same session id.
    fn successor(&self, at: usize, members: &[usize]) -> Option<usize> {
        let file = self.files.get(at)?;
        let name = format!("{}l", file.name);
        let id = self.id(at)?;
        let is_log = |other: &usize| {
            self.files.get(*other).is_some_and(|other| other.name == name)
                && self.id(*other) == Some(id)
        };
        file.name.strip_suffix(".json")?;
        members.iter().copied().find(is_log)
    }

    fn id(&self, at: usize) -> Option<&SessionId> {
        self.files.get(at)?.facts?.id.as_ref()
    }

    /// Returns other files of the same session that are not stubs.
    fn same_session(&self, at: usize) -> Vec<usize> {
        let Some(id) = self.id(at) else { return Vec::new() };
        let is_its = |other: &usize| {
            *other != at
                && self.id(*other) == Some(id)
                && self.causes.get(other) != Some(&DeletionReason::Stub)
        };
        (0..self.files.len()).filter(is_its).collect()
    }

    fn trap(&mut self, at: usize, kind: TrapKind, beside: &[usize], grouped: bool) -> Option<Trap> {
        let path = *self.paths.get(at)?;
        let aside = if grouped { Some(path.with_file_name(self.aside(at)?)) } else { None };
        let beside = beside.iter().filter_map(|at| self.paths.get(*at));
        let beside = beside.map(|path| (*path).to_owned()).collect();
        Some(Trap { path: path.to_owned(), kind, beside, aside })
    }

    /// Returns a name that is in no group: with the whole id at its end, or with a word if that would still be eight
    /// letters.
    fn aside(&mut self, at: usize) -> Option<String> {
        let name = self.files.get(at)?.name;
        let (stem, ending) = name.rsplit_once('.')?;
        let (front, short) = stem.rsplit_once('-')?;
        let is_plain = |id: &&str| {
            id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        };
        let whole = self.id(at).map(SessionId::as_str).filter(is_plain);
        let ends = whole.map(str::to_owned).into_iter().chain([format!("{short}-apart")]);
        let more = (2..1000).map(|number| format!("{short}-apart-{number}"));
        let free =
            |name: &String| short_id(name, Grouping::All).is_none() && !self.names.contains(name);
        let aside = ends.chain(more).map(|end| format!("{front}-{end}.{ending}")).find(free)?;
        self.names.insert(aside.clone());
        Some(aside)
    }
}

#[cfg(test)]
mod tests;
