//! Generated files: `docs/cli.md` from the arguments, `docs/keys.md` and the page's `keys.json` from the table of keys, the table of crates from the table in code, and the output of every
//! example in README, docs and help from the program.
//!
//! Man pages and completions are printed by the program itself (`recount man`, `recount completions`), so they are not
//! checked in.

use crate::{Report, TaskError, examples, files, rooms};

/// Returns every generated file with its text, and the failures of others.
fn derived() -> Result<(Vec<(String, String)>, Report), TaskError> {
    let mut report = Report::default();
    let arguments = arguments()?;
    let mut derived = vec![
        ("ARCHITECTURE.md".to_owned(), rooms::with_table(&files::read("ARCHITECTURE.md")?)?),
        ("docs/cli.md".to_owned(), arguments.clone()),
        ("docs/keys.md".to_owned(), keys("--keys")?),
        ("crates/web/assets/keys.json".to_owned(), keys("--keys-json")?),
    ];
    let (help, outputs) = examples::help(&arguments)?;
    report.take(help);
    derived.push((examples::OUTPUTS.to_owned(), outputs));
    for path in files::guides()? {
        match examples::page(&path) {
            Ok(text) => derived.push((path, text)),
            Err(trouble) => report.failures.push(trouble.to_string()),
        }
    }
    Ok((derived, report))
}

fn arguments() -> Result<String, TaskError> {
    // Like the tests: any other choice of targets selects other features of dependencies, and compiles them again.
    files::cargo(&["test", "--quiet", "--workspace", "--locked", "--no-run", "--test", "main"])?;
    let program = examples::target().join("debug/recount");
    match files::output(&program, &["help-markdown"])? {
        text if text.trim().is_empty() => {
            Err(TaskError::new("recount help-markdown printed nothing"))
        }
        text => Ok(text),
    }
}

/// Returns the keys of the terminal app.
fn keys(form: &str) -> Result<String, TaskError> {
    files::output(&examples::target().join("debug/recount"), &["help-markdown", form])
}

/// Writes the files that differ.
pub(crate) fn write() -> Result<Report, TaskError> {
    let (derived, mut report) = derived()?;
    for (path, text) in derived {
        if files::read_or_empty(&path)? != text {
            files::write(&path, &text)?;
            report.notes.push(format!("wrote {path}"));
        }
    }
    Ok(report)
}

/// Fails on files that differ, and on examples that fail.
pub(crate) fn compare() -> Result<Report, TaskError> {
    let (derived, mut report) = derived()?;
    for (path, text) in derived {
        if let Some(line) = first_difference(&files::read_or_empty(&path)?, &text) {
            report.failures.push(format!(
                "{path}:{line}: differs from what the code says; run `cargo xtask generate`"
            ));
        }
    }
    Ok(report)
}

/// Returns the first line, counted from 1, at which two texts differ.
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
