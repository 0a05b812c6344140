//! Detects the grammar of a file, and reads it in that one or, if that fails, the other.
//!
//! The agent's loader reads every file line by line and, if no line had an id and a hash, again as one document. Here the
//! start is checked first, and only damaged files are read twice.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use memchr::memchr;
use recount_model::{Grammar, Problem, What};

use super::document::Document;
use super::lines::Lines;
use crate::bytes::Buffer;
use crate::json::{ScanError, Scanner};
use crate::native::Fields;
use crate::outline::Outline;
use crate::source::{ReadResult, Reader, Recognition};

/// How much of the start of a file is checked.
const HEAD: usize = 64 * 1024;

/// How much is checked after the lines that distinguish a document from a log whose first record was cut.
const BEYOND: usize = 256;

/// Reads the outline of one file.
pub(crate) fn outline<R: Read + Seek>(
    input: &mut R,
    file: &Arc<str>,
    buffer: &mut Buffer,
) -> io::Result<Outline> {
    outline_and(input, file, buffer, |_| {})
}

/// Continues a log from a saved reader state, and saves it again if `further` bytes were added since: saving takes as long
/// as continuing.
pub(crate) fn outline_from<R: Read + Seek>(
    input: &mut R,
    file: &Arc<str>,
    buffer: &mut Buffer,
    state: &[u8],
    further: u64,
) -> Option<ReadResult> {
    let lines = Lines::resume(state, file)?;
    let end = input.seek(SeekFrom::End(0)).ok()?;
    let pays = end.saturating_sub(lines.offset()) >= further;
    input.seek(SeekFrom::Start(lines.offset())).ok()?;
    let mut saved = None;
    let look = |reader: &dyn Reader| saved = pays.then(|| reader.save()).flatten();
    let reader = buffer.pump_and(input, |_| Box::new(lines), look).ok()?;
    Some(ReadResult { outline: reader.into_outline(), saved })
}

/// Reads the raw session-level fields of a file.
pub(crate) fn fields<R: Read + Seek>(
    input: &mut R,
    file: &Arc<str>,
    buffer: &mut Buffer,
) -> io::Result<Fields> {
    let reader = |grammar, file: &Arc<str>| -> Box<dyn Reader> {
        match grammar {
            Grammar::Json => Box::new(Document::new(Arc::clone(file)).keeping_fields()),
            Grammar::Jsonl => Box::new(Lines::new(Arc::clone(file)).keeping_fields()),
        }
    };
    let outline = outline_by(input, file, buffer, reader, |_| {})?;
    Ok(outline.head.fields.unwrap_or_default())
}

/// The same as [`outline`], with access to the first reader before it is finished.
pub(crate) fn outline_and<R: Read + Seek>(
    input: &mut R,
    file: &Arc<str>,
    buffer: &mut Buffer,
    look: impl FnOnce(&dyn Reader),
) -> io::Result<Outline> {
    outline_by(input, file, buffer, reader, look)
}

fn outline_by<R: Read + Seek>(
    input: &mut R,
    file: &Arc<str>,
    buffer: &mut Buffer,
    reader: fn(Grammar, &Arc<str>) -> Box<dyn Reader>,
    look: impl FnOnce(&dyn Reader),
) -> io::Result<Outline> {
    let mut grammar = Grammar::Json;
    let (mut is_empty, mut is_object) = (false, false);
    let choose = |piece: &[u8]| {
        let head = piece.get(..HEAD).unwrap_or(piece);
        grammar = sniff(head);
        is_empty = head.is_empty();
        is_object = Scanner::new(without_mark(head)).peek() == Ok(b'{');
        reader(grammar, file)
    };
    let first = buffer.pump_and(input, choose, look)?.into_outline();
    if is_empty {
        let is_log = file.contains(".jsonl");
        let mut outline = Outline::empty(if is_log { Grammar::Jsonl } else { Grammar::Json });
        let file = Arc::clone(file);
        outline.problems.note(Problem {
            file,
            span: None,
            what: What::Empty,
            done: "listed as empty".into(),
        });
        return Ok(outline);
    }
    let other = match grammar {
        Grammar::Json => Grammar::Jsonl,
        Grammar::Jsonl => Grammar::Json,
    };
    if first.loadable || (other == Grammar::Json && !is_object) {
        return Ok(first);
    }
    input.seek(SeekFrom::Start(0))?;
    let second = buffer.pump(input, |_| reader(other, file))?.into_outline();
    let better = second.loadable || second.entries.len() > first.entries.len();
    Ok(if better { second } else { first })
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Returns a reader for a grammar.
pub(crate) fn reader(grammar: Grammar, file: &Arc<str>) -> Box<dyn Reader> {
    match grammar {
        Grammar::Json => Box::new(Document::new(Arc::clone(file))),
        Grammar::Jsonl => Box::new(Lines::new(Arc::clone(file))),
    }
}

/// Recognizes a file by its first bytes: sessions record both an id and a project's hash. Any other text may be a saved
/// chat or an export, in JSON or Markdown.
pub(crate) fn recognize(head: &[u8]) -> Recognition {
    let has = |key: &[u8]| memchr::memmem::find(head, key).is_some();
    if has(b"\"sessionId\"") && has(b"\"projectHash\"") {
        Recognition::Certain
    } else if memchr(0, head).is_none() || head.first() == Some(&b'{') {
        Recognition::Possible
    } else {
        Recognition::No
    }
}

/// Detects the grammar from the first bytes of a file.
pub(crate) fn sniff(head: &[u8]) -> Grammar {
    let head = without_mark(head);
    let line_end = memchr(b'\n', head).unwrap_or(head.len());
    let first_line = head.get(..line_end).unwrap_or(head);
    let mut scanner = Scanner::new(first_line);
    if scanner.peek() != Ok(b'{') || scanner.skip() != Err(ScanError::Incomplete) {
        return Grammar::Jsonl;
    }
    if first_line.len() == head.len() {
        // One very long line: more likely a log's record than a document without white space.
        return Grammar::Jsonl;
    }
    // A cut record is followed by one that does not continue it.
    let third_line = head.split_inclusive(|&byte| byte == b'\n').take(2).map(<[u8]>::len).sum();
    // Slightly more than those lines is enough, unless something that begins there does not end there.
    for bytes in [head.get(..third_line + BEYOND).unwrap_or(head), head] {
        let mut scanner = Scanner::new(bytes);
        match (scanner.skip(), scanner.offset() <= third_line) {
            (Err(ScanError::Syntax), true) => return Grammar::Jsonl,
            (Err(ScanError::Incomplete), true) => {}
            _ => break,
        }
    }
    Grammar::Json
}
