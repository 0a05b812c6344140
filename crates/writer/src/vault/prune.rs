//! Making sure of the vault, and throwing away what is not wanted any more.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::index::{Record, file as index_file, lines};
use super::pack::unpacked;
use super::{Holding, Vault, VaultIndex, folder, place};
use crate::Error;
use crate::change::Disk;
use crate::change::apply::remove;
use crate::change::journal::sync;
use crate::change::state::{Hasher, look, pour};

impl VaultIndex {
    /// Unpacks a copy and compares it with what the index says. `data` is our data folder.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn verify(disk: &dyn Disk, data: &Path, holding: &Holding) -> Result<(), String> {
        let path = place(&folder(data), &holding.file, holding.generation);
        let mut hasher = Hasher::default();
        let input = disk.read(&path).and_then(|input| unpacked(input, holding.packed));
        let read = input.and_then(|mut input| {
            pour(&mut *input, u64::MAX, |piece| {
                hasher.update(piece);
                Ok(())
            })
        });
        match read {
            Err(error) => Err(error.to_string()),
            Ok(bytes) if bytes != holding.bytes => {
                Err(format!("{bytes} bytes instead of {}", holding.bytes))
            }
            Ok(_) if hasher.hash() != holding.hash => Err("other bytes".to_owned()),
            Ok(_) => Ok(()),
        }
    }
}

impl Vault<'_> {
    /// Throws copies away for good, and what crashes have left. Returns how many packed bytes are free again.
    ///
    /// # Errors
    /// If something cannot be removed; the next run goes on with it.
    pub fn prune(&mut self, is_unwanted: impl Fn(&Holding) -> bool) -> Result<u64, Error> {
        let unwanted: Vec<Holding> =
            self.index.holdings().filter(|holding| is_unwanted(holding)).cloned().collect();
        let gone = |holding: &Holding| Record::Gone {
            file: holding.file.clone(),
            generation: holding.generation,
        };
        let records: Vec<Record> = unwanted.iter().map(gone).collect();
        if !records.is_empty() {
            // First it is not promised any more, then it goes.
            self.write_down(&records)?;
            for record in records {
                self.index.take(record);
            }
            self.rewrite()?;
        }
        let known: BTreeSet<PathBuf> =
            self.index.holdings().map(|holding| self.data_of(holding)).collect();
        let files = self.folder.join("files");
        let unread = |source| Error::ReadFile { path: files.clone(), source };
        for path in self.disk.list(&files).map_err(unread)? {
            if !known.contains(&path) {
                remove(self.disk, &path)?;
            }
        }
        sync(self.disk, &files)?;
        Ok(unwanted.iter().map(|holding| holding.packed).sum())
    }

    /// Writes the index anew, one line per copy.
    fn rewrite(&self) -> Result<(), Error> {
        let path = index_file(&self.folder);
        let beside = path.with_extension("tmp");
        remove(self.disk, &beside)?;
        let failed = |source| Error::WriteFile { path: beside.clone(), source };
        let records: Vec<Record> =
            self.index.holdings().map(|one| Record::Kept(Box::new(one.clone()))).collect();
        let mut text = lines(&records).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        let mut out = self.disk.create(&beside).map_err(failed)?;
        out.write_all(&text).map_err(failed)?;
        out.finish(None, None)
            .map_err(|source| Error::SyncFile { path: beside.clone(), source })?;
        if look(self.disk, &beside)?.is_none_or(|found| found.bytes != text.len() as u64) {
            return Err(Error::NotAsWritten { path: beside });
        }
        self.disk
            .rename(&beside, &path)
            .map_err(|source| Error::ReplaceFile { path: path.clone(), source })?;
        sync(self.disk, &self.folder)
    }
}
