//! Pages of a database: from the write-ahead log where it has a newer one, else from the file.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::record::big_endian;
use super::wal::Wal;
use crate::bytes;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// How long the header of a database is.
const HEADER: usize = 100;
/// What the header says of text in UTF-8. Nothing at all before there is any.
const UTF8: [u32; 2] = [0, 1];

/// Reads pages.
#[derive(Debug)]
pub(super) struct Pager {
    file: File,
    wal: Option<Wal>,
    page_size: usize,
    /// Bytes of a page that belong to the database.
    usable: usize,
    pages: u64,
}

impl Pager {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut file = bytes::open(path)?;
        let length = file.metadata()?.len();
        let mut log = path.file_name().unwrap_or_default().to_owned();
        log.push("-wal");
        // One that is missing or damaged has nothing that was committed.
        let wal = Wal::open(&path.with_file_name(log)).ok().filter(|wal| !wal.is_empty());
        let mut header = vec![0; HEADER];
        let in_file = file.read_exact(&mut header);
        let page_size = match (&wal, in_file) {
            (Some(wal), _) => wal.page_size(),
            (None, Ok(())) => size(&header).ok_or_else(unknown)?,
            (None, Err(error)) => return Err(error),
        };
        let pages = length / page_size as u64 + wal.as_ref().map_or(0, Wal::pages);
        let mut opened = Self { file, wal, page_size, usable: page_size, pages };
        // The first page may be in the log as well.
        let mut first = Vec::new();
        opened.read(1, &mut first)?;
        let is_ours = first.starts_with(MAGIC)
            && size(&first) == Some(page_size)
            && first.get(19).is_some_and(|version| *version <= 2)
            && big_endian(&first, 56).is_some_and(|encoding| UTF8.contains(&encoding));
        let reserved = first.get(20).copied().map_or(0, usize::from);
        opened.usable =
            page_size.checked_sub(reserved).filter(|usable| *usable >= 480).ok_or_else(unknown)?;
        if is_ours { Ok(opened) } else { Err(unknown()) }
    }

    /// Reads a page. Numbers begin with 1.
    pub(super) fn read(&mut self, number: u32, page: &mut Vec<u8>) -> io::Result<()> {
        page.clear();
        page.resize(self.page_size, 0);
        if let Some(wal) = &mut self.wal
            && let Some(offset) = wal.place(number)
        {
            return wal.read(offset, page);
        }
        let before = number.checked_sub(1).ok_or_else(unknown)?;
        self.file.seek(SeekFrom::Start(u64::from(before) * self.page_size as u64))?;
        self.file.read_exact(page)
    }

    /// Returns how many pages there are at most.
    pub(super) fn pages(&self) -> u64 {
        self.pages
    }

    pub(super) fn usable(&self) -> usize {
        self.usable
    }
}

fn unknown() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a database that is understood")
}

/// Returns the size of pages that a header names.
fn size(header: &[u8]) -> Option<usize> {
    let bytes: [u8; 2] = header.get(16..18)?.try_into().ok()?;
    let size = match u16::from_be_bytes(bytes) {
        1 => 65_536,
        size => usize::from(size),
    };
    (size >= 512 && size.is_power_of_two()).then_some(size)
}
