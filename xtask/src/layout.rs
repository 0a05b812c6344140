//! No word of an agent's folder layout may be used outside that agent's folder of `formats`.
//!
//! A literal such as `chats` or `rollout-` elsewhere means that shared code knows how one agent arranges its files.
//! Existing violations are listed in `xtask/layout.allow`, one `path word` per line. The list may only get shorter: an
//! entry whose word is gone fails, too.

use std::collections::BTreeSet;

use crate::Report;
use crate::files::RustFile;
use crate::rust::strings;
use crate::sizes::only_tests;

/// Parts of names of files and folders. A word without punctuation counts only as a whole path component.
const WORDS: &[&str] = &[
    ".claude",
    ".codex",
    ".gemini",
    ".project_root",
    "chats",
    "checkpoint-",
    "logs.json",
    "projects.json",
    "rollout-",
    "session-",
    "sessions-index",
    "tool-outputs",
    "tool_outputs",
    "trustedFolders.json",
];
/// Folders of `formats` that belong to one agent.
const AGENTS: &[&str] = &["claude", "codex", "gemini"];
/// Crates that generate data of agents, for demos and tests.
const MAKERS: &[&str] = &["testbed", "testkit"];

/// Fails on every literal with a layout word that `allowed` does not list, and on unused entries.
pub(crate) fn check(files: &[RustFile], allowed: &str) -> Report {
    let allowed: BTreeSet<(&str, &str)> = entries(allowed).collect();
    let mut report = Report::default();
    let mut met = BTreeSet::new();
    for file in files.iter().filter(|file| is_covered(&file.path)) {
        for (line, word) in named(&file.text) {
            if allowed.contains(&(file.path.as_str(), word)) {
                met.insert((file.path.as_str(), word));
            } else {
                let path = &file.path;
                report.failures.push(format!("{path}:{line}: knows `{word}` of an agent's layout"));
            }
        }
    }
    for (path, word) in allowed.difference(&met) {
        report.failures.push(format!("xtask/layout.allow: `{path} {word}` is no longer needed"));
    }
    report.notes.push(format!("{} layout words outside their agent's folder", met.len()));
    report
}

fn entries(allowed: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = allowed.lines().map(str::trim);
    lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '))
}

fn is_covered(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["crates", "formats", "src", folder, _, ..] if AGENTS.contains(folder) => false,
        ["crates", name, "src", ..] => !MAKERS.contains(name) && !only_tests(path),
        _ => false,
    }
}

/// Returns the lines, counted from 1, with a literal that contains a layout word.
fn named(text: &str) -> Vec<(usize, &'static str)> {
    let words = |(line, literal): (usize, String)| {
        WORDS.iter().filter(move |word| is_in(word, &literal)).map(move |word| (line, *word))
    };
    strings(text).into_iter().flat_map(words).collect()
}

fn is_in(word: &str, literal: &str) -> bool {
    if word.chars().all(char::is_alphanumeric) {
        return literal.split(['/', '\\']).any(|component| component == word);
    }
    // A word that begins a name must do so here, too: `session-` is not in `--session-id`.
    let begins = |at: usize| {
        let before = literal.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| !before.is_alphanumeric() && !"-_.".contains(before))
    };
    literal.match_indices(word).any(|(at, _)| begins(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(path: &str, text: &str, allowed: &str) -> Vec<String> {
        check(&[RustFile { path: path.to_owned(), text: text.to_owned() }], allowed).failures
    }

    const PATH: &str = "crates/engine/src/list.rs";

    #[test]
    fn a_word_in_a_literal_fails_with_its_line() {
        let text = "fn f() {\n    path.join(\"chats\");\n    name.starts_with(\"rollout-\");\n}\n";
        assert_eq!(
            failures(PATH, text, ""),
            [
                "crates/engine/src/list.rs:2: knows `chats` of an agent's layout",
                "crates/engine/src/list.rs:3: knows `rollout-` of an agent's layout",
            ]
        );
    }

    #[test]
    fn identifiers_comments_prose_and_tests_may_use_any_word() {
        for text in [
            "let chats = folder.chats();",
            "// below \"chats\"",
            "let a = \"saved chats are read, too\";",
            "let a = \"--session-id\";",
            "#[cfg(test)]\nmod tests {\n    const A: &str = \"chats\";\n}\n",
        ] {
            assert_eq!(failures(PATH, text, ""), [""; 0], "{text}");
        }
        assert_eq!(failures(PATH, "let a = \"tmp/chats/a\";", "").len(), 1);
        assert_eq!(failures(PATH, "let a = \"~/.gemini\";", "").len(), 1);
    }

    #[test]
    fn the_list_of_offenders_may_only_get_shorter() {
        let text = "path.join(\"chats\");";
        let allowed = "# why\ncrates/engine/src/list.rs chats\n";
        assert_eq!(failures(PATH, text, allowed), [""; 0]);
        assert_eq!(
            failures(PATH, "", allowed),
            ["xtask/layout.allow: `crates/engine/src/list.rs chats` is no longer needed"]
        );
        assert_eq!(failures(PATH, text, "crates/engine/src/list.rs .gemini\n").len(), 2);
    }

    #[test]
    fn an_agents_own_folder_and_makers_of_data_know_layouts() {
        for (path, covered) in [
            ("crates/formats/src/gemini/project.rs", false),
            ("crates/formats/src/gemini.rs", true),
            ("crates/formats/src/source.rs", true),
            ("crates/cli/src/main.rs", true),
            ("crates/redact/src/lib.rs", true),
            ("crates/testbed/src/home.rs", false),
            ("crates/cli/tests/main.rs", false),
            ("crates/engine/src/scan/tests.rs", false),
            ("xtask/src/layout.rs", false),
        ] {
            assert_eq!(is_covered(path), covered, "{path}");
        }
    }
}
