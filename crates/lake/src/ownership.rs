//! Who may write the files of an origin: the data folder that wrote its manifest last, and nobody else.
//!
//! Each push has a random nonce, saved on this machine before it is written to the manifest. A manifest with a nonce that is
//! unknown here was written by somebody else: by a copy of this data folder. Writes are conditional, so that of two writers
//! that read the same manifest one is refused, before it has changed any table.

use object_store::UpdateVersion;
use recount_engine::export::lake::LakeFolder;
use serde::{Deserialize, Serialize};

use crate::LakeError;
use crate::bucket::{Bucket, Conditional};
use crate::manifest::{Manifest, ManifestFile};
use crate::send::hexadecimal;

/// The file with the nonces of this machine.
const NONCES: &str = "state.json";
/// The file with what was sent since the push began.
const JOURNAL: &str = "journal";
/// Hexadecimal digits of a nonce.
const DIGITS: usize = 32;

/// The nonces that this machine has written, or was about to.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Nonces {
    written: Option<String>,
    #[serde(default)]
    pending: Vec<String>,
}

/// The right to write the files of an origin.
#[derive(Debug)]
pub(crate) struct Ownership<'a> {
    bucket: &'a Bucket,
    folder: &'a LakeFolder,
    nonces: Nonces,
    version: Option<UpdateVersion>,
    /// The manifest as it is in the store.
    pub(crate) manifest: Option<Manifest>,
}

/// Returns a new nonce.
pub(crate) fn nonce() -> String {
    let random = recount_platform::random();
    hexadecimal(random.get(..DIGITS / 2).unwrap_or_default())
}

impl<'a> Ownership<'a> {
    /// Reads the manifest, and checks whose it is.
    pub(crate) async fn open(
        bucket: &'a Bucket,
        folder: &'a LakeFolder,
        adopt: bool,
    ) -> Result<Self, LakeError> {
        let nonces = folder.read(NONCES)?;
        let nonces: Nonces =
            nonces.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let origin = folder.origin();
        let mut owner = Self { bucket, folder, nonces, version: None, manifest: None };
        let Some((bytes, version)) = bucket.get(&Manifest::object(origin)).await? else {
            return Ok(owner);
        };
        let manifest = Manifest::read(&bytes, origin)?;
        let mut known = owner.nonces.pending.iter().chain(&owner.nonces.written);
        let is_own = known.any(|nonce| *nonce == manifest.nonce);
        if !is_own && !adopt {
            return Err(owner.cloned());
        }
        // It stays known, whatever becomes of the next write.
        owner.nonces.written = Some(manifest.nonce.clone());
        owner.version = Some(version);
        owner.manifest = Some(manifest);
        Ok(owner)
    }

    fn cloned(&self) -> LakeError {
        LakeError::Cloned { origin: self.folder.origin().to_owned() }
    }

    /// Replaces the manifest, unless somebody else did since it was read.
    pub(crate) async fn write(&mut self, mut manifest: Manifest) -> Result<(), LakeError> {
        let before = self.manifest.as_ref().map_or(0, |old| old.generation);
        manifest.generation = before.saturating_add(1);
        let bytes = manifest.bytes();
        let name = Manifest::object(&manifest.origin);
        if !self.nonces.pending.contains(&manifest.nonce) {
            self.nonces.pending.push(manifest.nonce.clone());
            self.save()?;
        }
        let mut tries = 0;
        let version = loop {
            let error = match self.bucket.put_if(&name, &bytes, self.version.as_ref()).await {
                Ok(Conditional::Written(version)) => break Some(version),
                Ok(Conditional::Refused) => None,
                Ok(Conditional::Unsupported) => {
                    self.write_claimed(&manifest, &bytes).await?;
                    break self.version.clone();
                }
                Err(error) => Some(error),
            };
            // It may have been written without an answer.
            let found = self.bucket.get(&name).await?;
            if let Some((_, version)) = found.as_ref().filter(|(found, _)| *found == bytes) {
                break Some(version.clone());
            }
            let now =
                found.map(|(bytes, _)| Manifest::read(&bytes, &manifest.origin)).transpose()?;
            if now.map_or(0, |now| now.generation) != before {
                return Err(self.cloned());
            }
            match error {
                Some(error) => self.bucket.after_failure(&name, &error, tries).await?,
                None => return Err(self.cloned()),
            }
            tries += 1;
        };
        self.version = version;
        if !manifest.pushing {
            self.nonces = Nonces { written: Some(manifest.nonce.clone()), pending: Vec::new() };
            self.save()?;
            self.folder.remove(JOURNAL)?;
        }
        self.manifest = Some(manifest);
        Ok(())
    }

    /// Replaces the manifest in a store that can create an object exclusively, but not replace one conditionally.
    ///
    /// Who wants to write generation N first creates the object `<origin>/N`; only one can. It stays until N + 1 is written, and
    /// a writer that creates it later finds a newer manifest.
    async fn write_claimed(&self, manifest: &Manifest, bytes: &[u8]) -> Result<(), LakeError> {
        let Manifest { origin, generation, nonce, .. } = manifest;
        let claim = |generation: u64| format!("_origins/{origin}/{generation:020}");
        let own = claim(*generation);
        let mut tries = 0;
        loop {
            match self.bucket.put_if(&own, nonce.as_bytes(), None).await {
                Ok(Conditional::Refused) => {
                    let found = self.bucket.get(&own).await?.map(|(bytes, _)| bytes);
                    let is_own = |text: &String| found.as_deref() == Some(text.as_bytes());
                    if self.nonces.pending.iter().any(is_own) {
                        break;
                    }
                    return Err(self.cloned());
                }
                // In a store without either condition, the nonces alone have to do.
                Ok(Conditional::Written(_) | Conditional::Unsupported) => break,
                Err(error) => self.bucket.after_failure(&own, &error, tries).await?,
            }
            tries += 1;
        }
        let now = self.bucket.get(&Manifest::object(origin)).await?;
        let now = now.map(|(bytes, _)| Manifest::read(&bytes, origin)).transpose()?;
        let now = now.map_or(0, |now| now.generation);
        if now.saturating_add(1) != *generation {
            return Err(self.cloned());
        }
        self.bucket.put(&Manifest::object(origin), bytes).await?;
        if let Some(older) = generation.checked_sub(1).filter(|older| *older > 0) {
            self.bucket.delete(&claim(older)).await?;
        }
        Ok(())
    }

    fn save(&self) -> Result<(), LakeError> {
        let bytes = serde_json::to_vec(&self.nonces).unwrap_or_default();
        Ok(self.folder.write(NONCES, &bytes)?)
    }

    /// Starts the journal of a push.
    pub(crate) fn start_journal(&self, nonce: &str) -> Result<(), LakeError> {
        Ok(self.folder.write(JOURNAL, format!("{nonce}\n").as_bytes())?)
    }

    /// Notes that a file is about to change: until the note that it has, its content is unknown.
    pub(crate) fn note_begin(&self, table: &str) -> Result<(), LakeError> {
        Ok(self.folder.append(JOURNAL, table)?)
    }

    /// Notes what a file has now.
    pub(crate) fn note_done(&self, table: &str, file: &ManifestFile) -> Result<(), LakeError> {
        let file = serde_json::to_string(file).unwrap_or_default();
        Ok(self.folder.append(JOURNAL, &format!("{table} {file}"))?)
    }

    /// Returns the files in the store as far as they are known: those of the manifest, and what an unfinished push has sent.
    pub(crate) fn known_files(&self) -> Result<Manifest, LakeError> {
        let mut manifest =
            self.manifest.clone().unwrap_or_else(|| Manifest::new(self.folder.origin()));
        if !manifest.pushing {
            return Ok(manifest);
        }
        let journal = self.folder.read(JOURNAL)?.unwrap_or_default();
        let journal = String::from_utf8_lossy(&journal);
        let mut lines = journal.lines();
        if lines.next() != Some(manifest.nonce.as_str()) {
            // Nothing is known of what the push has changed.
            for file in manifest.files.values_mut() {
                *file = ManifestFile::default();
            }
            return Ok(manifest);
        }
        for line in lines {
            let (table, file) = line.split_once(' ').unwrap_or((line, ""));
            let file = serde_json::from_str(file).unwrap_or_default();
            manifest.files.insert(table.to_owned(), file);
        }
        Ok(manifest)
    }
}
