//! Which session files a cleanup deletes, and why: a pure function of what is known about them.

use std::collections::{BTreeMap, BTreeSet};

use recount_model::{DeletionReason, SessionId};

use crate::gemini::state::{RecordedTime, RetentionFacts};

use super::rules::{Grouping, Needs, Rules};
use crate::retention::RetentionSettings;

/// A session file, as seen by a cleanup.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// When it was written, in milliseconds.
    pub(crate) modified: Option<i64>,
    /// What is known about it; `None` if it could not be read.
    pub(crate) facts: Option<&'a RetentionFacts>,
}

/// A file that is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deletion {
    /// The index of the candidate.
    pub(crate) at: usize,
    pub(crate) why: DeletionReason,
    /// The candidate with which it is deleted, and the reason for that one.
    pub(crate) with: Option<(usize, DeletionReason)>,
    /// The session whose artifacts are deleted, too.
    pub(crate) takes: Option<SessionId>,
}

/// A listed session: when it was last used, if that is a valid time.
#[derive(Clone, Copy, Debug)]
struct Listed {
    at: usize,
    updated: Option<i64>,
}

/// Returns which of the files are deleted. They must be in the order of their names, by UTF-16 units.
pub(crate) fn deletions(
    files: &[Candidate<'_>],
    retention: &RetentionSettings,
    rules: &Rules,
    now: i64,
) -> Vec<Deletion> {
    spread(files, &causes(files, retention, rules, now), rules)
}

/// Returns which of the files are deleted for a reason of their own.
pub(crate) fn causes(
    files: &[Candidate<'_>],
    retention: &RetentionSettings,
    rules: &Rules,
    now: i64,
) -> Vec<(usize, DeletionReason)> {
    let mut causes = Vec::new();
    let mut listed = Vec::new();
    for (at, file) in files.iter().enumerate().filter(|(_, file)| is_looked_at(file, rules)) {
        match refusal(file, files, rules) {
            Some(why) => causes.push((at, why)),
            None => listed.push(Listed { at, updated: updated(file, now) }),
        }
    }
    // Newest first; equal ones in the order of their names.
    listed.sort_by_key(|session| std::cmp::Reverse(session.updated));
    for (place, session) in listed.iter().enumerate() {
        let cut_off = retention.max_age.as_ref().map(|(_, age)| now.saturating_sub(*age));
        let is_old = session.updated.zip(cut_off).is_some_and(|(updated, cut)| updated < cut);
        let is_over = retention.max_count.is_some_and(|most| place as u64 >= most);
        match (is_old, is_over) {
            (true, _) => causes.push((session.at, DeletionReason::Age)),
            (false, true) => causes.push((session.at, DeletionReason::Count)),
            (false, false) => {}
        }
    }
    causes
}

/// Adds the files that are deleted with others.
fn spread(
    files: &[Candidate<'_>],
    causes: &[(usize, DeletionReason)],
    rules: &Rules,
) -> Vec<Deletion> {
    let reasons: BTreeMap<usize, DeletionReason> = causes.iter().copied().collect();
    let own = |at: usize| reasons.get(&at).copied();
    if causes.is_empty() {
        return Vec::new();
    }
    let mut groups: Vec<(&str, usize)> = Vec::with_capacity(files.len());
    for (at, file) in files.iter().enumerate().filter(|(_, file)| is_looked_at(file, rules)) {
        groups.extend(short_id(file.name, rules.grouping).map(|short| (short, at)));
    }
    groups.sort_unstable();
    let mut done = BTreeSet::new();
    let mut deletions: Vec<Deletion> = Vec::new();
    for &(cause, why) in causes {
        let Some(file) = files.get(cause) else { continue };
        let Some(short) = short_id(file.name, rules.grouping) else {
            // A listed file is known by its id; an unlisted one leaves its artifacts behind.
            let id = file.facts.and_then(|facts| facts.id.clone());
            let takes = id.filter(|_| matches!(why, DeletionReason::Age | DeletionReason::Count));
            deletions.push(Deletion { at: cause, why, with: None, takes });
            continue;
        };
        if !done.insert(short) {
            continue;
        }
        let first = groups.partition_point(|(other, _)| *other < short);
        let group = groups.iter().skip(first).take_while(|(other, _)| *other == short);
        for &(_, at) in group {
            let Some(member) = files.get(at) else { continue };
            let is_whole =
                |facts: &&RetentionFacts| rules.grouping == Grouping::All || facts.is_document;
            let takes = member.facts.filter(is_whole).and_then(|facts| facts.first_id.clone());
            let (why, with) = match own(at) {
                Some(own) => (own, None),
                None => (DeletionReason::SameName, Some((cause, why))),
            };
            deletions.push(Deletion { at, why, with, takes });
        }
    }
    deletions.sort_by_key(|victim| victim.at);
    deletions.dedup_by_key(|victim| victim.at);
    deletions
}

pub(crate) fn is_looked_at(file: &Candidate<'_>, rules: &Rules) -> bool {
    let ending = file.name.strip_prefix("session-").and_then(|name| name.rsplit_once('.'));
    ending.is_some_and(|(_, ending)| ending == "json" || rules.logs && ending == "jsonl")
}

/// Returns why the program treats a file as damaged; `None` if it lists it.
fn refusal(file: &Candidate<'_>, files: &[Candidate<'_>], rules: &Rules) -> Option<DeletionReason> {
    let Some(facts) = file.facts else { return Some(DeletionReason::Unreadable) };
    // Old releases know only documents, and require more of them.
    let is_readable = facts.loadable
        && facts.id.is_some()
        && (rules.logs || facts.is_document && facts.has_messages);
    if !is_readable {
        return Some(DeletionReason::Unreadable);
    }
    let says = |said: RecordedTime| said != RecordedTime::Nothing;
    // In a log, a missing time is now.
    let tells_times = says(facts.started) && says(facts.updated);
    if rules.needs_times && !tells_times && (facts.is_document || !rules.logs) {
        return Some(DeletionReason::NoTimes);
    }
    let is_enough = match rules.needs {
        Needs::Nothing => true,
        Needs::Spoken => facts.spoken,
        Needs::SpokenInLines => facts.spoken_in_lines,
        Needs::SpokenInList => facts.spoken_in_list,
        Needs::Resumable => facts.resumable,
    };
    if !is_enough {
        let has_words = |other: &&Candidate<'_>| {
            let is_same_session =
                other.facts.is_some_and(|other| other.spoken && other.id == facts.id);
            other.name != file.name && is_same_session
        };
        return Some(match files.iter().find(has_words) {
            Some(_) if !facts.resumable => DeletionReason::Stub,
            _ => DeletionReason::NothingSaid,
        });
    }
    (rules.hides_subagents && facts.subagent).then_some(DeletionReason::Subagent)
}

/// Returns when a session was last used, as in the program's list.
pub(crate) fn updated(file: &Candidate<'_>, now: i64) -> Option<i64> {
    let facts = file.facts?;
    match (facts.updated, facts.started) {
        (RecordedTime::Nothing, _) if !facts.is_document => Some(now),
        (RecordedTime::Nothing, RecordedTime::Nothing) => file.modified,
        (RecordedTime::Nothing, said) | (said, _) => said.millis(),
    }
}

/// Returns the eight characters at the end of a name by which files are grouped.
pub(crate) fn short_id(name: &str, grouping: Grouping) -> Option<&str> {
    let stem = match grouping {
        Grouping::Alone => return None,
        Grouping::Documents => name.strip_suffix(".json"),
        Grouping::All => name.strip_suffix(".json").or_else(|| name.strip_suffix(".jsonl")),
    }?;
    let (_, short) = stem.rsplit_once('-')?;
    let is_short = short.len() == 8 && short.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_short.then_some(short)
}
