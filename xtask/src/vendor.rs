//! Files of others in the web app: they must be the ones that were published.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::{Report, TaskError, files};

const FOLDER: &str = "crates/web/assets/vendor";

/// Compares every vendored script with its checksum in `versions.txt`.
pub(crate) fn check() -> Result<Report, TaskError> {
    let versions = files::read(&format!("{FOLDER}/versions.txt"))?;
    let mut report = Report::default();
    for entry in entries(&versions)? {
        let found = checksum(&files::read(&format!("{FOLDER}/{}", entry.file))?);
        if found == entry.sha256 {
            report.notes.push(format!("{}: {} {}", entry.file, entry.package, entry.version));
        } else {
            report.failures.push(format!(
                "{FOLDER}/{}: SHA-256 is {found}, but {} {} has {}",
                entry.file, entry.package, entry.version, entry.sha256
            ));
        }
    }
    Ok(report)
}

struct Entry<'a> {
    file: &'a str,
    package: &'a str,
    version: &'a str,
    sha256: &'a str,
}

fn entries(text: &str) -> Result<Vec<Entry<'_>>, TaskError> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split('|').map(str::trim).collect();
            match fields.as_slice() {
                [file, package, version, _path, _licenses, sha256] => {
                    Ok(Entry { file, package, version, sha256 })
                }
                _ => Err(TaskError::new(format!("{FOLDER}/versions.txt: not six fields: {line}"))),
            }
        })
        .collect()
}

fn checksum(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut digits, byte| {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_six_fields() {
        let entries = entries("# note\n\na.js | npm:a | 1.0 | b.js | MIT | 00\n").unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!((entries[0].file, entries[0].sha256), ("a.js", "00"));
        assert!(super::entries("a.js | npm:a").is_err());
    }

    #[test]
    fn checksums_are_hexadecimal() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(checksum(""), empty);
    }
}
