//! Which session goes to which file of a folder.

use std::collections::BTreeMap;
use std::path::Path;

use recount_export::names::{self, Taken};
use recount_export::{ExportTable, Links};

use super::Export;
use super::manifest::{Entry, Manifest, Written};
use super::stock::{Item, Stock};
use crate::cache::refresh::hash;

/// What is written in one go: one session, one table of all, or the tables of a partition.
pub(super) struct Job<'a> {
    pub(super) outputs: Vec<Output>,
    pub(super) items: Vec<Item<'a>>,
    /// The bytes to be read.
    pub(super) bytes: u64,
}

/// What comes of a job: one entry of the manifest.
pub(super) struct Output {
    /// What it is called in the manifest.
    pub(super) key: String,
    pub(super) stamp: Option<String>,
    /// Its folder, with `/` behind, and its file without the ending.
    pub(super) stem: String,
    pub(super) table: Option<ExportTable>,
}

/// Where sessions that belong together lie, seen from any project's folder.
pub(super) fn links(jobs: &[Job<'_>], export: &Export) -> Links {
    let mut files = BTreeMap::new();
    let mut linked = Vec::new();
    let told = jobs.iter().filter_map(|job| Some((job.outputs.first()?, job.items.first()?)));
    for (output, item) in told.filter(|_| export.format.tables().is_empty()) {
        let id = item.facts.id.to_string();
        if let Some(parent) = &item.facts.parent {
            linked.extend([id.clone(), parent.to_string()]);
        }
        files.insert(id, format!("../{}.{}", output.stem, export.extension()));
    }
    let found = |id: String| files.get(&id).cloned().map(|file| (id, file));
    linked.into_iter().filter_map(found).collect()
}

/// One table of all sessions each.
pub(super) fn tables<'a>(
    stock: &Stock,
    items: &[Item<'a>],
    export: &Export,
    folder: &Path,
    manifest: &mut Manifest,
) -> Vec<Job<'a>> {
    let stamps: Option<Vec<String>> = items.iter().map(|item| stock.stamp(item)).collect();
    let stamp = stamps.map(|stamps| format!("{:016x}", hash(&stamps)));
    let bytes = items.iter().map(|item| item.facts.bytes()).sum();
    let mut taken = Taken::default();
    let mut jobs = Vec::new();
    for &table in &export.tables {
        let key = format!("csv {}", table.name());
        let free = |name: &str| !folder.join(format!("{name}.csv")).exists();
        let known = manifest.sessions.get(&key).and_then(|entry| stem_of(entry, "csv"));
        let stem = known.unwrap_or_else(|| taken.find(table.name(), free));
        claim(manifest, &key, &stem, "csv");
        // What is a copy changes with other sessions.
        let copied = (table == ExportTable::Requests).then(|| stock.copied_stamp(items));
        let copied = copied.map(|copied| format!("{copied:016x}")).unwrap_or_default();
        let stamp = stamp.clone().map(|stamp| stamp + &copied);
        let outputs = vec![Output { key, stamp, stem, table: Some(table) }];
        jobs.push(Job { outputs, items: items.to_vec(), bytes });
    }
    jobs
}

/// Returns the name under which something was written before, without its ending.
pub(super) fn stem_of(entry: &Entry, extension: &str) -> Option<String> {
    let name = &entry.files.first()?.name;
    name.strip_suffix(extension)?.strip_suffix('.').map(str::to_owned)
}

/// Notes in the manifest that a name is ours.
pub(super) fn claim(manifest: &mut Manifest, key: &str, stem: &str, extension: &str) {
    let name = format!("{stem}.{extension}");
    let entry = manifest.sessions.entry(key.to_owned()).or_default();
    if entry.files.first().is_none_or(|file| file.name != name) {
        *entry = Entry { files: vec![Written { name, bytes: 0 }], ..Entry::default() };
    }
}

/// Finds a name for each session.
pub(super) struct Plan<'a> {
    folder: &'a Path,
    extension: &'static str,
    export: &'a Export,
    manifest: &'a mut Manifest,
    /// Folders of projects.
    folders: Taken,
    /// Names in each of them.
    names: BTreeMap<String, Taken>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(folder: &'a Path, export: &'a Export, manifest: &'a mut Manifest) -> Self {
        let mut folders = Taken::default();
        for known in manifest.projects.values() {
            folders.take(known);
        }
        let extension = export.extension();
        Self { folder, extension, export, manifest, folders, names: BTreeMap::new() }
    }

    pub(super) fn jobs<'b>(&mut self, stock: &Stock, items: &[Item<'b>]) -> Vec<Job<'b>> {
        let mut jobs: Vec<Job<'b>> = Vec::new();
        // The oldest first, so that a new session does not take the name of an old one.
        let mut items = items.to_vec();
        items.sort_by_key(|item| (item.facts.started, item.facts.id.clone()));
        for item in items {
            let facts = item.facts;
            let key = format!("{} {}/{}", self.export.name(), facts.source, facts.id);
            let stem = self.stem(&key, &item);
            claim(self.manifest, &key, &stem, self.extension);
            let (stamp, bytes) = (stock.stamp(&item), facts.bytes());
            let outputs = vec![Output { key, stamp, stem, table: None }];
            jobs.push(Job { outputs, items: vec![item], bytes });
        }
        // The largest first, so that no core is left alone with it at the end.
        jobs.sort_by_key(|job| std::cmp::Reverse(job.bytes));
        let key = |job: &Job<'_>| job.outputs.first().map(|output| output.key.clone());
        jobs.dedup_by(|one, other| key(one) == key(other));
        jobs
    }

    /// A session keeps the name it once had, whatever its title is now.
    fn stem(&mut self, key: &str, item: &Item<'_>) -> String {
        // A name may tell what is to be taken out now.
        let is_such = |entry: &&Entry| {
            self.export.redaction.is_none() || entry.options.contains(super::folder::REDACTED)
        };
        let entry = self.manifest.sessions.get(key);
        if let Some(told) = entry.filter(|entry| !is_such(entry)) {
            for path in told.left_over(&[], self.folder) {
                // What cannot be removed is written over or stays; the next try is the next export.
                let _removed = recount_writer::remove(&path);
            }
        }
        let known = entry.filter(is_such).and_then(|entry| stem_of(entry, self.extension));
        let is_kept = |stem: &String| {
            stem.split_once('/').is_some_and(|(folder, _)| is_own(self.folder, folder))
        };
        if let Some(stem) = known.filter(is_kept) {
            return stem;
        }
        let folder = self.project(item);
        let wanted = match (self.export.own, &self.export.redaction) {
            (Some(form), _) => item.own_stem(form),
            (None, Some(redaction)) => names::stem(&redaction.unnoted(item.facts)),
            (None, None) => names::stem(item.facts),
        };
        let names = match self.names.remove(&folder) {
            Some(names) => names,
            None => self.names_in(&folder),
        };
        let names = self.names.entry(folder.clone()).or_insert(names);
        format!("{folder}/{}", names.find(&wanted, |_| true))
    }

    fn project(&mut self, item: &Item<'_>) -> String {
        let project = &item.facts.project;
        let key = format!("{:016x}", hash(&project.key()));
        let top = self.folder;
        if let Some(known) = self.manifest.projects.get(&key).filter(|known| is_own(top, known)) {
            return known.clone();
        }
        let name = project.name();
        let redaction = self.export.redaction.as_deref();
        let name = redaction.map_or_else(|| name.to_owned(), |redaction| redaction.plain(name));
        let wanted = names::folder(&name);
        let found = self.folders.find(&wanted, |name| is_own(top, name));
        self.manifest.projects.insert(key, found.clone());
        found
    }

    /// Returns what lies in a project's folder, and what is to lie there, with this ending.
    fn names_in(&self, folder: &str) -> Taken {
        let mut taken = Taken::default();
        let mut take = |name: &str| {
            if let Some((stem, ending)) = name.split_once('.')
                && ending.rsplit('.').next() == Some(self.extension)
            {
                taken.take(stem);
            }
        };
        for entry in std::fs::read_dir(self.folder.join(folder)).into_iter().flatten().flatten() {
            take(&entry.file_name().to_string_lossy());
        }
        for written in self.manifest.sessions.values().flat_map(|entry| &entry.files) {
            if let Some((at, name)) = written.name.split_once('/')
                && at == folder
            {
                take(name);
            }
        }
        taken
    }
}

/// Whether all folders above a file of ours are, or may be made, as folders.
pub(super) fn is_in_own(top: &Path, name: &str) -> bool {
    let folders = name.match_indices('/').filter_map(|(at, _)| name.get(..at));
    folders.into_iter().all(|folder| is_own(top, folder))
}

/// Whether a project's folder is there as a folder, or may be made. A link might lead elsewhere.
fn is_own(top: &Path, folder: &str) -> bool {
    match top.join(folder).symlink_metadata() {
        Ok(found) => found.is_dir(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}
