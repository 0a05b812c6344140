//! Whether the index on disk is the one that the catalog tells about, and whole.

use recount_catalog::Catalog;
use recount_platform::system_nanos;
use recount_search::Index;

use crate::cache::refresh::hash;
use crate::{Engine, Error};

impl Engine {
    /// Opens the index, and makes it again when it is damaged, of another version, or not the one that the catalog
    /// tells about.
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

    /// Opens the index if there is no doubt about it.
    pub(crate) fn trusted_index(&self, catalog: &Catalog) -> Option<Index> {
        let index = Index::open(&self.index_folder().ok()?).ok()?;
        let mark = index.mark().ok()??;
        let is_known = catalog.word(&self.word("index")).ok()?? == mark;
        (is_known && self.is_trusted(&index, catalog).ok()?).then_some(index)
    }

    /// Begins an empty index.
    pub(crate) fn start_over(&self, catalog: &mut Catalog) -> Result<Index, Error> {
        let index = Index::rebuild(&self.index_folder()?)?;
        catalog.clear_indexed(self.roots_key())?;
        catalog.set_word(&self.word("index"), &new_mark())?;
        Ok(index)
    }

    /// The mark that every commit to the index carries.
    pub(super) fn index_mark(&self, catalog: &Catalog) -> Result<String, Error> {
        Ok(catalog.word_or(&self.word("index"), &new_mark())?)
    }

    /// Remembers what the files of the index look like, now that we have written or checked them.
    pub(super) fn trust(&self, index: &Index, catalog: &Catalog) -> Result<(), Error> {
        Ok(catalog.set_word(&self.word("index files"), &shape(index)?)?)
    }

    fn is_trusted(&self, index: &Index, catalog: &Catalog) -> Result<bool, Error> {
        let known = catalog.word(&self.word("index files"))?;
        Ok(known.as_deref() == Some(&shape(index)?))
    }

    fn is_sound(&self, index: &Index, catalog: &Catalog) -> Result<bool, Error> {
        let known = self.index_mark(catalog)?;
        match index.mark()? {
            Some(mark) if mark == known => {}
            // Nothing was committed yet, and nobody says otherwise.
            None => {
                return Ok(index.searcher().messages() == 0
                    && catalog.indexed(self.roots_key())?.is_empty());
            }
            _ => return Ok(false),
        }
        if self.is_trusted(index, catalog)? {
            return Ok(true);
        }
        // Somebody else wrote it, or changed it: every byte is looked at once. Another run may be tidying up.
        let is_whole = || index.damaged_files().is_ok_and(|damaged| damaged.is_empty());
        let is_whole = is_whole() || is_whole();
        if is_whole {
            self.trust(index, catalog)?;
        }
        Ok(is_whole)
    }

    /// The name under which something about these roots is remembered.
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
