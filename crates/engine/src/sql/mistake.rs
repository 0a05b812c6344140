//! Errors of an SQL statement: the position, and suggestions.

use recount_catalog::sql::{SqlError, SqlView, VIEWS};

use crate::Error;

/// The maximum number of columns in a hint.
const NAMED: usize = 60;

/// Turns a fault into an error with a position and hints.
pub(super) fn sql_error(fault: SqlError, statement: &str) -> Error {
    match fault {
        SqlError::Stopped(error) => Error::Output(error),
        SqlError::File(error) => Error::Catalog(error),
        SqlError::Refused(what) => Error::SqlRefused(what),
        SqlError::Mistake { what, offset } => Error::Sql {
            // An error without a position in the statement is about the data.
            hints: offset.map(|_| hints(&what, statement)).unwrap_or_default(),
            pointed: offset.map(|offset| pointed(statement, offset)),
            what,
        },
        other => Error::Sql { what: other.to_string(), pointed: None, hints: Vec::new() },
    }
}

/// Returns the line of the statement that the byte is on, with carets below the word there.
fn pointed(statement: &str, offset: usize) -> String {
    let offset = (0..=offset.min(statement.len()))
        .rev()
        .find(|at| statement.is_char_boundary(*at))
        .unwrap_or_default();
    let (before, after) = statement.split_at(offset);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = after.find('\n').map_or(statement.len(), |at| offset + at);
    let line = statement.get(start..end).unwrap_or_default();
    let word = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
    let at = offset - start;
    let mistake =
        recount_search::QueryError { at: at..at + word.max(1), what: String::new(), example: "" };
    mistake.pointed(line)
}

fn hints(what: &str, statement: &str) -> Vec<String> {
    let mut hints = Vec::new();
    if let Some(name) = what.strip_prefix("no such table: ") {
        let views: Vec<&str> = VIEWS.iter().map(|view| view.name).collect();
        hints.extend(nearest(name, &views).map(|view| format!("did you mean `{view}`?")));
        hints.push(format!("views are {}", views.join(", ")));
    } else if let Some(name) = what.strip_prefix("no such column: ") {
        let asked = asked(statement);
        let columns: Vec<&str> = asked.iter().flat_map(|view| names(view)).collect();
        hints.extend(nearest(name, &columns).map(|column| format!("did you mean `{column}`?")));
        for view in asked {
            let names: Vec<&str> = names(view).take(NAMED).collect();
            hints.push(format!("columns of {}: {}", view.name, names.join(", ")));
        }
    }
    hints
}

fn names(view: &'static SqlView) -> impl Iterator<Item = &'static str> {
    view.columns.iter().map(|column| column.name)
}

/// Returns the views that the statement names.
fn asked(statement: &str) -> Vec<&'static SqlView> {
    let lower = statement.to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let follows = |name: &str| {
        words.windows(2).any(|pair| match pair {
            [before, word] => *word == name && matches!(*before, "from" | "join"),
            _ => false,
        })
    };
    VIEWS.iter().filter(|view| follows(view.name)).collect()
}

/// Returns the name that is most similar to what was written, if any is.
fn nearest<'a>(written: &str, names: &[&'a str]) -> Option<&'a str> {
    let written = written.rsplit('.').next().unwrap_or(written).to_ascii_lowercase();
    let near = |name: &&'a str| {
        let distance = distance(&written, name);
        (distance <= 1 + name.len() / 4).then_some((distance, *name))
    };
    names.iter().filter_map(near).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// Returns the Levenshtein distance.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut next = vec![at + 1];
        for ((above, left_above), theirs) in row.iter().skip(1).zip(&row).zip(&other) {
            let left = next.last().copied().unwrap_or_default();
            let changed = left_above + usize::from(letter != *theirs);
            next.push(changed.min(left + 1).min(above + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spot_is_shown_on_its_own_line() {
        assert_eq!(pointed("SELECT\n  nope FROM x", 9), "  nope FROM x\n  ^^^^");
        assert_eq!(pointed("SELECT '会话', nope", 17), "SELECT '会话', nope\n               ^^^^");
        assert_eq!(pointed("SELECT", 6), "SELECT\n      ^");
        assert_eq!(pointed("é", 1), "é\n^");
        assert_eq!(pointed("", 99), "\n^");
    }

    #[test]
    fn likely_spellings_are_suggested() {
        let hinted = |what: &str, statement: &str| hints(what, statement).remove(0);
        assert_eq!(hinted("no such table: message", ""), "did you mean `messages`?");
        assert_eq!(hinted("no such table: main.toolcalls", ""), "did you mean `tool_calls`?");
        assert!(hinted("no such table: x", "").starts_with("views are sessions"));
        let statement = "SELECT m.models FROM messages m";
        assert_eq!(hinted("no such column: m.models", statement), "did you mean `model`?");
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
