//! Where the agent writes down which folder it was used in.
//!
//! The name of a project directory cannot be decoded (every sign but letters and digits becomes `-`), so the folder
//! is taken from the rows of the sessions in it. Sessions are deleted after some weeks; the list of projects
//! in `.claude.json` and the prompts in `history.jsonl` outlive them.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use recount_model::RecordedPath;

use crate::bytes::{read_head, read_tail};
use crate::json::Scanner;
use crate::named_folders::{DOCUMENT, MOST_FILES, Named, entries, object_or_skip, rows, text_into};

/// Two folders can share one project directory, so one session of it is not enough.
const SESSIONS_PER_DIRECTORY: usize = 4;

/// How much of the prompt history is read, from its end.
const HISTORY: u64 = 1024 * 1024;

/// How many session files are asked for their age.
const MOST_LISTED: usize = 50_000;

/// Lists the folders on record below `root`, the agent's data folder.
pub(super) fn paths(root: &Path) -> Vec<(RecordedPath, PathBuf)> {
    let mut named = Named::default();
    let directories = entries(&root.join("projects"));
    for session in newest_sessions(&directories) {
        named.add_from_head(&session, in_session);
    }
    for file in settings(root) {
        add_all(&mut named, &file, read_head(&file, DOCUMENT).map(|bytes| in_settings(&bytes)));
    }
    let history = root.join("history.jsonl");
    add_all(&mut named, &history, read_tail(&history, HISTORY).map(|bytes| in_history(&bytes)));
    for directory in directories.iter().take(MOST_FILES) {
        // A cache of some releases, often stale; a folder that was once true is all we want of it.
        named.add_from_head(&directory.join("sessions-index.json"), in_index);
    }
    named.into_sorted()
}

fn add_all(named: &mut Named, file: &Path, found: std::io::Result<Vec<String>>) {
    for path in found.unwrap_or_default() {
        named.add(&path, file);
    }
}

/// The settings lie beside the data folder, or in it when an environment variable moved it.
fn settings(root: &Path) -> Vec<PathBuf> {
    let beside = root.file_name().is_some_and(|name| name == ".claude");
    let above = root.parent().filter(|_| beside);
    above.into_iter().chain([root]).map(|folder| folder.join(".claude.json")).collect()
}

/// Lists session files: the newest of each directory before the second newest of any.
fn newest_sessions(directories: &[PathBuf]) -> Vec<PathBuf> {
    let mut left = MOST_LISTED;
    let mut chosen = Vec::new();
    for directory in directories {
        let mut sessions: Vec<(Reverse<SystemTime>, PathBuf)> = entries(directory)
            .into_iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .take(left)
            .filter_map(|path| {
                let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
                Some((Reverse(metadata.modified().ok()?), path))
            })
            .collect();
        left -= sessions.len();
        sessions.sort();
        let ranked = sessions.into_iter().take(SESSIONS_PER_DIRECTORY).enumerate();
        chosen.extend(ranked.map(|(rank, (age, path))| (rank, age, path)));
    }
    chosen.sort();
    chosen.into_iter().take(MOST_FILES).map(|(_, _, path)| path).collect()
}

/// Reads the rows of a session.
fn in_session(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    rows(bytes, |scanner, key| {
        if key.is("cwd") || key.is("relocatedCwd") {
            text_into(scanner, &mut found)
        } else {
            scanner.skip()
        }
    });
    found
}

/// Reads the rows of the prompt history.
fn in_history(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    rows(
        bytes,
        |scanner, key| {
            if key.is("project") { text_into(scanner, &mut found) } else { scanner.skip() }
        },
    );
    found
}

/// Reads the settings, which list projects by their path.
fn in_settings(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    // Everything before damage is valid.
    let _broken = Scanner::new(bytes).object(|scanner, key| {
        if !key.is("projects") {
            return scanner.skip();
        }
        object_or_skip(scanner, |scanner, path| {
            found.push(path.decode().into_owned());
            scanner.skip()
        })
    });
    found
}

/// Reads the index of a project directory.
fn in_index(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let _broken = Scanner::new(bytes).object(|scanner, key| {
        if key.is("originalPath") {
            return text_into(scanner, &mut found);
        }
        if !key.is("entries") || scanner.peek()? != b'[' {
            return scanner.skip();
        }
        scanner.array(|scanner| {
            object_or_skip(scanner, |scanner, key| {
                if key.is("projectPath") { text_into(scanner, &mut found) } else { scanner.skip() }
            })
        })
    });
    found
}

/// Names longer than this are cut, by recent releases.
const LONGEST: usize = 200;

/// Returns the name of the directory of a project: as recent releases write it, and whole, as older ones do.
pub(crate) fn directory_names(path: &str) -> (String, String) {
    let units: Vec<u16> = path.encode_utf16().collect();
    let sign = |unit: &u16| match char::from_u32(u32::from(*unit)) {
        Some(sign) if sign.is_ascii_alphanumeric() => sign,
        _ => '-',
    };
    let whole: String = units.iter().map(sign).collect();
    if whole.len() <= LONGEST {
        return (whole.clone(), whole);
    }
    let hash =
        units.iter().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(*unit)));
    let mut number = hash.unsigned_abs();
    let mut digits = Vec::new();
    while number > 0 || digits.is_empty() {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
    }
    let start: String = whole.chars().take(LONGEST).collect();
    let cut = format!("{start}-{}", digits.iter().rev().collect::<String>());
    (cut, whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use recount_testkit::Home;

    use super::*;

    const SESSION: &str = r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-11-15T17:53:42.634Z","content":"hello"}
{"parentUuid":null,"type":"user","message":{"role":"user","content":"where is \"cwd\":\"/no\"?"},"cwd":"/home/dev/code/shop","version":"2.1.325"}
{"type":"relocated","relocatedCwd":"/home/dev/code/moved"}
"#;

    fn found(home: &Home) -> Vec<(String, String)> {
        let below =
            |path: PathBuf| path.strip_prefix(home.path()).unwrap().to_string_lossy().into_owned();
        let all = paths(&home.path().join(".claude")).into_iter();
        all.map(|(path, file)| (path.as_str().to_owned(), below(file))).collect()
    }

    #[test]
    fn a_directory_is_called_after_its_folder() {
        let short = |path: &str| directory_names(path).0;
        assert_eq!(short("/home/dev2/code/my.app_v2"), "-home-dev2-code-my-app-v2");
        assert_eq!(short("/home/dev2/code/商店"), "-home-dev2-code---");
        assert_eq!(short("C:\\git\\x"), "C--git-x");
        let (cut, whole) = directory_names(&format!("/{}", "a".repeat(250)));
        assert_eq!(whole.len(), 251);
        let (start, end) = cut.split_at(200);
        assert!(whole.starts_with(start) && end.starts_with('-') && cut.len() < 210);
    }

    #[test]
    fn every_record_that_names_a_folder_is_found() {
        let home = Home::empty();
        home.write(".claude/projects/-home-dev-code-shop/a.jsonl", SESSION);
        home.write(
            ".claude/projects/-home-dev-code-shop/sessions-index.json",
            r#"{"version":1,"entries":[7,{"sessionId":"a","projectPath":"/home/dev/code/entry"}],"originalPath":"/home/dev/code/index"}"#,
        );
        home.write(".claude.json", r#"{"n":1,"projects":{"/home/dev/code/listed":{"x":[]}}}"#);
        home.write(".claude/history.jsonl", r#"{"display":"hi","project":"/home/dev/code/typed"}"#);
        let found = found(&home);
        let found: Vec<_> =
            found.iter().map(|(path, file)| (path.as_str(), file.as_str())).collect();
        let session = ".claude/projects/-home-dev-code-shop/a.jsonl";
        let index = ".claude/projects/-home-dev-code-shop/sessions-index.json";
        assert_eq!(
            found,
            [
                ("/home/dev/code/entry", index),
                ("/home/dev/code/index", index),
                ("/home/dev/code/listed", ".claude.json"),
                ("/home/dev/code/moved", session),
                ("/home/dev/code/shop", session),
                ("/home/dev/code/typed", ".claude/history.jsonl"),
            ]
        );
    }

    #[test]
    fn a_long_first_row_is_read_past_and_a_torn_one_is_read_into() {
        let long =
            format!("{{\"type\":\"summary\",\"summary\":\"{}\"}}\n{SESSION}", "x".repeat(20_000));
        assert_eq!(in_session(long.as_bytes()).len(), 2);
        assert_eq!(in_session(br#"{"cwd":"/home/dev/code/shop","message":{"text":"to"#).len(), 1);
        let home = Home::empty();
        home.write(".claude/projects/-home-dev-code-shop/a.jsonl", long);
        assert_eq!(found(&home).len(), 2);
    }

    #[test]
    fn damaged_and_missing_records_name_what_is_left() {
        let home = Home::empty();
        assert!(found(&home).is_empty());
        home.write(".claude.json", r#"{"projects":{"/home/dev/code/shop":{"lastCost":0.1},"/home"#);
        home.write(".claude/projects/-x/a.jsonl/folder", "in place of a file");
        home.write(".claude/projects/-x/b.jsonl", "\0\0\0");
        home.write(".claude/projects/a-file", "");
        assert_eq!(found(&home).len(), 1);
    }

    #[test]
    fn of_many_sessions_each_directory_has_its_turn() {
        let home = Home::empty();
        for directory in ["-a", "-b"] {
            for session in 0..6 {
                home.write(&format!(".claude/projects/{directory}/{session}.jsonl"), "");
            }
        }
        let directories = entries(&home.path().join(".claude/projects"));
        let chosen = newest_sessions(&directories);
        assert_eq!(chosen.len(), 2 * SESSIONS_PER_DIRECTORY);
        let parents: Vec<_> = chosen.iter().take(2).filter_map(|path| path.parent()).collect();
        assert_ne!(parents[0], parents[1]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400), cut in 0..SESSION.len()) {
            for read in [in_session, in_history, in_settings, in_index] {
                let _found = read(&bytes);
                let _found = read(SESSION.as_bytes().get(..cut).unwrap_or_default());
            }
        }
    }
}
