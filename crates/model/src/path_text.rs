//! Paths as text in JSON. A path that is not valid Unicode is written with replacement characters: a document must not end in the
//! middle because of a file name.

use std::path::Path;

use serde::{Serialize as _, Serializer};

/// Serializes a path.
///
/// # Errors
/// If the serializer fails.
pub fn path<S: Serializer, P: AsRef<Path>>(path: &P, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().to_string_lossy().serialize(serializer)
}

/// Serializes a path or null.
///
/// # Errors
/// If the serializer fails.
pub fn maybe_path<S: Serializer, P: AsRef<Path>>(
    path: &Option<P>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.as_ref().to_string_lossy()).serialize(serializer)
}

/// Serializes a list of paths.
///
/// # Errors
/// If the serializer fails.
pub fn paths<S: Serializer, P: AsRef<Path>>(paths: &[P], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.as_ref().to_string_lossy()))
}
