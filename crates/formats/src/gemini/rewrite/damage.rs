//! Damage in the lines of a log: bytes that the loader rejects, a missing header, incomplete lines.

use std::collections::HashSet;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use memchr::memmem;
use recount_model::What;

use crate::bytes;
use crate::gemini::lines::whole_lines;
use crate::gemini::native::Object;
use crate::gemini::record::Record;
use crate::json::ScanError;
use crate::outline::Outline;
use crate::rewrite::{Flaw, KnownMetadata, Piece};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The maximum number of positions in a broken line that are tried for a complete record.
const TRIES: usize = 64;

/// Returns the flaws of a log, and the repaired log.
pub(super) fn repaired(
    path: &Path,
    outline: &Outline,
    known: &KnownMetadata<'_>,
) -> io::Result<(Vec<Flaw>, Vec<Piece>)> {
    let mut walk = Walk { lost: lost_rewinds(path, outline)?, ..Walk::default() };
    let mut input = BufReader::with_capacity(1 << 20, bytes::open(path)?);
    let mut piece = Vec::new();
    loop {
        piece.clear();
        if input.read_until(b'\n', &mut piece)? == 0 {
            break;
        }
        let mut used = 0;
        for (text, length) in whole_lines(&piece) {
            walk.line(text, length, true);
            used += length;
        }
        let rest = piece.get(used..).unwrap_or_default();
        if !rest.is_empty() {
            walk.line(rest.strip_suffix(b"\r").unwrap_or(rest), rest.len(), rest.ends_with(b"\r"));
        }
    }
    let has_head = outline.head.session_id.is_some()
        && outline.head.project_hash.as_deref().is_some_and(|hash| !hash.is_empty());
    if !has_head && walk.at > 0 {
        walk.flaws.insert(0, Flaw::NoHead);
        walk.pieces.insert(0, Piece::New(head(outline, known)));
    }
    Ok((walk.flaws, walk.pieces))
}

#[derive(Debug, Default)]
struct Walk {
    at: u64,
    /// The locations of rewinds to unknown messages.
    lost: HashSet<u64>,
    flaws: Vec<Flaw>,
    pieces: Vec<Piece>,
}

impl Walk {
    fn line(&mut self, text: &[u8], length: usize, ended: bool) {
        let (at, length) = (self.at, length as u64);
        self.at += length;
        if self.lost.contains(&at) {
            return self.flaw(Flaw::UnknownRewind);
        }
        if text.starts_with(BYTE_ORDER_MARK) {
            self.flaw(Flaw::ByteOrderMark);
            let mark = BYTE_ORDER_MARK.len() as u64;
            return self.keep(at + mark, length - mark, ended);
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            return self.keep(at, length, true);
        }
        match Record::read(text) {
            Ok(_) => {
                if !ended {
                    self.flaw(Flaw::NoLineEnd);
                }
                self.keep(at, length, ended);
            }
            Err(fault) => match whole_record(text) {
                Some(from) => {
                    self.flaw(Flaw::WeldedLine { bytes: from as u64 });
                    self.keep(at + from as u64, length - from as u64, ended);
                }
                None if !ended && fault == ScanError::Incomplete => {
                    self.flaw(Flaw::TornTail { bytes: length });
                }
                // The loader skips it, and `show --raw` shows it.
                None => self.keep(at, length, ended),
            },
        }
    }

    fn flaw(&mut self, flaw: Flaw) {
        if !self.flaws.contains(&flaw) {
            self.flaws.push(flaw);
        }
    }

    fn keep(&mut self, offset: u64, length: u64, ended: bool) {
        match self.pieces.last_mut() {
            Some(Piece::Kept { offset: from, bytes, .. }) if *from + *bytes == offset => {
                *bytes += length;
            }
            _ => self.pieces.push(Piece::kept(offset, length)),
        }
        if !ended {
            self.pieces.push(Piece::New(b"\n".to_vec()));
        }
    }
}

/// Returns where the complete record begins that follows a torn one.
fn whole_record(line: &[u8]) -> Option<usize> {
    memmem::find_iter(line, b"{\"").filter(|&at| at > 0).take(TRIES).find(|&at| {
        let rest = line.get(at..).unwrap_or_default();
        matches!(Record::read(rest), Ok(Record::Message(_) | Record::Head(_)))
    })
}

/// Finds rewinds to unknown messages, unless a later list restores the messages.
fn lost_rewinds(path: &Path, outline: &Outline) -> io::Result<HashSet<u64>> {
    let unknown = outline.problems.kept.iter().filter(|p| p.what == What::UnknownRewind);
    let mut lost: HashSet<u64> = unknown.filter_map(|p| Some(p.span?.offset)).collect();
    if lost.is_empty() {
        return Ok(lost);
    }
    let mut input = BufReader::with_capacity(1 << 20, bytes::open(path)?);
    let (mut at, mut line, mut last_list) = (0, Vec::new(), 0);
    loop {
        line.clear();
        let read = input.read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        if matches!(Record::read(&line), Ok(Record::Set(fields)) if fields.messages.is_some()) {
            last_list = at;
        }
        at += read as u64;
    }
    lost.retain(|offset| *offset > last_list);
    Ok(lost)
}

/// Writes the first line of a log that has none.
fn head(outline: &Outline, known: &KnownMetadata<'_>) -> Vec<u8> {
    let mut head = Object::default();
    for (key, value) in usual(outline, known) {
        head.text(key, &value);
    }
    head.text("kind", if known.is_subagent { "subagent" } else { "main" });
    [head.end().as_slice(), b"\n"].concat()
}

/// Returns the required fields of a file: its own, else those known from other files and from its messages.
pub(super) fn usual(outline: &Outline, known: &KnownMetadata<'_>) -> Vec<(&'static str, String)> {
    let own = &outline.head;
    let id = own.session_id.as_ref().map_or(known.id, |id| id.as_str());
    let hash = own.project_hash.as_deref().filter(|hash| !hash.is_empty());
    let times = || outline.entries.iter().filter_map(|entry| entry.time);
    let when = |told: Option<i64>, seen: Option<i64>| {
        told.or(seen).and_then(recount_model::timestamp).map(crate::gemini::native::time)
    };
    let start = when(own.start, times().min()).map(|time| ("startTime", time));
    let updated = when(own.updated, times().max()).map(|time| ("lastUpdated", time));
    let first = [
        ("sessionId", id.to_owned()),
        ("projectHash", hash.unwrap_or(known.project_hash).to_owned()),
    ];
    first.into_iter().chain(start).chain(updated).collect()
}
