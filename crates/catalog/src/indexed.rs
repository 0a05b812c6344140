//! Which sessions are in the search index, and as what.

use std::collections::HashMap;

use crate::{Catalog, Error, signed, unsigned};

/// A session in the search index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedSession {
    /// The session.
    pub session: u64,
    /// What its files looked like.
    pub stamp: u64,
    /// The key of its files; nought when they lie under several.
    pub files: u64,
    /// What the files beside its largest one looked like.
    pub others: u64,
    /// How many versions of messages its largest file had.
    pub versions: u64,
    /// The fingerprint of that file from the first to the last of them.
    pub print: u64,
    /// How many of its messages were undone.
    pub undone: u64,
    /// What its title was.
    pub title: u64,
}

impl Catalog {
    /// Returns what is in the search index of some roots, by session.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub fn indexed(&self, roots: u64) -> Result<HashMap<u64, IndexedSession>, Error> {
        let mut select = self.db.prepare_cached(
            "SELECT session, stamp, files, others, versions, undone, title, print FROM indexed WHERE roots = ?1",
        )?;
        let rows = select.query_map([signed(roots)], |row| {
            let session = unsigned(row.get(0)?);
            let indexed = IndexedSession {
                session,
                stamp: unsigned(row.get(1)?),
                files: unsigned(row.get(2)?),
                others: unsigned(row.get(3)?),
                versions: unsigned(row.get(4)?),
                undone: unsigned(row.get(5)?),
                title: unsigned(row.get(6)?),
                print: unsigned(row.get(7)?),
            };
            Ok((session, indexed))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether any session of some roots is in the search index.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub fn has_indexed(&self, roots: u64) -> Result<bool, Error> {
        let mut select =
            self.db.prepare_cached("SELECT EXISTS (SELECT 1 FROM indexed WHERE roots = ?1)")?;
        Ok(select.query_row([signed(roots)], |row| row.get(0))?)
    }

    /// Remembers sessions that are in the search index now. Called after they are safe there: a crash in between
    /// only makes us do it again.
    ///
    /// # Errors
    /// If the catalog cannot be written.
    pub fn set_indexed(&mut self, roots: u64, sessions: &[IndexedSession]) -> Result<(), Error> {
        let change = self.db.transaction()?;
        {
            let mut insert = change.prepare_cached(
                "INSERT OR REPLACE INTO indexed (session, stamp, files, others, versions, undone, title, print, roots)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?;
            for indexed in sessions {
                let of = indexed;
                let row = [
                    of.session,
                    of.stamp,
                    of.files,
                    of.others,
                    of.versions,
                    of.undone,
                    of.title,
                    of.print,
                    roots,
                ];
                insert.execute(row.map(signed))?;
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
