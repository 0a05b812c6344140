//! Reads what files that are followed have more than before.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use recount_formats::bytes;
use recount_formats::live::{DocumentParts, FileForm, LiveFeed};
use recount_formats::source::{Stamp, modified};

/// A log of this size is read whole.
const SMALL_LOG: u64 = 512 << 10;
/// A document of this size is read whole.
const SMALL_DOCUMENT: u64 = 1 << 20;
/// So much is read of the beginning of a larger file.
const HEAD: u64 = 64 << 10;
/// So much is read of its end at first; more if no line begins there.
const TAIL: u64 = 256 << 10;
/// A line that is longer than this is not looked for.
const LONGEST: u64 = 64 << 20;

/// Number of files that are held open.
const OPEN: usize = 64;

/// Where we are in the files that are followed.
#[derive(Debug, Default)]
pub(crate) struct Tails {
    by_path: BTreeMap<PathBuf, Stamp>,
    /// Logs that grow. To open one each time would cost more than to read it, and the system would tell of it as of a change.
    open: BTreeMap<PathBuf, File>,
}

/// What was read of a file.
#[derive(Debug)]
pub(crate) enum Change {
    /// A log from its start: its beginning, and its end if that is not all.
    Opened(Vec<u8>, Option<Vec<u8>>),
    /// What was appended.
    Appended(Vec<u8>),
    /// A document: its beginning, and its end if that is not all.
    Document(Vec<u8>, Option<Vec<u8>>),
    /// It is gone.
    Removed,
}

impl Tails {
    /// Whether a file is followed already.
    pub(crate) fn knows(&self, path: &Path) -> bool {
        self.by_path.contains_key(path)
    }

    /// Looks at a file and tells `feed` what is different. Returns what that is.
    pub(crate) fn look(&mut self, path: &Path, now: i64, feed: &mut LiveFeed) -> Option<Change> {
        let form = feed.form(path)?;
        let metadata = std::fs::symlink_metadata(path).ok().filter(Metadata::is_file);
        let Some(metadata) = metadata else {
            self.open.remove(path);
            self.by_path.remove(path)?;
            feed.removed(now, path);
            return Some(Change::Removed);
        };
        let stamp = Stamp::of(&metadata);
        let before = self.by_path.get(path).copied();
        if before == Some(stamp) {
            return None;
        }
        // What is read for the first time happened when it was written.
        let at = if before.is_none() { modified(&metadata).unwrap_or(now).min(now) } else { now };
        let (change, read) = self.read(path, form, stamp, before).ok()?;
        match &change {
            Change::Opened(head, tail) => feed.open(at, path, head, tail.as_deref()),
            Change::Appended(bytes) => feed.append(at, path, bytes),
            Change::Document(head, tail) => {
                feed.document(at, path, &DocumentParts { head, tail: tail.as_deref() });
            }
            Change::Removed => {}
        }
        self.by_path.insert(path.to_owned(), Stamp { bytes: read, ..stamp });
        Some(change)
    }

    /// Reads what is new in a file, and returns it with how far was read.
    fn read(
        &mut self,
        path: &Path,
        form: FileForm,
        stamp: Stamp,
        before: Option<Stamp>,
    ) -> io::Result<(Change, u64)> {
        let length = stamp.bytes;
        match form {
            FileForm::Marker => Ok((Change::Document(Vec::new(), None), length)),
            FileForm::Document => Ok((document(&mut bytes::open(path)?, length)?, length)),
            FileForm::Log => {
                let grown =
                    before.filter(|before| before.inode == stamp.inode && before.bytes <= length);
                match grown {
                    Some(before) if length - before.bytes <= LONGEST => {
                        let file = self.opened(path)?;
                        let bytes = range(file, before.bytes, LONGEST)?;
                        let end = before.bytes + bytes.len() as u64;
                        Ok((Change::Appended(bytes), end))
                    }
                    _ => {
                        self.open.remove(path);
                        open(&mut bytes::open(path)?, length)
                    }
                }
            }
        }
    }

    /// Returns a log that is held open.
    fn opened(&mut self, path: &Path) -> io::Result<&mut File> {
        if !self.open.contains_key(path) {
            if self.open.len() >= OPEN {
                self.open.clear();
            }
            self.open.insert(path.to_owned(), bytes::open(path)?);
        }
        self.open.get_mut(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Forgets the files below which nothing is followed any more.
    pub(crate) fn retain(&mut self, keep: &dyn Fn(&Path) -> bool) {
        self.by_path.retain(|path, _| keep(path));
        self.open.retain(|path, _| self.by_path.contains_key(path));
    }

    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.by_path.keys().cloned().collect()
    }
}

fn document(file: &mut File, length: u64) -> io::Result<Change> {
    if length <= SMALL_DOCUMENT {
        return Ok(Change::Document(range(file, 0, SMALL_DOCUMENT)?, None));
    }
    let head = range(file, 0, HEAD)?;
    let tail = range(file, length - SMALL_DOCUMENT, SMALL_DOCUMENT)?;
    Ok(Change::Document(head, Some(tail)))
}

fn open(file: &mut File, length: u64) -> io::Result<(Change, u64)> {
    if length <= SMALL_LOG {
        let bytes = range(file, 0, SMALL_LOG)?;
        let end = bytes.len() as u64;
        return Ok((Change::Opened(bytes, None), end));
    }
    let mut head = range(file, 0, HEAD)?;
    let whole = head.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    head.truncate(whole);
    let mut size = TAIL;
    loop {
        let from = length.saturating_sub(size);
        let bytes = range(file, from, size)?;
        let end = from + bytes.len() as u64;
        let line = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let line = line.filter(|at| bytes.get(*at..).is_some_and(|rest| rest.contains(&b'\n')));
        match line {
            Some(at) => {
                let tail = bytes.get(at..).unwrap_or_default().to_vec();
                return Ok((Change::Opened(head, Some(tail)), end));
            }
            None if from == 0 || size >= LONGEST => return Ok((Change::Opened(head, None), end)),
            None => size *= 4,
        }
    }
}

fn range(file: &mut File, from: u64, most: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "files to be followed")]

    use super::*;

    fn look(path: &Path, tails: &mut Tails) -> Option<Change> {
        let mut feed = LiveFeed::default();
        let root = path.parent().unwrap().parent().unwrap().parent().unwrap().parent().unwrap();
        for source in recount_formats::SOURCES {
            feed.add(*source, root);
        }
        tails.look(path, 1, &mut feed)
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_swapped_for_a_link_after_it_was_looked_at_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let (path, other) = (home.path().join("log.jsonl"), home.path().join("other"));
        std::fs::write(&path, "{}\n").unwrap();
        std::fs::write(&other, "{\"private\":1}\n").unwrap();
        let stamp = Stamp::of(&std::fs::symlink_metadata(&path).unwrap());
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        let mut tails = Tails::default();
        for form in [FileForm::Log, FileForm::Document] {
            assert!(tails.read(&path, form, stamp, None).is_err());
        }
        assert!(tails.read(&path, FileForm::Log, stamp, Some(stamp)).is_err());
    }

    #[test]
    fn only_what_is_new_is_read_whatever_happens_to_a_file() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("tmp/shop/chats");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("session-1.jsonl");
        let mut tails = Tails::default();
        assert!(look(&path, &mut tails).is_none());
        let line = format!("{{\"id\":\"{}\"}}\n", "x".repeat(1000));
        std::fs::write(&path, line.repeat(2000)).unwrap();
        let Some(Change::Opened(head, Some(tail))) = look(&path, &mut tails) else { panic!() };
        assert!(head.ends_with(b"\n") && head.len() < 70_000);
        assert!(tail.starts_with(b"{") && tail.len() < 300_000);
        assert!(look(&path, &mut tails).is_none());
        std::fs::write(&path, line.repeat(2000) + "new\n").unwrap();
        assert!(matches!(look(&path, &mut tails), Some(Change::Appended(new)) if new == b"new\n"));
        // Another file of the same name, as long as the one before and longer.
        std::fs::write(path.with_extension("new"), line.repeat(2000) + "other\nlines\n").unwrap();
        std::fs::rename(path.with_extension("new"), &path).unwrap();
        let Some(Change::Opened(_, Some(tail))) = look(&path, &mut tails) else { panic!() };
        assert!(tail.ends_with(b"other\nlines\n"));
        std::fs::write(&path, line.repeat(2000) + "other\nlines\nmore\n").unwrap();
        assert!(matches!(look(&path, &mut tails), Some(Change::Appended(new)) if new == b"more\n"));
        std::fs::write(&path, "short\n").unwrap();
        assert!(
            matches!(look(&path, &mut tails), Some(Change::Opened(all, None)) if all == b"short\n")
        );
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(look(&path, &mut tails), Some(Change::Removed)));
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert!(look(&path, &mut tails).is_none(), "links are not followed");
    }
}
