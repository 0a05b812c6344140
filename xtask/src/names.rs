//! No agent may be named outside its folder.
//!
//! Everything specific to one agent is in its folder of `formats`; a name elsewhere means that a second agent would need a
//! change there. Comments, help texts written as doc comments, examples in help, and tests may name agents: they have no effect.

use crate::Report;
use crate::files::RustFile;
use crate::rust::{code_lines, without_comments};
use crate::sizes::only_tests;

const SOURCES: &[&str] = &["gemini", "claude", "codex"];
/// The start of a command line in a help text.
const EXAMPLE: &str = "  recount ";
/// The crates that may: agents' folders, and what generates their data for demos and tests.
const EXEMPT: &[&str] = &["formats", "testbed", "testkit"];

/// Fails on every line of code that names an agent in a crate that must not know any.
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
    let Some((room, rest)) = path.strip_prefix("crates/").and_then(|path| path.split_once('/'))
    else {
        return false;
    };
    rest.starts_with("src/") && !EXEMPT.contains(&room) && !only_tests(path)
}

/// Returns the lines, counted from 1, that name an agent.
fn named(text: &str) -> Vec<(usize, &'static str)> {
    let code = without_comments(text);
    code_lines(&code)
        .enumerate()
        .filter_map(|(index, line)| {
            let line = line.to_lowercase();
            if line.starts_with(EXAMPLE) {
                return None;
            }
            let source = SOURCES.iter().find(|source| line.contains(**source))?;
            Some((index + 1, *source))
        })
        .collect()
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
    fn comments_docs_and_tests_may_name_agents() {
        for text in [
            "//! Gemini first.\n",
            "/// Like `gemini --list-sessions`.\nfn f() {}\n",
            "#[command(after_help = \"\\\nExamples:\n  recount handover 279d --to claude\")]\nstruct A;\n",
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
    fn lines_keep_their_numbers_after_comments_of_several_lines() {
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
