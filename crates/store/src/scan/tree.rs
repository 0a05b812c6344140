//! Folders and what is in them.

use std::fmt::Debug;
use std::io;
use std::path::Path;

use recount_platform::{FolderEntry, Lister, Mounts};

/// Folders and what is in them; tests have some that never answer.
pub trait FolderTree: Debug + Send + Sync {
    /// Returns how the folders below `place` are best listed.
    fn lister(&self, place: &Path) -> Lister;

    /// Calls `visit` with each folder in `folder`, links and other file systems left out.
    fn folders(
        &self,
        folder: &Path,
        lister: Lister,
        visit: &mut dyn FnMut(&FolderEntry<'_>),
    ) -> io::Result<()>;
}

/// The disk, as seen from one place.
#[derive(Debug)]
pub struct DiskTree {
    mounts: Mounts,
}

impl DiskTree {
    /// Asks the system where other file systems begin.
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
