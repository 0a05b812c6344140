//! Finds what keeps an agent from loading or continuing a session, and the fixed files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use recount_formats::outline::{Outline, Version};
use recount_formats::rewrite::{Flaw, KnownMetadata, Piece, Rewrite, Shape, unpaired};
use recount_formats::source::{FilePlacement, SessionFile, SessionFiles};
use recount_formats::{Rewriter, bytes};
use recount_model::{Fate, FileRole, Grammar, MessageKind, SessionKind, Span, What};

use super::preview::{Preview, each_record};
use super::revision::Revision;

/// The result for one file of a session.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(crate) path: PathBuf,
    pub(crate) role: FileRole,
    /// What keeps the agent from loading it.
    pub(crate) flaws: Vec<Flaw>,
    /// The fixed file, if possible.
    pub(crate) revision: Option<Revision>,
    /// Where the file should be, if not in its current place.
    pub(crate) target: Option<PathBuf>,
    /// Files that are then no longer needed.
    pub(crate) obsolete: Vec<PathBuf>,
}

impl Examined {
    fn unread(session_file: &SessionFile) -> Self {
        Self {
            path: session_file.file.at.path.clone(),
            role: session_file.role,
            flaws: vec![Flaw::Unread],
            revision: None,
            target: None,
            obsolete: Vec::new(),
        }
    }
}

/// What is known about a session from other files.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExternalFacts {
    /// The session's id, if its files do not record it.
    pub(crate) id: Option<String>,
    pub(crate) project_hash: Option<String>,
}

/// Examines the files of a session.
pub(crate) fn examine(
    rewriter: &'static dyn Rewriter,
    session_files: &SessionFiles,
    external_facts: &ExternalFacts,
) -> Vec<Examined> {
    let is_aside =
        |session_file: &&SessionFile| session_file.file.at.placement == FilePlacement::Leftover;
    let aside: Vec<&SessionFile> =
        session_files.files.iter().filter(is_aside).filter(|m| m.role != FileRole::Main).collect();
    let mut all = Vec::new();
    for session_file in &session_files.files {
        let is_left = is_aside(&session_file) && session_file.role != FileRole::Main;
        if is_left || matches!(session_file.role, FileRole::Stub | FileRole::Twin | FileRole::Base)
        {
            continue;
        }
        let aside = if session_file.role == FileRole::Main { aside.as_slice() } else { &[] };
        let examined = examine_file(rewriter, session_files, session_file, aside, external_facts);
        all.extend(examined.unwrap_or_else(|_| Some(Examined::unread(session_file))));
    }
    all
}

fn examine_file(
    rewriter: &'static dyn Rewriter,
    session_files: &SessionFiles,
    session_file: &SessionFile,
    aside: &[&SessionFile],
    external_facts: &ExternalFacts,
) -> io::Result<Option<Examined>> {
    let path = &session_file.file.at.path;
    let grammar = session_file.file.outline.grammar;
    if session_file.file.outline.is_unread() {
        return Ok(Some(Examined::unread(session_file)));
    }
    if session_file.file.outline.entries.is_empty() {
        return Ok(None);
    }
    let seen = Preview::of_file(rewriter, grammar, path)?;
    let known = KnownMetadata {
        id: external_facts.id.as_deref().unwrap_or(session_files.id.as_str()),
        project_hash: external_facts.project_hash.as_deref().unwrap_or("unknown"),
        is_subagent: session_files.kind == SessionKind::Subagent,
    };
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let is_one_line = rewriter.is_document_on_one_line(&seen.outline);
    let (flaws, revision, obsolete) = if grammar == Grammar::Json || (is_one_line && is_json) {
        let (flaws, revision) = document(rewriter, path, &seen, &known, is_one_line)?;
        (flaws, revision, Vec::new())
    } else {
        log(rewriter, path, &seen, &known, aside)?
    };
    let is_aside = session_file.file.at.placement == FilePlacement::Leftover;
    let target = is_aside.then(|| rewriter.place_of(path)).flatten();
    let mut examined =
        Examined { path: path.clone(), role: session_file.role, flaws, revision, target, obsolete };
    if examined.target.is_some() && examined.revision.is_none() {
        examined.revision = Some(Revision::as_it_is(rewriter, path)?);
    }
    if examined.target.is_some() {
        let messages = seen.full.len();
        examined.flaws.push(Flaw::PutAside { messages });
    }
    let sound = examined.flaws.is_empty() && examined.obsolete.is_empty();
    Ok((!sound).then_some(examined))
}

/// Returns the versions of messages that the agent would load, or would if it could.
fn strict_versions(outline: &Outline) -> Vec<Version> {
    let version = |number: u32| outline.versions.get(number as usize).copied();
    if outline.loadable {
        return outline.strict.iter().filter_map(|shown| version(shown.version)).collect();
    }
    let kept = outline.entries.iter().filter(|entry| entry.fate == Fate::Kept);
    kept.filter_map(|entry| version(entry.last)).collect()
}

fn document(
    rewriter: &'static dyn Rewriter,
    path: &Path,
    seen: &Preview,
    known: &KnownMetadata<'_>,
    is_one_line: bool,
) -> io::Result<(Vec<Flaw>, Option<Revision>)> {
    let outline = &seen.outline;
    let mut flaws = Vec::new();
    let has_mark = outline.problems.kept.iter().any(|p| p.what == What::ByteOrderMark);
    if is_one_line {
        flaws.push(Flaw::OneLine);
    }
    if has_mark {
        flaws.push(Flaw::ByteOrderMark);
    }
    let mut fields = outline.head.fields.clone().unwrap_or_default();
    let is_nameless = rewriter.complete(&mut fields, outline, known);
    if is_nameless {
        flaws.push(Flaw::NoHead);
    }
    if !outline.loadable && !has_mark && !is_nameless {
        flaws.push(Flaw::Broken);
    }
    let whole = Revision::as_it_is(rewriter, path)?;
    let rows = strict_versions(outline);
    let rewritten = rewritten(rewriter, &whole, &rows, &mut flaws)?;
    if flaws.is_empty() {
        return Ok((flaws, None));
    }
    let mut unfit = HashSet::new();
    let spans: Vec<Span> = rows.iter().map(|version| version.span).collect();
    each_record(&whole, &spans, &mut |number, record| {
        if rewriter.shape(record, &Shape::Element(None)).is_none() {
            unfit.insert(number);
        }
    })?;
    let fit = rows.iter().enumerate().filter(|(number, _)| !unfit.contains(number));
    let element = |(number, version): (usize, &Version)| {
        let shape = Shape::Element(None);
        match rewritten.get(&number).and_then(|record| rewriter.shape(record, &shape)) {
            Some(element) => Piece::New(element),
            None => Piece::Record { file: 0, span: version.span, shape },
        }
    };
    let pieces = rewriter.document(&fields).around(fit.map(element));
    let revision = Revision::new(rewriter, vec![path.to_owned()], pieces);
    let after = Preview::of(rewriter, Grammar::Json, &revision)?;
    let is_better = after.loadable && after.strict.len() + unfit.len() == rows.len();
    Ok((flaws, is_better.then_some(revision)))
}

type Mended = (Vec<Flaw>, Option<Revision>, Vec<PathBuf>);

fn log(
    rewriter: &'static dyn Rewriter,
    path: &Path,
    seen: &Preview,
    known: &KnownMetadata<'_>,
    aside: &[&SessionFile],
) -> io::Result<Mended> {
    let (mut flaws, mut pieces) = rewriter.repaired(path, &seen.outline, known)?;
    let mut files = vec![path.to_owned()];
    let sound = Revision::new(rewriter, files.clone(), pieces.clone());
    let sound_seen = Preview::of(rewriter, Grammar::Jsonl, &sound)?;
    if !sound_seen.loadable {
        return Ok((flaws, None, Vec::new()));
    }
    let outline = &sound_seen.outline;
    let buried = buried(outline);
    let rows = buried.clone().unwrap_or_else(|| strict_versions(outline));
    let rewritten = rewritten(rewriter, &sound, &rows, &mut flaws)?;
    if buried.is_some() {
        flaws.push(Flaw::Buried { messages: rows.len() });
        pieces.extend(list(rewriter, &sound, &rows, &rewritten));
    } else {
        let mut numbers: Vec<&usize> = rewritten.keys().collect();
        numbers.sort_unstable();
        for record in numbers.into_iter().filter_map(|number| rewritten.get(number)) {
            pieces.push(Piece::New([record.as_slice(), b"\n"].concat()));
        }
    }
    let mut obsolete = Vec::new();
    for session_file in aside {
        let news = news(outline, &session_file.file.outline);
        if !news.is_empty() {
            flaws.push(Flaw::PutAside { messages: news.len() });
            let number = files.len();
            files.push(session_file.file.at.path.clone());
            insert(rewriter, &mut pieces, path, number, &news)?;
        }
        obsolete.push(session_file.file.at.path.clone());
    }
    if flaws.is_empty() {
        return Ok((flaws, None, obsolete));
    }
    let revision = Revision::new(rewriter, files, pieces);
    let after = Preview::of(rewriter, Grammar::Jsonl, &revision)?;
    let ids: HashSet<&str> = after.outline.entries.iter().filter_map(|e| e.id.as_deref()).collect();
    let is_there = |id: &Option<Box<str>>| id.as_deref().is_none_or(|id| ids.contains(id));
    let is_better = after.loadable && seen.outline.entries.iter().all(|e| is_there(&e.id));
    Ok((flaws, is_better.then_some(revision), obsolete))
}

/// Returns the messages to restore if the agent would show nothing although there is a conversation.
fn buried(outline: &Outline) -> Option<Vec<Version>> {
    let is_said = |kind| !matches!(kind, MessageKind::Context | MessageKind::Notice);
    let is_shown = outline.strict.iter().any(|shown| {
        outline.entries.get(shown.entry as usize).is_some_and(|entry| is_said(entry.kind))
    });
    let best = |wanted: &dyn Fn(Fate) -> bool| -> Vec<Version> {
        let entries = outline.entries.iter().filter(|entry| wanted(entry.fate));
        entries.filter_map(|e| outline.versions.get(e.best as usize).copied()).collect()
    };
    let talks = |wanted: &dyn Fn(Fate) -> bool| {
        outline.entries.iter().any(|entry| wanted(entry.fate) && is_said(entry.kind))
    };
    let meant = |fate| !matches!(fate, Fate::Rewound | Fate::Cancelled);
    // Messages that were undone on purpose stay undone.
    (!is_shown && talks(&meant)).then(|| best(&meant))
}

/// Rewrites records in which calls and responses do not match, by their number.
fn rewritten(
    rewriter: &dyn Rewriter,
    maker: &Revision,
    rows: &[Version],
    flaws: &mut Vec<Flaw>,
) -> io::Result<HashMap<usize, Vec<u8>>> {
    let spans: Vec<Span> = rows.iter().map(|version| version.span).collect();
    let mut exchanges = BTreeMap::new();
    each_record(maker, &spans, &mut |number, record| {
        exchanges.insert(number, rewriter.exchange(record));
    })?;
    let numbers: Vec<usize> =
        exchanges.iter().filter(|(_, e)| e.is_some()).map(|(number, _)| *number).collect();
    let exchanges: Vec<_> = exchanges.into_values().flatten().collect();
    let by_record: BTreeMap<usize, Rewrite> = unpaired(&exchanges)
        .into_iter()
        .filter_map(|(at, rewrite)| Some((*numbers.get(at)?, rewrite)))
        .collect();
    let (mut calls, mut answers) = (0, 0);
    for rewrite in by_record.values() {
        match rewrite {
            Rewrite::Answer(all) => calls += all.len(),
            Rewrite::Drop(all) => answers += all.len(),
        }
    }
    if calls > 0 {
        flaws.push(Flaw::Unanswered { calls });
    }
    if answers > 0 {
        flaws.push(Flaw::Unasked { answers });
    }
    let mut overrides = HashMap::new();
    if !by_record.is_empty() {
        each_record(maker, &spans, &mut |number, record| {
            let rewrite = by_record.get(&number);
            let written = rewrite.and_then(|rewrite| rewriter.rewritten(record, rewrite));
            overrides.extend(written.map(|written| (number, written)));
        })?;
    }
    Ok(overrides)
}

/// Returns a list that replaces all messages before it.
fn list(
    rewriter: &dyn Rewriter,
    sound: &Revision,
    rows: &[Version],
    rewritten: &HashMap<usize, Vec<u8>>,
) -> Vec<Piece> {
    let record = |(number, version): (usize, &Version)| match rewritten.get(&number) {
        Some(record) => Some(Piece::New(record.clone())),
        None => sound.origin(version.span).map(|(file, span)| {
            let shape = Shape::Line(None);
            Piece::Record { file, span, shape }
        }),
    };
    rewriter.list().around(rows.iter().enumerate().filter_map(record))
}

/// Returns the messages of a file that another does not have, or not as complete.
fn news(known: &Outline, other: &Outline) -> Vec<(Box<str>, Span)> {
    let rank = |outline: &Outline, version: u32| {
        outline.versions.get(version as usize).map_or(0, |version| version.rank)
    };
    let ranks: HashMap<&str, u64> = known
        .entries
        .iter()
        .filter_map(|entry| Some((entry.id.as_deref()?, rank(known, entry.best))))
        .collect();
    let is_new = |entry: &&recount_formats::outline::MessageEntry| {
        let own = rank(other, entry.best);
        let id = entry.id.as_deref();
        id.is_some_and(|id| ranks.get(id).is_none_or(|known| *known < own))
    };
    let span = |entry: &recount_formats::outline::MessageEntry| {
        Some((entry.id.clone()?, other.versions.get(entry.best as usize)?.span))
    };
    other.entries.iter().filter(is_new).filter_map(span).collect()
}

/// Inserts messages after the first line, and undoes them again: people see them, and the agent loads the same as before.
fn insert(
    rewriter: &dyn Rewriter,
    pieces: &mut Vec<Piece>,
    path: &Path,
    file: usize,
    news: &[(Box<str>, Span)],
) -> io::Result<()> {
    let Some((first, _)) = news.first() else { return Ok(()) };
    let mut lines = Vec::new();
    for (_, span) in news {
        lines.push(Piece::Record { file, span: *span, shape: Shape::Line(None) });
        lines.push(Piece::New(b"\n".to_vec()));
    }
    lines.push(Piece::New(rewriter.rewind(first)));
    let at = match pieces.first_mut() {
        Some(Piece::Kept { file: 0, offset, bytes: length }) => {
            let mut line = Vec::new();
            let mut input = BufReader::new(bytes::open(path)?);
            io::Seek::seek(&mut input, io::SeekFrom::Start(*offset))?;
            let head = (input.read_until(b'\n', &mut line)? as u64).min(*length);
            let rest = Piece::kept(*offset + head, *length - head);
            *length = head;
            pieces.insert(1, rest);
            1
        }
        Some(_) => 1,
        None => 0,
    };
    pieces.splice(at..at, lines);
    Ok(())
}
