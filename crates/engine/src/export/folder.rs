//! Many sessions into one folder, which is kept up to date: what has not changed is not written again.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::{Duration, Instant};

use recount_export::{ExportTable, Format};

use super::manifest::{Entry, Manifest};
use super::partition::{gone, partitions};
use super::plan::{Output, Plan, is_in_own, links, tables};
use super::site::Site;
use super::transcript::below;
use super::work::Work;
use super::{Export, Exported, Selection};
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};

/// What runs take turns by, with `.lock` behind.
const LOCK: &str = ".recount-export";
/// How long another run that exports into the same folder is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// What the manifest says of a session from which secrets were taken out.
pub(super) const REDACTED: &str = " redacted=";
/// The manifest is made safe this often.
const OFTEN: Duration = Duration::from_secs(1);

/// What was done so far.
pub(super) struct State {
    pub(super) manifest: Manifest,
    saved: Instant,
    pub(super) exported: Exported,
    pub(super) error: Option<Error>,
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
        let mut stock = self.stock(selection, true);
        if export.tables.contains(&ExportTable::Requests) {
            stock = stock.without(self.copied_requests(progress)?);
        }
        let items = selection.items();
        let mut jobs = match export.format {
            Format::Csv => tables(&stock, &items, export, folder, &mut manifest),
            Format::Parquet => partitions(&stock, &items, export, folder, &mut manifest)?,
            _ => Plan::new(folder, export, &mut manifest).jobs(&stock, &items),
        };
        let links = links(&jobs, export);
        let is_site = export.format == Format::Html;
        let site = is_site.then(|| Site::new(folder, export, &mut manifest));
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
        let mut state = State { manifest, saved: Instant::now(), exported, error: None };
        if !jobs.is_empty() || !gone.is_empty() {
            // After a kill, what lies there under these names is known to be ours.
            state.manifest.save(folder)?;
            let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
            let (stock, site, state_of) = (&stock, site.as_ref(), Mutex::new(state));
            let work =
                Work { folder, export, stock, links, site, jobs, next, done, state: state_of };
            state = work.run(&key, &gone, progress)?;
        }
        if let Some(site) = site {
            site.update(folder, &mut state.manifest, &mut state.exported)?;
        }
        Ok(state.exported)
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
    let images = format!(" images={:?}", export.images).to_lowercase();
    format!("{}{images}{split}{redacted}", export.options.key())
}

impl State {
    /// Notes what was written, and takes away what is of no session any more.
    pub(super) fn keep(&mut self, key: &str, entry: Entry, folder: &Path) -> Result<(), Error> {
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
    pub(super) fn forget(&mut self, key: &str, folder: &Path) -> Result<(), Error> {
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
