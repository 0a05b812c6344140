//! Filters on the content of messages.

use std::collections::{BTreeMap, BTreeSet};

use recount_formats::source::SessionFiles;
use recount_model::SourceName;

use crate::sessions::contents::Contents;
use crate::sessions::list::Claim;
use crate::snapshot::disk_scan::{DiskSnapshot, Progress};
use crate::{Engine, Error};

/// What a session must contain. Each may be in another message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentFilter {
    /// A call of this tool, by either of its names.
    pub tool: Option<String>,
    /// A call or an attached file that names this path, or the end of it.
    pub touched: Option<String>,
}

impl ContentFilter {
    /// Whether there is no condition.
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Removes the conditions that a session meets.
    fn remove_met(&mut self, contents: &Contents) {
        if self.tool.as_deref().is_some_and(|tool| contents.has_called(tool)) {
            self.tool = None;
        }
        if self.touched.as_deref().is_some_and(|path| contents.has_named(path)) {
            self.touched = None;
        }
    }
}

impl Engine {
    /// Returns the sessions on `disk` that do not match.
    pub(crate) fn without(
        &self,
        content: &ContentFilter,
        disk: &DiskSnapshot,
        progress: &dyn Progress,
    ) -> Result<BTreeSet<Claim>, Error> {
        if content.is_nothing() {
            return Ok(BTreeSet::new());
        }
        let look = |source, files: SessionFiles| Contents::read(source, &files);
        let all = self.noted(Contents::TOPIC, disk, progress, look)?;
        let names: Vec<SourceName> = self.sources.iter().map(|source| source.name()).collect();
        // If names are wrong, one session is in several groups of files.
        let mut missing: BTreeMap<Claim, ContentFilter> = BTreeMap::new();
        for contents in all {
            let Some(source) = names.iter().find(|name| contents.is_of(**name)) else { continue };
            let claim = (*source, contents.id.clone());
            missing.entry(claim).or_insert_with(|| content.clone()).remove_met(&contents);
        }
        missing.retain(|_, missing| !missing.is_nothing());
        Ok(missing.into_keys().collect())
    }
}
