//! How files are opened. Everybody who reads what others have written opens it here.
//!
//! Agents, and whatever agents run, write into the folders that are read. What was a session file when a folder was listed may be
//! a link to a device, to a pipe or to a secret when it is opened. So there is no look before the opening: the file is opened
//! without following a link and without waiting, and the open descriptor is asked what it is. The folders above it may have become
//! links, too: of a file in an agent's data folder, the descriptor is also asked where it lies.

#![expect(clippy::disallowed_methods, reason = "the one place where files are opened for reading")]

use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Take};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// So much may be appended to a file while it is read; what comes later is for the next reader.
const GROWTH: u64 = 64 * 1024 * 1024;

/// Links that somebody has looked at, with what they led to then.
static ACCEPTED: RwLock<Option<HashMap<PathBuf, Identity>>> = RwLock::new(None);

/// Data folders, each with the places that their files may really lie in.
static CONFINED: RwLock<Vec<(PathBuf, Vec<PathBuf>)>> = RwLock::new(Vec::new());

/// What a file is, whatever its names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

/// Opens a regular file for reading. A link is refused, unless it was accepted and still leads to the same file.
///
/// # Errors
/// If it cannot be opened, is a link, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    open_with_metadata(path).map(|(file, _)| file)
}

fn open_with_metadata(path: &Path) -> io::Result<(File, Metadata)> {
    match open_here(path) {
        Ok(file) => {
            let (file, metadata) = regular(file)?;
            if is_in_place(&file, path) { Ok((file, metadata)) } else { Err(refused()) }
        }
        Err(error) if is_link(&error, path) => open_accepted(path),
        Err(error) => Err(error),
    }
}

/// Opens a regular file wherever links lead: for what people link themselves, such as settings.
///
/// # Errors
/// If it cannot be opened, or is not a regular file.
pub fn open_following(path: &Path) -> io::Result<File> {
    regular(options(true).open(path)?).map(|(file, _)| file)
}

/// Opens a file as [`open`] does, to be read to its end: to where it ended when it was opened, and a bounded growth.
///
/// # Errors
/// If it cannot be opened, is a link, or is not a regular file.
pub fn open_bounded(path: &Path) -> io::Result<Take<File>> {
    let (file, metadata) = open_with_metadata(path)?;
    let limit = metadata.len().saturating_add(GROWTH);
    Ok(file.take(limit))
}

/// Accepts a link, given what it leads to: from now on [`open`] follows it, as long as it leads there.
pub fn accept_link(link: &Path, target: &Metadata) {
    let Some(identity) = identity(target) else { return };
    let mut accepted = ACCEPTED.write().unwrap_or_else(PoisonError::into_inner);
    accepted.get_or_insert_default().insert(link.to_owned(), identity);
}

/// Confines a data folder: from now on [`open`] refuses what is named below it and really lies elsewhere, because a folder on the way
/// has become a link. `folders` in it may be links already.
pub fn confine<'a>(root: &Path, folders: impl IntoIterator<Item = &'a Path>) {
    let Ok(real) = root.canonicalize() else { return };
    let folders = folders.into_iter().filter_map(|folder| folder.canonicalize().ok());
    let outside: Vec<PathBuf> = folders.filter(|folder| !folder.starts_with(&real)).collect();
    let places: Vec<PathBuf> = std::iter::once(real).chain(outside).collect();
    let mut confined = CONFINED.write().unwrap_or_else(PoisonError::into_inner);
    match confined.iter_mut().find(|(known, _)| known == root) {
        Some((_, known)) => *known = places,
        None => confined.push((root.to_owned(), places)),
    }
}

/// Whether an open file lies in the data folder that its path names. Where the system does not tell, it does.
fn is_in_place(file: &File, path: &Path) -> bool {
    let confined = CONFINED.read().unwrap_or_else(PoisonError::into_inner);
    let mut places = confined.iter().filter(|(root, _)| path.starts_with(root)).peekable();
    if places.peek().is_none() {
        return true;
    }
    let Some(real) = place(file) else { return true };
    places.any(|(_, places)| places.iter().any(|place| real.starts_with(place)))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn place(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;

    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

#[cfg(target_vendor = "apple")]
fn place(file: &File) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;

    let path = rustix::fs::getpath(file).ok()?;
    Some(std::ffi::OsString::from_vec(path.into_bytes()).into())
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn place(_file: &File) -> Option<PathBuf> {
    None
}

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a link, which is not followed")
}

fn open_accepted(path: &Path) -> io::Result<(File, Metadata)> {
    let accepted = {
        let accepted = ACCEPTED.read().unwrap_or_else(PoisonError::into_inner);
        accepted.as_ref().and_then(|accepted| accepted.get(path).copied()).ok_or_else(refused)?
    };
    let (file, metadata) = regular(options(true).open(path)?)?;
    if identity(&metadata) == Some(accepted) { Ok((file, metadata)) } else { Err(refused()) }
}

/// Hands on an open file if it is a regular one.
fn regular(file: File) -> io::Result<(File, Metadata)> {
    let metadata = file.metadata()?;
    if metadata.is_file() {
        return Ok((file, metadata));
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"))
}

fn open_here(path: &Path) -> io::Result<File> {
    options(false).open(path)
}

#[cfg(unix)]
fn options(follow: bool) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    // A pipe does not wait for its other end, and a terminal does not become ours.
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    options
}

#[cfg(windows)]
fn options(follow: bool) -> OpenOptions {
    use std::os::windows::fs::OpenOptionsExt as _;

    /// Opens a link itself.
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    let mut options = OpenOptions::new();
    options.read(true);
    if !follow {
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    }
    options
}

#[cfg(not(any(unix, windows)))]
fn options(_follow: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    options
}

/// Whether opening failed because there is a link. Systems disagree on the code.
#[cfg(unix)]
fn is_link(error: &io::Error, path: &Path) -> bool {
    use rustix::io::Errno;

    let code = error.raw_os_error();
    [Errno::LOOP, Errno::MLINK].iter().any(|link| code == Some(link.raw_os_error()))
        && path.is_symlink()
}

#[cfg(not(unix))]
fn is_link(_error: &io::Error, path: &Path) -> bool {
    path.is_symlink()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems do not tell")]
fn identity(metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;

    Some(Identity { device: metadata.dev(), inode: metadata.ino() })
}

#[cfg(not(unix))]
fn identity(_metadata: &Metadata) -> Option<Identity> {
    None
}

#[cfg(all(test, unix))]
mod tests;
