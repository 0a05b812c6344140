//! Folders that the records of an agent name.
//!
//! A folder that another agent was used in is a candidate for a project that is only known by its hash. So nothing here
//! needs to be certain, and nothing here is a [`Problem`](recount_model::Problem): missing or damaged files name no
//! folders.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use recount_model::RecordedPath;

use crate::bytes;
use crate::json::{JsonScan, Scanner, Text};

/// The maximum number of session files that are read, newest first.
pub(crate) const MOST_FILES: usize = 2000;

/// How much of a session file is read: usually the folder is in the first rows, rarely after a long one.
const HEADS: [u64; 2] = [8 * 1024, 64 * 1024];

/// How much of a document is read.
pub(crate) const DOCUMENT: u64 = 4 * 1024 * 1024;

/// The maximum number of entries of one folder.
const MOST_ENTRIES: usize = 10_000;

/// The maximum number of folders, and the maximum length of a path.
const MOST_PATHS: usize = 10_000;
const LONGEST_PATH: usize = 4096;

/// Recorded folders, each with the file that named it first.
#[derive(Debug, Default)]
pub(crate) struct Named(BTreeMap<RecordedPath, PathBuf>);

impl Named {
    /// Adds a path, if it is absolute.
    pub(crate) fn add(&mut self, path: &str, file: &Path) {
        let fits = path.len() <= LONGEST_PATH && self.0.len() < MOST_PATHS;
        if fits && is_absolute(path) {
            self.0.entry(RecordedPath::new(path)).or_insert_with(|| file.to_owned());
        }
    }

    /// Adds what `find` finds in the start of a file; more of it is read only if there is nothing in the first part.
    pub(crate) fn add_from_head(&mut self, file: &Path, find: impl Fn(&[u8]) -> Vec<String>) {
        for limit in HEADS {
            let mut head = Vec::new();
            let read = bytes::open(file).and_then(|input| input.take(limit).read_to_end(&mut head));
            if read.is_err() {
                return;
            }
            let found = find(&head);
            for path in &found {
                self.add(path, file);
            }
            if !found.is_empty() || (head.len() as u64) < limit {
                return;
            }
        }
    }

    /// Returns all, sorted by path.
    pub(crate) fn into_sorted(self) -> Vec<(RecordedPath, PathBuf)> {
        self.0.into_iter().collect()
    }
}

/// Whether a path is absolute, on any system.
fn is_absolute(path: &str) -> bool {
    match path.as_bytes() {
        [b'/', ..] | [b'\\', b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

/// Lists a folder, sorted by name. A folder that cannot be read is empty.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten();
    let mut all: Vec<PathBuf> =
        listed.take(MOST_ENTRIES).flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// Collects what `field` returns for the fields of every object in `bytes`, row by row. A broken or incomplete row gives
/// what is before the break.
pub(crate) fn rows<'a>(
    bytes: &'a [u8],
    mut field: impl FnMut(&mut Scanner<'a>, Text<'a>) -> JsonScan<()>,
) {
    for row in bytes.split(|byte| *byte == b'\n') {
        // A crash may leave NUL bytes before a row, and two rows on one line.
        let blank = row.iter().take_while(|byte| **byte == 0).count();
        let mut scanner = Scanner::new(row.get(blank..).unwrap_or_default());
        while scanner.peek() == Ok(b'{') && scanner.object(&mut field).is_ok() {}
    }
}

/// Reads a string into `found`; any other value is skipped.
pub(crate) fn text_into(scanner: &mut Scanner<'_>, found: &mut Vec<String>) -> JsonScan<()> {
    if scanner.peek()? != b'"' {
        return scanner.skip();
    }
    found.push(scanner.string()?.decode().into_owned());
    Ok(())
}

/// Scans an object like [`Scanner::object`]; any other value is skipped.
pub(crate) fn object_or_skip<'a>(
    scanner: &mut Scanner<'a>,
    field: impl FnMut(&mut Scanner<'a>, Text<'a>) -> JsonScan<()>,
) -> JsonScan<()> {
    if scanner.peek()? == b'{' { scanner.object(field) } else { scanner.skip() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_paths_are_taken_each_once_and_in_order() {
        let mut named = Named::default();
        for (path, file) in [
            ("/home/dev/code/shop", "b"),
            ("relative", "b"),
            ("", "b"),
            ("C:\\Users\\dev", "b"),
            ("C:relative", "b"),
            ("/home/dev/code/shop", "a"),
            ("/a", "c"),
        ] {
            named.add(path, Path::new(file));
        }
        let found = named.into_sorted();
        let found: Vec<_> = found.iter().map(|(p, f)| (p.as_str(), f.to_str().unwrap())).collect();
        assert_eq!(found, [("/a", "c"), ("/home/dev/code/shop", "b"), ("C:\\Users\\dev", "b")]);
    }

    #[test]
    fn a_row_gives_what_is_before_its_break() {
        let mut keys = Vec::new();
        rows(b"{\"a\":1,\"b\":[\n\0\0{\"c\":1}{\"d\":2}\nnothing\n{\"e\":", |scanner, key| {
            keys.push(key.decode().into_owned());
            scanner.skip()
        });
        assert_eq!(keys, ["a", "b", "c", "d", "e"]);
    }
}
