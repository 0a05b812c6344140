//! What is derived from the code: `docs/cli.md` from the arguments, the table of rooms from the table.
//!
//! Man pages and completions are printed by the program itself (`recount man`, `recount completions`), so
//! no files of them are kept.

use crate::{Report, Trouble, files, rooms};

/// A derived file, and where its text comes from.
struct Derived {
    path: &'static str,
    derive: fn() -> Result<String, Trouble>,
}

/// Every derived file.
const DERIVED: &[Derived] = &[
    Derived { path: "ARCHITECTURE.md", derive: architecture },
    Derived { path: "docs/cli.md", derive: arguments },
];

fn architecture() -> Result<String, Trouble> {
    rooms::with_table(&files::read("ARCHITECTURE.md")?)
}

fn arguments() -> Result<String, Trouble> {
    let run = ["run", "--quiet", "--locked", "-p", "recount-cli", "--", "help-markdown"];
    match files::cargo(&run)? {
        text if text.trim().is_empty() => {
            Err(Trouble::new("recount help-markdown printed nothing"))
        }
        text => Ok(text),
    }
}

/// Writes what differs.
pub(crate) fn write() -> Result<Report, Trouble> {
    let mut report = Report::default();
    for file in DERIVED {
        let text = (file.derive)()?;
        if files::read_or_empty(file.path)? != text {
            files::write(file.path, &text)?;
            report.notes.push(format!("wrote {}", file.path));
        }
    }
    Ok(report)
}

/// Fails on what differs.
pub(crate) fn compare() -> Result<Report, Trouble> {
    let mut report = Report::default();
    for file in DERIVED {
        let text = (file.derive)()?;
        if let Some(line) = first_difference(&files::read_or_empty(file.path)?, &text) {
            report.failures.push(format!(
                "{}:{line}: differs from what the code says; run `cargo xtask generate`",
                file.path
            ));
        }
    }
    Ok(report)
}

/// Returns the first line, counted from 1, at which two texts part.
fn first_difference(one: &str, other: &str) -> Option<usize> {
    if one == other {
        return None;
    }
    let same = one.split('\n').zip(other.split('\n')).take_while(|(a, b)| a == b).count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        for (one, other, line) in [
            ("a\nb\n", "a\nb\n", None),
            ("a\nb\n", "a\nc\n", Some(2)),
            ("", "a\n", Some(1)),
            ("a\n", "a\nb\n", Some(2)),
            ("a\nb", "a\nb\n", Some(3)),
        ] {
            assert_eq!(first_difference(one, other), line, "{one:?} {other:?}");
        }
    }
}
