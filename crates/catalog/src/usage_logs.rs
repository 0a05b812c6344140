//! What sessions used, message by message, beside what is kept of their groups of files: only those who count read it.

use rusqlite::{Transaction, params};

use crate::seal::{sealed, unsealed};
use crate::{Catalog, Error, signed, unsigned};

/// What the sessions of one group of files used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageLogRow {
    /// When the last of it was, in milliseconds.
    pub last: i64,
    /// What the engine makes of it.
    pub content: Vec<u8>,
}

/// One usage log while it is being looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageLogPart<'a> {
    /// The group of files.
    pub key: u64,
    /// Changes when one of its files does.
    pub stamp: u64,
    /// What is kept, unless all of it is older than what is asked for.
    pub content: Option<&'a [u8]>,
}

impl Catalog {
    /// Gives each usage log of some roots to `visit`, in the order of their keys.
    ///
    /// # Errors
    /// If the catalog cannot be read, or a usage log is damaged.
    pub fn each_usage_log(
        &self,
        roots: u64,
        since: i64,
        visit: &mut dyn FnMut(UsageLogPart<'_>),
    ) -> Result<(), Error> {
        let mut select = self.db.prepare_cached(
            "SELECT key, stamp, last, content FROM ledgers WHERE roots = ?1 ORDER BY key",
        )?;
        let mut rows = select.query([signed(roots)])?;
        while let Some(row) = rows.next()? {
            let (key, stamp) = (unsigned(row.get(0)?), unsigned(row.get(1)?));
            let content = if row.get::<_, i64>(2)? < since {
                None
            } else {
                let sealed = row.get_ref(3)?.as_blob().unwrap_or_default();
                Some(unsealed(sealed).ok_or(Error::Broken)?)
            };
            visit(UsageLogPart { key, stamp, content });
        }
        Ok(())
    }
}

/// Keeps the usage log of a group.
pub(crate) fn keep(
    change: &Transaction<'_>,
    roots: u64,
    (key, stamp): (u64, u64),
    usage_log: &UsageLogRow,
) -> Result<(), Error> {
    let mut insert = change.prepare_cached(
        "INSERT OR REPLACE INTO ledgers (roots, key, stamp, last, content) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let content = sealed(&usage_log.content);
    insert.execute(params![signed(roots), signed(key), signed(stamp), usage_log.last, content])?;
    Ok(())
}

/// Forgets the usage log of a group that is gone.
pub(crate) fn forget(change: &Transaction<'_>, roots: u64, key: u64) -> Result<(), Error> {
    let mut delete = change.prepare_cached("DELETE FROM ledgers WHERE roots = ?1 AND key = ?2")?;
    delete.execute([signed(roots), signed(key)])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CatalogRow;

    fn row(key: u64, last: i64) -> CatalogRow {
        let usage_log = UsageLogRow { last, content: vec![7; 3] };
        CatalogRow { key, stamp: key + 1, content: Vec::new(), usage_log }
    }

    #[test]
    fn ledgers_come_and_go_with_their_groups() {
        let folder = tempfile::tempdir().unwrap();
        let mut catalog = Catalog::open(&folder.path().join("catalog.db"), "1").unwrap();
        catalog.keep(1, &[row(2, 100), row(1, 200), row(9, 300)], &[]).unwrap();
        catalog.keep(5, &[row(4, 100)], &[]).unwrap();
        catalog.keep(1, &[], &[9]).unwrap();
        let mut seen = Vec::new();
        let mut visit = |leaf: UsageLogPart<'_>| {
            seen.push((leaf.key, leaf.stamp, leaf.content.map(<[u8]>::len)));
        };
        catalog.each_usage_log(1, 150, &mut visit).unwrap();
        assert_eq!(seen, [(1, 2, Some(3)), (2, 3, None)]);
    }
}
