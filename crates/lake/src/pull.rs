//! Writes the raw copies of all machines as homes.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use recount_engine::export::lake::UnpackedFile;
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
    /// If there are none, one is damaged, or a file cannot be written.
    pub fn pull(
        &self,
        engine: &Engine,
        origins: &[String],
        to: &Path,
        progress: &dyn Progress,
    ) -> Result<PullReport, LakeError> {
        engine.check_output_folder(to)?;
        let names = self.runtime.block_on(self.bucket.names("_raw"))?;
        let found = names.iter().filter_map(|name| name.strip_suffix(".json"));
        let is_wanted = |origin: &&str| {
            origins.is_empty() || origins.iter().any(|wanted| origin.starts_with(wanted.as_str()))
        };
        let mut lists = Vec::new();
        for origin in found.filter(is_wanted).filter(|origin| is_plain(origin)) {
            let found = self.runtime.block_on(self.bucket.get(&RawManifest::object(origin)))?;
            if let Some((bytes, _)) = found {
                lists.push((origin.to_owned(), RawManifest::read(&bytes, origin)?));
            }
        }
        if lists.is_empty() {
            return Err(LakeError::NoRaw);
        }
        let all = lists.iter().flat_map(|(_, list)| list.files.values());
        let (total, mut done) = (all.map(|file| file.bytes).sum(), 0);
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
                done += entry.bytes;
                progress.advance(done, total);
            }
            report.homes.push(home);
        }
        Ok(report)
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
