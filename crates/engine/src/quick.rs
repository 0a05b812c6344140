//! The short way to an answer when nothing has changed since the index was brought up to date: every file is asked
//! for its stamp, none is read, and only sessions that were found are remembered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use recount_catalog::Catalog;
use recount_model::{Project, SessionFacts};

use crate::Engine;
use crate::cached::decode;
use crate::index::session_key;
use crate::passport::{Effort, Sightings};
use crate::refresh::{hash, is_racy, key};
use crate::survey::{Ground, Group};

/// Sessions by what stands for them in the index.
pub(crate) trait Sessions {
    /// Returns one.
    fn session(&self, key: u64) -> Option<Arc<SessionFacts>>;
}

/// All of them, listed before.
impl Sessions for HashMap<u64, Arc<SessionFacts>> {
    fn session(&self, key: u64) -> Option<Arc<SessionFacts>> {
        self.get(&key).cloned()
    }
}

/// Those that are asked for, remembered by the catalog.
#[derive(Debug)]
pub(crate) struct Quick<'a> {
    engine: &'a Engine,
    ground: Ground,
    groups: Vec<Group>,
    keys: Vec<(u64, u64)>,
    pub(crate) catalog: Catalog,
    projects: Mutex<Option<Vec<Arc<Project>>>>,
}

impl Engine {
    /// Takes the short way, if nothing has changed since the index was brought up to date.
    pub(crate) fn quick(&self) -> Option<Quick<'_>> {
        let (ground, catalog) = std::thread::scope(|scope| {
            let catalog = scope.spawn(|| self.catalog());
            (self.look(), catalog.join().unwrap_or_default())
        });
        let catalog = catalog?;
        let groups = ground.groups(|_| true);
        let keys: Vec<(u64, u64)> = groups.iter().map(key).collect();
        let known = catalog.word(&self.mark()).ok()??;
        (known == shape(&keys) && !groups.iter().any(is_racy)).then(|| Quick {
            engine: self,
            ground,
            groups,
            keys,
            catalog,
            projects: Mutex::default(),
        })
    }

    /// Remembers that the index is up to date with what lies on disk.
    pub(crate) fn mark_indexed(&self, catalog: &Catalog, ground: &Ground) {
        let groups = ground.groups(|_| true);
        if groups.iter().any(is_racy) {
            return;
        }
        let keys: Vec<(u64, u64)> = groups.iter().map(key).collect();
        // What is not remembered is looked at again.
        let _kept = catalog.set_word(&self.mark(), &shape(&keys));
    }

    fn mark(&self) -> String {
        format!("indexed {:016x}", self.roots_key())
    }
}

fn shape(keys: &[(u64, u64)]) -> String {
    format!("{:016x}", hash(&keys))
}

impl Quick<'_> {
    fn project(&self, folder: usize) -> Arc<Project> {
        let Ok(mut projects) = self.projects.lock() else { return Arc::default() };
        let projects = projects.get_or_insert_with(|| {
            let effort = Effort::Glance(usize::MAX);
            self.engine.passports(&self.ground, &Sightings::default(), &effort, &()).projects
        });
        projects.get(folder).cloned().unwrap_or_default()
    }
}

impl Sessions for Quick<'_> {
    fn session(&self, wanted: u64) -> Option<Arc<SessionFacts>> {
        let files = self.catalog.files_of(self.engine.roots_key(), wanted).ok()??;
        let at = self.keys.iter().position(|(key, _)| *key == files)?;
        let (group, row) = (self.groups.get(at)?, self.catalog.row(files).ok()??);
        let digests = decode(&row.content, group, &self.ground)?;
        let is_it = |facts: &SessionFacts| session_key(facts.source, &facts.id) == wanted;
        let digest = digests.into_iter().find(|digest| is_it(&digest.facts))?;
        let mut facts = digest.facts;
        facts.project = self.project(digest.folder);
        Some(Arc::new(facts))
    }
}
