//! Readers that were kept in the middle of a file, to go on when it has grown.

use rusqlite::{OptionalExtension as _, params};

use crate::seal::{sealed, unsealed};
use crate::{Catalog, Error, signed, unsigned};

/// A reader that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReader {
    /// The file's number on the disk.
    pub inode: u64,
    /// How much of it was read.
    pub offset: u64,
    /// Returns whether what was read is still there.
    pub print: u64,
    /// The reader.
    pub content: Vec<u8>,
}

impl Catalog {
    /// Returns the reader that was kept of a file.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub fn state(&self, path: &str) -> Result<Option<StoredReader>, Error> {
        let mut select = self
            .db
            .prepare_cached("SELECT inode, offset, print, content FROM states WHERE path = ?1")?;
        let state = select.query_row([path], |row| {
            let content = unsealed(row.get_ref(3)?.as_blob().unwrap_or_default());
            let (inode, offset, print) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(content.map(|content| StoredReader {
                inode: unsigned(inode),
                offset: unsigned(offset),
                print: unsigned(print),
                content: content.to_vec(),
            }))
        });
        // Without a reader that can be believed, the file is read from its start.
        Ok(state.optional()?.flatten())
    }

    /// Keeps readers of files.
    ///
    /// # Errors
    /// If the catalog cannot be written.
    pub fn keep_states(&mut self, states: &[(String, StoredReader)]) -> Result<(), Error> {
        let change = self.db.transaction()?;
        {
            let mut insert = change.prepare_cached(
                "INSERT OR REPLACE INTO states (path, inode, offset, print, content) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            for (path, state) in states {
                let numbers = (signed(state.inode), signed(state.offset), signed(state.print));
                insert.execute(params![
                    path,
                    numbers.0,
                    numbers.1,
                    numbers.2,
                    sealed(&state.content)
                ])?;
            }
        }
        Ok(change.commit()?)
    }
}
