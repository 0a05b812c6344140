//! What filled the context, and why tools failed.

use std::process::ExitCode;

use recount_engine::stats::ContentStats;

use super::{print, print_json};
use crate::context::Context;
use crate::failure::{Failure, NOTHING};
use crate::output::bar::bar;
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::number::{bytes, count, percent, plural};
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;

/// The maximum number of files, tools and errors.
const SHOWN: usize = 15;
/// The width of bars.
const BAR: usize = 20;

/// Shows what filled the context.
pub(super) fn show(filling: &ContentStats, context: &Context) -> Result<ExitCode, Failure> {
    if context.global.json {
        print_json(context, filling)?;
    } else {
        print(context, &page(filling, context))?;
    }
    if filling.unread > 0 {
        let words = plural(filling.unread, "message");
        context.warn(&format!("{words} could not be read completely and are not counted"));
    }
    if filling.parts.is_empty() {
        context.warn("nothing to count");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(ExitCode::SUCCESS)
}

fn page(filling: &ContentStats, context: &Context) -> String {
    let canvas = context.page();
    let sum: u64 = filling.parts.iter().map(|part| part.bytes).sum();
    let most = filling.parts.first().map_or(0, |part| part.bytes);
    let plain = |text: &str| StyledSpan::new(text, Tone::Plain);
    let mut parts: Vec<Vec<StyledSpan>> = Vec::new();
    for part in &filling.parts {
        parts.push(vec![
            StyledSpan::new(part.kind, Tone::Name),
            plain(&count(part.pieces)),
            plain(&bytes(part.bytes)),
            plain(&share(part.bytes, sum)),
            StyledSpan::new(&bar(part.bytes.into(), most.into(), BAR), Tone::Dim),
        ]);
    }
    let pieces: u64 = filling.parts.iter().map(|part| part.pieces).sum();
    parts.push(vec![
        StyledSpan::new("total", Tone::Strong),
        StyledSpan::new(&count(pieces), Tone::Strong),
        StyledSpan::new(&bytes(sum), Tone::Strong),
        StyledSpan::new("", Tone::Plain),
        StyledSpan::new("", Tone::Plain),
    ]);
    let mut page = render(PARTS, &parts, &canvas);
    let outputs = filling.outputs.iter().filter(|output| output.bytes > 0).take(SHOWN);
    let outputs: Vec<Vec<StyledSpan>> = outputs
        .map(|output| {
            vec![
                StyledSpan::new(&output.tool, Tone::Tool),
                plain(&count(output.calls)),
                plain(&bytes(output.bytes)),
                plain(&share(output.bytes, sum)),
            ]
        })
        .collect();
    if !outputs.is_empty() {
        page = format!("{page}\n{}", render(OUTPUTS, &outputs, &canvas));
    }
    let files: Vec<Vec<StyledSpan>> = filling
        .files
        .iter()
        .take(SHOWN)
        .map(|file| {
            vec![
                StyledSpan::new(&file.path, Tone::Plain),
                plain(&count(file.sent)),
                plain(&bytes(file.bytes)),
                plain(&count(file.written)),
                plain(&count(file.named)),
            ]
        })
        .collect();
    if !files.is_empty() {
        page = format!("{page}\n{}", render(FILES, &files, &canvas));
        if let Some(more) = filling.files.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            page = format!("{page}and {}\n", plural(more as u64, "more file"));
        }
    }
    page
}

#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { percent(part as f64 / whole as f64) }
}

const PARTS: &[Column] = &[
    Column { heading: "CONTEXT", align: Align::Left, fit: Fit::Keep },
    Column { heading: "PIECES", align: Align::Right, fit: Fit::Drop(1) },
    Column { heading: "TEXT", align: Align::Right, fit: Fit::Keep },
    Column { heading: "SHARE", align: Align::Right, fit: Fit::Keep },
    Column { heading: "", align: Align::Left, fit: Fit::Drop(2) },
];

const OUTPUTS: &[Column] = &[
    Column { heading: "OUTPUT OF", align: Align::Left, fit: Fit::Flexible },
    Column { heading: "CALLS", align: Align::Right, fit: Fit::Keep },
    Column { heading: "TEXT", align: Align::Right, fit: Fit::Keep },
    Column { heading: "SHARE", align: Align::Right, fit: Fit::Drop(1) },
];

const FILES: &[Column] = &[
    Column { heading: "FILE", align: Align::Path, fit: Fit::Flexible },
    Column { heading: "SENT", align: Align::Right, fit: Fit::Keep },
    Column { heading: "TEXT", align: Align::Right, fit: Fit::Keep },
    Column { heading: "WRITTEN", align: Align::Right, fit: Fit::Drop(2) },
    Column { heading: "NAMED", align: Align::Right, fit: Fit::Drop(1) },
];

const ERRORS: &[Column] = &[
    Column { heading: "TOOL", align: Align::Left, fit: Fit::Keep },
    Column { heading: "TIMES", align: Align::Right, fit: Fit::Keep },
    Column { heading: "ERROR", align: Align::Left, fit: Fit::Flexible },
];

/// Draws the causes of tool failures.
pub(super) fn errors(filling: &ContentStats, context: &Context) -> String {
    let row = |error: &recount_engine::stats::ToolError| {
        vec![
            StyledSpan::new(&error.tool, Tone::Tool),
            StyledSpan::new(&count(error.times), Tone::Plain),
            StyledSpan::new(&error.error, Tone::Error),
        ]
    };
    let rows: Vec<Vec<StyledSpan>> = filling.errors.iter().take(SHOWN).map(row).collect();
    render(ERRORS, &rows, &context.page())
}
