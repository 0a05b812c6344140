//! Where the agent writes down which folder it was used in.
//!
//! Releases from 0.32 begin a session with a row that has it; before, it is only in the environment context of the
//! model, and before 0.2x nowhere. Sessions that the agent compressed (`.jsonl.zst`) are not looked
//! into. `config.toml` lists the folders that the user trusts, and the agent's index those of threads that may be gone.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use memchr::memmem;
use recount_model::RecordedPath;

use super::database;
use crate::bytes::read_head;
use crate::json::Scanner;
use crate::named_folders::{DOCUMENT, MOST_FILES, Named, entries, object_or_skip, rows, text_into};

/// How many folders are listed: more than there are days to have sessions on.
const MOST_FOLDERS: usize = 5000;

/// Lists the folders on record below `root`, the agent's data folder.
pub(super) fn paths(root: &Path) -> Vec<(RecordedPath, PathBuf)> {
    let mut named = Named::default();
    for session in newest_sessions(root) {
        named.add_from_head(&session, in_session);
    }
    let settings = root.join("config.toml");
    let bytes = read_head(&settings, DOCUMENT).unwrap_or_default();
    for path in in_settings(&String::from_utf8_lossy(&bytes)) {
        named.add(&path, &settings);
    }
    if let Some([index, _]) = database::files(root) {
        for path in database::threads(root).into_iter().filter_map(|thread| thread.cwd) {
            named.add(path.as_str(), &index);
        }
    }
    named.into_sorted()
}

/// Lists session files, the newest first: their names begin with the time.
fn newest_sessions(root: &Path) -> Vec<PathBuf> {
    let mut folders_left = MOST_FOLDERS;
    let mut sessions = Vec::new();
    for (folder, depth) in [("sessions", 3), ("archived_sessions", 0)] {
        let mut found = Vec::new();
        gather(&root.join(folder), depth, &mut folders_left, &mut found);
        sessions.extend(found);
    }
    sessions.sort_by_cached_key(|path| Reverse(path.file_name().map(ToOwned::to_owned)));
    sessions.truncate(MOST_FILES);
    sessions
}

/// Walks down years, months and days, the latest first, until there are enough.
fn gather(folder: &Path, depth: u8, folders_left: &mut usize, found: &mut Vec<PathBuf>) {
    if *folders_left == 0 {
        return;
    }
    *folders_left -= 1;
    for path in entries(folder).into_iter().rev() {
        if found.len() >= MOST_FILES {
            return;
        }
        if is_session(&path) {
            found.push(path);
        } else if depth > 0 && path.is_dir() {
            gather(&path, depth - 1, folders_left, found);
        }
    }
}

fn is_session(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("rollout-") && path.extension().is_some_and(|extension| extension == "jsonl")
}

/// Reads the rows of a session.
fn in_session(bytes: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    rows(bytes, |scanner, key| {
        if key.is("payload") {
            return object_or_skip(scanner, |scanner, key| {
                if key.is("cwd") { text_into(scanner, &mut found) } else { scanner.skip() }
            });
        }
        // Some releases wrote the payload's fields into the row itself.
        if key.is("cwd") { text_into(scanner, &mut found) } else { scanner.skip() }
    });
    if found.is_empty() {
        found = in_context(bytes);
    }
    found
}

/// Finds `<cwd>…</cwd>` in the text for the model, which is inside a JSON string.
fn in_context(bytes: &[u8]) -> Vec<String> {
    let (open, close) = (b"<cwd>", b"</cwd>");
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some(at) = memmem::find(rest, open) {
        rest = rest.get(at + open.len()..).unwrap_or_default();
        let Some(end) = memmem::find(rest, close) else { break };
        found.extend(decode(rest.get(..end).unwrap_or_default()));
    }
    found
}

/// Reads the settings: `[projects."/path"]`, or `"/path" = …` below `[projects]`.
fn in_settings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut below_projects = false;
    for line in text.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            below_projects = header.starts_with("projects]");
            found.extend(header.strip_prefix("projects.").and_then(quoted));
        } else if below_projects {
            found.extend(quoted(line));
        }
    }
    found
}

/// Reads the quoted key that `text` begins with. The escapes of TOML are, in paths, those of JSON.
fn quoted(text: &str) -> Option<String> {
    if let Some(literal) = text.strip_prefix('\'') {
        return literal.split_once('\'').map(|(path, _)| path.to_owned());
    }
    let key = text.starts_with('"').then(|| Scanner::new(text.as_bytes()).string().ok())??;
    Some(key.decode().into_owned())
}

/// Decodes a piece from the inside of a JSON string.
fn decode(piece: &[u8]) -> Option<String> {
    let whole = [b"\"", piece, b"\""].concat();
    let text = Scanner::new(&whole).string().ok()?;
    Some(text.decode().into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use recount_testkit::Home;

    use super::*;

    const TAGGED: &str = r#"{"timestamp":"2026-11-15T17:56:22.358Z","ordinal":0,"type":"session_meta","payload":{"id":"01a1e05a","cwd":"/home/dev/code/shop","originator":"codex_exec","base_instructions":{"text":"You are"}}}
"#;

    const BARE: &str = r#"{"id":"44aaf2a1","timestamp":"2026-11-15T18:00:59.333Z","instructions":null,"git":{"branch":"main"}}
{"record_type":"state"}
{"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/home/dev/code/a \"b\"</cwd>\n  <approval_policy>never</approval_policy>\n</environment_context>"}]}
"#;

    fn found(home: &Home) -> Vec<String> {
        let all = paths(&home.path().join(".codex")).into_iter();
        all.map(|(path, file)| {
            assert!(file.starts_with(home.path()));
            path.as_str().to_owned()
        })
        .collect()
    }

    #[test]
    fn every_record_that_names_a_folder_is_found() {
        let home = Home::empty();
        home.write(".codex/sessions/2026/11/15/rollout-2026-11-15T17-56-22-01a1e05a.jsonl", TAGGED);
        home.write(".codex/sessions/2025/08/20/rollout-2025-08-20T18-00-59-44aaf2a1.jsonl", BARE);
        let archived = TAGGED.replace("shop", "archived");
        home.write(".codex/archived_sessions/rollout-2026-11-14T17-56-22-01a1e059.jsonl", archived);
        home.write(".codex/sessions/2026/11/15/notes.jsonl", TAGGED.replace("shop", "other"));
        home.write(
            ".codex/config.toml",
            "model = \"m\"\n[projects.\"/home/dev/code/trusted\"]\ntrust_level = \"trusted\"\n\
             [projects.'C:\\code\\literal']\n[projects]\n\"/home/dev/code/inline\" = { a = 1 }\n[x]\n\"/no\" = 1\n",
        );
        assert_eq!(
            found(&home),
            [
                "/home/dev/code/a \"b\"",
                "/home/dev/code/archived",
                "/home/dev/code/inline",
                "/home/dev/code/shop",
                "/home/dev/code/trusted",
                "C:\\code\\literal",
            ]
        );
    }

    #[test]
    fn the_newest_sessions_come_first() {
        let home = Home::empty();
        home.write(".codex/sessions/2025/12/31/rollout-2025-12-31T00-00-00-a.jsonl", "");
        home.write(".codex/sessions/2026/01/02/rollout-2026-01-02T00-00-00-c.jsonl", "");
        home.write(".codex/archived_sessions/rollout-2026-01-01T00-00-00-b.jsonl", "");
        let sessions = newest_sessions(&home.path().join(".codex"));
        let names: Vec<_> = sessions.iter().map(|path| path.to_string_lossy()).collect();
        assert!(names[0].ends_with("c.jsonl") && names[1].ends_with("b.jsonl"), "{names:?}");
        assert!(names[2].ends_with("a.jsonl"), "{names:?}");
    }

    #[test]
    fn damaged_and_missing_records_name_what_is_left() {
        let home = Home::empty();
        assert!(found(&home).is_empty());
        let torn = TAGGED.get(..130).unwrap();
        home.write(".codex/sessions/2026/11/15/rollout-2026-11-15T17-56-22-01a1e05a.jsonl", torn);
        home.write(".codex/sessions/2026/11/15/rollout-2026-11-15T17-56-23-b.jsonl/folder", "");
        home.write(".codex/config.toml/folder", "");
        assert_eq!(found(&home), ["/home/dev/code/shop"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400), cut in 0..BARE.len()) {
            let _found = in_session(&bytes);
            let _found = in_session(BARE.as_bytes().get(..cut).unwrap_or_default());
            let _found = in_settings(&String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn any_settings_are_read(text in "(\\[|projects|\\.|\"|'|/a|\\]|\n|\\\\|=| ){0,30}") {
            let _found = in_settings(&text);
        }
    }
}
