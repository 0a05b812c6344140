//! recount's own files about projects: what was learned, and the aliases.

use std::path::{Path, PathBuf};

use recount_formats::bytes::read_limited;
use recount_store::{Aliases, Learned, Newer};

use crate::config::{utf8, written};
use crate::{Engine, Error};

/// What was learned about folders.
const LEARNED: &str = "folders.json";
/// Names of projects.
const ALIASES: &str = "projects.toml";
/// A larger map is damaged.
const MOST: u64 = 256 * 1024 * 1024;

impl Engine {
    /// Returns what was learned so far.
    pub(crate) fn learned(&self) -> Learned {
        let read = self.learned_file().and_then(|path| read_limited(&path, MOST).ok());
        read.and_then(|bytes| Learned::parse(&bytes).ok()).unwrap_or_default()
    }

    /// Stores what was learned in this run, merged with what other runs have learned meanwhile.
    ///
    /// # Errors
    /// If recount's data folder cannot be written.
    pub(crate) fn learn(&self, news: Learned) -> Result<(), Error> {
        let Some(path) = self.learned_file().filter(|_| !news.is_empty()) else { return Ok(()) };
        if let Some(folder) = path.parent() {
            recount_writer::create_private_folder(folder)?;
        }
        recount_writer::update(&path, |old| match Learned::parse(&old.unwrap_or_default()) {
            Ok(mut learned) => {
                learned.absorb(news);
                Some(learned.to_bytes())
            }
            Err(Newer) => None,
        })?;
        Ok(())
    }

    /// Deletes what was learned, and returns the number of known folders.
    ///
    /// # Errors
    /// If recount's data folder cannot be written.
    pub fn forget_projects(&self) -> Result<usize, Error> {
        let known = self.learned().len();
        if let Some(path) = self.learned_file() {
            recount_writer::remove(&path)?;
        }
        Ok(known)
    }

    fn learned_file(&self) -> Option<PathBuf> {
        self.folders.data.as_ref().map(|data| data.join(LEARNED))
    }

    /// Returns the names that the user gave to projects.
    ///
    /// # Errors
    /// If their file is invalid.
    pub fn aliases(&self) -> Result<Aliases, Error> {
        let Some(path) = self.aliases_file() else { return Ok(Aliases::default()) };
        let Some(text) = written(&path)? else { return Ok(Aliases::default()) };
        self.names_in(&path, &text)
    }

    /// Changes the names that the user gave to projects.
    ///
    /// # Errors
    /// If their file is invalid or cannot be written.
    pub fn change_aliases(&self, change: impl FnOnce(&mut Aliases)) -> Result<Aliases, Error> {
        let Some(path) = self.aliases_file() else { return Err(Error::NoDataFolder) };
        if let Some(folder) = path.parent() {
            recount_writer::create_private_folder(folder)?;
        }
        let mut outcome = Ok(Aliases::default());
        recount_writer::update(&path, |old| {
            let text = utf8(&path, old.unwrap_or_default());
            outcome = text.and_then(|text| self.names_in(&path, &text)).map(|mut aliases| {
                change(&mut aliases);
                aliases
            });
            outcome.as_ref().ok().map(|aliases| aliases.to_text().into_bytes())
        })?;
        outcome
    }

    fn names_in(&self, path: &Path, text: &str) -> Result<Aliases, Error> {
        let bad = |message| Error::Config { path: path.to_owned(), message };
        let mut aliases = Aliases::parse(text).map_err(bad)?;
        // People who edit the file write `~`.
        aliases.expand(|folder| self.folders.expand(folder).to_string_lossy().into_owned());
        Ok(aliases)
    }

    pub(crate) fn aliases_file(&self) -> Option<PathBuf> {
        self.folders.data.as_ref().map(|data| data.join(ALIASES))
    }
}
