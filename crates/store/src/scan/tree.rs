//! Folders and their contents.

use std::fmt::Debug;
use std::io;
use std::path::Path;

use recount_platform::{FolderEntry, Lister, Mounts};

/// Folders and their contents; tests have some that never respond.
pub trait FolderTree: Debug + Send + Sync {
    /// Returns the best lister for the folders below `place`.
    fn lister(&self, place: &Path) -> Lister;

    /// Calls `visit` with each folder in `folder`, except links and other file systems.
    fn folders(
        &self,
        folder: &Path,
        lister: Lister,
        visit: &mut dyn FnMut(&FolderEntry<'_>),
    ) -> io::Result<()>;
}

/// The disk, from the view of one place.
#[derive(Debug)]
pub struct DiskTree {
    mounts: Mounts,
}

impl DiskTree {
    /// Reads the mounts of the system.
    pub fn new() -> Self {
        Self { mounts: Mounts::of_system() }
    }
}

impl Default for DiskTree {
    fn default() -> Self {
        Self::new()
    }
}

impl FolderTree for DiskTree {
    fn lister(&self, place: &Path) -> Lister {
        Lister::for_place(place)
    }

    fn folders(
        &self,
        folder: &Path,
        lister: Lister,
        visit: &mut dyn FnMut(&FolderEntry<'_>),
    ) -> io::Result<()> {
        let below = self.mounts.below(folder);
        lister.folders(folder, &mut |entry| {
            if !below.begins_at(entry.name) {
                visit(entry);
            }
        })
    }
}
