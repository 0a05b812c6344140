//! Tests of the program's output and exit codes. One module per command.

mod commands;

use recount_testkit::Home;
use serde_json::Value;

/// Returns a home with some cases, in which the program can be run.
fn home<'a>(cases: impl IntoIterator<Item = &'a str>) -> Home {
    Home::with(cases).for_program(env!("CARGO_BIN_EXE_recount"))
}

/// Asserts that all fields, named in one text, exist.
#[track_caller]
fn has(value: &Value, fields: &str) {
    for field in fields.split_whitespace() {
        assert!(value.get(field).is_some(), "no `{field}` in {value}");
    }
}
