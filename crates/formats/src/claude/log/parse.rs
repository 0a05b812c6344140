//! Lines to records, before they are applied.

use memchr::memchr_iter;

use super::super::row::Row;
use crate::bytes::RECORDS;
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
/// the line and its length, until that returns `false`. Returns where no record begins.
pub(super) fn parse<'a>(
    text: &'a [u8],
    row: &mut Row<'a>,
    mut each: impl FnMut(&Row<'a>, usize, usize) -> bool,
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
        if let Err(fault) = record(&mut scanner, row) {
            return Some((blank + start, fault));
        }
        if !each(row, blank + start, scanner.offset() - start) {
            return None;
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

/// Reads the records of the first complete lines: as many as may be parsed ahead.
pub(super) fn parse_lines(bytes: &[u8]) -> ParsedLines<'_> {
    let mut parsed = ParsedLines::default();
    for (text, length) in whole_lines(bytes).take(RECORDS) {
        let records = &mut parsed.records;
        let before = records.len();
        let mut row = Row::default();
        let fault = parse(text, &mut row, |row, at, length| {
            records.push((row.clone(), at, length));
            records.len() <= RECORDS
        });
        if records.len() > RECORDS {
            records.truncate(before);
            break;
        }
        parsed.lines.push((text, length, records.len(), fault));
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_many_records_are_not_parsed_ahead() {
        let (usual, glued) = ("{\"type\":\"user\"}\n", "{}".repeat(3 * RECORDS));
        let text = [usual, "{}{}\n", &glued, "\n", usual].concat();
        let parsed = parse_lines(text.as_bytes());
        assert_eq!(parsed.lines.iter().map(|(.., end, _)| *end).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(parsed.records.len(), 3);
        // Each line is short enough, and all of them are too many.
        let text = ["{}".repeat(RECORDS / 3).as_str(), "\n"].concat().repeat(10);
        let parsed = parse_lines(text.as_bytes());
        assert_eq!((parsed.lines.len(), parsed.records.len()), (3, RECORDS / 3 * 3));
        assert_eq!(parse_lines("\n".repeat(2 * RECORDS).as_bytes()).lines.len(), RECORDS);
    }
}
