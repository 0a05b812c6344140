//! Builds partitions on several threads, and sends the files that differ.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use recount_engine::Progress;
use recount_engine::export::ExportTable;
use recount_engine::export::lake::{
    BuiltTable, Carried, LakeBuild, LakeFolder, LakeLevel, LakePartition, LakePlan, UnpackedFile,
};
use sha2::{Digest as _, Sha256};

use crate::bucket::unread;
use crate::manifest::{Manifest, ManifestFile};
use crate::ownership::Ownership;
use crate::push::{Dirty, PushOptions, PushReport, TableReport};
use crate::raw::RawList;
use crate::{Lake, LakeError};

/// One push.
#[derive(Debug)]
pub(crate) struct Sender<'a> {
    pub(crate) lake: &'a Lake,
    pub(crate) plan: &'a LakePlan,
    pub(crate) options: &'a PushOptions,
    pub(crate) folder: &'a LakeFolder,
    pub(crate) spool: PathBuf,
    /// The level of what is in the lake.
    pub(crate) old_text: String,
    /// The bytes of sessions to be read.
    pub(crate) total: u64,
    pub(crate) next: AtomicUsize,
    pub(crate) done: AtomicU64,
    pub(crate) shared: Mutex<Shared<'a>>,
}

/// Shared by the threads.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) owner: Ownership<'a>,
    /// The manifest as it will be.
    pub(crate) manifest: Manifest,
    /// Whether the manifest in the store says that this push has begun.
    pub(crate) claimed: bool,
    pub(crate) report: PushReport,
    pub(crate) error: Option<LakeError>,
}

impl<'a> Sender<'a> {
    pub(crate) fn shared(&self) -> MutexGuard<'_, Shared<'a>> {
        // Nobody panics while holding it; if somebody did, what it guards would still be whole.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Builds and sends partitions, on several threads.
    pub(crate) fn build_all(
        &self,
        dirty: &[Dirty],
        progress: &dyn Progress,
    ) -> Result<(), LakeError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.lake.threads.min(cores.max(2)).min(dirty.len());
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| self.work(dirty, progress));
            }
            self.work(dirty, progress);
        });
        self.shared().error.take().map_or(Ok(()), Err)
    }

    fn work(&self, dirty: &[Dirty], progress: &dyn Progress) {
        while let Some((partition, tables)) = dirty.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let sent = if progress.is_cancelled() {
                Err(recount_engine::Error::Cancelled.into())
            } else {
                self.partition(partition, tables)
            };
            self.advance(partition.bytes, progress);
            if let Err(error) = sent {
                self.shared().error.get_or_insert(error);
                // The others stop after their current partition.
                self.next.store(dirty.len(), Ordering::Relaxed);
                return;
            }
        }
    }

    pub(crate) fn advance(&self, bytes: u64, progress: &dyn Progress) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        progress.advance(done, self.total);
    }

    fn partition(
        &self,
        partition: &LakePartition,
        tables: &[ExportTable],
    ) -> Result<(), LakeError> {
        let carried = self.carried(partition, tables)?;
        let built = self.plan.build(partition, tables, &self.spool, &carried)?;
        for (_, path) in &carried.files {
            self.folder.discard(path)?;
        }
        let LakeBuild { tables, problems, lost } = built;
        for table in &tables {
            let sent = self.table(partition, table, lost);
            self.folder.discard(&table.path)?;
            sent?;
        }
        self.shared().report.problems.extend(problems);
        Ok(())
    }

    /// Fetches the files from which rows of deleted sessions are taken.
    fn carried(
        &self,
        partition: &LakePartition,
        tables: &[ExportTable],
    ) -> Result<Carried, LakeError> {
        let levels = [LakeLevel::None, LakeLevel::Redacted, LakeLevel::Full];
        let level = levels.into_iter().find(|level| level.name() == self.old_text);
        let mut carried = Carried { files: Vec::new(), level };
        if !self.options.tables.keep_deleted {
            return Ok(carried);
        }
        for table in tables {
            let folder = partition.folder(*table);
            let object = {
                let shared = self.shared();
                let is_there = shared.manifest.files.contains_key(&folder);
                is_there.then(|| shared.manifest.table(&folder))
            };
            let Some(object) = object else { continue };
            let found = self.lake.runtime.block_on(self.lake.bucket.get(&object))?;
            let Some((bytes, _)) = found else { continue };
            let path = self.spool.join(format!("old.{}.parquet", folder.replace('/', ".")));
            let mut file = UnpackedFile::new(&path)?;
            std::io::Write::write_all(&mut file, &bytes).map_err(|source| unread(&path, source))?;
            file.finish(None)?;
            carried.files.push((*table, path));
        }
        Ok(carried)
    }

    /// Sends a table, if it differs from what is in the lake.
    fn table(
        &self,
        partition: &LakePartition,
        built: &BuiltTable,
        lost: bool,
    ) -> Result<(), LakeError> {
        let folder = partition.folder(built.table);
        let file = ManifestFile {
            stamp: partition.stamp(built.table).filter(|_| !lost).map(str::to_owned),
            sha256: sha256(&built.path)?,
            bytes: built.bytes,
            rows: built.rows,
        };
        let object = {
            let mut shared = self.shared();
            shared.report.add(built);
            let known = shared.manifest.files.get(&folder);
            if known.is_some_and(|known| known.sha256 == file.sha256) {
                shared.report.unchanged += 1;
                shared.manifest.files.insert(folder, file);
                return Ok(());
            }
            shared.report.files += 1;
            shared.report.bytes += file.bytes;
            if self.options.dry_run {
                return Ok(());
            }
            self.claim(&mut shared)?;
            shared.owner.note_begin(&folder)?;
            shared.manifest.table(&folder)
        };
        self.lake.runtime.block_on(self.lake.bucket.put_file(&object, &built.path))?;
        let mut shared = self.shared();
        shared.owner.note_done(&folder, &file)?;
        shared.manifest.files.insert(folder, file);
        Ok(())
    }

    /// Marks in the store that this push has begun, before anything else changes there.
    pub(crate) fn claim(&self, shared: &mut Shared<'a>) -> Result<(), LakeError> {
        if shared.claimed {
            return Ok(());
        }
        let known = shared.owner.known_files()?;
        let manifest = Manifest {
            nonce: shared.manifest.nonce.clone(),
            pushed: shared.manifest.pushed.clone(),
            pushing: true,
            ..known.clone()
        };
        shared.owner.start_journal(&manifest.nonce)?;
        // What an unfinished push has left unknown stays so.
        for (table, file) in known.files.iter().filter(|(_, file)| file.sha256.is_empty()) {
            shared.owner.note_done(table, file)?;
        }
        self.lake.runtime.block_on(shared.owner.write(manifest))?;
        shared.claimed = true;
        Ok(())
    }

    /// Removes a table whose partition has no session any more.
    pub(crate) fn remove(&self, table: &str) -> Result<(), LakeError> {
        let mut shared = self.shared();
        shared.report.removed += 1;
        if self.options.dry_run {
            return Ok(());
        }
        self.claim(&mut shared)?;
        shared.owner.note_begin(table)?;
        let object = shared.manifest.table(table);
        self.lake.runtime.block_on(self.lake.bucket.delete(&object))?;
        shared.manifest.files.remove(table);
        Ok(())
    }

    /// Sends the raw copies.
    pub(crate) fn raw(&self, raw: &RawList, progress: &dyn Progress) -> Result<(), LakeError> {
        let known = self.shared().owner.manifest.as_ref().and_then(|known| known.raw.clone());
        let report = raw.send(self, known.as_deref() == Some(raw.stamp()), progress)?;
        let mut shared = self.shared();
        // What could not be read is tried again next time.
        shared.manifest.raw = (report.unread == 0).then(|| raw.stamp().to_owned());
        shared.report.raw = Some(report);
        Ok(())
    }

    /// Writes the manifest, last.
    pub(crate) fn finish(self) -> Result<PushReport, LakeError> {
        let Shared { mut owner, mut manifest, mut report, .. } =
            self.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        manifest.pushing = false;
        manifest.stamp = self.plan.stamp().map(str::to_owned);
        let is_same = owner.manifest.as_ref().is_some_and(|old| {
            !old.pushing
                && (&old.files, &old.stamp, &old.raw)
                    == (&manifest.files, &manifest.stamp, &manifest.raw)
                && old.text == manifest.text
        });
        if !self.options.dry_run && !is_same {
            self.lake.runtime.block_on(owner.write(manifest))?;
        }
        report.requests = self.lake.bucket.requests.taken();
        Ok(report)
    }
}

impl PushReport {
    fn add(&mut self, built: &BuiltTable) {
        let name = built.table.name();
        let at = self.tables.iter().position(|table| table.name == name);
        let at = at.unwrap_or_else(|| {
            self.tables.push(TableReport { name, ..TableReport::default() });
            self.tables.sort_by_key(|table| {
                ExportTable::ALL.iter().position(|known| known.name() == table.name)
            });
            self.tables.iter().position(|table| table.name == name).unwrap_or_default()
        });
        let Some(table) = self.tables.get_mut(at) else { return };
        table.rows += built.rows;
        table.bytes += built.bytes;
        table.files += 1;
        if table.sample.is_empty() && self.dry_run {
            table.sample.clone_from(&built.sample);
        }
    }
}

/// Returns the SHA-256 of a file, in hexadecimal.
pub(crate) fn sha256(path: &Path) -> Result<String, LakeError> {
    use std::io::Read as _;

    let failed = |source| unread(path, source);
    let mut input = std::fs::File::open(path).map_err(failed)?;
    let (mut hash, mut piece) = (Sha256::new(), vec![0; 128 * 1024]);
    loop {
        let read = input.read(&mut piece).map_err(failed)?;
        if read == 0 {
            return Ok(hexadecimal(&hash.finalize()));
        }
        hash.update(piece.get(..read).unwrap_or_default());
    }
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _written = write!(text, "{byte:02x}");
    }
    text
}
