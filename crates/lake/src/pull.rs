//! Writes the raw copies of all machines as homes.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use recount_engine::export::lake::{UnpackedFile, is_lake_origin};
use recount_engine::{Engine, Progress};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::bucket::unread;
use crate::raw::{PIECE, RawEntry, RawManifest};
use crate::send::hexadecimal;
use crate::{Lake, LakeError};

/// What a pull did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PullReport {
    /// The homes.
    pub homes: Vec<PulledHome>,
}

/// The home of one machine.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PulledHome {
    /// The machine.
    pub origin: String,
    /// Its name, if it has one.
    pub machine: Option<String>,
    /// The folder, for `--home`.
    #[serde(serialize_with = "recount_model::path_text::path")]
    pub path: PathBuf,
    /// Files that were written.
    pub written: u64,
    /// Their size.
    pub bytes: u64,
    /// Files that were there already.
    pub unchanged: u64,
}

impl Lake {
    /// Writes the raw copies of all machines, or of some, below a folder. Each file is verified.
    ///
    /// # Errors
    /// If this is no lake, there are none, one is damaged, or a file cannot be written.
    pub fn pull(
        &self,
        engine: &Engine,
        origins: &[String],
        to: &Path,
        progress: &dyn Progress,
    ) -> Result<PullReport, LakeError> {
        engine.check_output_folder(to)?;
        let mut lists = Vec::new();
        for origin in self.raw_origins(origins)? {
            let found = self.runtime.block_on(self.bucket.get(&RawManifest::object(&origin)))?;
            if let Some((bytes, _)) = found {
                let list = RawManifest::read(&bytes, &origin)?;
                lists.push((origin, list));
            }
        }
        let all = lists.iter().flat_map(|(_, list)| list.files.values());
        // The sizes are those that the lake claims.
        let total = all.fold(0, |sum: u64, file| sum.saturating_add(file.bytes));
        let mut done: u64 = 0;
        let mut report = PullReport::default();
        for (origin, list) in lists {
            let path = to.join(&origin);
            let machine = list.machine.clone();
            let mut home = PulledHome { origin, machine, path, ..PulledHome::default() };
            for (name, entry) in &list.files {
                if progress.is_cancelled() {
                    return Err(recount_engine::Error::Cancelled.into());
                }
                self.pull_file(&mut home, name, entry)?;
                done = done.saturating_add(entry.bytes);
                progress.advance(done, total);
            }
            report.homes.push(home);
        }
        Ok(report)
    }

    /// Returns the machines with raw copies whose origin begins with one of `wanted`; all if that is empty.
    fn raw_origins(&self, wanted: &[String]) -> Result<Vec<String>, LakeError> {
        let names = self.runtime.block_on(self.bucket.names("_raw"))?;
        let known = names.iter().filter_map(|name| name.strip_suffix(".json"));
        let known: Vec<String> =
            known.filter(|name| is_lake_origin(name)).map(str::to_owned).collect();
        if known.is_empty() {
            let machines = self.runtime.block_on(self.bucket.names("_origins"))?;
            let url = self.url.clone();
            let is_lake = !machines.is_empty();
            return Err(if is_lake { LakeError::NoRaw } else { LakeError::NoLake { url } });
        }
        let is_unknown = |wanted: &&String| !known.iter().any(|one| one.starts_with(&**wanted));
        if let Some(wanted) = wanted.iter().find(is_unknown) {
            return Err(LakeError::NoOrigin { wanted: wanted.clone(), known });
        }
        let is_wanted = |origin: &String| {
            wanted.is_empty() || wanted.iter().any(|wanted| origin.starts_with(wanted.as_str()))
        };
        Ok(known.into_iter().filter(is_wanted).collect())
    }

    fn pull_file(
        &self,
        home: &mut PulledHome,
        name: &str,
        entry: &RawEntry,
    ) -> Result<(), LakeError> {
        let object = RawManifest::object(&home.origin);
        let damaged = |why: String| LakeError::Damaged { path: object.clone(), why };
        // The lake is as untrusted as any file: nothing is written outside of the home.
        if !name.split('/').all(is_plain) || name.split('/').count() < 2 {
            return Err(damaged(format!("'{}' is not the name of a file", name.escape_debug())));
        }
        let path = name.split('/').fold(home.path.clone(), |path, part| path.join(part));
        let modified = Timestamp::from_nanosecond(entry.modified).ok();
        if is_there(&path, entry) {
            home.unchanged += 1;
            return Ok(());
        }
        let mut file = UnpackedFile::new(&path)?;
        let mut bytes = 0;
        for hash in &entry.pieces {
            if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(damaged(format!("'{}' is not a hash", hash.escape_debug())));
            }
            let object = RawManifest::piece(&home.origin, hash);
            let damaged = |why: &str| LakeError::Damaged { path: object.clone(), why: why.into() };
            let packed = self.runtime.block_on(self.bucket.get(&object))?;
            let (packed, _) = packed.ok_or_else(|| damaged("it is missing"))?;
            let piece = zstd::bulk::decompress(&packed, PIECE)
                .map_err(|_| damaged("it cannot be unpacked"))?;
            if hexadecimal(&Sha256::digest(&piece)) != *hash {
                return Err(damaged("its content is not what its name says"));
            }
            file.write_all(&piece).map_err(|source| unread(&path, source))?;
            bytes += piece.len() as u64;
        }
        if bytes != entry.bytes {
            return Err(damaged(format!("{} has another size", name.escape_debug())));
        }
        home.bytes += file.finish(modified)?;
        home.written += 1;
        Ok(())
    }
}

/// Whether a file is there with the size and the time of the copy.
fn is_there(path: &Path, entry: &RawEntry) -> bool {
    let Ok(found) = path.symlink_metadata() else { return false };
    let time = found.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    let is_same_time = time.is_some_and(|time| time.as_nanosecond() == entry.modified);
    found.is_file() && found.len() == entry.bytes && is_same_time
}

/// Whether a name is one part of a path on every system, and not a way out.
fn is_plain(part: &str) -> bool {
    !part.is_empty()
        && part != "."
        && part != ".."
        && !part.contains(['\\', ':'])
        && !part.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_of_the_home_are_refused() {
        for good in [".gemini", "a b", "日本", "..."] {
            assert!(is_plain(good), "{good}");
        }
        for bad in ["", ".", "..", "a\\b", "C:", "a\nb"] {
            assert!(!is_plain(bad), "{bad}");
        }
    }
}
