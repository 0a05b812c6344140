//! The disk of this machine, for changes.

use std::fmt::Debug;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use recount_platform::{DiskSpace, system_nanos};

use crate::change::{Disk, FileKind, FileMetadata, HeldFile, NewFile};

/// The disk of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn metadata(&self, path: &Path) -> io::Result<Option<FileMetadata>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => Ok(Some(file_metadata(&metadata))),
            // Nothing can exist below a file.
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(recount_files::open(path)?))
    }

    fn hold(&self, path: &Path) -> io::Result<Box<dyn HeldFile + '_>> {
        Ok(Box::new(RealHeldFile(recount_files::open(path)?)))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
        let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        Ok(entries)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn room(&self, path: &Path) -> Option<DiskSpace> {
        DiskSpace::at(path)
    }

    fn make_folder(&self, path: &Path, mode: Option<u32>) -> io::Result<()> {
        fs::create_dir(path)?;
        mode.map_or(Ok(()), |mode| set_mode(path, mode))
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile + '_>> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Box::new(RealFile { file: options.open(path)?, path: path.to_owned() }))
    }

    fn continue_at(&self, path: &Path, at: u64) -> io::Result<Box<dyn NewFile + '_>> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.set_len(at)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Box::new(RealFile { file, path: path.to_owned() }))
    }

    fn append_line(&self, path: &Path, line: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let mut text = Vec::with_capacity(line.len() + 2);
        if !ends_whole(&mut file)? {
            text.push(b'\n');
        }
        text.extend_from_slice(line);
        text.push(b'\n');
        file.write_all(&text)?;
        file.sync_all()
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn overwrite(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Folders cannot be opened as files on Windows; its file system journals names by itself.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }

    fn touch_folder(&self, path: &Path) -> io::Result<()> {
        let since = u64::try_from(system_nanos()).unwrap_or_default();
        File::open(path)?.set_modified(UNIX_EPOCH + Duration::from_nanos(since))
    }

    fn lock_file(&self, path: &Path) -> io::Result<Option<Box<dyn Debug + '_>>> {
        let file = match recount_files::open(path) {
            Ok(file) => file,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(None)
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

struct RealHeldFile(File);

impl HeldFile for RealHeldFile {
    fn metadata(&self) -> io::Result<FileMetadata> {
        Ok(file_metadata(&self.0.metadata()?))
    }

    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.0.seek(SeekFrom::Start(0))?;
        self.0.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

struct RealFile {
    file: File,
    path: PathBuf,
}

impl Write for RealFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl NewFile for RealFile {
    fn finish(self: Box<Self>, modified: Option<i64>, mode: Option<u32>) -> io::Result<()> {
        if let Some(time) = modified.and_then(time) {
            self.file.set_modified(time)?;
        }
        if let Some(mode) = mode {
            set_mode(&self.path, mode)?;
        }
        self.file.sync_all()
    }
}

fn ends_whole(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn file_metadata(metadata: &Metadata) -> FileMetadata {
    let kind = if metadata.is_symlink() {
        FileKind::Link
    } else if metadata.is_file() {
        FileKind::File
    } else if metadata.is_dir() {
        FileKind::Folder
    } else {
        FileKind::Other
    };
    let modified = metadata.modified().ok().and_then(nanos);
    FileMetadata { kind, bytes: metadata.len(), modified, mode: mode(metadata) }
}

fn nanos(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).ok(),
        Err(before) => i64::try_from(before.duration().as_nanos()).ok().map(|nanos| -nanos),
    }
}

fn time(nanos: i64) -> Option<SystemTime> {
    let distance = Duration::from_nanos(nanos.unsigned_abs());
    if nanos < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems do not have it")]
fn mode(metadata: &Metadata) -> Option<u32> {
    Some(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777)
}

#[cfg(not(unix))]
fn mode(_metadata: &Metadata) -> Option<u32> {
    None
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}
