//! Raw copies: the files of sessions in pieces of 4 MB, each named by its content. A log that grows sends only its end.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::sync::Arc;

use recount_changes::{Changes, HomeFile};
use recount_engine::export::lake::LakePlan;
use recount_engine::{Engine, Progress};
use recount_model::{Problem, What};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::LakeError;
use crate::bucket::unread;
use crate::send::{Sender, hexadecimal};

pub(crate) const SCHEMA: &str = "recount.lake-raw/1";
/// The size of a piece, before it is compressed.
pub(crate) const PIECE: usize = 4 * 1024 * 1024;
/// How much pieces are compressed: they are written once and rarely read.
const LEVEL: i32 = 3;

/// The raw copies of a machine, as listed in the lake.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct RawManifest {
    pub(crate) schema: String,
    pub(crate) origin: String,
    /// The name of the machine.
    pub(crate) machine: Option<String>,
    /// The files, by their path below a home.
    pub(crate) files: BTreeMap<String, RawEntry>,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct RawEntry {
    pub(crate) bytes: u64,
    /// Its time, in nanoseconds since 1970.
    pub(crate) modified: i128,
    /// The SHA-256 of each piece.
    pub(crate) pieces: Vec<String>,
    /// Whether the machine has deleted it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) gone: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// What was sent of raw copies.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RawReport {
    /// Files of sessions.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// Pieces that were sent, or would be.
    pub pieces: u64,
    /// Their compressed size.
    pub packed: u64,
    /// Pieces that were removed.
    pub removed: u64,
    /// Files that could not be read. What the lake had of them stays.
    pub unread: u64,
}

/// The files of this machine's sessions.
#[derive(Debug)]
pub(crate) struct RawList {
    files: Vec<HomeFile>,
    /// Names of files of projects that are left out.
    left_out: BTreeSet<String>,
    stamp: String,
}

impl RawManifest {
    pub(crate) fn object(origin: &str) -> String {
        format!("_raw/{origin}.json")
    }

    pub(crate) fn piece(origin: &str, hash: &str) -> String {
        format!("_raw/{origin}/{hash}")
    }

    fn pieces(&self) -> BTreeSet<&str> {
        self.files.values().flat_map(|file| &file.pieces).map(String::as_str).collect()
    }

    pub(crate) fn read(bytes: &[u8], origin: &str) -> Result<Self, LakeError> {
        let path = Self::object(origin);
        let read: Self = serde_json::from_slice(bytes)
            .map_err(|error| LakeError::Damaged { path, why: error.to_string() })?;
        if read.schema != SCHEMA {
            return Err(LakeError::Version { origin: origin.to_owned(), schema: read.schema });
        }
        Ok(read)
    }
}

impl RawList {
    pub(crate) fn find(
        engine: &Engine,
        plan: &LakePlan,
        progress: &dyn Progress,
    ) -> Result<Self, LakeError> {
        let changes = Changes::new(engine);
        let files = changes.home_files(plan.session_ids(), progress)?;
        let left_out = match plan.left_out_ids() {
            none if none.is_empty() => Vec::new(),
            ids => changes.home_files(ids, progress)?,
        };
        let left_out = left_out.into_iter().map(|file| file.name).collect();
        let mut hash = Sha256::new();
        for HomeFile { name, bytes, modified, .. } in &files {
            hash.update(format!("{name}\0{bytes}\0{modified}\0"));
        }
        Ok(Self { files, left_out, stamp: hexadecimal(&hash.finalize()) })
    }

    pub(crate) fn stamp(&self) -> &str {
        &self.stamp
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Sends pieces that are not in the lake, then the list, then removes what nothing refers to.
    pub(crate) fn send(
        &self,
        sender: &Sender<'_>,
        is_same: bool,
        progress: &dyn Progress,
    ) -> Result<RawReport, LakeError> {
        let mut report = RawReport { files: self.files.len() as u64, ..RawReport::default() };
        report.bytes = self.bytes();
        if is_same {
            sender.advance(report.bytes, progress);
            return Ok(report);
        }
        let (lake, options) = (sender.lake, sender.options);
        let origin = sender.folder.origin();
        let object = RawManifest::object(origin);
        let old = lake.runtime.block_on(lake.bucket.get(&object))?;
        let old = old.map(|(bytes, _)| RawManifest::read(&bytes, origin)).transpose()?;
        let old = old.unwrap_or_default();
        let mut sent: BTreeSet<String> = old.pieces().into_iter().map(str::to_owned).collect();
        let mut new = RawManifest {
            schema: SCHEMA.to_owned(),
            origin: origin.to_owned(),
            machine: options.tables.label.clone(),
            files: BTreeMap::new(),
        };
        if !options.dry_run {
            sender.claim(&mut sender.shared())?;
        }
        for file in &self.files {
            let known = old.files.get(&file.name);
            let is_known =
                |known: &&RawEntry| (known.bytes, known.modified) == (file.bytes, file.modified);
            let entry = match known.filter(is_known) {
                Some(known) => Some(RawEntry { gone: false, ..known.clone() }),
                None => match send_file(file, sender, &mut sent, &mut report) {
                    Err(LakeError::Unreadable { source, .. }) => {
                        report.unread += 1;
                        sender.shared().report.problems.push(unsent(file, &source));
                        known.cloned()
                    }
                    entry => entry?,
                },
            };
            new.files.extend(entry.map(|entry| (file.name.clone(), entry)));
            sender.advance(file.bytes, progress);
        }
        if options.tables.keep_deleted {
            for (name, entry) in old.files.iter().filter(|(name, _)| !self.left_out.contains(*name))
            {
                let gone = RawEntry { gone: true, ..entry.clone() };
                new.files.entry(name.clone()).or_insert(gone);
            }
        }
        if options.dry_run {
            return Ok(report);
        }
        let bytes = serde_json::to_vec(&new).unwrap_or_default();
        lake.runtime.block_on(lake.bucket.put(&object, &bytes))?;
        let used = new.pieces();
        for piece in old.pieces().into_iter().filter(|piece| !used.contains(piece)) {
            report.removed += 1;
            let piece = RawManifest::piece(origin, piece);
            lake.runtime.block_on(lake.bucket.delete(&piece))?;
        }
        Ok(report)
    }
}

fn unsent(file: &HomeFile, why: &std::io::Error) -> Problem {
    Problem {
        file: Arc::from(&*file.path.to_string_lossy()),
        span: None,
        what: What::Unreadable,
        done: format!("no copy was sent: {why}").into(),
    }
}

/// Sends the pieces of a file that are new. `None` if the file is gone.
fn send_file(
    file: &HomeFile,
    sender: &Sender<'_>,
    sent: &mut BTreeSet<String>,
    report: &mut RawReport,
) -> Result<Option<RawEntry>, LakeError> {
    let failed = |source| unread(&file.path, source);
    let mut input = match std::fs::File::open(&file.path) {
        Ok(input) => input,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed(source)),
    };
    let mut entry = RawEntry { modified: file.modified, ..RawEntry::default() };
    loop {
        let mut piece = Vec::new();
        input.by_ref().take(PIECE as u64).read_to_end(&mut piece).map_err(failed)?;
        if piece.is_empty() {
            return Ok(Some(entry));
        }
        let hash = hexadecimal(&Sha256::digest(&piece));
        entry.bytes += piece.len() as u64;
        if sent.insert(hash.clone()) {
            let packed = zstd::bulk::compress(&piece, LEVEL).map_err(failed)?;
            report.pieces += 1;
            report.packed += packed.len() as u64;
            if !sender.options.dry_run {
                let object = RawManifest::piece(sender.folder.origin(), &hash);
                let put = sender.lake.bucket.put_content(&object, &packed);
                sender.lake.runtime.block_on(put)?;
            }
        }
        entry.pieces.push(hash);
    }
}
