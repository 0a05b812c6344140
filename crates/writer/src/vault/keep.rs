//! Copies a file into the vault: nothing if it has not changed, a frame if it has grown, a new generation if it differs.

use std::io::Read;
use std::path::Path;

use super::index::{Record, file as index_file, lines};
use super::pack::{Frame, pack, unpacked};
use super::{FileOwner, Vault, VaultCopy};
use crate::Error;
use crate::change::apply::remove;
use crate::change::journal::sync;
use crate::change::state::{Hasher, metadata, pour};
use crate::change::{FileKind, FileMetadata};

/// The number of files that are copied before the index is written: each write waits for the disk.
const BATCH: usize = 64;

/// The outcome for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The copy is current.
    Unchanged,
    /// There was no copy before.
    New,
    /// Only its new part was added.
    Grown,
    /// Its old content changed: a new generation.
    Changed,
    /// There is no such file.
    Missing,
}

impl Vault<'_> {
    /// Copies the current state of a file. It counts once [`commit`](Self::commit) has succeeded.
    ///
    /// # Errors
    /// If it cannot be read, or its copy cannot be written or differs when read back.
    pub fn keep(&mut self, file: &Path, whose: &FileOwner) -> Result<Outcome, Error> {
        let now = metadata(self.disk, file)?.filter(|metadata| metadata.kind == FileKind::File);
        let Some(now) = now else { return Ok(Outcome::Missing) };
        let last = self.index.newest(file).cloned();
        if last.as_ref().is_some_and(|last| is_same(last, &now)) {
            return Ok(Outcome::Unchanged);
        }
        let unread = |source| Error::ReadFile { path: file.to_owned(), source };
        let mut input = self.disk.read(file).map_err(unread)?;
        if let Some(last) = &last {
            let mut hasher = Hasher::default();
            pour(&mut *input, last.bytes, |piece| {
                hasher.update(piece);
                Ok(())
            })
            .map_err(unread)?;
            let starts_alike = hasher.bytes() == last.bytes && hasher.clone().hash() == last.hash;
            if starts_alike && self.is_whole(last)? {
                let frame = self.add(&mut *input, last, &mut hasher)?;
                self.note(last, &now, whose, (frame, hasher))?;
                return Ok(Outcome::Grown);
            }
            input = self.disk.read(file).map_err(unread)?;
        }
        let generation = last.as_ref().map_or(1, |last| last.generation + 1);
        let (mut hasher, first) = (Hasher::default(), empty(file, generation, self.now));
        let frame = self.begin(&mut *input, &first, &mut hasher)?;
        self.note(&first, &now, whose, (frame, hasher))?;
        Ok(if last.is_some() { Outcome::Changed } else { Outcome::New })
    }

    /// Writes the copies since the last commit to the index.
    ///
    /// # Errors
    /// If the index could not be synced; then the next run copies the files again.
    pub fn commit(&mut self) -> Result<(), Error> {
        if self.pending.is_empty() {
            return Ok(());
        }
        sync(self.disk, &self.folder.join("files"))?;
        let kept = self.pending.drain(..);
        let records: Vec<Record> = kept.map(|one| Record::Kept(Box::new(one))).collect();
        self.append_to_index(&records)?;
        for record in records {
            self.index.take(record);
        }
        Ok(())
    }

    pub(super) fn append_to_index(&self, records: &[Record]) -> Result<(), Error> {
        let path = index_file(&self.folder);
        let is_new = metadata(self.disk, &path)?.is_none();
        let failed = |source| Error::WriteFile { path: path.clone(), source };
        let text = lines(records).map_err(|error| failed(error.into()))?;
        self.disk.append_line(&path, &text).map_err(failed)?;
        if is_new { sync(self.disk, &self.folder) } else { Ok(()) }
    }

    /// Whether the packed bytes of a copy are complete.
    fn is_whole(&self, last: &VaultCopy) -> Result<bool, Error> {
        let found = metadata(self.disk, &self.data_of(last))?;
        Ok(found.is_some_and(|found| found.kind == FileKind::File && found.bytes >= last.packed))
    }

    /// Starts the file of a new generation. An existing one was left by a crash.
    fn begin(
        &self,
        input: &mut dyn Read,
        first: &VaultCopy,
        hasher: &mut Hasher,
    ) -> Result<Frame, Error> {
        let path = self.data_of(first);
        remove(self.disk, &path)?;
        let failed = |source| Error::CreateFile { path: path.clone(), source };
        let out = self.disk.create(&path).map_err(failed)?;
        self.write(input, out, first, hasher)
    }

    /// Adds what follows to the file of a generation.
    fn add(
        &self,
        input: &mut dyn Read,
        last: &VaultCopy,
        hasher: &mut Hasher,
    ) -> Result<Frame, Error> {
        let path = self.data_of(last);
        let mut first = [0];
        let unread = |source| Error::ReadFile { path: last.file.clone(), source };
        let count = input.read(&mut first).map_err(unread)?;
        if count == 0 {
            // Only its time differs.
            let none = Hasher::default();
            return Ok(Frame { bytes: 0, hash: none.hash(), packed: 0 });
        }
        let failed = |source| Error::WriteFile { path: path.clone(), source };
        let out = self.disk.continue_at(&path, last.packed).map_err(failed)?;
        self.write(&mut first.as_slice().chain(input), out, last, hasher)
    }

    /// Writes a frame after the existing ones of a copy, and reads it back.
    fn write(
        &self,
        input: &mut dyn Read,
        mut out: Box<dyn crate::change::NewFile + '_>,
        after: &VaultCopy,
        hasher: &mut Hasher,
    ) -> Result<Frame, Error> {
        let path = self.data_of(after);
        let failed = |source| Error::WriteFile { path: path.clone(), source };
        let frame = pack(input, &mut *out, hasher).map_err(failed)?;
        out.finish(None, None).map_err(|source| Error::SyncFile { path: path.clone(), source })?;
        let unread = |source| Error::ReadFile { path: path.clone(), source };
        let mut back = self.disk.read(&path).map_err(unread)?;
        pour(&mut *back, after.packed, |_| Ok(())).map_err(unread)?;
        let mut check = Hasher::default();
        let mut back = unpacked(back, frame.packed).map_err(unread)?;
        let read = pour(&mut *back, u64::MAX, |piece| {
            check.update(piece);
            Ok(())
        });
        if read.is_err() || check.bytes() != frame.bytes || check.hash() != frame.hash {
            return Err(Error::NotAsWritten { path });
        }
        Ok(frame)
    }

    fn note(
        &mut self,
        after: &VaultCopy,
        now: &FileMetadata,
        whose: &FileOwner,
        (frame, hasher): (Frame, Hasher),
    ) -> Result<(), Error> {
        self.pending.push(VaultCopy {
            file: after.file.clone(),
            generation: after.generation,
            bytes: after.bytes + frame.bytes,
            hash: hasher.hash(),
            packed: after.packed + frame.packed,
            modified: now.modified,
            mode: now.mode,
            time: self.now,
            whose: whose.clone(),
        });
        if self.pending.len() >= BATCH { self.commit() } else { Ok(()) }
    }
}

fn is_same(last: &VaultCopy, now: &FileMetadata) -> bool {
    now.modified.is_some() && last.modified == now.modified && last.bytes == now.bytes
}

/// Returns an empty generation.
fn empty(file: &Path, generation: u32, time: jiff::Timestamp) -> VaultCopy {
    VaultCopy {
        file: file.to_owned(),
        generation,
        bytes: 0,
        hash: Hasher::default().hash(),
        packed: 0,
        modified: None,
        mode: None,
        time,
        whose: FileOwner::default(),
    }
}
