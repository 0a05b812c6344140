//! The maximum length of a file.

use crate::Report;
use crate::files::RustFile;

const QUESTIONED: usize = 500;
const TOO_LONG: usize = 800;
/// Tables of cases are read one row at a time.
const TESTS_TOO_LONG: usize = 1200;

/// Fails on files that must be split and notes those that should be.
pub(crate) fn check(files: &[RustFile]) -> Report {
    let mut report = Report::default();
    for file in files {
        let lines = file.text.lines().count();
        match verdict(&file.path, lines) {
            Verdict::Fine => {}
            Verdict::Questioned => {
                report.notes.push(format!("questioned: {} has {lines} lines", file.path));
            }
            Verdict::TooLong(limit) => {
                report.failures.push(format!("{}: {lines} lines, split at {limit}", file.path));
            }
        }
    }
    report
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Fine,
    Questioned,
    TooLong(usize),
}

fn verdict(path: &str, lines: usize) -> Verdict {
    let (questioned, limit) =
        if only_tests(path) { (TESTS_TOO_LONG, TESTS_TOO_LONG) } else { (QUESTIONED, TOO_LONG) };
    if lines > limit {
        Verdict::TooLong(limit)
    } else if lines > questioned {
        Verdict::Questioned
    } else {
        Verdict::Fine
    }
}

/// Whether a file contains only tests.
pub(crate) fn only_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.split('/').any(|folder| folder == "tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_questioned_at_500_lines_and_split_at_800() {
        for (path, lines, expected) in [
            ("crates/cli/src/main.rs", 500, Verdict::Fine),
            ("crates/cli/src/main.rs", 501, Verdict::Questioned),
            ("crates/cli/src/main.rs", 800, Verdict::Questioned),
            ("crates/cli/src/main.rs", 801, Verdict::TooLong(800)),
            ("crates/cli/src/latests.rs", 801, Verdict::TooLong(800)),
            ("crates/cli/src/page/tests.rs", 1200, Verdict::Fine),
            ("crates/cli/tests/list.rs", 801, Verdict::Fine),
            ("crates/cli/tests/list.rs", 1201, Verdict::TooLong(1200)),
        ] {
            assert_eq!(verdict(path, lines), expected, "{path} with {lines}");
        }
    }

    #[test]
    fn only_what_is_too_long_fails() {
        let file = |path: &str, lines: usize| RustFile {
            path: path.to_owned(),
            text: "fn f() {}\n".repeat(lines),
        };
        let report = check(&[file("a.rs", 10), file("b.rs", 600), file("c.rs", 900)]);
        assert_eq!(report.notes, ["questioned: b.rs has 600 lines".to_owned()]);
        assert_eq!(report.failures, ["c.rs: 900 lines, split at 800".to_owned()]);
    }
}
