//! The index as a folder: opened, created, found stale, rebuilt.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{LockError, OpenReadError};
use tantivy::directory::{Directory as _, INDEX_WRITER_LOCK, META_LOCK, MmapDirectory};
use tantivy::{IndexReader, IndexSettings, ReloadPolicy, TantivyError};

use super::{Searcher, Writer, orphans, schema};
use crate::Error;
use crate::neighbours::NeighbourPlugin;

/// A full-text index in a folder of recount's own.
#[derive(Clone)]
pub struct Index {
    folder: PathBuf,
    engine: tantivy::Index,
    reader: IndexReader,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl Index {
    /// Opens the index of a folder, which must exist; an empty folder gets an empty index.
    ///
    /// [`Error::Stale`] means that there is an index which cannot be used: call [`Index::rebuild`].
    pub fn open(folder: &Path) -> Result<Self, Error> {
        Self::opened(folder).map_err(|error| unusable(folder, error))
    }

    fn opened(folder: &Path) -> Result<Self, TantivyError> {
        let directory = MmapDirectory::open(folder)?;
        let schema = schema::schema();
        let mut engine = if tantivy::Index::exists(&directory)? {
            let mut engine = tantivy::Index::open(directory)?;
            engine.register_plugin(Arc::new(NeighbourPlugin));
            engine
        } else {
            // Only words and numbers are stored, so there is nothing to compress on a thread.
            let settings = IndexSettings {
                docstore_compress_dedicated_thread: false,
                ..IndexSettings::default()
            };
            // Another process may create it, too; and a writer removes files that were left beside it (`orphans`).
            let lock = directory.acquire_lock(&META_LOCK);
            let _lock = lock.map_err(|error| TantivyError::LockFailure(error, None))?;
            tantivy::Index::builder()
                .schema(schema.clone())
                .settings(settings)
                .register_plugin(Arc::new(NeighbourPlugin))
                .open_or_create(directory)?
        };
        if engine.schema() != schema {
            return Err(TantivyError::SchemaError("it is of another version".to_owned()));
        }
        engine.set_tokenizers(schema::tokenizers());
        let reader = engine.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { folder: folder.to_owned(), engine, reader })
    }

    /// Removes everything in the folder and creates an empty index.
    ///
    /// A crash in between leaves a folder that opens as empty or is stale again.
    pub fn rebuild(folder: &Path) -> Result<Self, Error> {
        let failed = |error| unusable(folder, error);
        Self::clear(folder).map_err(failed)?;
        Self::open(folder)
    }

    fn clear(folder: &Path) -> Result<(), TantivyError> {
        let directory = MmapDirectory::open(folder)?;
        let lock = directory.acquire_lock(&INDEX_WRITER_LOCK);
        let _lock = lock.map_err(|error| TantivyError::LockFailure(error, None))?;
        let mut names: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                names.push(PathBuf::from(entry.file_name()));
            }
        }
        names.retain(|name| name.extension().is_none_or(|extension| extension != "lock"));
        // Files that name other files are removed first, and the list of all files last: in between the folder is an empty
        // index with garbage that the engine collects.
        names.sort_by_key(|name| match name.to_str() {
            Some("meta.json") => 0,
            Some(".managed.json") => 2,
            _ => 1,
        });
        for name in names {
            directory.delete(&name).map_err(|error| std::io::Error::other(error.to_string()))?;
        }
        Ok(())
    }

    /// Opens a writer, with `memory` bytes of buffers for `threads` threads. Commits carry `mark`.
    ///
    /// There is one writer at a time across all processes; [`Error::Busy`] if another one is writing.
    pub fn writer(&self, memory: usize, threads: usize, mark: &str) -> Result<Writer, Error> {
        Writer::new(&self.engine, &self.reader, memory, threads, (mark, &self.folder))
            .and_then(|writer| orphans::remove(&self.engine, &self.folder).map(|()| writer))
            .map_err(|error| unusable(&self.folder, error))
    }

    /// Returns the mark of the last commit, if there is one.
    pub fn mark(&self) -> Result<Option<String>, Error> {
        let metas = self.engine.load_metas().map_err(|error| unusable(&self.folder, error))?;
        Ok(metas.payload)
    }

    /// Returns a fingerprint of the files, from their metadata only.
    pub fn shape(&self) -> Result<u64, Error> {
        let failed = |error: std::io::Error| unusable(&self.folder, error.into());
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = PathBuf::from(entry.file_name());
            if name.extension().is_some_and(|extension| extension == "lock") {
                continue;
            }
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                // Merged segments are being removed.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            files.push((name, metadata.len(), metadata.modified().ok()));
        }
        files.sort();
        let mut hasher = DefaultHasher::new();
        files.hash(&mut hasher);
        Ok(hasher.finish())
    }

    /// Returns a searcher for the last commit that this process has loaded.
    pub fn searcher(&self) -> Searcher {
        Searcher::new(self.reader.searcher())
    }

    /// Loads new commits, which may be from another process.
    pub fn reload(&self) -> Result<(), Error> {
        self.reader.reload().map_err(|error| unusable(&self.folder, error))
    }

    /// Reads every byte and returns the files with wrong checksums.
    pub fn damaged_files(&self) -> Result<Vec<PathBuf>, Error> {
        let damaged = self.engine.validate_checksum();
        let mut files: Vec<PathBuf> =
            damaged.map_err(|error| unusable(&self.folder, error))?.into_iter().collect();
        files.sort();
        Ok(files)
    }
}

/// Distinguishes errors that a rebuild fixes from those that only a person can fix.
fn unusable(folder: &Path, error: TantivyError) -> Error {
    let folder = folder.to_owned();
    let is_damage = match &error {
        TantivyError::LockFailure(LockError::LockBusy, _) => return Error::Busy { folder },
        TantivyError::DataCorruption(_)
        | TantivyError::IncompatibleIndex(_)
        | TantivyError::SchemaError(_)
        | TantivyError::FieldNotFound(_)
        | TantivyError::InternalError(_)
        | TantivyError::OpenReadError(
            OpenReadError::FileDoesNotExist(_) | OpenReadError::IncompatibleIndex(_),
        ) => true,
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
        | TantivyError::IoError(io_error) => {
            matches!(io_error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData)
        }
        _ => false,
    };
    if !is_damage {
        return Error::Open { folder, source: Box::new(error) };
    }
    let reason = match error {
        TantivyError::SchemaError(reason) => reason,
        other => other.to_string(),
    };
    Error::Stale { folder, reason }
}
