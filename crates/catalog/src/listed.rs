//! The rows of a finished list, kept while nothing changes, and those of sessions that are gone.

use std::collections::HashSet;

use rusqlite::{OptionalExtension as _, Transaction, params};

use crate::seal::{sealed, unsealed};
use crate::{Catalog, Error, signed, unsigned};

/// A finished list, without its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Changes when anything on disk does.
    pub shape: u64,
    /// What is needed to tell whether the rows still hold.
    pub content: Vec<u8>,
}

/// One row of a finished list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRow {
    /// The session.
    pub session: u64,
    /// Whether its files are gone.
    pub gone: bool,
    /// What is known of it.
    pub content: Vec<u8>,
}

impl Catalog {
    /// Returns the list of some roots.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub fn list(&self, roots: u64) -> Result<Option<List>, Error> {
        let mut select =
            self.db.prepare_cached("SELECT shape, content FROM lists WHERE roots = ?1")?;
        let list = select.query_row([signed(roots)], |row| {
            let content = unsealed(row.get_ref(1)?.as_blob().unwrap_or_default());
            let shape = unsigned(row.get(0)?);
            Ok(content.map(|content| List { shape, content: content.to_vec() }))
        });
        Ok(list.optional()?.flatten())
    }

    /// Gives each row of some roots to `visit`, without making a copy of it.
    ///
    /// # Errors
    /// If the catalog cannot be read, or a row is damaged.
    pub fn each_listed(
        &self,
        roots: u64,
        visit: &mut dyn FnMut(u64, bool, &[u8]),
    ) -> Result<(), Error> {
        let mut select =
            self.db.prepare_cached("SELECT session, gone, content FROM listed WHERE roots = ?1")?;
        let mut rows = select.query([signed(roots)])?;
        while let Some(row) = rows.next()? {
            let content = unsealed(row.get_ref(2)?.as_blob().unwrap_or_default());
            visit(unsigned(row.get(0)?), row.get(1)?, content.ok_or(Error::Broken)?);
        }
        Ok(())
    }

    /// Returns one row of some roots, of a session that is not gone.
    ///
    /// # Errors
    /// If the catalog cannot be read.
    pub fn any_listed(&self, roots: u64) -> Result<Option<Vec<u8>>, Error> {
        let mut select = self
            .db
            .prepare_cached("SELECT content FROM listed WHERE roots = ?1 AND NOT gone LIMIT 1")?;
        let row = select.query_row([signed(roots)], |row| {
            Ok(unsealed(row.get_ref(0)?.as_blob().unwrap_or_default()).map(<[u8]>::to_vec))
        });
        Ok(row.optional()?.flatten())
    }

    /// Returns the row of one session.
    ///
    /// # Errors
    /// If the catalog cannot be read, or the row is damaged.
    pub fn listed(&self, roots: u64, session: u64) -> Result<Option<ListRow>, Error> {
        let mut select = self
            .db
            .prepare_cached("SELECT gone, content FROM listed WHERE roots = ?1 AND session = ?2")?;
        let row = select.query_row([signed(roots), signed(session)], |row| {
            let content = unsealed(row.get_ref(1)?.as_blob().unwrap_or_default());
            let gone = row.get(0)?;
            Ok(content.map(|content| ListRow { session, gone, content: content.to_vec() }))
        });
        row.optional()?.map(|row| row.ok_or(Error::Broken)).transpose()
    }

    /// Keeps rows of a list that is not finished: until it is, it is made again each time.
    ///
    /// # Errors
    /// If the catalog cannot be written; then nothing of it is kept.
    pub fn keep_listed(&mut self, roots: u64, rows: &[ListRow]) -> Result<(), Error> {
        let change = self.db.transaction()?;
        change.execute("DELETE FROM lists WHERE roots = ?1", [signed(roots)])?;
        insert(&change, roots, rows)?;
        Ok(change.commit()?)
    }

    /// Keeps a finished list with all its rows, which come in parts: they need not all be in memory. Sessions that are not in
    /// it are gone.
    ///
    /// # Errors
    /// If the catalog cannot be written, or there are not `count` rows; then nothing of it is kept.
    pub fn keep_list(
        &mut self,
        roots: u64,
        list: &List,
        count: usize,
        parts: impl IntoIterator<Item = Vec<ListRow>>,
    ) -> Result<(), Error> {
        let change = self.db.transaction()?;
        let mut sessions = HashSet::with_capacity(count);
        for rows in parts {
            insert(&change, roots, &rows)?;
            sessions.extend(rows.iter().map(|row| row.session));
        }
        if sessions.len() != count {
            return Err(Error::Broken);
        }
        mark_gone(&change, roots, &sessions)?;
        change.execute(
            "INSERT OR REPLACE INTO lists (roots, shape, content) VALUES (?1, ?2, ?3)",
            params![signed(roots), signed(list.shape), sealed(&list.content)],
        )?;
        Ok(change.commit()?)
    }

    /// Forgets the rows of sessions that are gone.
    ///
    /// # Errors
    /// If the catalog cannot be written.
    pub fn forget_listed(&mut self, roots: u64, sessions: &[u64]) -> Result<(), Error> {
        let change = self.db.transaction()?;
        {
            let mut delete =
                change.prepare_cached("DELETE FROM listed WHERE roots = ?1 AND session = ?2")?;
            for session in sessions {
                delete.execute([signed(roots), signed(*session)])?;
            }
        }
        Ok(change.commit()?)
    }
}

/// Marks all sessions but these as gone.
fn mark_gone(change: &Transaction<'_>, roots: u64, sessions: &HashSet<u64>) -> Result<(), Error> {
    let mut select =
        change.prepare_cached("SELECT session FROM listed WHERE roots = ?1 AND gone = 0")?;
    let known = select.query_map([signed(roots)], |row| row.get(0))?;
    let known: Vec<i64> = known.collect::<Result<_, _>>()?;
    let mut mark =
        change.prepare_cached("UPDATE listed SET gone = 1 WHERE roots = ?1 AND session = ?2")?;
    for session in known.into_iter().filter(|one| !sessions.contains(&unsigned(*one))) {
        mark.execute([signed(roots), session])?;
    }
    Ok(())
}

fn insert(change: &Transaction<'_>, roots: u64, rows: &[ListRow]) -> Result<(), Error> {
    let mut insert = change.prepare_cached(
        "INSERT OR REPLACE INTO listed (roots, session, gone, content) VALUES (?1, ?2, ?3, ?4)",
    )?;
    // In the order of their keys they fill page after page.
    let mut rows: Vec<&ListRow> = rows.iter().collect();
    rows.sort_unstable_by_key(|row| signed(row.session));
    for row in rows {
        let content = sealed(&row.content);
        insert.execute(params![signed(roots), signed(row.session), row.gone, content])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(session: u64, content: &[u8]) -> ListRow {
        ListRow { session, gone: false, content: content.to_vec() }
    }

    fn keep_list(catalog: &mut Catalog, roots: u64, list: &List, rows: &[ListRow]) {
        let parts = rows.iter().map(|row| vec![row.clone()]);
        catalog.keep_list(roots, list, rows.len(), parts).unwrap();
    }

    fn all(catalog: &Catalog, roots: u64) -> Vec<ListRow> {
        let mut all = Vec::new();
        let mut visit = |session, gone, content: &[u8]| {
            all.push(ListRow { session, gone, content: content.to_vec() });
        };
        catalog.each_listed(roots, &mut visit).unwrap();
        all.sort_by_key(|row| row.session);
        all
    }

    #[test]
    fn a_list_that_is_not_whole_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut catalog = Catalog::open(&folder.path().join("catalog.db"), "1").unwrap();
        let list = List { shape: 7, content: b"shape".to_vec() };
        keep_list(&mut catalog, 1, &list, &[listed(1, b"one")]);
        let next = List { shape: 8, content: b"next".to_vec() };
        let part = vec![listed(1, b"new"), listed(2, b"two")];
        assert!(catalog.keep_list(1, &next, 3, [part]).is_err());
        assert_eq!(catalog.list(1).unwrap(), Some(list));
        assert_eq!(all(&catalog, 1), [listed(1, b"one")]);
    }

    #[test]
    fn what_is_no_longer_listed_is_gone_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let mut catalog = Catalog::open(&folder.path().join("catalog.db"), "1").unwrap();
        let list = List { shape: 7, content: b"shape".to_vec() };
        keep_list(&mut catalog, 1, &list, &[listed(1, b"one"), listed(2, b"two")]);
        keep_list(&mut catalog, 9, &list, &[listed(3, b"elsewhere")]);
        assert_eq!(catalog.list(1).unwrap(), Some(list.clone()));
        catalog.keep_listed(1, &[listed(2, b"new")]).unwrap();
        assert_eq!(catalog.list(1).unwrap(), None, "no list is finished that was touched");
        assert_eq!(all(&catalog, 1), [listed(1, b"one"), listed(2, b"new")]);
        keep_list(&mut catalog, 1, &list, &[listed(2, b"new")]);
        let gone = ListRow { gone: true, ..listed(1, b"one") };
        assert_eq!(catalog.listed(1, 1).unwrap(), Some(gone.clone()));
        assert_eq!(all(&catalog, 1), [gone, listed(2, b"new")]);
        catalog.forget_listed(1, &[1]).unwrap();
        assert_eq!(all(&catalog, 1), [listed(2, b"new")]);
        assert_eq!(all(&catalog, 9), [listed(3, b"elsewhere")]);
    }
}
