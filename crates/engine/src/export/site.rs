//! The index of a folder of pages, built from its manifest.

use std::path::Path;

use recount_export::names::Taken;
use recount_export::site;

use super::folder::REDACTED;
use super::manifest::{Manifest, Written};
use super::plan::{claim, stem_of};
use super::{Export, Exported};
use crate::Error;
use crate::cache::refresh::hash;

/// Its key in the manifest.
const KEY: &str = "html index";
const ENDING: &str = "html";

/// The index of a folder.
pub(super) struct Site {
    name: String,
    /// Whether only redacted sessions may be listed.
    is_redacted: bool,
}

impl Site {
    /// Finds a name for the index: its earlier one, else one that is not used by other files.
    pub(super) fn new(folder: &Path, export: &Export, manifest: &mut Manifest) -> Self {
        let known = manifest.sessions.get(KEY).and_then(|entry| stem_of(entry, ENDING));
        let is_free =
            |name: &str| folder.join(format!("{name}.{ENDING}")).symlink_metadata().is_err();
        let stem = known.unwrap_or_else(|| Taken::default().find("index", is_free));
        claim(manifest, KEY, &stem, ENDING);
        Self { name: format!("{stem}.{ENDING}"), is_redacted: export.redaction.is_some() }
    }

    /// Returns its path relative to a project's folder.
    pub(super) fn seen_from_a_project(&self) -> String {
        format!("../{}", self.name)
    }

    /// Rewrites the index if it does not match the manifest.
    pub(super) fn update(
        &self,
        folder: &Path,
        manifest: &mut Manifest,
        exported: &mut Exported,
    ) -> Result<(), Error> {
        let rows = manifest.sessions.values().filter_map(|entry| {
            let (row, file) = (entry.row.as_ref()?, entry.files.first()?);
            let may = !self.is_redacted || entry.options.contains(REDACTED);
            (may && entry.is_there(folder)).then_some(site::SiteEntry { row, file: &file.name })
        });
        let mut page = Vec::new();
        site::write(&rows.collect::<Vec<_>>(), &mut page).map_err(Error::Output)?;
        let stamp = Some(format!("{:016x}", hash(&page)));
        let Some(entry) = manifest.sessions.get_mut(KEY) else { return Ok(()) };
        if entry.is_fresh(folder, stamp.as_ref(), "") {
            return Ok(());
        }
        recount_writer::write_atomically(&folder.join(&self.name), &page)?;
        let bytes = page.len() as u64;
        entry.stamp = stamp;
        entry.options = String::new();
        entry.files = vec![Written { name: self.name.clone(), bytes }];
        exported.files += 1;
        exported.bytes += bytes;
        manifest.save(folder)
    }
}
