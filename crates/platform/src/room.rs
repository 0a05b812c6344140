//! Free space on a disk.

use std::path::Path;

/// A file system and its free space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    /// Identifies the file system.
    pub device: u64,
    /// Bytes that this user may still write.
    pub free: u64,
}

impl DiskSpace {
    /// Returns the file system that `path` is on; `None` where the system does not report it.
    #[cfg(unix)]
    pub fn at(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt as _;
        let stats = rustix::fs::statvfs(path).ok()?;
        let device = path.metadata().ok()?.dev();
        Some(Self { device, free: stats.f_bavail.saturating_mul(stats.f_frsize) })
    }

    /// Returns the file system that `path` is on; `None` where the system does not report it.
    #[cfg(not(unix))]
    pub fn at(_path: &Path) -> Option<Self> {
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn two_folders_of_one_disk_are_on_one_disk() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        #[expect(clippy::disallowed_methods, reason = "test setup")]
        std::fs::create_dir(&inner).unwrap();
        let (outer, inner) =
            (DiskSpace::at(folder.path()).unwrap(), DiskSpace::at(&inner).unwrap());
        assert_eq!(outer.device, inner.device);
        assert!(outer.free > 0);
        assert_eq!(DiskSpace::at(&folder.path().join("not there")), None);
    }
}
