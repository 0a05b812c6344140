//! What was read of the sessions, kept so that it need not be read again: a cache, and nothing but a cache.
//!
//! Deleting it loses nothing but time. It knows no format and no meaning: it keeps what the engine gives it under a key,
//! with a stamp that tells whether it still holds. The one exception is [`facts`], where what was said is kept in tables, so that
//! people can ask in SQL ([`sql`]).

mod error;
pub mod facts;
mod indexed;
mod listed;
mod notes;
mod schema;
mod seal;
pub mod sql;
mod states;
mod usage_logs;

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, params};

use seal::{sealed, unsealed};

pub use error::Error;
pub use indexed::IndexedSession;
pub use listed::{List, ListRow};
pub use notes::Note;
pub use states::StoredReader;
pub use usage_logs::{UsageLogPart, UsageLogRow};

/// What was read of the sessions.
#[derive(Debug)]
pub struct Catalog {
    db: Connection,
}

/// Files that were read together, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogRow {
    /// Tells these files from others.
    pub key: u64,
    /// Changes when one of them does.
    pub stamp: u64,
    /// What came of it.
    pub content: Vec<u8>,
    /// What they used; empty when it was not asked for.
    pub usage_log: UsageLogRow,
}

/// Whether the file at `path` is whole. It is only looked at.
pub fn is_sound(path: &Path) -> bool {
    let check = || -> rusqlite::Result<String> {
        let db = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        db.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
    };
    check().is_ok_and(|told| told == "ok")
}

impl Catalog {
    /// Opens the file, or makes it. `version` tells the form of what is kept: what has another is thrown away.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is a file that is none of ours: then it may be removed. Any other error when it
    /// cannot be opened, written or waited for.
    pub fn open(path: &Path, version: &str) -> Result<Self, Error> {
        let db = Connection::open(path)?;
        schema::prepare(&db, schema::CATALOG, version)?;
        Ok(Self { db })
    }

    /// Stops mapping the file into memory. One who only writes gains nothing from it, and every mapped page counts as memory of this process.
    ///
    /// # Errors
    /// If the setting is refused.
    pub fn unmap(&self) -> Result<(), Error> {
        Ok(self.db.execute_batch("PRAGMA mmap_size = 0;")?)
    }

    /// Copies what is in the log into the file, as far as nobody reads it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn copy_log(&self) -> Result<(), Error> {
        Ok(self.db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
    }

    /// Returns what is kept of the files below some roots, by key.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn rows(&self, roots: u64) -> Result<HashMap<u64, CatalogRow>, Error> {
        let mut select =
            self.db.prepare_cached("SELECT key, stamp, content FROM groups WHERE roots = ?1")?;
        let rows = select.query_map([signed(roots)], |row| {
            let key = unsigned(row.get(0)?);
            let content = unsealed(row.get_ref(2)?.as_blob().unwrap_or_default());
            let stamp = unsigned(row.get(1)?);
            let row = |content: &[u8]| CatalogRow {
                key,
                stamp,
                content: content.to_vec(),
                usage_log: UsageLogRow::default(),
            };
            Ok(content.map(|content| (key, row(content))))
        })?;
        // What is damaged is read again.
        Ok(rows.filter_map(Result::transpose).collect::<Result<_, _>>()?)
    }

    /// Keeps `new` rows of the files below some roots, and forgets those whose key is in `gone`.
    ///
    /// # Errors
    /// If the file cannot be written; then nothing of it is kept.
    pub fn keep(&mut self, roots: u64, new: &[CatalogRow], gone: &[u64]) -> Result<(), Error> {
        let change = self.db.transaction()?;
        {
            let mut insert = change.prepare_cached(
                "INSERT OR REPLACE INTO groups (key, roots, stamp, content) VALUES (?1, ?2, ?3, ?4)",
            )?;
            // Rows are appended, whatever their keys: page after page is filled, and none is written twice.
            for row in new {
                insert.execute(params![
                    signed(row.key),
                    signed(roots),
                    signed(row.stamp),
                    sealed(&row.content)
                ])?;
                usage_logs::keep(&change, roots, (row.key, row.stamp), &row.usage_log)?;
            }
            let mut delete = change.prepare_cached("DELETE FROM groups WHERE key = ?1")?;
            for key in gone {
                delete.execute([signed(*key)])?;
                usage_logs::forget(&change, roots, *key)?;
            }
        }
        Ok(change.commit()?)
    }

    /// Returns one remembered word.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn word(&self, name: &str) -> Result<Option<String>, Error> {
        let mut select = self.db.prepare_cached("SELECT value FROM words WHERE name = ?1")?;
        Ok(select.query_row([name], |row| row.get(0)).optional()?)
    }

    /// Returns one remembered word, or remembers this one. Of several runs at once the first decides.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn word_or(&self, name: &str, value: &str) -> Result<String, Error> {
        if let Some(known) = self.word(name)? {
            return Ok(known);
        }
        self.db
            .execute("INSERT OR IGNORE INTO words (name, value) VALUES (?1, ?2)", [name, value])?;
        Ok(self.word(name)?.unwrap_or_else(|| value.to_owned()))
    }

    /// Remembers one word.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn set_word(&self, name: &str, value: &str) -> Result<(), Error> {
        self.db
            .execute("INSERT OR REPLACE INTO words (name, value) VALUES (?1, ?2)", [name, value])?;
        Ok(())
    }
}

/// Keys fill all 64 bits; the database knows only signed numbers.
fn signed(key: u64) -> i64 {
    key.cast_signed()
}

fn unsigned(key: i64) -> u64 {
    key.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: u64, content: &[u8]) -> CatalogRow {
        CatalogRow {
            key,
            stamp: key ^ 7,
            content: content.to_vec(),
            usage_log: UsageLogRow::default(),
        }
    }

    #[test]
    fn what_is_kept_comes_back_until_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        let mut catalog = Catalog::open(&path, "1").unwrap();
        catalog.keep(1, &[row(u64::MAX, b"one"), row(2, b"two")], &[]).unwrap();
        catalog.keep(9, &[row(3, b"elsewhere")], &[]).unwrap();
        drop(catalog);
        let mut catalog = Catalog::open(&path, "1").unwrap();
        let rows = catalog.rows(1).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[&u64::MAX], row(u64::MAX, b"one"));
        catalog.keep(1, &[row(2, b"new")], &[u64::MAX]).unwrap();
        assert_eq!(catalog.rows(1).unwrap()[&2].content, b"new");
        assert_eq!(catalog.rows(1).unwrap().len(), 1);
    }

    #[test]
    fn another_version_starts_anew_and_damage_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        Catalog::open(&path, "1").unwrap().keep(1, &[row(2, b"two")], &[]).unwrap();
        assert!(Catalog::open(&path, "2").unwrap().rows(1).unwrap().is_empty());
        let broken = folder.path().join("broken.db");
        #[expect(clippy::disallowed_methods, reason = "a test makes what it looks at")]
        std::fs::write(&broken, vec![b'x'; 8192]).unwrap();
        assert!(matches!(Catalog::open(&broken, "1"), Err(Error::Damaged(_))));
    }

    #[test]
    fn two_runs_write_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("catalog.db");
        Catalog::open(&path, "1").unwrap();
        std::thread::scope(|scope| {
            for number in 0..4_u64 {
                let path = &path;
                scope.spawn(move || {
                    let mut catalog = Catalog::open(path, "1").unwrap();
                    for key in 0..20 {
                        catalog.keep(1, &[row(number * 100 + key, b"x")], &[]).unwrap();
                    }
                });
            }
        });
        assert_eq!(Catalog::open(&path, "1").unwrap().rows(1).unwrap().len(), 80);
    }
}
