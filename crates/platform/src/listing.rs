//! Lists the folders in a folder, with as few system calls as possible.

use std::io;
use std::path::Path;

/// Lists folders on one file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lister {
    /// Whether a link count shows that a folder has no subfolders.
    counts_folders: bool,
}

/// A folder in a folder that is being listed.
#[derive(Clone, Copy, Debug)]
pub struct FolderEntry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its parent folder, where link counts can be used.
    above: Option<system::Above<'a>>,
}

impl<'a> FolderEntry<'a> {
    /// Creates an entry, for tests.
    pub fn named(name: &'a str) -> Self {
        Self { name, above: None }
    }

    /// Whether it certainly has no subfolders: then it need not be opened.
    pub fn is_leaf(&self) -> bool {
        self.above.is_some_and(|above| system::is_leaf(above, self.name))
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd as _, BorrowedFd};
    use std::path::Path;

    use super::FolderEntry;

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat, statfs};

    /// File systems on which a folder has one link for itself, one for its name and one per
    /// subfolder. Others report any number.
    const COUNTING: &[u64] = &[
        0xEF53,      // ext2, ext3, ext4
        0x5846_5342, // xfs
        0x0102_1994, // tmpfs
    ];

    pub(super) fn counts_folders(place: &Path) -> bool {
        statfs(place).is_ok_and(|system| {
            u64::try_from(system.f_type).is_ok_and(|kind| COUNTING.contains(&kind))
        })
    }

    pub(super) type Above<'a> = BorrowedFd<'a>;

    pub(super) fn is_leaf(above: Above<'_>, name: &str) -> bool {
        statat(above, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| stat.st_nlink == 2)
    }

    pub(super) fn list(
        folder: &Path,
        counts_folders: bool,
        visit: &mut dyn FnMut(&FolderEntry<'_>),
    ) -> io::Result<()> {
        let flags = OFlags::RDONLY
            | OFlags::DIRECTORY
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC
            | OFlags::NONBLOCK;
        let opened = openat(CWD, folder, flags, Mode::empty())?;
        let mut buffer = [MaybeUninit::<u8>::uninit(); 16 * 1024];
        let mut entries = RawDir::new(&opened, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let is_folder = match entry.file_type() {
                FileType::Directory => true,
                // Some file systems do not report it.
                FileType::Unknown => statat(&opened, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                    .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory),
                _ => false,
            };
            if let Ok(name) = entry.file_name().to_str()
                && is_folder
                && !matches!(name, "." | "..")
            {
                let above = counts_folders.then(|| opened.as_fd());
                visit(&FolderEntry { name, above });
            }
        }
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::marker::PhantomData;
    use std::path::Path;

    use super::FolderEntry;

    pub(super) type Above<'a> = PhantomData<&'a ()>;

    pub(super) fn counts_folders(_place: &Path) -> bool {
        false
    }

    pub(super) fn is_leaf(_above: Above<'_>, _name: &str) -> bool {
        false
    }

    pub(super) fn list(
        folder: &Path,
        _counts_folders: bool,
        visit: &mut dyn FnMut(&FolderEntry<'_>),
    ) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)?.flatten() {
            if let Some(name) = entry.file_name().to_str()
                && entry.file_type().is_ok_and(|kind| kind.is_dir())
            {
                visit(&FolderEntry { name, above: None });
            }
        }
        Ok(())
    }
}

impl Lister {
    /// Detects the kind of file system of `place`.
    pub fn for_place(place: &Path) -> Self {
        Self { counts_folders: system::counts_folders(place) }
    }

    /// Calls `visit` with each folder in `folder`. Links are not followed. Names that are not
    /// Unicode are skipped: no agent records them.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn folders(self, folder: &Path, visit: &mut dyn FnMut(&FolderEntry<'_>)) -> io::Result<()> {
        system::list(folder, self.counts_folders, visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_listed_and_files_and_links_are_not() {
        let top = tempfile::tempdir().unwrap();
        let below = |path: &str| top.path().join(path);
        #[expect(clippy::disallowed_methods, reason = "test setup")]
        {
            std::fs::create_dir_all(below("b/inner")).unwrap();
            std::fs::create_dir(below("a")).unwrap();
            std::fs::write(below("file"), "").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(below("a"), below("link")).unwrap();
        let list = |path: &Path| {
            let mut names = Vec::new();
            let lister = Lister::for_place(top.path());
            lister.folders(path, &mut |entry| names.push(entry.name.to_owned())).unwrap();
            names.sort();
            names
        };
        assert_eq!(list(top.path()), ["a", "b"]);
        assert_eq!(list(&below("b")), ["inner"]);
        assert!(list(&below("a")).is_empty());
        assert!(Lister::default().folders(&below("gone"), &mut |_| {}).is_err());
    }
}
