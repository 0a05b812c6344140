//! Shell output as the terminal showed it: 0.25 to 0.43 store the screen, cell by cell.

use crate::json::{Json, record};

/// The terminal keeps no more rows than this.
const MOST_ROWS: usize = 2000;
const COLUMNS: usize = 80;

/// Returns the screen after `output`: one list of styled pieces per row, and the cursor's row at the end.
pub(super) fn rows(output: &str) -> Json {
    let lines: Vec<&str> = output.lines().collect();
    let first = lines.len().saturating_sub(MOST_ROWS);
    let shown = lines.iter().skip(first).map(|line| {
        let padding = COLUMNS.saturating_sub(line.chars().count());
        Json::List(vec![piece(&format!("{line}{:padding$}", ""), false)])
    });
    let cursor = Json::List(vec![piece(" ", true), piece(&" ".repeat(COLUMNS - 1), false)]);
    Json::List(shown.chain([cursor]).collect())
}

fn piece(text: &str, is_cursor: bool) -> Json {
    record! {
        "text": text,
        "bold": false,
        "italic": false,
        "underline": false,
        "dim": false,
        "inverse": is_cursor,
        "isUninitialized": true,
        "fg": "",
        "bg": "",
    }
}
