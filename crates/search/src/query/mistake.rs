//! Errors in a query, shown below their position.

use std::fmt;
use std::ops::Range;

use unicode_width::UnicodeWidthChar as _;

/// Why a query could not be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// The byte range in the query; empty at the end of the query.
    pub at: Range<usize>,
    /// What is wrong.
    pub what: String,
    /// A valid query of that kind.
    pub example: &'static str,
}

impl QueryError {
    pub(super) fn new(at: Range<usize>, what: impl Into<String>, example: &'static str) -> Self {
        Self { at, what: what.into(), example }
    }

    /// Returns the query with a line of carets below it.
    ///
    /// ```
    /// let query = "会话 AND";
    /// let mistake = recount_search::SearchQuery::parse(query).unwrap_err();
    /// assert_eq!(mistake.pointed(query), "会话 AND\n     ^^^");
    /// ```
    pub fn pointed(&self, query: &str) -> String {
        let mut line = String::new();
        let mut carets = String::new();
        for (at, character) in query.char_indices() {
            let shown = if character.is_control() { ' ' } else { character };
            line.push(shown);
            let mark = if self.at.contains(&at) { '^' } else { ' ' };
            carets.extend(std::iter::repeat_n(mark, shown.width().unwrap_or(0)));
        }
        if !carets.contains('^') {
            carets.push('^');
        }
        format!("{line}\n{}", carets.trim_end())
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for QueryError {}
