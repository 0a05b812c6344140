//! Writes a folder on all cores.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use recount_export::site::SiteRow;
use recount_export::{ExportOptions, Format, Links, Renderer, names};
use recount_formats::NativeFormat;
use recount_model::Problem;

use super::folder::State;
use super::manifest::{Entry, Written};
use super::native::NativeExport;
use super::plan::{Job, Output};
use super::rows::{Gathered, gather};
use super::site::Site;
use super::stock::{Item, Stock};
use super::transcript::{TranscriptStream, below};
use super::{Export, Exported};
use crate::Error;
use crate::cancel::stop_if_cancelled;
use crate::snapshot::disk_scan::Progress;

/// The maximum number of partitions written at once, for any number of cores: the rows of each are in memory.
const MOST_GATHERED: usize = 4;

/// Shared by the workers.
pub(super) struct Work<'a> {
    pub(super) folder: &'a Path,
    pub(super) export: &'a Export,
    pub(super) stock: &'a Stock,
    pub(super) links: Links,
    pub(super) site: Option<&'a Site>,
    pub(super) jobs: Vec<Job<'a>>,
    pub(super) next: AtomicUsize,
    pub(super) done: AtomicU64,
    pub(super) state: Mutex<State>,
}

/// The result of a job.
#[derive(Default)]
struct Outcome {
    /// The files of each output.
    files: Vec<Vec<Written>>,
    /// Its row in the index of a folder of pages.
    row: Option<SiteRow>,
    /// The problems.
    problems: Vec<Problem>,
    /// Images and other data that were not scanned.
    unseen: u64,
    /// Whether a session was deleted meanwhile.
    lost: bool,
}

impl Outcome {
    fn lose(&mut self, item: &Item<'_>) {
        self.problems.push(item.lost());
        self.lost = true;
    }
}

impl Work<'_> {
    /// Writes everything, on all cores, and removes what no longer exists.
    pub(super) fn run(
        self,
        key: &str,
        gone: &[String],
        progress: &dyn Progress,
    ) -> Result<State, Error> {
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
            // Last, so that no row is ever missing that existed and is kept.
            state.error = gone.iter().find_map(|key| state.forget(key, folder).err());
        }
        let saved = state.manifest.save(folder);
        match state.error.take() {
            Some(error) => Err(error),
            None => saved.map(|()| state),
        }
    }

    fn work(&self, key: &str, progress: &dyn Progress) {
        let total = self.jobs.iter().map(|job| job.bytes).sum();
        while let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = stop_if_cancelled(progress).and_then(|()| self.write(job));
            let done = self.done.fetch_add(job.bytes, Ordering::Relaxed) + job.bytes;
            progress.advance(done, total);
            let Ok(mut state) = self.state.lock() else { return };
            let kept = outcome.and_then(|Outcome { files, row, mut problems, unseen, lost }| {
                state.exported.written += u64::from(files.iter().any(|files| !files.is_empty()));
                state.exported.unseen += unseen;
                state.exported.problems.append(&mut problems);
                let mut written = job.outputs.iter().zip(files);
                written.try_for_each(|(output, files)| {
                    // An incomplete output is written again.
                    let stamp = output.stamp.clone().filter(|_| !lost);
                    let entry = Entry { stamp, options: key.to_owned(), files, row: row.clone() };
                    state.keep(&output.key, entry, self.folder)
                })
            });
            if let Err(error) = kept {
                state.error.get_or_insert(error);
                // The others stop after their current job.
                self.next.store(self.jobs.len(), Ordering::Relaxed);
                return;
            }
        }
    }

    fn write(&self, job: &Job<'_>) -> Result<Outcome, Error> {
        for output in &job.outputs {
            if let Some(parent) = self.place(output, 1).parent() {
                recount_writer::create_folders(parent)?;
            }
        }
        let Some(first) = job.outputs.first() else { return Ok(Outcome::default()) };
        if let Some(form) = self.export.own {
            return self.write_own(job, form, &self.place(first, 1));
        }
        let options = ExportOptions {
            table: first.table.unwrap_or_default(),
            links: self.links.clone(),
            site: self.site.map(Site::seen_from_a_project),
            ..self.export.options.clone()
        };
        match self.export.format.renderer(&options) {
            None => self.write_tables(job),
            Some(mut renderer) if first.table.is_some() => {
                self.write_table(job, first, &mut *renderer)
            }
            Some(mut renderer) => self.write_sessions(job, first, &mut *renderer),
        }
    }

    /// Writes the tables of a partition.
    fn write_tables(&self, job: &Job<'_>) -> Result<Outcome, Error> {
        let files = job.outputs.iter();
        let files = files.map(|output| (output.table.unwrap_or_default(), self.place(output, 1)));
        let Gathered { written, problems, lost } =
            gather(files, &job.items, self.stock, self.export)?;
        let files = written.iter().map(|(path, bytes)| vec![self.named(path, *bytes)]).collect();
        Ok(Outcome { files, problems, lost, ..Outcome::default() })
    }

    /// Writes one table of all sessions.
    fn write_table(
        &self,
        job: &Job<'_>,
        output: &Output,
        renderer: &mut dyn Renderer,
    ) -> Result<Outcome, Error> {
        let mut outcome = Outcome::default();
        let path = self.place(output, 1);
        let bytes = recount_writer::write_with(&path, |out| {
            let is_told = |item: &&Item<'_>| item.is_told(output.table.unwrap_or_default());
            for item in job.items.iter().filter(is_told) {
                let Some(opened) = self.stock.open(item) else {
                    outcome.lose(item);
                    continue;
                };
                let copied = self.stock.copied(&opened.facts);
                let transcript =
                    TranscriptStream::new(&opened, self.export, &mut *renderer, None, copied);
                let mut transcript = transcript.with_prices(self.stock.prices());
                transcript.part(&|_| String::new(), out)?;
            }
            Ok(())
        })?;
        outcome.files.push(vec![self.named(&path, bytes)]);
        Ok(outcome)
    }

    /// Writes a session, in one file or in parts.
    fn write_sessions(
        &self,
        job: &Job<'_>,
        output: &Output,
        renderer: &mut dyn Renderer,
    ) -> Result<Outcome, Error> {
        let mut outcome = Outcome::default();
        let mut files = Vec::new();
        for item in &job.items {
            let Some(opened) = self.stock.open(item) else {
                outcome.lose(item);
                continue;
            };
            let mut transcript = TranscriptStream::new(
                &opened,
                self.export,
                &mut *renderer,
                self.export.split,
                None,
            );
            let written = transcript.write(&|number| self.place(output, number))?;
            files.extend(written.iter().map(|(path, bytes)| self.named(path, *bytes)));
            outcome.problems.append(&mut transcript.problems);
            let first = transcript.first.take().unwrap_or_default();
            outcome.row =
                self.site.map(|_| SiteRow::new(&transcript.facts, &first, &self.export.options));
        }
        outcome.files.push(files);
        Ok(outcome)
    }

    /// Writes a session in its agent's native format.
    fn write_own(
        &self,
        job: &Job<'_>,
        form: &'static dyn NativeFormat,
        path: &Path,
    ) -> Result<Outcome, Error> {
        let mut outcome = Outcome::default();
        let Some(item) = job.items.first() else { return Ok(outcome) };
        if item.facts.source != form.source() {
            outcome.problems.push(item.other_form());
            return Ok(outcome);
        }
        let Some(opened) = self.stock.open(item) else {
            outcome.lose(item);
            return Ok(outcome);
        };
        let own = NativeExport::new(&opened, self.export, form);
        let mut exported = Exported::default();
        let bytes = recount_writer::write_with(path, |out| {
            exported.add(own.write(out)?);
            Ok(())
        })?;
        outcome.files.push(vec![self.named(path, bytes)]);
        outcome.problems.append(&mut exported.problems);
        outcome.unseen = exported.unseen;
        Ok(outcome)
    }

    /// Returns the path of a part of an output.
    fn place(&self, output: &Output, number: usize) -> PathBuf {
        below(self.folder, &names::part(&output.stem, number, self.export.extension()))
    }

    /// Returns the manifest entry of a file.
    fn named(&self, path: &Path, bytes: u64) -> Written {
        let below = path.strip_prefix(self.folder).unwrap_or(path);
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        Written { name: parts.join("/"), bytes }
    }
}
