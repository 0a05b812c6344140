//! What this machine keeps about a lake, in recount's own data folder.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use recount_formats::bytes::read_limited;
use recount_writer::{Draft, Lock};

use crate::cache::refresh::hash;
use crate::{Engine, Error};

/// The folder in recount's data folder.
const FOLDER: &str = "lake";
/// The file with the id of this data folder.
const ORIGIN: &str = "origin";
/// Where files are built before they are sent.
const SPOOL: &str = "spool";
/// The longest file that is read.
const LARGEST: u64 = 64 * 1024 * 1024;
/// How long a push waits for another to the same lake.
const TIMEOUT: Duration = Duration::from_millis(200);
/// The number of hexadecimal digits of an origin.
const DIGITS: usize = 20;

/// The folder of one lake, locked against other runs.
#[derive(Debug)]
pub struct LakeFolder {
    folder: PathBuf,
    origin: String,
    _lock: Lock,
}

impl Engine {
    /// Opens what is kept about a lake.
    ///
    /// # Errors
    /// If another run is using it, or it cannot be written.
    pub fn lake_folder(&self, url: &str) -> Result<LakeFolder, Error> {
        let all = self.own_data()?.join(FOLDER);
        recount_writer::create_private_folder(self.own_data()?)?;
        recount_writer::create_private_folder(&all)?;
        let folder = all.join(format!("{:016x}", hash(&url)));
        recount_writer::create_private_folder(&folder)?;
        let lock = recount_writer::lock(&folder.join("push"), TIMEOUT)?;
        let origin = origin(&all, false)?;
        Ok(LakeFolder { folder, origin, _lock: lock })
    }

    /// Gives this data folder a new identity, for a machine that was copied from another.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new_lake_origin(&self) -> Result<(), Error> {
        let all = self.own_data()?.join(FOLDER);
        recount_writer::create_private_folder(self.own_data()?)?;
        recount_writer::create_private_folder(&all)?;
        origin(&all, true).map(drop)
    }
}

/// Returns the id of the data folder, which is made once.
fn origin(folder: &Path, anew: bool) -> Result<String, Error> {
    let bytes = recount_platform::random();
    let mut fresh = String::with_capacity(DIGITS);
    for byte in bytes.iter().take(DIGITS / 2) {
        let _written = write!(fresh, "{byte:02x}");
    }
    let mut id = fresh.clone();
    recount_writer::update(&folder.join(ORIGIN), |old| {
        let known = old.and_then(|old| String::from_utf8(old).ok());
        let known =
            known.map(|known| known.trim().to_owned()).filter(|known| is_lake_origin(known));
        match known.filter(|_| !anew) {
            Some(known) => {
                id = known;
                None
            }
            None => Some(format!("{fresh}\n").into_bytes()),
        }
    })?;
    Ok(id)
}

/// Whether a text is the id of a data folder in a lake.
pub fn is_lake_origin(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

impl LakeFolder {
    /// Returns the id of this data folder.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Reads a file; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let path = self.folder.join(name);
        match read_limited(&path, LARGEST) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Unreadable { path, source }),
        }
    }

    /// Replaces a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        Ok(recount_writer::write_private(&self.folder.join(name), bytes)?)
    }

    /// Adds a line to a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&self, name: &str, line: &str) -> Result<(), Error> {
        let path = self.folder.join(name);
        let mut file = recount_writer::disk::append_private(&path)?;
        file.write_all(format!("{line}\n").as_bytes())
            .map_err(|source| recount_writer::Error::WriteFile { path, source }.into())
    }

    /// Removes a file.
    ///
    /// # Errors
    /// If it exists and cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        Ok(recount_writer::remove(&self.folder.join(name))?)
    }

    /// Returns the folder in which files are built, without what an earlier run left there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn spool(&self) -> Result<PathBuf, Error> {
        let spool = self.folder.join(SPOOL);
        recount_writer::create_private_folder(&spool)?;
        for entry in std::fs::read_dir(&spool).into_iter().flatten().flatten() {
            recount_writer::remove(&entry.path())?;
        }
        Ok(spool)
    }

    /// Removes a file that was built.
    ///
    /// # Errors
    /// If it exists and cannot be removed.
    pub fn discard(&self, built: &Path) -> Result<(), Error> {
        Ok(recount_writer::remove(built)?)
    }
}

/// A file of a pulled home that is being written. It does not exist under its name before it is finished.
#[derive(Debug)]
pub struct UnpackedFile {
    draft: Draft,
}

impl UnpackedFile {
    /// Starts a file, with its folders.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn new(path: &Path) -> Result<Self, Error> {
        if let Some(parent) = path.parent() {
            recount_writer::create_folders(parent)?;
        }
        Ok(Self { draft: Draft::new(path)? })
    }

    /// Moves the file into place, with its time.
    ///
    /// # Errors
    /// If it cannot be written completely.
    pub fn finish(self, modified: Option<Timestamp>) -> Result<u64, Error> {
        Ok(self.draft.finish_at(modified)?)
    }
}

impl io::Write for UnpackedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.draft.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.draft.flush()
    }
}

impl Engine {
    /// Checks that a folder may be written to: it is not an agent's own.
    ///
    /// # Errors
    /// If it is.
    pub fn check_output_folder(&self, folder: &Path) -> Result<(), Error> {
        self.keep_out_of_agents_folders(folder)
    }
}

/// Reads a small file of the user's; `None` if there is none or it is too long.
pub fn read_small(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(1024 * 1024).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Makes the folder of a lake that is on a disk.
///
/// # Errors
/// If it cannot be made.
pub fn create_lake_folder(folder: &Path) -> Result<(), Error> {
    Ok(recount_writer::create_folders(folder)?)
}
