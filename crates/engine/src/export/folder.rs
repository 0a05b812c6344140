//! Many sessions into one folder, which is kept up to date: what has not changed is not written again.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use recount_export::names;
use recount_export::site::Row;
use recount_export::{Format, Links, Options};

use super::manifest::{Entry, Manifest, Written};
use super::plan::{Job, Plan, links, tables};
use super::site::Site;
use super::stock::Stock;
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
/// The manifest is made safe this often.
const OFTEN: Duration = Duration::from_secs(1);

/// What workers share.
struct Work<'a> {
    folder: &'a Path,
    export: &'a Export,
    stock: &'a Stock,
    links: Links,
    site: Option<&'a Site>,
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
        let site =
            (export.format == Format::Html).then(|| Site::new(folder, export, &mut manifest));
        let key = key(export);
        let (jobs, fresh): (Vec<_>, Vec<_>) = all.into_iter().partition(|job| {
            let entry = manifest.sessions.get(&job.key);
            !entry.is_some_and(|entry| entry.is_fresh(folder, job.stamp.as_ref(), &key))
        });
        let exported = Exported { unchanged: fresh.len() as u64, ..Exported::default() };
        let mut state = State { manifest, saved: Instant::now(), exported, error: None };
        if !jobs.is_empty() {
            // After a kill, what lies there under these names is known to be ours.
            state.manifest.save(folder)?;
            let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
            let (stock, site, state_of) = (&stock, site.as_ref(), Mutex::new(state));
            let work =
                Work { folder, export, stock, links, site, jobs, next, done, state: state_of };
            state = work.run(&key, progress)?;
        }
        if let Some(site) = site {
            site.update(folder, &mut state.manifest, &mut state.exported)?;
        }
        Ok(state.exported)
    }
}

/// Returns what tells whether two exports of one session are alike.
fn key(export: &Export) -> String {
    let split = export.split.map(|split| format!(" split={split}")).unwrap_or_default();
    let redacted = export.redaction.as_ref().map(|redaction| redaction.print);
    let redacted = redacted.map(|print| format!("{REDACTED}{print:016x}")).unwrap_or_default();
    format!("{}{split}{redacted}", export.options.key())
}

impl Work<'_> {
    /// Writes everything, on all cores.
    fn run(self, key: &str, progress: &dyn Progress) -> Result<State, Error> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 1..threads.min(self.jobs.len()) {
                scope.spawn(|| self.work(key, progress));
            }
            self.work(key, progress);
        });
        let folder = self.folder;
        let mut state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let saved = state.manifest.save(folder);
        match state.error.take() {
            Some(error) => Err(error),
            None => saved.map(|()| state),
        }
    }

    fn work(&self, key: &str, progress: &dyn Progress) {
        let total = self.jobs.iter().map(|job| job.bytes).sum();
        while let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = self.write(job);
            let done = self.done.fetch_add(job.bytes, Ordering::Relaxed) + job.bytes;
            progress.advance(done, total);
            let Ok(mut state) = self.state.lock() else { return };
            let kept = outcome.and_then(|(files, row, mut exported)| {
                state.exported.written += 1;
                state.exported.files += files.len() as u64;
                state.exported.bytes += files.iter().map(|file| file.bytes).sum::<u64>();
                state.exported.problems.append(&mut exported.problems);
                state.keep(job, key, (files, row), self.folder)
            });
            if let Err(error) = kept {
                state.error.get_or_insert(error);
                // The others end after what they are at.
                self.next.store(self.jobs.len(), Ordering::Relaxed);
                return;
            }
        }
    }

    fn write(&self, job: &Job<'_>) -> Result<(Vec<Written>, Option<Row>, Exported), Error> {
        let extension = self.export.format.extension();
        let place = |number: usize| below(self.folder, &names::part(&job.stem, number, extension));
        if let Some(parent) = place(1).parent() {
            recount_writer::create_folders(parent)?;
        }
        let options = Options {
            table: job.table.unwrap_or_default(),
            links: self.links.clone(),
            site: self.site.map(Site::seen_from_a_project),
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
                    let mut telling = Telling::new(&opened, self.export, &mut *renderer, None);
                    telling.part(&|_| String::new(), out)?;
                }
                Ok(())
            })?;
            return Ok((vec![named((path, bytes))], None, exported));
        }
        let (mut files, mut row) = (Vec::new(), None);
        for item in &job.items {
            let Some(opened) = self.stock.open(item) else {
                exported.problems.push(item.lost());
                continue;
            };
            let split = self.export.split;
            let mut telling = Telling::new(&opened, self.export, &mut *renderer, split);
            files.extend(telling.write(&place)?.into_iter().map(named));
            exported.problems.append(&mut telling.problems);
            let first = telling.first.take().unwrap_or_default();
            row = self.site.map(|_| Row::new(&telling.facts, &first, &self.export.options));
        }
        Ok((files, row, exported))
    }
}

impl State {
    /// Notes what was written, and takes away what is of no session any more.
    fn keep(
        &mut self,
        job: &Job<'_>,
        key: &str,
        (files, row): (Vec<Written>, Option<Row>),
        folder: &Path,
    ) -> Result<(), Error> {
        if files.is_empty() {
            return Ok(());
        }
        let entry = Entry { stamp: job.stamp.clone(), options: key.to_owned(), files, row };
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
