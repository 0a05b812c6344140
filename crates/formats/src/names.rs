//! Names in folders.

use std::fs;
use std::path::Path;

/// Lists the names in a folder; none if it cannot be listed. A name that is not Unicode is not an id.
pub(crate) fn names_in(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}
