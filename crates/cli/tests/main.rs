//! The program from the outside: what it prints and how it ends. One module per command.

mod commands;

use recount_testkit::Home;
use serde_json::Value;

/// A home with some cases in it, in which the program can be run.
fn home<'a>(cases: impl IntoIterator<Item = &'a str>) -> Home {
    Home::with(cases).for_program(env!("CARGO_BIN_EXE_recount"))
}

/// Says which of some fields, named in one text, is not there.
#[track_caller]
fn has(value: &Value, fields: &str) {
    for field in fields.split_whitespace() {
        assert!(value.get(field).is_some(), "no `{field}` in {value}");
    }
}
