//! Absolute paths in the text of sessions, as candidates for a project's folder.

use std::collections::BTreeSet;
use std::io::Read as _;

use recount_formats::bytes;
use recount_formats::source::FileAt;

/// How many files of a project are looked at, smallest first, and how much of each.
const FILES: usize = 12;
const BYTES: u64 = 2 * 1024 * 1024;
/// How many different paths are taken.
const PATHS: usize = 4096;

/// Offers the absolute paths in each of some files of a project, until `enough` says so.
pub(crate) fn paths_in(files: &[FileAt], mut enough: impl FnMut(&BTreeSet<String>) -> bool) {
    let mut sorted: Vec<&FileAt> = files.iter().collect();
    sorted.sort_by_key(|file| (file.bytes, &file.path));
    for file in sorted.into_iter().take(FILES) {
        let (mut text, mut paths) = (Vec::new(), BTreeSet::new());
        let read =
            bytes::open(&file.path).and_then(|input| input.take(BYTES).read_to_end(&mut text));
        if read.is_ok() {
            collect(&text, &mut paths);
        }
        if enough(&paths) {
            break;
        }
    }
}

/// A path begins behind a quote, a blank, a bracket or a line break and ends at a quote or an escape.
fn collect(text: &[u8], paths: &mut BTreeSet<String>) {
    for (at, pair) in text.windows(2).enumerate() {
        let [before, b'/'] = pair else { continue };
        // `\n/path`: the letter before is that of an escape.
        let escape =
            at > 0 && text.get(at - 1) == Some(&b'\\') && matches!(before, b'n' | b't' | b'r');
        if !(escape || matches!(before, b'"' | b' ' | b'(' | b'\'' | b'=' | b'`' | b':' | b'>')) {
            continue;
        }
        let rest = text.get(at + 1..).unwrap_or_default();
        let end =
            rest.iter().take(1024).position(|byte| matches!(byte, b'"' | b'\\' | b'\n' | b'`'));
        let Some(path) = end.and_then(|end| rest.get(..end)) else { continue };
        if let Ok(path) = std::str::from_utf8(path)
            && path.len() > 1
            && paths.len() < PATHS
        {
            paths.insert(path.to_owned());
            // Words may follow the path on the same line.
            paths.extend(path.split([' ', '\'', ')', ',', ':', '<']).next().map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_arguments_and_in_prose() {
        let mut paths = BTreeSet::new();
        let text = br#"{"file_path":"/home/dev/my code/a.rs","x":"see /srv/app for more\n/opt/z\n","u":"http://x/y"}"#;
        collect(text, &mut paths);
        for path in ["/home/dev/my code/a.rs", "/srv/app", "/opt/z"] {
            assert!(paths.contains(path), "{path} not in {paths:?}");
        }
        assert!(!paths.contains("/x/y"));
    }
}
