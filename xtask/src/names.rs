//! No agent is named outside its room.
//!
//! What is particular to one agent lives in its folder of `formats`; a name elsewhere means that a second
//! agent would need a change there. Comments, help texts written as doc comments, and tests may name whom
//! they like: they decide nothing.

use crate::Report;
use crate::files::RustFile;
use crate::sizes::only_tests;

const SOURCES: &[&str] = &["gemini", "claude", "codex"];
const ROOMS: &[&str] =
    &["model", "store", "engine", "changes", "platform", "writer", "export", "cli"];

/// Fails on every line of code that names an agent in a room that should know none.
pub(crate) fn check(files: &[RustFile]) -> Report {
    let mut report = Report::default();
    for file in files.iter().filter(|file| is_covered(&file.path)) {
        for (line, source) in named(&file.text) {
            report.failures.push(format!("{}:{line}: names `{source}`", file.path));
        }
    }
    report
}

fn is_covered(path: &str) -> bool {
    ROOMS.iter().any(|room| path.starts_with(&format!("crates/{room}/src/"))) && !only_tests(path)
}

/// Returns the lines, counted from 1, that name an agent.
fn named(text: &str) -> Vec<(usize, &'static str)> {
    let code = without_comments(text);
    let lines: Vec<&str> = code.lines().collect();
    let end = lines
        .windows(2)
        .position(|pair| matches!(pair, [first, second] if opens_tests(first, second)))
        .unwrap_or(lines.len());
    lines
        .iter()
        .take(end)
        .enumerate()
        .filter_map(|(index, line)| {
            let line = line.to_lowercase();
            let source = SOURCES.iter().find(|source| line.contains(**source))?;
            Some((index + 1, *source))
        })
        .collect()
}

/// Tests stand at the foot of a file, so all that follows their head is theirs.
fn opens_tests(first: &str, second: &str) -> bool {
    first.trim() == "#[cfg(test)]" && second.trim() == "mod tests {"
}

/// Returns the text with comments blanked, so that lines keep their numbers.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let comment = comment_length(rest);
        let length = if comment > 0 { comment } else { literal_length(rest) };
        let length = length.max(first.len_utf8()).min(rest.len());
        let (piece, after) = rest.split_at(length);
        if comment > 0 {
            code.extend(piece.chars().filter(|character| *character == '\n'));
        } else {
            code.push_str(piece);
        }
        rest = after;
    }
    code
}

/// Returns how long the comment is that the text begins with; 0 when it begins with none.
fn comment_length(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if !text.starts_with("/*") {
        return 0;
    }
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// Returns how long the string or character literal is that the text begins with, so that a quote or
/// slashes inside it are not taken for a beginning; 0 when it begins with none.
fn literal_length(text: &str) -> usize {
    if let Some(raw) = text.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if let Some(body) = raw.get(hashes..).and_then(|after| after.strip_prefix('"')) {
            let close = format!("\"{}", "#".repeat(hashes));
            let open = text.len() - body.len();
            return body.find(&close).map_or(text.len(), |end| open + end + close.len());
        }
    }
    if text.starts_with('"') {
        return quoted_length(text, '"');
    }
    if text.starts_with('\'') {
        let length = quoted_length(text, '\'');
        let inside = text.get(1..length.saturating_sub(1)).unwrap_or_default();
        // A lifetime has no closing quote near by: 'a' and '\n' are characters, 'a> is not.
        let is_character = inside.starts_with('\\') || inside.chars().count() == 1;
        return if is_character { length } else { 0 };
    }
    0
}

fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_string_or_an_identifier_is_found_with_its_line() {
        let text =
            "fn f() {\n    open(\".gemini\");\n    let home = ClaudeHome;\n    CODEX_HOME\n}\n";
        assert_eq!(named(text), [(2, "gemini"), (3, "claude"), (4, "codex")]);
    }

    #[test]
    fn comments_docs_and_tests_may_name_whom_they_like() {
        for text in [
            "//! Gemini first.\n",
            "/// Like `gemini --list-sessions`.\nfn f() {}\n",
            "let a = 1; // as codex does\n",
            "/* claude /* gemini */ codex */ fn f() {}\n",
            "fn f() {}\n\n#[cfg(test)]\nmod tests {\n    const A: &str = \"gemini\";\n}\n",
        ] {
            assert_eq!(named(text), [], "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_comment_inside_a_literal_is_code() {
        for text in [
            "let a = \"// gemini\";",
            "let a = r#\"a \" // gemini\"#;",
            "let a = '\"'; let b = \"gemini\"; // \"",
            "fn f<'a>(text: &'a str) { \"/* gemini */\" }",
            "let a = '\\''; \"// gemini\"",
            "let a = \"\\\"// gemini\";",
        ] {
            assert_eq!(named(text), [(1, "gemini")], "{text}");
        }
    }

    #[test]
    fn lines_keep_their_numbers_behind_comments_of_several_lines() {
        assert_eq!(named("/* one\n * two\n */\nlet a = \"gemini\";\n"), [(4, "gemini")]);
    }

    #[test]
    fn a_declared_test_file_does_not_end_the_code() {
        assert_eq!(named("#[cfg(test)]\nmod tests;\nconst A: &str = \"codex\";\n"), [(3, "codex")]);
    }

    #[test]
    fn only_rooms_that_should_know_no_agent_are_covered() {
        for (path, covered) in [
            ("crates/cli/src/commands/list.rs", true),
            ("crates/engine/src/lib.rs", true),
            ("crates/cli/tests/main.rs", false),
            ("crates/engine/src/list/tests.rs", false),
            ("crates/formats/src/source.rs", false),
            ("crates/testbed/src/lib.rs", false),
            ("xtask/src/names.rs", false),
        ] {
            assert_eq!(is_covered(path), covered, "{path}");
        }
    }
}
