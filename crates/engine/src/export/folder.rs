//! Many sessions into one folder, which is kept up to date: what has not changed is not written again.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recount_export::names;
use recount_export::{Format, Links, Options};
use recount_model::Problem;

use super::manifest::{Entry, Manifest, Written};
use super::partition::{gone, partitions};
use super::plan::{Job, Output, Plan, is_in_own, links, tables};
use super::rows::{Gathered, gather};
use super::stock::{Item, Stock};
use super::telling::{Telling, below};
use super::{Export, Exported, Selection};
use crate::survey::Progress;
use crate::{Engine, Error};

/// What runs take turns by, with `.lock` behind.
const LOCK: &str = ".recount-export";
/// How long another run that exports into the same folder is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// What the manifest says of a session from which secrets were taken out.
pub(super) const REDACTED: &str = " redacted=";
/// So many partitions are written at once, however many cores there are: the rows of each are gathered in memory.
const MOST_GATHERED: usize = 4;
/// The manifest is made safe this often.
const OFTEN: Duration = Duration::from_secs(1);

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

/// What came of a job.
#[derive(Default)]
struct Outcome {
    /// The files of each output.
    files: Vec<Vec<Written>>,
    /// What could not be used.
    problems: Vec<Problem>,
    /// Whether a session was gone when its turn came.
    lost: bool,
}

impl Outcome {
    fn lose(&mut self, item: &Item<'_>) {
        self.problems.push(item.lost());
        self.lost = true;
    }
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
        let stock = self.stock(selection, true);
        let items = selection.items();
        let mut jobs = match export.format {
            Format::Csv => tables(&stock, &items, export, folder, &mut manifest),
            Format::Parquet => partitions(&stock, &items, export, folder, &mut manifest)?,
            _ => Plan::new(folder, export, &mut manifest).jobs(&stock, &items),
        };
        let links = links(&jobs, export);
        let key = key(export);
        let gone = gone(&manifest, export, &jobs);
        let all = jobs.len();
        let is_stale = |output: &Output| {
            let entry = manifest.sessions.get(&output.key);
            !entry.is_some_and(|entry| entry.is_fresh(folder, output.stamp.as_ref(), &key))
        };
        for job in &mut jobs {
            job.outputs.retain(is_stale);
        }
        jobs.retain(|job| !job.outputs.is_empty());
        let unchanged = (all - jobs.len()) as u64;
        let exported = Exported { unchanged, ..Exported::default() };
        if jobs.is_empty() && gone.is_empty() {
            return Ok(exported);
        }
        // After a kill, what lies there under these names is known to be ours.
        manifest.save(folder)?;
        let state = State { manifest, saved: Instant::now(), exported, error: None };
        let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
        let stock = &stock;
        let state = Mutex::new(state);
        Work { folder, export, stock, links, jobs, next, done, state }.run(&key, &gone, progress)
    }
}

/// Returns what tells whether two exports of one session are alike.
fn key(export: &Export) -> String {
    let redacted = export.redaction.as_ref().map(|redaction| redaction.print);
    let redacted = redacted.map(|print| format!("{REDACTED}{print:016x}")).unwrap_or_default();
    if export.format == Format::Parquet {
        return format!("{} strict={}{redacted}", super::rows::form(), export.options.strict);
    }
    let split = export.split.map(|split| format!(" split={split}")).unwrap_or_default();
    format!("{}{split}{redacted}", export.options.key())
}

impl Work<'_> {
    /// Writes everything, on all cores.
    fn run(self, key: &str, gone: &[String], progress: &dyn Progress) -> Result<Exported, Error> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let is_gathered = self.export.format == Format::Parquet;
        let threads = if is_gathered { threads.min(MOST_GATHERED) } else { threads };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(self.jobs.len()) {
                scope.spawn(|| self.work(key, progress));
            }
            self.work(key, progress);
        });
        let folder = self.folder;
        let mut state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.error.is_none() {
            // Last, so that no row is missing at any time that was there and is to stay.
            state.error = gone.iter().find_map(|key| state.forget(key, folder).err());
        }
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
            let kept = outcome.and_then(|Outcome { files, mut problems, lost }| {
                state.exported.written += 1;
                state.exported.problems.append(&mut problems);
                let mut written = job.outputs.iter().zip(files);
                written.try_for_each(|(output, files)| {
                    // What is not whole is written again.
                    let stamp = output.stamp.clone().filter(|_| !lost);
                    let entry = Entry { stamp, options: key.to_owned(), files };
                    state.keep(&output.key, entry, self.folder)
                })
            });
            if let Err(error) = kept {
                state.error.get_or_insert(error);
                // The others end after what they are at.
                self.next.store(self.jobs.len(), Ordering::Relaxed);
                return;
            }
        }
    }

    fn write(&self, job: &Job<'_>) -> Result<Outcome, Error> {
        let extension = self.export.format.extension();
        let named = |(path, bytes): (PathBuf, u64)| {
            let below = path.strip_prefix(self.folder).unwrap_or(&path);
            let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
            Written { name: parts.join("/"), bytes }
        };
        let place = |output: &Output, number: usize| {
            below(self.folder, &names::part(&output.stem, number, extension))
        };
        for output in &job.outputs {
            if let Some(parent) = place(output, 1).parent() {
                recount_writer::create_folders(parent)?;
            }
        }
        let mut outcome = Outcome::default();
        let Some(first) = job.outputs.first() else { return Ok(outcome) };
        let options = Options {
            table: first.table.unwrap_or_default(),
            links: self.links.clone(),
            ..self.export.options.clone()
        };
        let Some(mut renderer) = self.export.format.renderer(&options) else {
            let files = job.outputs.iter();
            let files = files.map(|output| (output.table.unwrap_or_default(), place(output, 1)));
            let Gathered { written, problems, lost } =
                gather(files, &job.items, self.stock, self.export)?;
            let files = written.into_iter().map(|file| vec![named(file)]).collect();
            return Ok(Outcome { files, problems, lost });
        };
        if first.table.is_some() {
            let path = place(first, 1);
            let bytes = recount_writer::write_with(&path, |out| {
                for item in &job.items {
                    let Some(opened) = self.stock.open(item) else {
                        outcome.lose(item);
                        continue;
                    };
                    let mut telling = Telling::new(&opened, self.export, &mut *renderer, None);
                    telling.part(&|_| String::new(), out)?;
                }
                Ok(())
            })?;
            outcome.files.push(vec![named((path, bytes))]);
            return Ok(outcome);
        }
        let mut files = Vec::new();
        for item in &job.items {
            let Some(opened) = self.stock.open(item) else {
                outcome.lose(item);
                continue;
            };
            let split = self.export.split;
            let mut telling = Telling::new(&opened, self.export, &mut *renderer, split);
            let place = |number| place(first, number);
            files.extend(telling.write(&place)?.into_iter().map(named));
            outcome.problems.append(&mut telling.problems);
        }
        outcome.files.push(files);
        Ok(outcome)
    }
}

impl State {
    /// Notes what was written, and takes away what is of no session any more.
    fn keep(&mut self, key: &str, entry: Entry, folder: &Path) -> Result<(), Error> {
        if entry.files.is_empty() {
            return Ok(());
        }
        self.exported.files += entry.files.len() as u64;
        self.exported.bytes += entry.files.iter().map(|file| file.bytes).sum::<u64>();
        if let Some(old) = self.manifest.sessions.get(key) {
            for path in old.left_over(&entry.files, folder) {
                recount_writer::remove(&path)?;
            }
        }
        self.manifest.sessions.insert(key.to_owned(), entry);
        if self.saved.elapsed() >= OFTEN {
            self.manifest.save(folder)?;
            self.saved = Instant::now();
        }
        Ok(())
    }

    /// Takes away what was written of something that is not there any more.
    fn forget(&mut self, key: &str, folder: &Path) -> Result<(), Error> {
        let Some(entry) = self.manifest.sessions.get(key) else { return Ok(()) };
        // Whatever the manifest says: a file of a partition lies there, and nowhere else.
        let at = key.split_once(' ').map(|(_, at)| format!("{at}/")).unwrap_or_default();
        let is_there = |name: &str| name.starts_with(&at) && is_in_own(folder, name);
        for file in entry.files.iter().filter(|file| is_there(&file.name)) {
            let path = below(folder, &file.name);
            recount_writer::remove(&path)?;
            for above in path.ancestors().skip(1).take_while(|above| *above != folder) {
                recount_writer::remove_empty_folder(above)?;
            }
            self.exported.removed += 1;
        }
        self.manifest.sessions.remove(key);
        Ok(())
    }
}
