//! Texts and command lines for the types of engine and changes.

mod finding;
mod flaw;
pub(crate) mod guard;
mod history;
mod notice;
mod remedy;
mod resume;

pub(crate) use finding::{symptom, topic};
pub(crate) use history::{state, subjects};
pub(crate) use notice::{notice, remnant};
pub(crate) use remedy::{relocate, remedy, retention_off};
pub(crate) use resume::resume_hint;

/// Writes a count with its noun.
fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", ending(count))
}

fn ending(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
