//! Rows of a table in an `SQLite` file that belongs to another program, read without its library.
//!
//! The library cannot read such a file without touching files beside it: it takes locks, creates a shared memory file
//! beside a database in WAL mode, or has to be told that no other process writes. Here bytes are read and nothing else: no lock, no file, no waiting.
//! Pages that were committed to the write-ahead log are taken from there. A database that is written at the same moment may be read half
//! old and half new; what does not fit together is left out. Only tables with row ids and text in UTF-8 are understood.
//!
//! The format is that of <https://www.sqlite.org/fileformat2.html>.

mod pager;
mod record;
mod schema;
mod wal;

use std::collections::HashSet;
use std::io;
use std::path::Path;

use pager::Pager;
pub(crate) use record::Value;

/// How deep a tree of pages may be. Real ones have two to five levels.
const DEEPEST: usize = 20;
/// How much of a row is read. The rest is unknown.
const LONGEST: usize = 1024 * 1024;

/// A database of another program.
#[derive(Debug)]
pub(crate) struct Database {
    pager: Pager,
}

impl Database {
    /// Opens a database.
    ///
    /// # Errors
    /// If it cannot be read, or is no database that we understand.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { pager: Pager::open(path)? })
    }

    /// Calls `visit` with some columns of each row of a table. A column that the table does not have is [`Value::Null`] in every row.
    ///
    /// # Errors
    /// If there is no such table, or what is there is no table.
    pub(crate) fn rows(
        &mut self,
        table: &str,
        columns: &[&str],
        mut visit: impl FnMut(&[Value]),
    ) -> io::Result<()> {
        let mut found = None;
        self.walk(1, &[1, 3, 4], &mut |values| {
            let [Value::Text(name), Value::Integer(root), Value::Text(sql)] = values else {
                return;
            };
            if name == table {
                found = u32::try_from(*root).ok().map(|root| (root, schema::columns(sql)));
            }
        })?;
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no such table");
        let (root, known) = found.ok_or_else(missing)?;
        let place = |wanted: &&str| {
            known.iter().position(|name| name.eq_ignore_ascii_case(wanted)).unwrap_or(usize::MAX)
        };
        let places: Vec<usize> = columns.iter().map(place).collect();
        self.walk(root, &places, &mut visit)
    }

    /// Calls `visit` with some columns of each row below a page, in the order of row ids.
    fn walk(
        &mut self,
        root: u32,
        columns: &[usize],
        visit: &mut dyn FnMut(&[Value]),
    ) -> io::Result<()> {
        // No page is in a tree twice, and none of a row is in two rows.
        let mut budget = self.pager.pages();
        let mut met = HashSet::new();
        let mut open = vec![(root, 0_usize)];
        let mut page = Vec::new();
        while let Some((number, depth)) = open.pop() {
            if depth > DEEPEST || budget == 0 || !met.insert(number) {
                continue;
            }
            budget -= 1;
            // A page that is not there belongs to a database that is being written.
            if self.pager.read(number, &mut page).is_err() {
                continue;
            }
            let Some(tree) = record::TreePage::read(&page, number) else {
                if number == root {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "not a table"));
                }
                continue;
            };
            match tree.kind {
                record::PageKind::Interior => {
                    open.extend(tree.children(&page).into_iter().rev().map(|at| (at, depth + 1)));
                }
                record::PageKind::Leaf => {
                    for cell in tree.cells(&page) {
                        if let Some(payload) = self.payload(&page, cell, &mut budget) {
                            visit(&record::values(&payload, columns));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the bytes of a row, with those on other pages.
    fn payload(&mut self, page: &[u8], cell: usize, budget: &mut u64) -> Option<Vec<u8>> {
        let usable = self.pager.usable();
        let local = record::LocalPayload::read(page, cell, usable)?;
        let mut payload = page.get(local.bytes.clone())?.to_vec();
        let whole = local.total.min(LONGEST);
        let mut next = local.overflow;
        let mut overflow = Vec::new();
        while payload.len() < whole && next != 0 && *budget > 0 {
            *budget -= 1;
            if self.pager.read(next, &mut overflow).is_err() {
                break;
            }
            next = record::big_endian(&overflow, 0)?;
            let more = overflow.get(4..usable)?;
            payload.extend_from_slice(more.get(..(whole - payload.len()).min(more.len()))?);
        }
        Some(payload)
    }
}

#[cfg(test)]
mod tests;
