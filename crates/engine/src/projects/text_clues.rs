//! Paths in the text of sessions, as clues: first in each directory's own sessions, then in others.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use recount_formats::Source;
use recount_formats::source::ProjectFolder;
use recount_model::{ClueKind, Project, ProjectHash};
use recount_store::Searched;
use recount_store::scan::ScanRoot;

use crate::projects::paths::{paths_in, texts};
use crate::projects::resolve::ResolveContext;

impl ResolveContext<'_> {
    /// Searches paths in the sessions of unknown directories, and returns the directories that were read.
    pub(crate) fn read_own_texts(&mut self) -> BTreeSet<usize> {
        let now = self.engine.clock().now();
        let mut read = BTreeSet::new();
        for (number, hash) in self.unknown() {
            let Some(folder) = self.disk.folders.get(number) else { continue };
            let (source, stamp) = (folder.source, stamp(folder.source, &folder.at));
            let has_failed = |hash: &ProjectHash| self.learned.has_failed(source, hash, &stamp);
            if hash.as_ref().is_some_and(has_failed) {
                continue;
            }
            self.read_texts(number, hash.as_slice());
            read.insert(number);
            if let Some(hash) = hash.filter(|hash| self.candidates.prove(source, hash).is_none()) {
                self.news.record_failed_read(source, &hash, stamp, now);
            }
        }
        self.resolve();
        read
    }

    /// Searches paths in the sessions of all directories that were not read: one project mentions another.
    ///
    /// After `budget` bytes the next run continues.
    pub(crate) fn read_other_texts(&mut self, read: &BTreeSet<usize>, mut budget: u64) {
        let now = self.engine.clock().now();
        let wanted: Vec<ProjectHash> = self.open().into_iter().map(|(_, hash)| hash).collect();
        let name = name_of(&wanted);
        let mut looked = Vec::new();
        for (number, folder) in self.disk.folders.iter().enumerate() {
            let path = folder.at.path.clone();
            let place = ScanRoot { path, depth: 0, patience: Duration::ZERO };
            let shape = stamp_of_sessions(&folder.at);
            if budget == 0 || self.learned.is_settled(&name, &place, &shape, now) {
                continue;
            }
            // A directory whose text named its own folder was not read completely.
            let is_unknown = |project: &Project| project.path.is_none();
            if !read.contains(&number) || !self.projects.get(number).is_some_and(is_unknown) {
                budget = budget.saturating_sub(self.read_texts(number, &wanted));
            }
            looked.push((place.path.to_string_lossy().into_owned(), shape));
        }
        self.resolve();
        let wanted: Vec<ProjectHash> = self.open().into_iter().map(|(_, hash)| hash).collect();
        let name = name_of(&wanted);
        for (place, shape) in looked {
            self.news.record_search(Searched {
                place,
                depth: 0,
                shape,
                finished: true,
                patience: 0,
                when: now,
                unfound: BTreeSet::from([name.clone()]),
            });
        }
    }

    /// Adds the paths in a directory's files as candidates, until all wanted hashes are proven, and returns the number of
    /// bytes read.
    fn read_texts(&mut self, number: usize, wanted: &[ProjectHash]) -> u64 {
        let Some(folder) = self.disk.folders.get(number) else { return 0 };
        let mut bytes = 0;
        for file in texts(folder.source, &folder.at) {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
            let detail = format!("the text of {}", name.unwrap_or_default());
            let (paths, read) = paths_in(&file);
            bytes += read;
            for path in paths {
                self.candidates.add_with_ancestors(&path, ClueKind::Text, &detail);
                if let Some(own) = self.own.get_mut(number) {
                    own.add_with_ancestors(&path, ClueKind::Text, &detail);
                }
            }
            let is_proven = |hash| self.candidates.prove(folder.source, hash).is_some();
            if !wanted.is_empty() && wanted.iter().all(is_proven) {
                break;
            }
        }
        bytes
    }
}

/// Returns one name for everything that is wanted: a set of hashes for each directory would be larger than the texts.
fn name_of(wanted: &[ProjectHash]) -> String {
    let mut hasher = DefaultHasher::new();
    wanted.hash(&mut hasher);
    format!("texts:{:016x}", hasher.finish())
}

/// Returns a stamp of the files of a directory, including those beside its sessions.
pub(crate) fn stamp(source: &dyn Source, folder: &ProjectFolder) -> String {
    let beside = source.texts(folder);
    let size = |path: &std::path::PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
    let bytes: u64 = beside.iter().map(size).sum();
    format!("{}/{}/{bytes}", stamp_of_sessions(folder), beside.len())
}

fn stamp_of_sessions(folder: &ProjectFolder) -> String {
    let newest = folder.files.iter().filter_map(|file| file.modified).max().unwrap_or_default();
    format!("{}/{}/{newest}", folder.files.len(), folder.bytes)
}
