//! Which sessions are in the search index, and as what.

use std::collections::HashMap;

use rusqlite::{OptionalExtension as _, params};

use crate::{Catalog, Error, signed, unsigned};

impl Catalog {
    /// Returns the stamp under which each session is in the search index.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub fn indexed(&self) -> Result<HashMap<u64, u64>, Error> {
        let mut select = self.db.prepare_cached("SELECT session, stamp FROM indexed")?;
        let rows =
            select.query_map([], |row| Ok((unsigned(row.get(0)?), unsigned(row.get(1)?))))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the key of the files in which a session that is in the search index was found.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub fn files_of(&self, session: u64) -> Result<Option<u64>, Error> {
        let mut select = self.db.prepare_cached("SELECT files FROM indexed WHERE session = ?1")?;
        let found = select.query_row([signed(session)], |row| row.get(0)).optional()?;
        Ok(found.map(unsigned))
    }

    /// Remembers sessions that are in the search index now: the session, its stamp, the key of its files. Called after they are safe there: a crash in between
    /// only makes us do it again.
    ///
    /// # Errors
    /// If the catalog cannot be written.
    pub fn set_indexed(&mut self, sessions: &[(u64, u64, u64)]) -> Result<(), Error> {
        let change = self.db.transaction()?;
        {
            let mut insert = change.prepare_cached(
                "INSERT OR REPLACE INTO indexed (session, stamp, files) VALUES (?1, ?2, ?3)",
            )?;
            for (session, stamp, files) in sessions {
                insert.execute(params![signed(*session), signed(*stamp), signed(*files)])?;
            }
        }
        Ok(change.commit()?)
    }

    /// Forgets sessions that are no longer in the search index.
    ///
    /// # Errors
    /// If the catalog cannot be written.
    pub fn unset_indexed(&mut self, sessions: &[u64]) -> Result<(), Error> {
        let change = self.db.transaction()?;
        {
            let mut delete = change.prepare_cached("DELETE FROM indexed WHERE session = ?1")?;
            for session in sessions {
                delete.execute([signed(*session)])?;
            }
        }
        Ok(change.commit()?)
    }

    /// Forgets all of them: the search index is made again.
    ///
    /// # Errors
    /// If the catalog cannot be written.
    pub fn clear_indexed(&mut self) -> Result<(), Error> {
        self.db.execute("DELETE FROM indexed", [])?;
        Ok(())
    }
}
