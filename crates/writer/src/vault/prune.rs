//! Verifies the vault, and deletes copies that are no longer wanted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::index::{Record, file as index_file, lines};
use super::pack::unpacked;
use super::{Vault, VaultCopy, VaultIndex, folder, place};
use crate::Error;
use crate::change::Disk;
use crate::change::apply::remove;
use crate::change::journal::sync;
use crate::change::state::{Hasher, metadata, pour};

impl VaultIndex {
    /// Unpacks a copy and compares it with the index. `data` is recount's data folder.
    ///
    /// # Errors
    /// The difference.
    pub fn verify(disk: &dyn Disk, data: &Path, copy: &VaultCopy) -> Result<(), String> {
        let path = place(&folder(data), &copy.file, copy.generation);
        let mut hasher = Hasher::default();
        let input = disk.read(&path).and_then(|input| unpacked(input, copy.packed));
        let read = input.and_then(|mut input| {
            pour(&mut *input, u64::MAX, |piece| {
                hasher.update(piece);
                Ok(())
            })
        });
        match read {
            Err(error) => Err(error.to_string()),
            Ok(bytes) if bytes != copy.bytes => {
                Err(format!("{bytes} bytes instead of {}", copy.bytes))
            }
            Ok(_) if hasher.hash() != copy.hash => Err("other bytes".to_owned()),
            Ok(_) => Ok(()),
        }
    }
}

impl Vault<'_> {
    /// Deletes copies permanently, and files left by crashes. Returns the number of freed packed bytes.
    ///
    /// # Errors
    /// If something cannot be removed; the next run tries again.
    pub fn prune(&mut self, is_unwanted: impl Fn(&VaultCopy) -> bool) -> Result<u64, Error> {
        let unwanted: Vec<VaultCopy> =
            self.index.copies().filter(|copy| is_unwanted(copy)).cloned().collect();
        let gone = |copy: &VaultCopy| Record::Gone {
            file: copy.file.clone(),
            generation: copy.generation,
        };
        let records: Vec<Record> = unwanted.iter().map(gone).collect();
        if !records.is_empty() {
            // The copy is removed from the index first, then from disk.
            self.append_to_index(&records)?;
            for record in records {
                self.index.take(record);
            }
            self.rewrite()?;
        }
        let known: BTreeSet<PathBuf> = self.index.copies().map(|copy| self.data_of(copy)).collect();
        let files = self.folder.join("files");
        let unread = |source| Error::ReadFile { path: files.clone(), source };
        for path in self.disk.list(&files).map_err(unread)? {
            if !known.contains(&path) {
                remove(self.disk, &path)?;
            }
        }
        sync(self.disk, &files)?;
        Ok(unwanted.iter().map(|copy| copy.packed).sum())
    }

    /// Rewrites the index, one line per copy.
    fn rewrite(&self) -> Result<(), Error> {
        let path = index_file(&self.folder);
        let beside = path.with_extension("tmp");
        remove(self.disk, &beside)?;
        let failed = |source| Error::WriteFile { path: beside.clone(), source };
        let records: Vec<Record> =
            self.index.copies().map(|one| Record::Kept(Box::new(one.clone()))).collect();
        let mut text = lines(&records).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        let mut out = self.disk.create(&beside).map_err(failed)?;
        out.write_all(&text).map_err(failed)?;
        out.finish(None, None)
            .map_err(|source| Error::SyncFile { path: beside.clone(), source })?;
        if metadata(self.disk, &beside)?.is_none_or(|found| found.bytes != text.len() as u64) {
            return Err(Error::NotAsWritten { path: beside });
        }
        self.disk
            .rename(&beside, &path)
            .map_err(|source| Error::ReplaceFile { path: path.clone(), source })?;
        sync(self.disk, &self.folder)
    }
}
