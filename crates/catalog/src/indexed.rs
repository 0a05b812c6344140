//! Which sessions are in the search index, and as what.

use std::collections::HashMap;

use rusqlite::{OptionalExtension as _, params};

use crate::{Catalog, Error, signed, unsigned};

/// A session in the search index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indexed {
    /// The session.
    pub session: u64,
    /// What its files looked like.
    pub stamp: u64,
    /// The key of its files; nought when they lie under several.
    pub files: u64,
    /// How many versions of messages its one file had; nought when it had several files.
    pub versions: u64,
    /// How many of its messages were undone.
    pub undone: u64,
}

impl Catalog {
    /// Returns what is in the search index of some roots, by session.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub fn indexed(&self, roots: u64) -> Result<HashMap<u64, Indexed>, Error> {
        let mut select = self.db.prepare_cached(
            "SELECT session, stamp, files, versions, undone FROM indexed WHERE roots = ?1",
        )?;
        let rows = select.query_map([signed(roots)], |row| {
            let session = unsigned(row.get(0)?);
            let indexed = Indexed {
                session,
                stamp: unsigned(row.get(1)?),
                files: unsigned(row.get(2)?),
                versions: unsigned(row.get(3)?),
                undone: unsigned(row.get(4)?),
            };
            Ok((session, indexed))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the key of the files in which a session that is in the search index was found.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub fn files_of(&self, roots: u64, session: u64) -> Result<Option<u64>, Error> {
        let mut select = self
            .db
            .prepare_cached("SELECT files FROM indexed WHERE roots = ?1 AND session = ?2")?;
        let found =
            select.query_row([signed(roots), signed(session)], |row| row.get(0)).optional()?;
        Ok(found.map(unsigned))
    }

    /// Remembers sessions that are in the search index now. Called after they are safe there: a crash in between
    /// only makes us do it again.
    ///
    /// # Errors
    /// If the catalog cannot be written.
    pub fn set_indexed(&mut self, roots: u64, sessions: &[Indexed]) -> Result<(), Error> {
        let change = self.db.transaction()?;
        {
            let mut insert = change.prepare_cached(
                "INSERT OR REPLACE INTO indexed (session, stamp, files, versions, undone, roots)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?;
            for indexed in sessions {
                let Indexed { session, stamp, files, versions, undone } = *indexed;
                let [session, stamp, files, versions, undone] =
                    [session, stamp, files, versions, undone].map(signed);
                insert.execute(params![session, stamp, files, versions, undone, signed(roots)])?;
            }
        }
        Ok(change.commit()?)
    }

    /// Forgets sessions that are no longer in the search index.
    ///
    /// # Errors
    /// If the catalog cannot be written.
    pub fn unset_indexed(&mut self, roots: u64, sessions: &[u64]) -> Result<(), Error> {
        let change = self.db.transaction()?;
        {
            let mut delete =
                change.prepare_cached("DELETE FROM indexed WHERE roots = ?1 AND session = ?2")?;
            for session in sessions {
                delete.execute([signed(roots), signed(*session)])?;
            }
        }
        Ok(change.commit()?)
    }

    /// Forgets all of them: the search index is made again.
    ///
    /// # Errors
    /// If the catalog cannot be written.
    pub fn clear_indexed(&mut self, roots: u64) -> Result<(), Error> {
        self.db.execute("DELETE FROM indexed WHERE roots = ?1", [signed(roots)])?;
        Ok(())
    }
}
