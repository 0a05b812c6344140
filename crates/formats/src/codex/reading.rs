//! Files to outlines: which grammar, compressed or not, from the start or from where a reader was.

use std::io;
use std::path::Path;
use std::sync::Arc;

use recount_model::{Grammar, Problem, What};

use crate::bytes::{Buffer, Input, LineCounter};
use crate::outline::Outline;
use crate::source::{ReadResult, Reader, Recognition};

use super::document::Document;
use super::lines::Lines;
use super::record::{Record, Tag};

/// Returns a reader for the bytes of a file that begins with `head`.
pub(super) fn reader(head: &[u8], file: &Arc<str>) -> Box<dyn Reader> {
    match grammar(head) {
        Grammar::Json => Box::new(Document::new(Arc::clone(file))),
        Grammar::Jsonl => Box::new(Lines::new(Arc::clone(file))),
    }
}

/// The first releases wrote one document over many lines.
fn grammar(head: &[u8]) -> Grammar {
    // The first line of a thread may be long.
    let end = memchr::memchr(b'\n', head).unwrap_or(head.len());
    let first = head.get(..end).unwrap_or(head);
    let is_document =
        first.trim_ascii() == b"{" || first.trim_ascii_start().starts_with(b"{\"session\":{");
    if is_document { Grammar::Json } else { Grammar::Jsonl }
}

/// Reads the outline of one file.
pub(super) fn outline(path: &Path, buffer: &mut Buffer) -> Outline {
    outline_to_keep(path, buffer, false).outline
}

/// Reads the outline of one file, and keeps the reader if `keep`.
pub(super) fn outline_to_keep(path: &Path, buffer: &mut Buffer, keep: bool) -> ReadResult {
    let file: Arc<str> = Arc::from(path.to_string_lossy());
    let read = Input::open(path).and_then(|mut input| {
        let keep = keep && !input.is_compressed();
        pump(&mut input, &file, buffer, keep)
    });
    let mut read = read.unwrap_or_else(|_| {
        let mut outline = Outline::empty(Grammar::Jsonl);
        outline.problems.note(Problem {
            file: Arc::clone(&file),
            span: None,
            what: What::Unreadable,
            done: "left out; check its permissions".into(),
        });
        ReadResult { outline, saved: None }
    });
    count_lines(&mut read.outline, path);
    read
}

fn pump(
    input: &mut Input,
    file: &Arc<str>,
    buffer: &mut Buffer,
    keep: bool,
) -> io::Result<ReadResult> {
    let (mut saved, mut is_empty) = (None, false);
    let choose = |head: &[u8]| {
        is_empty = head.is_empty();
        reader(head, file)
    };
    let look = |reader: &dyn Reader| saved = keep.then(|| reader.save()).flatten();
    let mut outline = buffer.pump_and(input, choose, look)?.into_outline();
    // Usually the last line is torn, too.
    let is_noted = outline.problems.kept.iter().any(|problem| problem.what == What::TornTail);
    if input.is_torn() && !is_noted {
        outline.problems.note(Problem {
            file: Arc::clone(file),
            span: None,
            what: What::TornTail,
            done: "what comes before the damage is read".into(),
        });
    }
    if is_empty {
        outline = Outline::empty(Grammar::Jsonl);
        let done = "listed as empty".into();
        outline.problems.note(Problem {
            file: Arc::clone(file),
            span: None,
            what: What::Empty,
            done,
        });
    }
    Ok(ReadResult { outline, saved: saved.filter(|_| !is_empty) })
}

/// Continues a file from a saved reader.
pub(super) fn outline_from(
    path: &Path,
    buffer: &mut Buffer,
    state: &[u8],
    further: u64,
) -> Option<ReadResult> {
    let file: Arc<str> = Arc::from(path.to_string_lossy());
    let lines = Lines::resume(state, &file)?;
    let end = std::fs::metadata(path).ok()?.len();
    let pays = end.saturating_sub(lines.offset()) >= further;
    let mut input = Input::open(path).ok().filter(|input| !input.is_compressed())?;
    input.seek_to(lines.offset()).ok()?;
    let mut saved = None;
    let look = |reader: &dyn Reader| saved = pays.then(|| reader.save()).flatten();
    let reader = buffer.pump_and(&mut input, |_| Box::new(lines), look).ok()?;
    Some(ReadResult { outline: reader.into_outline(), saved })
}

/// Problems in a document are rare; only for them its lines are counted.
fn count_lines(outline: &mut Outline, path: &Path) {
    let uncounted = outline.problems.kept.iter_mut().filter_map(|problem| problem.span.as_mut());
    let mut uncounted = uncounted.filter(|span| span.line == 0).peekable();
    if uncounted.peek().is_none() {
        return;
    }
    if let Ok(mut counter) = LineCounter::open(path) {
        for span in uncounted {
            span.line = counter.line(span.offset).unwrap_or(0);
        }
    }
}

/// How much of the first record is searched, if it is longer than the head.
const START: usize = 1024;

/// Recognizes a file by its first records.
pub(super) fn recognize(path: &Path, head: &[u8]) -> Recognition {
    let is_named = super::names::of_path(path).is_some();
    let mut lines = head.split(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let has = |bytes: &[u8], key: &[u8]| memchr::memmem::find(bytes, key).is_some();
    let certain = if let Ok(record) = Record::read(first) {
        let mut is_followed = || lines.next().is_some_and(|line| has(line, b"\"record_type\""));
        record.tag == Tag::Meta || (record.tag == Tag::Header && (is_named || is_followed()))
    } else {
        let start = head.get(..START).unwrap_or(head);
        let is_cut_meta = has(start, b"\"type\":\"session_meta\"") && has(start, b"\"payload\"");
        let is_document = grammar(head) == Grammar::Json;
        is_cut_meta || (is_document && has(head, b"\"session\"") && has(head, b"\"items\""))
    };
    if certain { Recognition::Certain } else { Recognition::No }
}
