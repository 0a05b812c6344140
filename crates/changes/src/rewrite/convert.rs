//! Converts a session to the other of its agent's two grammars.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use recount_engine::disk::Window;
use recount_engine::{Opened, Progress};
use recount_formats::Rewriter;
use recount_formats::rewrite::{Piece, Shape};
use recount_formats::source::SessionFile;
use recount_model::{Fate, FileRole, Grammar};
use recount_writer::RealDisk;
use recount_writer::change::ChangeDetails;

use super::compact::{head, must_rewrite};
use super::preview::{Preview, PreviewMessage, Record};
use super::revision::Revision;
use crate::sessions::steps::{role, subject};
use crate::{Changes, Conversion, Error, Notice, Operation, Proposal};

impl Changes<'_> {
    /// Plans to write a session in another grammar; its current files go to the trash.
    ///
    /// # Errors
    /// If an argument matches none, or several; if a file cannot be read, or the agent cannot load it.
    pub fn convert_plan(
        self,
        wanted: &str,
        to: Grammar,
        progress: &dyn Progress,
    ) -> Result<Proposal, Error> {
        let opened = self.engine.open(wanted, progress)?;
        let mut offer = self.offer("convert");
        if opened.is_saved() {
            return Err(Error::not_a_session(wanted));
        }
        let (_, rewriter) = must_rewrite(&opened.facts, Operation::Convert)?;
        for session_file in &opened.session_files().files {
            let is_its = matches!(session_file.role, FileRole::Main | FileRole::Part);
            if is_its && !is_in(&session_file.file.at.path, to) {
                convert(&mut offer, &opened, rewriter, session_file, to)?;
            }
        }
        if to == Grammar::Jsonl {
            remove_twins(&mut offer, &opened)?;
        }
        if !offer.is_empty() {
            offer.plan.sessions.push(subject(&opened.facts));
            let copies =
                opened.session_files().files.iter().filter(|m| m.role == FileRole::Copy).count();
            if copies > 0 {
                offer.notice(Notice::CopiesStay);
            }
        }
        Ok(offer)
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
    offer: &mut Proposal,
    opened: &Opened,
    rewriter: &'static dyn Rewriter,
    session_file: &SessionFile,
    to: Grammar,
) -> Result<(), Error> {
    let path = &session_file.file.at.path;
    let unread = |source| Error::unreadable(path, source);
    let before =
        Preview::of_file(rewriter, session_file.file.outline.grammar, path).map_err(unread)?;
    if !before.loadable {
        return Err(Error::NotLoadable { path: path.clone() });
    }
    let pieces = match to {
        Grammar::Jsonl => lines(offer, opened, rewriter, path, &before).map_err(unread)?,
        Grammar::Json => document(offer, rewriter, &before),
    };
    let revision = Revision::new(rewriter, vec![path.clone()], pieces);
    let after = Preview::of(rewriter, to, &revision).map_err(unread)?;
    if !is_faithful(rewriter, &before, &after, to) {
        return Err(Error::NotTheSame { path: path.clone() });
    }
    let target = path.with_extension(extension(to));
    let about =
        ChangeDetails { session: Some(opened.facts.id.as_str()), what: role(session_file.role) };
    let is_twin = |other: &&SessionFile| {
        other.file.at.path == target && matches!(other.role, FileRole::Twin | FileRole::Stub)
    };
    offer.plan.remove(&RealDisk, path, about)?;
    let like = offer.plan.steps.last().and_then(|step| step.before.clone());
    if opened.session_files().files.iter().any(|other| is_twin(&other)) {
        offer.plan.replace(&RealDisk, &target, revision.content(), about)?;
    } else {
        offer.plan.create(&RealDisk, &target, revision.content(), about, like.as_ref())?;
    }
    // The new one first.
    let last = offer.plan.steps.len().saturating_sub(1);
    offer.plan.steps.swap(last.saturating_sub(1), last);
    Ok(())
}

/// Returns a document as the log that the agent would make of it.
fn lines(
    offer: &mut Proposal,
    opened: &Opened,
    rewriter: &dyn Rewriter,
    path: &Path,
    seen: &Preview,
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
        if rewriter.shape(window.read(version.span)?, &shape).is_none() {
            unfit += 1;
            continue;
        }
        pieces.push(Piece::Record { file: 0, span: version.span, shape });
        pieces.push(Piece::New(b"\n".to_vec()));
    }
    add_effect(offer, unnamed, Conversion::GetsId);
    add_effect(offer, unfit, Conversion::NotInLog);
    let twice = outline.strict.len() as u64 - dedup(&seen.strict).len() as u64;
    add_effect(offer, twice, Conversion::SameId);
    Ok(pieces)
}

/// Returns the agent's view of a log as a document.
fn document(offer: &mut Proposal, rewriter: &dyn Rewriter, seen: &Preview) -> Vec<Piece> {
    let outline = &seen.outline;
    let fields = outline.head.fields.clone().unwrap_or_default();
    let frame = rewriter.document(&fields);
    let spans = outline.strict.iter().filter_map(|shown| {
        outline.versions.get(shown.version as usize).map(|version| version.span)
    });
    let shape = || Shape::Element(None);
    let pieces = frame.around(spans.map(|span| Piece::Record { file: 0, span, shape: shape() }));
    let undone = seen.full.iter().filter(|said| said.fate != Fate::Kept).count() as u64;
    add_effect(offer, undone, Conversion::Undone);
    let shown: HashSet<&Record> = seen.strict.iter().collect();
    let richer = seen.full.iter().filter(|said| said.fate == Fate::Kept);
    let is_richer =
        |said: &&PreviewMessage| !shown.contains(&said.richest) || !said.others.is_empty();
    let richer = richer.filter(is_richer).count() as u64;
    add_effect(offer, richer, Conversion::Richer);
    add_effect(offer, outline.problems.total, Conversion::NotUnderstood);
    pieces
}

fn add_effect(offer: &mut Proposal, messages: u64, effect: Conversion) {
    if messages > 0 {
        offer.notice(Notice::Converted { messages, effect });
    }
}

/// Returns what a log shows of records that may share ids.
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

/// Whether the agent, and in a log people, see the same. Messages without an id get a notice.
fn is_faithful(rewriter: &dyn Rewriter, before: &Preview, after: &Preview, to: Grammar) -> bool {
    let named = |rows: &[Record]| -> Vec<Record> {
        let known: HashSet<&str> = before.strict.iter().filter_map(|r| r.0.as_deref()).collect();
        let is_known = |row: &&Record| row.0.as_deref().is_some_and(|id| known.contains(id));
        rows.iter().filter(is_known).cloned().collect()
    };
    let strict = named(&dedup(&before.strict)) == named(&after.strict);
    let full = to == Grammar::Json || {
        let named = |seen: &Preview| seen.full.iter().filter(|s| s.richest.0.is_some()).count();
        let said = |seen: &Preview| seen.full.iter().filter(|s| s.fate == Fate::Kept).count();
        let is_equal = before.full == after.full;
        is_equal || (named(before) < before.full.len() && said(before) == said(after))
    };
    after.loadable && is_said(rewriter, before, after) && strict && full
}

/// Whether all session-level fields are preserved, except those that a release wrote by mistake.
fn is_said(rewriter: &dyn Rewriter, before: &Preview, after: &Preview) -> bool {
    let is_meaningful =
        |(key, value): &&(String, Vec<u8>)| rewriter.is_meaningful(key) && value != b"null";
    before.fields.iter().filter(is_meaningful).all(|field| after.fields.contains(field))
}

/// Removes the old document beside a log that contains all of it: when the agent deletes one, it deletes both.
fn remove_twins(offer: &mut Proposal, opened: &Opened) -> Result<(), Error> {
    let members = &opened.session_files().files;
    let logs =
        members.iter().filter(|session_file| is_in(&session_file.file.at.path, Grammar::Jsonl));
    let known: HashSet<&str> = logs
        .filter(|session_file| matches!(session_file.role, FileRole::Main | FileRole::Part))
        .flat_map(|session_file| &session_file.file.outline.entries)
        .filter_map(|entry| entry.id.as_deref())
        .collect();
    for twin in members.iter().filter(|session_file| session_file.role == FileRole::Twin) {
        let entries = &twin.file.outline.entries;
        let is_held = |id: &Option<Box<str>>| id.as_deref().is_some_and(|id| known.contains(id));
        if entries.iter().all(|entry| is_held(&entry.id)) {
            let about = ChangeDetails { session: Some(opened.facts.id.as_str()), what: "twin" };
            offer.plan.remove(&RealDisk, &twin.file.at.path, about)?;
        } else {
            offer.notice(Notice::TwinStays(twin.file.at.path.clone()));
        }
    }
    Ok(())
}
