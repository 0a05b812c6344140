//! Checks that the index on disk is intact and matches the catalog.

use recount_catalog::Catalog;
use recount_platform::system_nanos;
use recount_search::Index;

use crate::cache::refresh::hash;
use crate::{Engine, Error};

impl Engine {
    /// Opens the index, and rebuilds it if it is damaged, of another version, or does not match the catalog.
    pub(crate) fn open_index(&self, catalog: &mut Catalog) -> Result<Index, Error> {
        let opened = match Index::open(&self.index_folder()?) {
            Err(recount_search::Error::Stale { .. }) => None,
            opened => Some(opened?),
        };
        match opened {
            Some(index) if self.is_sound(&index, catalog)? => Ok(index),
            _ => self.start_over(catalog),
        }
    }

    /// Opens the index if it is certainly valid.
    pub(crate) fn trusted_index(&self, catalog: &Catalog) -> Option<Index> {
        let index = Index::open(&self.index_folder().ok()?).ok()?;
        let mark = index.mark().ok()??;
        let is_known = catalog.word(&self.word("index")).ok()?? == mark;
        (is_known && self.is_trusted(&index, catalog).ok()?).then_some(index)
    }

    /// Creates an empty index.
    pub(crate) fn start_over(&self, catalog: &mut Catalog) -> Result<Index, Error> {
        let index = Index::rebuild(&self.index_folder()?)?;
        catalog.clear_indexed(self.roots_key())?;
        catalog.set_word(&self.word("index"), &new_mark())?;
        Ok(index)
    }

    /// Returns the mark of every commit to the index.
    pub(super) fn index_mark(&self, catalog: &Catalog) -> Result<String, Error> {
        Ok(catalog.word_or(&self.word("index"), &new_mark())?)
    }

    /// Records the fingerprint of the index files, after they were written or checked.
    pub(super) fn trust(&self, index: &Index, catalog: &Catalog) -> Result<(), Error> {
        Ok(catalog.set_word(&self.word("index files"), &shape(index)?)?)
    }

    fn is_trusted(&self, index: &Index, catalog: &Catalog) -> Result<bool, Error> {
        let known = catalog.word(&self.word("index files"))?;
        Ok(known.as_deref() == Some(&shape(index)?))
    }

    fn is_sound(&self, index: &Index, catalog: &Catalog) -> Result<bool, Error> {
        let known = self.index_mark(catalog)?;
        let mut mark = index.mark()?;
        if mark.is_none() {
            // Nothing was committed yet, and nothing contradicts that.
            if index.searcher().messages() == 0 && !catalog.has_indexed(self.roots_key())? {
                return Ok(true);
            }
            // Another process may have committed in between: it records sessions in the catalog only after that.
            index.reload()?;
            mark = index.mark()?;
        }
        if mark != Some(known) {
            return Ok(false);
        }
        if self.is_trusted(index, catalog)? {
            return Ok(true);
        }
        // Another process wrote it, or changed it: every byte is checked once. Another run may be merging segments.
        let is_whole = || index.damaged_files().is_ok_and(|damaged| damaged.is_empty());
        let is_whole = is_whole() || is_whole();
        if is_whole {
            self.trust(index, catalog)?;
        }
        Ok(is_whole)
    }

    /// Returns the name under which something about these roots is stored.
    pub(crate) fn word(&self, what: &str) -> String {
        format!("{what} {:016x}", self.roots_key())
    }
}

fn shape(index: &Index) -> Result<String, Error> {
    Ok(format!("{:016x}", index.shape()?))
}

fn new_mark() -> String {
    format!("{:016x}", hash(&(system_nanos(), std::process::id())))
}
