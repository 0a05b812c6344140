//! What a statement may do: read, and nothing else.

use std::sync::{Arc, Mutex};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

use super::views::FRESH;

/// What a statement was seen to do while it was prepared.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// It reads the view that is rebuilt for each question.
    pub(super) sessions: bool,
    /// It reads what is kept in the fact file.
    pub(super) facts: bool,
    /// It wanted to do this, and was not allowed to.
    pub(super) refused: Option<String>,
}

/// Pragmas that only tell which columns there are.
const TELLING: &[&str] = &["table_info", "table_xinfo", "table_list"];
/// Functions that reach outside.
const REACHING: &[&str] = &["load_extension", "fts3_tokenizer", "edit", "readfile", "writefile"];
/// Words that begin a statement that is no question.
const DOING: &[&str] = &[
    "ALTER",
    "ANALYZE",
    "ATTACH",
    "BEGIN",
    "COMMIT",
    "CREATE",
    "DELETE",
    "DETACH",
    "DROP",
    "END",
    "INSERT",
    "REINDEX",
    "RELEASE",
    "REPLACE",
    "ROLLBACK",
    "SAVEPOINT",
    "UPDATE",
    "VACUUM",
];

/// Returns the word that begins the statement, if it begins something other than a question.
pub(super) fn doing(statement: &str) -> Option<&'static str> {
    let rest = without_comments(statement);
    let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    DOING.iter().find(|known| known.eq_ignore_ascii_case(word)).copied()
}

/// Returns the statement from its first word on.
pub(super) fn without_comments(statement: &str) -> &str {
    let mut rest = statement;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';' || c == '\u{feff}');
        let after = if let Some(line) = rest.strip_prefix("--") {
            line.split_once('\n').map_or("", |(_, after)| after)
        } else if let Some(block) = rest.strip_prefix("/*") {
            block.split_once("*/").map_or("", |(_, after)| after)
        } else {
            return rest;
        };
        rest = after;
    }
}

/// Returns the guard that is asked for each step of a statement.
pub(super) fn guard(
    seen: Arc<Mutex<Seen>>,
) -> impl for<'r> FnMut(AuthContext<'r>) -> Authorization + Send + 'static {
    move |context| {
        let Ok(mut seen) = seen.lock() else { return Authorization::Deny };
        let refused = match context.action {
            AuthAction::Select | AuthAction::Recursive => return Authorization::Allow,
            AuthAction::Read { table_name, .. } => {
                seen.sessions |= table_name == FRESH;
                seen.facts |= table_name.starts_with("kept_");
                return Authorization::Allow;
            }
            AuthAction::Function { function_name } => {
                if !REACHING.iter().any(|name| name.eq_ignore_ascii_case(function_name)) {
                    return Authorization::Allow;
                }
                format!("{function_name}()")
            }
            AuthAction::Pragma { pragma_name, .. } => {
                if TELLING.iter().any(|name| name.eq_ignore_ascii_case(pragma_name)) {
                    return Authorization::Allow;
                }
                format!("PRAGMA {pragma_name}")
            }
            other => named(&other).to_owned(),
        };
        seen.refused.get_or_insert(refused);
        Authorization::Deny
    }
}

fn named(action: &AuthAction<'_>) -> &'static str {
    match action {
        AuthAction::Insert { .. } => "INSERT",
        AuthAction::Update { .. } => "UPDATE",
        AuthAction::Delete { .. } => "DELETE",
        AuthAction::Attach { .. } => "ATTACH",
        AuthAction::Detach { .. } => "DETACH",
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "a transaction",
        _ => "a change",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_is_found_behind_comments() {
        for (statement, word) in [
            ("  -- hi\n/* x */ ;insert INTO a", Some("INSERT")),
            ("SELECT 1", None),
            ("VACUUM", Some("VACUUM")),
            ("vacuum;", Some("VACUUM")),
            ("updates", None),
            ("/* never closed DROP", None),
            ("-- only a comment", None),
            ("", None),
        ] {
            assert_eq!(doing(statement), word, "{statement}");
        }
    }
}
