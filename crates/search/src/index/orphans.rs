//! Files of a writer that was killed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tantivy::directory::{Directory as _, META_LOCK};
use tantivy::index::SegmentComponent;
use tantivy::{Index, TantivyError};

/// The number of characters in the name of a segment.
const SEGMENT_NAME: usize = 32;

/// Removes files that no commit names. Only the writer may call this, before it writes.
///
/// The engine writes the list of deleted documents to a file that is named after the next commit, and refuses to replace
/// one: without this, a writer that was killed before its commit stops all later ones. The engine's own collection only
/// sees files that were there when this process opened the index.
pub(super) fn remove(index: &Index, folder: &Path) -> Result<(), TantivyError> {
    let directory = index.directory();
    let orphans: Vec<PathBuf> = {
        // Readers hold this lock from reading the commit until all of its files are open.
        let lock = directory.acquire_lock(&META_LOCK);
        let _lock = lock.map_err(|error| TantivyError::LockFailure(error, None))?;
        let segments = index.searchable_segment_metas()?;
        let ids: HashSet<String> = segments.iter().map(|meta| meta.id().uuid_string()).collect();
        let deleted: HashSet<PathBuf> = segments
            .iter()
            .filter(|meta| meta.has_deletes())
            .map(|meta| meta.relative_path(SegmentComponent::Delete))
            .collect();
        let is_orphan = |name: &str| match name.split_once('.') {
            Some((segment, _)) if is_segment(segment) => {
                !ids.contains(segment)
                    || (Path::new(name).extension() == Some("del".as_ref())
                        && !deleted.contains(Path::new(name)))
            }
            // A file that would have replaced another one.
            _ => name.starts_with(".tmp"),
        };
        let mut orphans = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let name = entry?.file_name();
            if name.to_str().is_some_and(is_orphan) {
                orphans.push(PathBuf::from(name));
            }
        }
        orphans
    };
    for name in orphans {
        // One that is still open cannot be removed on every system; the next writer tries again.
        drop(directory.delete(&name));
    }
    Ok(())
}

fn is_segment(name: &str) -> bool {
    name.len() == SEGMENT_NAME && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
