//! The list of prompts, for navigation.

use std::io;

use super::html_writer::HtmlWriter;
use super::turn::Turn;
use super::{LINE, grouped, moment};

/// Writes the list.
pub(super) fn write(turns: &[Turn], minimal: bool, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    html.mark("<nav id=\"prompts\" class=\"prompts\" popover aria-label=\"Prompts\"><h2>Prompts ")?;
    html.mark("<span class=\"dim\">")?;
    html.text(&grouped(turns.len() as u64))?;
    html.mark("</span></h2>\n<ol>\n")?;
    let mut before = None;
    for (number, turn) in (1_u64..).zip(turns) {
        html.mark(if turn.is_undone { "<li class=\"undone\"><a" } else { "<li><a" })?;
        html.numbered("href", "#p", number)?;
        html.mark("><span class=\"number\">")?;
        html.number(number)?;
        html.mark("</span><span class=\"words\">")?;
        let is_silent = turn.title.is_empty();
        html.line(if is_silent { "(nothing typed)" } else { &turn.title }, LINE)?;
        html.mark("</span> <span class=\"dim\">")?;
        if let Some(time) = turn.time {
            moment(time, before, html)?;
            before = Some(time);
        }
        if turn.tokens.total > 0 && !minimal {
            html.mark(" · ")?;
            html.text(&short(turn.tokens.total))?;
        }
        html.mark("</span></a></li>\n")?;
    }
    html.mark("</ol></nav>\n")
}

/// Formats a count briefly: `999`, `12k`, `3M`.
fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}M", number / 1_000_000),
    }
}
