//! Requests to the store: counted, and repeated with back-off.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use object_store::path::Path;
use object_store::{
    Error, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload, UpdateVersion,
    WriteMultipart,
};

use crate::location::scrubbed;
use crate::{LAYOUT, LakeError};

/// How often a request is made before it is an error. The client of a remote store repeats some by itself, too.
const TRIES: u32 = 5;
/// The longest pause between two tries.
const LONGEST: Duration = Duration::from_secs(20);
/// Larger files are sent in parts of this size.
const PART: usize = 8 * 1024 * 1024;
/// Parts that are in memory at once.
const PARTS: usize = 2;

/// The store below a prefix.
#[derive(Debug)]
pub(crate) struct Bucket {
    store: Arc<dyn ObjectStore>,
    prefix: String,
    secrets: Vec<String>,
    /// The first pause between two tries; it doubles.
    pub(crate) wait: Duration,
    pub(crate) requests: RequestCounts,
}

/// How many requests were made, with those that were repeated.
#[derive(Debug, Default)]
pub(crate) struct RequestCounts {
    pub(crate) get: AtomicU64,
    pub(crate) put: AtomicU64,
    pub(crate) delete: AtomicU64,
}

/// The outcome of a conditional write.
#[derive(Debug)]
pub(crate) enum Conditional {
    Written(UpdateVersion),
    /// Somebody else was first, or the first try succeeded without an answer.
    Refused,
    /// The store has no such condition.
    Unsupported,
}

impl Bucket {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, prefix: String, secrets: Vec<String>) -> Self {
        let wait = Duration::from_millis(250);
        Self { store, prefix, secrets, wait, requests: RequestCounts::default() }
    }

    fn path(&self, name: &str) -> Path {
        let below = format!("{LAYOUT}/{name}");
        Path::from(if self.prefix.is_empty() { below } else { format!("{}/{below}", self.prefix) })
    }

    fn failed(&self, what: &'static str, name: &str, error: &Error) -> LakeError {
        let why = scrubbed(&error.to_string(), &self.secrets);
        LakeError::Request { what, path: name.to_owned(), why }
    }

    async fn pause(&self, tries: u32) {
        tokio::time::sleep((self.wait * 2_u32.saturating_pow(tries)).min(LONGEST)).await;
    }

    /// Reads an object; `None` if there is none.
    pub(crate) async fn get(
        &self,
        name: &str,
    ) -> Result<Option<(Vec<u8>, UpdateVersion)>, LakeError> {
        let mut tries = 0;
        loop {
            self.requests.get.fetch_add(1, Ordering::Relaxed);
            match self.get_once(name).await {
                Ok(found) => return Ok(Some(found)),
                Err(Error::NotFound { .. }) => return Ok(None),
                Err(error) if is_passing(&error) && tries + 1 < TRIES => self.pause(tries).await,
                Err(error) => return Err(self.failed("read", name, &error)),
            }
            tries += 1;
        }
    }

    async fn get_once(&self, name: &str) -> Result<(Vec<u8>, UpdateVersion), Error> {
        let found = self.store.get(&self.path(name)).await?;
        let version =
            UpdateVersion { e_tag: found.meta.e_tag.clone(), version: found.meta.version.clone() };
        Ok((found.bytes().await?.to_vec(), version))
    }

    /// Writes an object, whatever is there.
    pub(crate) async fn put(&self, name: &str, bytes: &[u8]) -> Result<(), LakeError> {
        let mut tries = 0;
        loop {
            self.requests.put.fetch_add(1, Ordering::Relaxed);
            match self.store.put(&self.path(name), PutPayload::from(bytes.to_vec())).await {
                Ok(_) => return Ok(()),
                Err(error) if is_passing(&error) && tries + 1 < TRIES => self.pause(tries).await,
                Err(error) => return Err(self.failed("write", name, &error)),
            }
            tries += 1;
        }
    }

    /// Writes an object that is named by its content: if it is there already, it is the same.
    pub(crate) async fn put_content(&self, name: &str, bytes: &[u8]) -> Result<(), LakeError> {
        let mut tries = 0;
        loop {
            self.requests.put.fetch_add(1, Ordering::Relaxed);
            let options = PutOptions::from(PutMode::Create);
            let payload = PutPayload::from(bytes.to_vec());
            match self.store.put_opts(&self.path(name), payload, options).await {
                Ok(_) | Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                    return Ok(());
                }
                Err(Error::NotImplemented { .. }) => return self.put(name, bytes).await,
                Err(error) if is_passing(&error) && tries + 1 < TRIES => self.pause(tries).await,
                Err(error) => return Err(self.failed("write", name, &error)),
            }
            tries += 1;
        }
    }

    /// Writes an object if it still has the given version, or if there is none. One try: the caller knows how to find out
    /// its outcome.
    pub(crate) async fn put_if(
        &self,
        name: &str,
        bytes: &[u8],
        expected: Option<&UpdateVersion>,
    ) -> Result<Conditional, Error> {
        self.requests.put.fetch_add(1, Ordering::Relaxed);
        let mode = expected.map_or(PutMode::Create, |version| PutMode::Update(version.clone()));
        let payload = PutPayload::from(bytes.to_vec());
        match self.store.put_opts(&self.path(name), payload, PutOptions::from(mode)).await {
            Ok(written) => Ok(Conditional::Written(written.into())),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                Ok(Conditional::Refused)
            }
            Err(Error::NotFound { .. }) if expected.is_some() => Ok(Conditional::Refused),
            Err(Error::NotImplemented { .. } | Error::NotSupported { .. }) => {
                Ok(Conditional::Unsupported)
            }
            Err(error) => Err(error),
        }
    }

    /// Repeats a conditional write that failed for a passing reason, or returns the error.
    pub(crate) async fn after_failure(
        &self,
        name: &str,
        error: &Error,
        tries: u32,
    ) -> Result<(), LakeError> {
        if !is_passing(error) || tries + 1 >= TRIES {
            return Err(self.failed("write", name, error));
        }
        self.pause(tries).await;
        Ok(())
    }

    /// Writes a file: small ones at once, large ones in parts. Readers see the old object or the new one.
    pub(crate) async fn put_file(&self, name: &str, file: &FilePath) -> Result<(), LakeError> {
        let size = std::fs::metadata(file).map_err(|source| unread(file, source))?.len();
        if size <= PART as u64 {
            return self.put(name, &whole(file)?).await;
        }
        let mut tries = 0;
        loop {
            self.requests.put.fetch_add(1, Ordering::Relaxed);
            match self.put_parts(name, file).await? {
                Ok(()) => return Ok(()),
                Err(error) if is_passing(&error) && tries + 1 < TRIES => self.pause(tries).await,
                Err(error) => return Err(self.failed("write", name, &error)),
            }
            tries += 1;
        }
    }

    async fn put_parts(&self, name: &str, file: &FilePath) -> Result<Result<(), Error>, LakeError> {
        use std::io::Read as _;

        let mut input = std::fs::File::open(file).map_err(|source| unread(file, source))?;
        let upload = match self.store.put_multipart(&self.path(name)).await {
            Ok(upload) => upload,
            Err(error) => return Ok(Err(error)),
        };
        let mut parts = WriteMultipart::new_with_chunk_size(upload, PART);
        loop {
            let mut part = Vec::with_capacity(PART);
            let mut piece = input.by_ref().take(PART as u64);
            piece.read_to_end(&mut part).map_err(|source| unread(file, source))?;
            if part.is_empty() {
                break;
            }
            if let Err(error) = parts.wait_for_capacity(PARTS).await {
                // What is left of it is not an object; the store removes it by its own rules if this fails.
                let _aborted = parts.abort().await;
                return Ok(Err(error));
            }
            parts.put(part.into());
        }
        Ok(parts.finish().await.map(drop))
    }

    /// Deletes an object, if it is there.
    pub(crate) async fn delete(&self, name: &str) -> Result<(), LakeError> {
        let mut tries = 0;
        loop {
            self.requests.delete.fetch_add(1, Ordering::Relaxed);
            match self.store.delete(&self.path(name)).await {
                Ok(()) | Err(Error::NotFound { .. }) => return Ok(()),
                Err(error) if is_passing(&error) && tries + 1 < TRIES => self.pause(tries).await,
                Err(error) => return Err(self.failed("delete", name, &error)),
            }
            tries += 1;
        }
    }

    /// Lists the names of the objects in a folder, without those in folders below it.
    pub(crate) async fn names(&self, folder: &str) -> Result<Vec<String>, LakeError> {
        let path = self.path(folder);
        let mut tries = 0;
        loop {
            self.requests.get.fetch_add(1, Ordering::Relaxed);
            match self.store.list_with_delimiter(Some(&path)).await {
                Ok(found) => {
                    let names =
                        found.objects.iter().filter_map(|object| object.location.filename());
                    let mut names: Vec<String> = names.map(str::to_owned).collect();
                    names.sort();
                    return Ok(names);
                }
                Err(error) if is_passing(&error) && tries + 1 < TRIES => self.pause(tries).await,
                Err(error) => return Err(self.failed("list", folder, &error)),
            }
            tries += 1;
        }
    }
}

/// Whether an error may not happen again.
fn is_passing(error: &Error) -> bool {
    use std::io::ErrorKind;

    // A disk does not change its mind.
    let is_final = |kind: ErrorKind| {
        matches!(
            kind,
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::StorageFull
        )
    };
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let mut kinds = causes.filter_map(|cause| Some(cause.downcast_ref::<std::io::Error>()?.kind()));
    matches!(error, Error::Generic { .. } | Error::JoinError { .. }) && !kinds.any(is_final)
}

fn whole(file: &FilePath) -> Result<Vec<u8>, LakeError> {
    use std::io::Read as _;

    let mut bytes = Vec::new();
    let mut input = std::fs::File::open(file).map_err(|source| unread(file, source))?;
    input.read_to_end(&mut bytes).map_err(|source| unread(file, source))?;
    Ok(bytes)
}

pub(crate) fn unread(path: &FilePath, source: std::io::Error) -> LakeError {
    LakeError::Unreadable { path: path.to_owned(), source }
}
