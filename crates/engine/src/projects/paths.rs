//! Paths and names of files in the text of sessions.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use recount_formats::Source;
use recount_formats::bytes;
use recount_formats::source::ProjectFolder;
use recount_store::MentionedFiles;

/// The maximum number of files of a project that are read, smallest first, and how much of each.
const FILES: usize = 24;
const BYTES: u64 = 2 * 1024 * 1024;
/// The maximum number of distinct paths from one file.
const PATHS: usize = 4096;
/// The maximum number of words in a path.
const WORDS: usize = 8;
/// The maximum length of a path.
const LONGEST: usize = 1024;

/// Lists the files of a project directory that may mention paths, smallest first.
pub(crate) fn texts(source: &dyn Source, folder: &ProjectFolder) -> Vec<PathBuf> {
    let mut files: Vec<(u64, PathBuf)> =
        folder.files.iter().map(|file| (file.bytes, file.path.clone())).collect();
    let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
    files.extend(source.texts(folder).into_iter().map(|path| (size(&path), path)));
    files.sort();
    files.into_iter().take(FILES).map(|(_, path)| path).collect()
}

/// Returns the absolute paths in one file, and the number of bytes read.
pub(crate) fn paths_in(file: &Path) -> (BTreeSet<String>, u64) {
    let mut paths = BTreeSet::new();
    let text = text_of(file);
    collect(&text, &mut paths);
    (paths, text.len() as u64)
}

/// Returns the files below `folder`, and the file names, that some files mention.
pub(crate) fn mentioned_in(files: &[PathBuf], folder: &str) -> MentionedFiles {
    let mut spoken = MentionedFiles::default();
    for file in files {
        let text = text_of(file);
        let mut paths = BTreeSet::new();
        collect(&text, &mut paths);
        for path in paths {
            let rest = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix(['/', '\\']));
            spoken.below.extend(rest.filter(|rest| is_plain(rest)).map(str::to_owned));
        }
        spoken.names.extend(names(&text));
    }
    spoken
}

/// Whether a relative path stays below its folder and may be a file of the project rather than of a program.
fn is_plain(path: &str) -> bool {
    !path.is_empty()
        && !path.starts_with('.')
        && !path.ends_with('/')
        && !path.split('/').any(|part| part == "..")
        && !path.contains(['*', ' ', ':', ',', ';', '\'', '(', ')', '[', ']', '<', '>', '|'])
}

fn text_of(file: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    // An unreadable file mentions nothing.
    let _read = bytes::open(file).and_then(|input| input.take(BYTES).read_to_end(&mut text));
    text
}

/// Returns words that look like file names: `cart.js`, `my-notes.tar.gz`.
fn names(text: &[u8]) -> BTreeSet<String> {
    let part_of_name = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_') || *byte >= 0x80
    };
    let words = text.split(|byte| !part_of_name(byte)).filter(|word| word.len() < 100);
    let is_name = |word: &&str| {
        let Some((stem, ending)) = word.rsplit_once('.') else { return false };
        let is_ending = (1..=6).contains(&ending.len())
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !ending.bytes().all(|byte| byte.is_ascii_digit());
        is_ending && !stem.is_empty()
    };
    let words = words.filter_map(|word| std::str::from_utf8(word).ok());
    // Trees are drawn with characters that are not part of a name.
    let words = words.map(|word| word.trim_start_matches(['├', '└', '│', '─']));
    words.filter(is_name).take(PATHS).map(str::to_owned).collect()
}

/// A path begins after a quote, a space, a bracket or a line break and ends at a quote or an escape.
fn collect(text: &[u8], paths: &mut BTreeSet<String>) {
    for (at, byte) in text.iter().enumerate() {
        if *byte == b'/' && begins(text, at) {
            unix(text.get(at..).unwrap_or_default(), paths);
        } else if *byte == b':'
            && let Some(letter) = at.checked_sub(1)
            && text.get(letter).is_some_and(u8::is_ascii_alphabetic)
            && begins(text, letter)
        {
            windows(text.get(letter..).unwrap_or_default(), paths);
        }
        if paths.len() >= PATHS {
            break;
        }
    }
}

/// Whether a path may begin at `at`.
fn begins(text: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| text.get(at)).copied();
    match before(1) {
        // `
        // /path`: the letter before belongs to an escape.
        Some(b'n' | b't' | b'r') => before(2) == Some(b'\\'),
        Some(letter) => b"\"'`([{<>=:,;|@".contains(&letter) || letter.is_ascii_whitespace(),
        None => true,
    }
}

fn unix(text: &[u8], paths: &mut BTreeSet<String>) {
    // `file:///path`; in other addresses a host follows.
    let text = if text.starts_with(b"///") { text.get(2..).unwrap_or_default() } else { text };
    let end =
        text.iter().take(LONGEST).position(|byte| matches!(byte, b'"' | b'\\' | b'\n' | b'`'));
    let end = end.unwrap_or(text.len().min(LONGEST));
    if let Some(path) = text.get(..end).and_then(|path| std::str::from_utf8(path).ok())
        // After a space another path begins.
        && let Some(path) = path.split(" /").next()
        && path.len() > 1
        && !path.starts_with("//")
    {
        insert(path, paths);
    }
}

/// `C:\\Users\\dev` in JSON, `C:\Users\dev` in plain text, `C:/Users/dev` in either.
fn windows(text: &[u8], paths: &mut BTreeSet<String>) {
    if !matches!(text.get(2), Some(b'\\' | b'/')) {
        return;
    }
    let end = text
        .iter()
        .take(LONGEST)
        .position(|byte| matches!(byte, b'"' | b'\n' | b'`' | b'<' | b'>' | b'|'));
    let end = end.unwrap_or(text.len().min(LONGEST));
    if let Some(path) = text.get(..end).and_then(|path| std::str::from_utf8(path).ok()) {
        insert(&path.replace("\\\\", "\\"), paths);
    }
}

/// Adds a path that may end before the line does: words may follow it, and its own names may contain spaces.
fn insert(path: &str, paths: &mut BTreeSet<String>) {
    let drive = if path.as_bytes().get(1) == Some(&b':') { 2 } else { 0 };
    let rest = path.get(drive..).unwrap_or_default();
    let first = rest.find([' ', '\'', ')', ']', ',', ':', '<', ';', '|']);
    let blanks = rest.match_indices(' ').map(|(at, _)| at).take(WORDS);
    for end in first.into_iter().chain(blanks).chain([rest.len()]) {
        let path = path.get(..drive + end).unwrap_or_default();
        let trimmed = path.trim_end_matches(['.', ',', ':', ';', '!', '?', ')']);
        if trimmed.len() < path.len() {
            paths.insert(trimmed.to_owned());
        }
        paths.insert(path.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_arguments_and_in_prose() {
        let mut paths = BTreeSet::new();
        let text = br#"{"file_path":"/home/dev/my code/a.rs","x":"see /srv/app for more\n/opt/z\n","u":"http://x/y",
            "w":"C:\\Users\\dev\\shop","v":"in D:/work, or so"} @/home/dev/b.md"#;
        collect(text, &mut paths);
        assert!(!paths.iter().any(|path| path.starts_with("//")), "{paths:?}");
        for path in [
            "/home/dev/my code/a.rs",
            "/srv/app",
            "/opt/z",
            r"C:\Users\dev\shop",
            "D:/work",
            "/home/dev/b.md",
        ] {
            assert!(paths.contains(path), "{path} not in {paths:?}");
        }
        assert!(!paths.contains("/x/y"));
    }

    #[test]
    fn names_of_files_are_found_in_a_drawn_tree() {
        let text =
            "├───prices.csv\\n│   └───notes.md\\n at 3.14 v1.2.3 a/b/cart.js, .gitignore e.g.";
        let names = names(text.as_bytes());
        for name in ["prices.csv", "notes.md", "cart.js"] {
            assert!(names.contains(name), "{name} not in {names:?}");
        }
        assert!(!names.contains("3.14"), "{names:?}");
    }
}
