//! A session in the other of its agent's two grammars.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use recount_formats::Mender;
use recount_formats::mend::{Piece, Shape};
use recount_formats::source::Member;
use recount_model::{Fate, FileRole, Grammar};
use recount_writer::RealDisk;
use recount_writer::change::{About, Plan};

use super::common::{role, subject};
use super::compact::{head, mender};
use super::revision::Revision;
use super::sight::{Record, Said, Seen};
use crate::messages::window::Window;
use crate::snapshot::survey::Progress;
use crate::{Engine, Error, Opened};

impl Engine {
    /// Plans to write a session in another grammar; the files it lies in now go to the trash.
    ///
    /// # Errors
    /// If an argument names none, or several; if a file cannot be read, or the agent cannot load it.
    pub fn convert_plan(
        &self,
        wanted: &str,
        to: Grammar,
        progress: &dyn Progress,
    ) -> Result<Plan, Error> {
        let opened = self.open(wanted, progress)?;
        let mut plan = self.blank_plan("convert");
        let Some((_, mender)) = mender(&opened.facts).filter(|_| !opened.is_saved()) else {
            return Err(Error::NotASession(wanted.into()));
        };
        for member in &opened.family().members {
            let is_its = matches!(member.role, FileRole::Main | FileRole::Part);
            if is_its && !is_in(&member.file.at.path, to) {
                convert(&mut plan, &opened, mender, member, to)?;
            }
        }
        if to == Grammar::Jsonl {
            remove_twins(&mut plan, &opened)?;
        }
        if !plan.is_empty() {
            plan.sessions.push(subject(&opened.facts));
            let copies =
                opened.family().members.iter().filter(|m| m.role == FileRole::Copy).count();
            if copies > 0 {
                plan.notes.push("copies in folders of older releases stay as they are".to_owned());
            }
        }
        Ok(plan)
    }
}

fn extension(grammar: Grammar) -> &'static str {
    match grammar {
        Grammar::Json => "json",
        Grammar::Jsonl => "jsonl",
    }
}

fn is_in(path: &Path, grammar: Grammar) -> bool {
    path.extension().is_some_and(|own| own == extension(grammar))
}

fn convert(
    plan: &mut Plan,
    opened: &Opened,
    mender: &'static dyn Mender,
    member: &Member,
    to: Grammar,
) -> Result<(), Error> {
    let path = &member.file.at.path;
    let unread = |source| Error::Unreadable { path: path.clone(), source };
    let before = Seen::of_file(mender, member.file.outline.grammar, path).map_err(unread)?;
    if !before.loadable {
        return Err(Error::NotLoadable { path: path.clone() });
    }
    let pieces = match to {
        Grammar::Jsonl => lines(plan, opened, mender, path, &before).map_err(unread)?,
        Grammar::Json => document(plan, mender, &before),
    };
    let revision = Revision::new(mender, vec![path.clone()], pieces);
    let after = Seen::of(mender, to, &revision).map_err(unread)?;
    if !is_faithful(mender, &before, &after, to) {
        return Err(Error::NotTheSame { path: path.clone() });
    }
    let target = path.with_extension(extension(to));
    let about = About { session: Some(opened.facts.id.as_str()), what: role(member.role) };
    let is_twin = |other: &&Member| {
        other.file.at.path == target && matches!(other.role, FileRole::Twin | FileRole::Stub)
    };
    plan.remove(&RealDisk, path, about)?;
    let like = plan.steps.last().and_then(|step| step.before.clone());
    if opened.family().members.iter().any(|other| is_twin(&other)) {
        plan.replace(&RealDisk, &target, revision.content(), about)?;
    } else {
        plan.create(&RealDisk, &target, revision.content(), about, like.as_ref())?;
    }
    // The new one first.
    let last = plan.steps.len().saturating_sub(1);
    plan.steps.swap(last.saturating_sub(1), last);
    Ok(())
}

/// A document as the log that the agent would make of it.
fn lines(
    plan: &mut Plan,
    opened: &Opened,
    mender: &dyn Mender,
    path: &Path,
    seen: &Seen,
) -> std::io::Result<Vec<Piece>> {
    let outline = &seen.outline;
    let mut pieces = vec![Piece::New(head(opened.source(), &opened.facts, seen))];
    let known: HashSet<&str> = outline.entries.iter().filter_map(|e| e.id.as_deref()).collect();
    let mut free = (1..).map(|n: u64| format!("message-{n}")).filter(|id| !known.contains(&**id));
    let (mut unfit, mut unnamed) = (0_u64, 0_u64);
    let mut window = Window::open(path)?;
    for shown in &outline.strict {
        let entry = outline.entries.get(shown.entry as usize);
        let version = outline.versions.get(shown.version as usize);
        let (Some(entry), Some(version)) = (entry, version) else { continue };
        let id = if entry.id.is_none() { free.next() } else { None };
        unnamed += u64::from(id.is_some());
        let shape = Shape::Line(id);
        if mender.shape(window.read(version.span)?, &shape).is_none() {
            unfit += 1;
            continue;
        }
        pieces.push(Piece::Record { file: 0, span: version.span, shape });
        pieces.push(Piece::New(b"\n".to_vec()));
    }
    tell(plan, unnamed, "had no id and get one: a log has none without");
    tell(plan, unfit, "cannot stand in a log and stay only in the trash");
    let twice = outline.strict.len() as u64 - dedup(&seen.strict).len() as u64;
    tell(plan, twice, "stand there twice under one id; a log shows the last version of each");
    Ok(pieces)
}

/// What the agent shows of a log as a document.
fn document(plan: &mut Plan, mender: &dyn Mender, seen: &Seen) -> Vec<Piece> {
    let outline = &seen.outline;
    let fields = outline.head.fields.clone().unwrap_or_default();
    let frame = mender.document(&fields);
    let spans = outline.strict.iter().filter_map(|shown| {
        outline.versions.get(shown.version as usize).map(|version| version.span)
    });
    let shape = || Shape::Element(None);
    let pieces = frame.around(spans.map(|span| Piece::Record { file: 0, span, shape: shape() }));
    let undone = seen.full.iter().filter(|said| said.fate != Fate::Kept).count() as u64;
    tell(
        plan,
        undone,
        "that the agent no longer loads cannot stand in a document and stay only in the trash",
    );
    let shown: HashSet<&Record> = seen.strict.iter().collect();
    let richer = seen.full.iter().filter(|said| said.fate == Fate::Kept);
    let is_richer = |said: &&Said| !shown.contains(&said.richest) || !said.others.is_empty();
    let richer = richer.filter(is_richer).count() as u64;
    tell(plan, richer, "have an earlier, richer version, which stays only in the trash");
    tell(plan, outline.problems.total, "or lines that are not understood stay only in the trash");
    pieces
}

fn tell(plan: &mut Plan, count: u64, what: &str) {
    if count > 0 {
        let s = if count == 1 { "" } else { "s" };
        plan.notes.push(format!("{count} message{s} {what}"));
    }
}

/// What a log shows of records that may have the same ids.
fn dedup(strict: &[Record]) -> Vec<Record> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut rows: Vec<Record> = Vec::new();
    for record in strict {
        let place = record.0.as_deref().map(|id| *places.entry(id).or_insert(rows.len()));
        match place.and_then(|place| rows.get_mut(place)) {
            Some(row) => *row = record.clone(),
            None => rows.push(record.clone()),
        }
    }
    rows
}

/// Whether the agent, and in a log people, see the same. Messages without an id are told.
fn is_faithful(mender: &dyn Mender, before: &Seen, after: &Seen, to: Grammar) -> bool {
    let named = |rows: &[Record]| -> Vec<Record> {
        let known: HashSet<&str> = before.strict.iter().filter_map(|r| r.0.as_deref()).collect();
        let is_known = |row: &&Record| row.0.as_deref().is_some_and(|id| known.contains(id));
        rows.iter().filter(is_known).cloned().collect()
    };
    let strict = named(&dedup(&before.strict)) == named(&after.strict);
    let full = to == Grammar::Json || {
        let named = |seen: &Seen| seen.full.iter().filter(|s| s.richest.0.is_some()).count();
        let said = |seen: &Seen| seen.full.iter().filter(|s| s.fate == Fate::Kept).count();
        let is_equal = before.full == after.full;
        is_equal || (named(before) < before.full.len() && said(before) == said(after))
    };
    after.loadable && is_said(mender, before, after) && strict && full
}

/// Whether all that was said of the session as a whole still is, but for what a release put there by mistake.
fn is_said(mender: &dyn Mender, before: &Seen, after: &Seen) -> bool {
    let is_meant = |(key, value): &&(String, Vec<u8>)| mender.is_meant(key) && value != b"null";
    before.fields.iter().filter(is_meant).all(|field| after.fields.contains(field))
}

/// The old document beside a log goes, once the log holds all of it: when the agent clears one away, it takes both.
fn remove_twins(plan: &mut Plan, opened: &Opened) -> Result<(), Error> {
    let members = &opened.family().members;
    let logs = members.iter().filter(|member| is_in(&member.file.at.path, Grammar::Jsonl));
    let known: HashSet<&str> = logs
        .filter(|member| matches!(member.role, FileRole::Main | FileRole::Part))
        .flat_map(|member| &member.file.outline.entries)
        .filter_map(|entry| entry.id.as_deref())
        .collect();
    for twin in members.iter().filter(|member| member.role == FileRole::Twin) {
        let entries = &twin.file.outline.entries;
        let is_held = |id: &Option<Box<str>>| id.as_deref().is_some_and(|id| known.contains(id));
        if entries.iter().all(|entry| is_held(&entry.id)) {
            let about = About { session: Some(opened.facts.id.as_str()), what: "twin" };
            plan.remove(&RealDisk, &twin.file.at.path, about)?;
        } else {
            plan.notes.push(format!(
                "{} holds messages that the log beside it lacks, and stays",
                twin.file.at.path.display()
            ));
        }
    }
    Ok(())
}
