//! The files of sessions as another home would have them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use recount_engine::Progress;
use recount_engine::disk::Survey;
use recount_model::{SessionId, SourceName};

use super::files_of;
use crate::{Changes, Error};

/// A file of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeFile {
    /// The file.
    pub path: PathBuf,
    /// Its path below a home, with `/` between.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its time, in nanoseconds since 1970.
    pub modified: i128,
}

impl Changes<'_> {
    /// Lists the files of sessions, of their sub-agents and their artifacts, and the markers of their projects. Nothing else
    /// of an agent's folder: it has credentials, too.
    ///
    /// # Errors
    /// If it was cancelled.
    pub fn home_files(
        self,
        sessions: &BTreeSet<(SourceName, SessionId)>,
        progress: &dyn Progress,
    ) -> Result<Vec<HomeFile>, Error> {
        let Survey { listing, disk, .. } = self.engine.scan_files(progress)?;
        let mut found = BTreeMap::new();
        for facts in &listing.sessions {
            if !sessions.contains(&(facts.source, facts.id.clone())) {
                continue;
            }
            for file in files_of(facts, &listing.sessions, &disk) {
                self.add_home_file(&file.path, &mut found);
            }
        }
        Ok(found.into_values().collect())
    }

    /// Adds a file, and the marker of its project.
    fn add_home_file(self, path: &Path, found: &mut BTreeMap<String, HomeFile>) {
        let roots = self.engine.data_folders().iter();
        let Some(root) = roots.filter(|root| !root.is_ingested).find(|r| path.starts_with(&r.path))
        else {
            return;
        };
        let marker = root.source.place_of(&root.path, root.shape, path).map(|place| place.marker);
        for path in std::iter::once(path.to_owned()).chain(marker) {
            let Ok(below) = path.strip_prefix(&root.path) else { continue };
            let tops = root.source.folders().below_home;
            let named = tops.iter().find(|top| root.path.ends_with(top));
            let Some(top) = named.or(tops.first()) else { continue };
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            let name = format!("{top}/{}", parts.join("/"));
            let Ok(metadata) = path.symlink_metadata() else { continue };
            if !metadata.is_file() || found.contains_key(&name) {
                continue;
            }
            let modified = metadata.modified().ok().map(|time| {
                time.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
            });
            let modified = i128::try_from(modified.unwrap_or_default()).unwrap_or_default();
            let bytes = metadata.len();
            found.insert(name.clone(), HomeFile { path, name, bytes, modified });
        }
    }
}
