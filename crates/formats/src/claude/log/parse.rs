//! Lines to records, before they are applied.

use memchr::memchr_iter;

use super::super::row::Row;
use crate::json::{JsonScan, ScanError, Scanner};

/// A place in a line where no record begins, and why.
pub(super) type Fault = (usize, ScanError);

/// The records of some lines, each with its place in its line, not yet applied.
#[derive(Default)]
pub(super) struct ParsedLines<'a> {
    pub(super) records: Vec<(Row<'a>, usize, usize)>,
    /// Per line its text, its length with what ends it, where its records end in the list, and what comes after them.
    pub(super) lines: Vec<(&'a [u8], usize, usize, Option<Fault>)>,
}

/// Reads the records of a line: usually one, after a torn write two. Each is read into `row` and given to `each` with its place in
/// the line and its length. Returns where no record begins.
pub(super) fn parse<'a>(
    text: &'a [u8],
    row: &mut Row<'a>,
    mut each: impl FnMut(&Row<'a>, usize, usize),
) -> Option<Fault> {
    // A crash may leave NUL bytes in front.
    let blank = text.iter().take_while(|byte| **byte == 0 || byte.is_ascii_whitespace()).count();
    let mut scanner = Scanner::new(text.get(blank..).unwrap_or_default());
    loop {
        let start = match scanner.peek() {
            Ok(_) => scanner.offset(),
            Err(ScanError::Incomplete) => return None,
            Err(fault) => return Some((blank + scanner.offset(), fault)),
        };
        match record(&mut scanner, row) {
            Ok(()) => each(row, blank + start, scanner.offset() - start),
            Err(fault) => return Some((blank + start, fault)),
        }
    }
}

fn record<'a>(scanner: &mut Scanner<'a>, row: &mut Row<'a>) -> JsonScan<()> {
    if scanner.peek()? == b'{' {
        return row.fill(scanner);
    }
    // Valid JSON, and no record of any kind.
    *row = Row::default();
    scanner.skip()
}

/// Lists the lines in `bytes` that have ended: their text, and their length with what ends them.
pub(super) fn whole_lines(bytes: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let mut start = 0;
    memchr_iter(b'\n', bytes).filter_map(move |end| {
        let text = bytes.get(start..end)?;
        let length = end + 1 - start;
        start = end + 1;
        Some((text.strip_suffix(b"\r").unwrap_or(text), length))
    })
}

/// Reads the records of the first complete lines.
pub(super) fn parse_lines(bytes: &[u8], many: usize) -> ParsedLines<'_> {
    let mut parsed = ParsedLines::default();
    for (text, length) in whole_lines(bytes).take(many) {
        let records = &mut parsed.records;
        let mut row = Row::default();
        let fault =
            parse(text, &mut row, |row, at, length| records.push((row.clone(), at, length)));
        parsed.lines.push((text, length, records.len(), fault));
    }
    parsed
}
