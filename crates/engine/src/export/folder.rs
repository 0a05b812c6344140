//! Many sessions into one folder, which is kept up to date: what has not changed is not written again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recount_export::names::{self, Taken};
use recount_export::{Format, Links, Options, Table};

use super::manifest::{Entry, Manifest, Written};
use super::stock::{Item, Stock};
use super::telling::{Telling, below};
use super::{Export, Exported, Selection};
use crate::refresh::hash;
use crate::survey::Progress;
use crate::{Engine, Error};

/// What runs take turns by, with `.lock` behind.
const LOCK: &str = ".recount-export";
/// How long another run that exports into the same folder is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// The manifest is made safe this often.
const OFTEN: Duration = Duration::from_secs(1);

/// What is to be written: one session, or one table of all.
struct Job<'a> {
    /// What it is called in the manifest.
    key: String,
    stamp: Option<String>,
    /// Its folder, with `/` behind, and its file without the ending.
    stem: String,
    items: Vec<Item<'a>>,
    table: Option<Table>,
    /// The bytes to be read.
    bytes: u64,
}

/// What workers share.
struct Work<'a> {
    folder: &'a Path,
    export: &'a Export,
    stock: &'a Stock,
    links: Links,
    jobs: Vec<Job<'a>>,
    next: AtomicUsize,
    done: AtomicU64,
    state: Mutex<State>,
}

struct State {
    manifest: Manifest,
    saved: Instant,
    exported: Exported,
    error: Option<Error>,
}

impl Engine {
    /// Writes sessions into a folder, each to a file of its own below its project's folder.
    ///
    /// # Errors
    /// If the folder lies in an agent's folder, is a file or cannot be written. What was written until then stays.
    pub fn export_folder(
        &self,
        selection: &Selection,
        export: &Export,
        folder: &Path,
        progress: &dyn Progress,
    ) -> Result<Exported, Error> {
        self.keep_out_of_agents_folders(folder)?;
        if folder.exists() && !folder.is_dir() {
            return Err(Error::NotAFolder(folder.to_owned()));
        }
        recount_writer::create_folders(folder)?;
        let _turn = recount_writer::lock(&folder.join(LOCK), PATIENCE)?;
        let mut manifest = Manifest::read(folder)?;
        manifest.sweep(folder)?;
        let stock = self.stock(selection);
        let items = selection.items();
        let all = if export.format == Format::Csv {
            tables(&stock, &items, export, folder, &mut manifest)
        } else {
            Plan::new(folder, export, &mut manifest).jobs(&stock, &items)
        };
        let links = links(&all, export);
        let key = key(export);
        let (jobs, fresh): (Vec<_>, Vec<_>) = all.into_iter().partition(|job| {
            let entry = manifest.sessions.get(&job.key);
            !entry.is_some_and(|entry| entry.is_fresh(folder, job.stamp.as_ref(), &key))
        });
        let exported = Exported { unchanged: fresh.len() as u64, ..Exported::default() };
        if jobs.is_empty() {
            return Ok(exported);
        }
        // After a kill, what lies there under these names is known to be ours.
        manifest.save(folder)?;
        let state = State { manifest, saved: Instant::now(), exported, error: None };
        let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
        let stock = &stock;
        let state = Mutex::new(state);
        Work { folder, export, stock, links, jobs, next, done, state }.run(&key, progress)
    }
}

/// Returns what tells whether two exports of one session are alike.
fn key(export: &Export) -> String {
    let split = export.split.map(|split| format!(" split={split}")).unwrap_or_default();
    format!("{}{split}", export.options.key())
}

/// Where sessions that belong together lie, seen from any project's folder.
fn links(jobs: &[Job<'_>], export: &Export) -> Links {
    let mut files = BTreeMap::new();
    let mut linked = Vec::new();
    for (job, item) in jobs.iter().filter_map(|job| Some((job, job.items.first()?))) {
        let id = item.facts.id.to_string();
        if let Some(parent) = &item.facts.parent {
            linked.extend([id.clone(), parent.to_string()]);
        }
        files.insert(id, format!("../{}.{}", job.stem, export.format.extension()));
    }
    let found = |id: String| files.get(&id).cloned().map(|file| (id, file));
    linked.into_iter().filter_map(found).collect()
}

/// One table of all sessions each.
fn tables<'a>(
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
        let (stamp, items) = (stamp.clone(), items.to_vec());
        jobs.push(Job { key, stamp, stem, items, table: Some(table), bytes });
    }
    jobs
}

/// Returns the name under which something was written before, without its ending.
fn stem_of(entry: &Entry, extension: &str) -> Option<String> {
    let name = &entry.files.first()?.name;
    name.strip_suffix(extension)?.strip_suffix('.').map(str::to_owned)
}

/// Notes in the manifest that a name is ours.
fn claim(manifest: &mut Manifest, key: &str, stem: &str, extension: &str) {
    let name = format!("{stem}.{extension}");
    let entry = manifest.sessions.entry(key.to_owned()).or_default();
    if entry.files.first().is_none_or(|file| file.name != name) {
        *entry = Entry { files: vec![Written { name, bytes: 0 }], ..Entry::default() };
    }
}

/// Finds a name for each session.
struct Plan<'a> {
    folder: &'a Path,
    extension: &'static str,
    manifest: &'a mut Manifest,
    /// Folders of projects.
    folders: Taken,
    /// Names in each of them.
    names: BTreeMap<String, Taken>,
}

impl<'a> Plan<'a> {
    fn new(folder: &'a Path, export: &Export, manifest: &'a mut Manifest) -> Self {
        let mut folders = Taken::default();
        for known in manifest.projects.values() {
            folders.take(known);
        }
        let extension = export.format.extension();
        Self { folder, extension, manifest, folders, names: BTreeMap::new() }
    }

    fn jobs<'b>(&mut self, stock: &Stock, items: &[Item<'b>]) -> Vec<Job<'b>> {
        let mut jobs: Vec<Job<'b>> = Vec::new();
        // The oldest first, so that a new session does not take the name of an old one.
        let mut items = items.to_vec();
        items.sort_by_key(|item| (item.facts.started, item.facts.id.clone()));
        for item in items {
            let facts = item.facts;
            let key = format!("{} {}/{}", self.extension, facts.source, facts.id);
            let stem = self.stem(&key, &item);
            claim(self.manifest, &key, &stem, self.extension);
            let (stamp, bytes) = (stock.stamp(&item), facts.bytes());
            jobs.push(Job { key, stamp, stem, items: vec![item], table: None, bytes });
        }
        // The largest first, so that no core is left alone with it at the end.
        jobs.sort_by_key(|job| std::cmp::Reverse(job.bytes));
        jobs.dedup_by(|one, other| one.key == other.key);
        jobs
    }

    /// A session keeps the name it once had, whatever its title is now.
    fn stem(&mut self, key: &str, item: &Item<'_>) -> String {
        let known =
            self.manifest.sessions.get(key).and_then(|entry| stem_of(entry, self.extension));
        let is_kept = |stem: &String| {
            stem.split_once('/').is_some_and(|(folder, _)| is_own(self.folder, folder))
        };
        if let Some(stem) = known.filter(is_kept) {
            return stem;
        }
        let folder = self.project(item);
        let wanted = names::stem(item.facts);
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
        let wanted = names::folder(project.name());
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

/// Whether a project's folder is there as a folder, or may be made. A link might lead elsewhere.
fn is_own(top: &Path, folder: &str) -> bool {
    match top.join(folder).symlink_metadata() {
        Ok(found) => found.is_dir(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

impl Work<'_> {
    /// Writes everything, on all cores.
    fn run(self, key: &str, progress: &dyn Progress) -> Result<Exported, Error> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 1..threads.min(self.jobs.len()) {
                scope.spawn(|| self.work(key, progress));
            }
            self.work(key, progress);
        });
        let folder = self.folder;
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let saved = state.manifest.save(folder);
        match state.error {
            Some(error) => Err(error),
            None => saved.map(|()| state.exported),
        }
    }

    fn work(&self, key: &str, progress: &dyn Progress) {
        let total = self.jobs.iter().map(|job| job.bytes).sum();
        while let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = self.write(job);
            let done = self.done.fetch_add(job.bytes, Ordering::Relaxed) + job.bytes;
            progress.advance(done, total);
            let Ok(mut state) = self.state.lock() else { return };
            let kept = outcome.and_then(|(files, mut exported)| {
                state.exported.written += 1;
                state.exported.files += files.len() as u64;
                state.exported.bytes += files.iter().map(|file| file.bytes).sum::<u64>();
                state.exported.problems.append(&mut exported.problems);
                state.keep(job, key, files, self.folder)
            });
            if let Err(error) = kept {
                state.error.get_or_insert(error);
                // The others end after what they are at.
                self.next.store(self.jobs.len(), Ordering::Relaxed);
                return;
            }
        }
    }

    fn write(&self, job: &Job<'_>) -> Result<(Vec<Written>, Exported), Error> {
        let extension = self.export.format.extension();
        let place = |number: usize| below(self.folder, &names::part(&job.stem, number, extension));
        if let Some(parent) = place(1).parent() {
            recount_writer::create_folders(parent)?;
        }
        let options = Options {
            table: job.table.unwrap_or_default(),
            links: self.links.clone(),
            ..self.export.options.clone()
        };
        let mut renderer = self.export.format.renderer(&options);
        let mut exported = Exported::default();
        let named = |(path, bytes): (PathBuf, u64)| {
            let below = path.strip_prefix(self.folder).unwrap_or(&path);
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            Written { name: parts.join("/"), bytes }
        };
        if job.table.is_some() {
            let path = place(1);
            let bytes = recount_writer::write_with(&path, |out| {
                for item in &job.items {
                    let Some(opened) = self.stock.open(item) else {
                        exported.problems.push(item.lost());
                        continue;
                    };
                    let view = self.export.view();
                    let mut telling = Telling::new(&opened, view, &mut *renderer, None);
                    telling.part(&|_| String::new(), out)?;
                }
                Ok(())
            })?;
            return Ok((vec![named((path, bytes))], exported));
        }
        let mut files = Vec::new();
        for item in &job.items {
            let Some(opened) = self.stock.open(item) else {
                exported.problems.push(item.lost());
                continue;
            };
            let view = self.export.view();
            let mut telling = Telling::new(&opened, view, &mut *renderer, self.export.split);
            files.extend(telling.write(&place)?.into_iter().map(named));
            exported.problems.append(&mut telling.problems);
        }
        Ok((files, exported))
    }
}

impl State {
    /// Notes what was written, and takes away what is of no session any more.
    fn keep(
        &mut self,
        job: &Job<'_>,
        key: &str,
        files: Vec<Written>,
        folder: &Path,
    ) -> Result<(), Error> {
        if files.is_empty() {
            return Ok(());
        }
        let entry = Entry { stamp: job.stamp.clone(), options: key.to_owned(), files };
        if let Some(old) = self.manifest.sessions.get(&job.key) {
            for path in old.left_over(&entry.files, folder) {
                recount_writer::remove(&path)?;
            }
        }
        self.manifest.sessions.insert(job.key.clone(), entry);
        if self.saved.elapsed() >= OFTEN {
            self.manifest.save(folder)?;
            self.saved = Instant::now();
        }
        Ok(())
    }
}
