//! Reports what was redacted in an export, or would be: counts and places, never the text.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;

use recount_engine::export::Redacted;
use serde::Serialize;

use crate::context::{Context, Paged};
use crate::failure::{Failure, REFUSED};
use crate::output::json;
use crate::output::number::plural;
use crate::output::sanitize::single_line;

/// One row of the report, for JSON.
#[derive(Serialize)]
pub(crate) struct Row<'a> {
    place: &'a str,
    kind: &'a str,
    times: usize,
    begins: &'a [&'static str],
}

impl<'a> From<&'a Redacted> for Row<'a> {
    fn from(one: &'a Redacted) -> Self {
        let Redacted { place, kind, times, begins } = one;
        Self { place, kind, times: *times, begins }
    }
}

/// Returns the rows for JSON.
pub(crate) fn rows(found: &[Redacted]) -> Vec<Row<'_>> {
    found.iter().map(Row::from).collect()
}

/// Prints how much was redacted, and with `-v` where.
pub(crate) fn report(found: &[Redacted], context: &Context) {
    if found.is_empty() {
        context.warn("nothing found to redact");
        return;
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for one in found {
        *kinds.entry(&one.kind).or_default() += one.times;
    }
    let kinds: Vec<String> = kinds.iter().map(|(kind, times)| format!("{times} {kind}")).collect();
    context.warn(&format!("redacted: {}", kinds.join(", ")));
    if context.global.verbose > 0 {
        for one in found {
            context.warn(&line(one));
        }
    }
}

/// Prints what would be redacted. Findings are a reason not to share the export.
pub(crate) fn check(found: &[Redacted], context: &Context) -> Result<ExitCode, Failure> {
    if context.global.json {
        json::document(context, "export", "redacted", &rows(found))?;
    } else {
        let mut out = context.out(Paged::Yes);
        for one in found {
            writeln!(out, "{}", single_line(&line(one)))?;
        }
        out.finish()?;
        let places = plural(found.len() as u64, "finding");
        context.warn(if found.is_empty() { "nothing found" } else { &places });
    }
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) })
}

fn line(one: &Redacted) -> String {
    let begins = if one.begins.is_empty() {
        String::new()
    } else {
        format!(" ({}…)", one.begins.join("…, "))
    };
    format!("{}: {} {}{begins}", one.place, one.times, one.kind)
}
