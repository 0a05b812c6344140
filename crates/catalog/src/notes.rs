//! What a question found out by reading files, kept until one of them changes: asked again, it reads only what is new.

use std::collections::HashMap;

use rusqlite::params;

use crate::seal::{sealed, unsealed};
use crate::{Catalog, Error, signed, unsigned};

/// What was found out about files that were read together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Tells these files from others.
    pub key: u64,
    /// Changes when one of them does.
    pub stamp: u64,
    /// What was found out.
    pub content: Vec<u8>,
}

impl Catalog {
    /// Returns the notes on a topic, of the files below some roots, by key.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub fn notes(&self, roots: u64, topic: &str) -> Result<HashMap<u64, Note>, Error> {
        let mut select = self.db.prepare_cached(
            "SELECT key, stamp, content FROM notes WHERE roots = ?1 AND topic = ?2",
        )?;
        let notes = select.query_map(params![signed(roots), topic], |row| {
            let (key, stamp) = (unsigned(row.get(0)?), unsigned(row.get(1)?));
            let content = unsealed(row.get_ref(2)?.as_blob().unwrap_or_default());
            Ok(content.map(|content| (key, Note { key, stamp, content: content.to_vec() })))
        })?;
        // What is damaged is found out again.
        Ok(notes.filter_map(Result::transpose).collect::<Result<_, _>>()?)
    }

    /// Keeps `new` notes on a topic, and forgets those whose key is in `gone`.
    ///
    /// # Errors
    /// If the catalog cannot be written; then nothing of it is kept.
    pub fn keep_notes(
        &mut self,
        roots: u64,
        topic: &str,
        new: &[Note],
        gone: &[u64],
    ) -> Result<(), Error> {
        let change = self.db.transaction()?;
        {
            let mut insert = change.prepare_cached(
                "INSERT OR REPLACE INTO notes (roots, topic, key, stamp, content) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            // In the order of their keys they fill page after page.
            let mut new: Vec<&Note> = new.iter().collect();
            new.sort_unstable_by_key(|note| signed(note.key));
            for note in new {
                let (key, stamp) = (signed(note.key), signed(note.stamp));
                insert.execute(params![signed(roots), topic, key, stamp, sealed(&note.content)])?;
            }
            let mut delete = change
                .prepare_cached("DELETE FROM notes WHERE roots = ?1 AND topic = ?2 AND key = ?3")?;
            for key in gone {
                delete.execute(params![signed(roots), topic, signed(*key)])?;
            }
        }
        Ok(change.commit()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_kept_by_topic_until_they_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let mut catalog = Catalog::open(&folder.path().join("catalog.db"), "1").unwrap();
        let note = |key, stamp, content: &[u8]| Note { key, stamp, content: content.to_vec() };
        let (one, two) = (note(u64::MAX, 1, b"one"), note(2, 1, b"two"));
        catalog.keep_notes(1, "flaws", &[one.clone(), two], &[]).unwrap();
        catalog.keep_notes(1, "paths", &[note(2, 1, b"other")], &[]).unwrap();
        catalog.keep_notes(9, "flaws", &[note(2, 1, b"elsewhere")], &[]).unwrap();
        let newer = note(2, 5, b"newer");
        catalog.keep_notes(1, "flaws", std::slice::from_ref(&newer), &[]).unwrap();
        assert_eq!(
            catalog.notes(1, "flaws").unwrap(),
            HashMap::from([(2, newer), (u64::MAX, one.clone())])
        );
        catalog.keep_notes(1, "flaws", &[], &[2]).unwrap();
        assert_eq!(catalog.notes(1, "flaws").unwrap(), HashMap::from([(u64::MAX, one)]));
        assert_eq!(catalog.notes(1, "paths").unwrap().len(), 1);
        assert_eq!(catalog.notes(9, "flaws").unwrap().len(), 1);
    }
}
