//! The list of prompts, by which a reader finds a way through the page.

use std::io;

use super::paper::Paper;
use super::turn::Turn;
use super::{LINE, grouped, moment};

/// Writes the list.
pub(super) fn write(turns: &[Turn], minimal: bool, paper: &mut Paper<'_>) -> io::Result<()> {
    paper.mark(
        "<nav id=\"prompts\" class=\"prompts\" popover aria-label=\"Prompts\"><h2>Prompts ",
    )?;
    paper.mark("<span class=\"dim\">")?;
    paper.text(&grouped(turns.len() as u64))?;
    paper.mark("</span></h2>\n<ol>\n")?;
    let mut before = None;
    for (number, turn) in (1_u64..).zip(turns) {
        paper.mark(if turn.is_undone { "<li class=\"undone\"><a" } else { "<li><a" })?;
        paper.numbered("href", "#p", number)?;
        paper.mark("><span class=\"number\">")?;
        paper.number(number)?;
        paper.mark("</span><span class=\"words\">")?;
        let is_silent = turn.title.is_empty();
        paper.line(if is_silent { "(nothing typed)" } else { &turn.title }, LINE)?;
        paper.mark("</span> <span class=\"dim\">")?;
        if let Some(time) = turn.time {
            moment(time, before, paper)?;
            before = Some(time);
        }
        if turn.tokens.total > 0 && !minimal {
            paper.mark(" · ")?;
            paper.text(&short(turn.tokens.total))?;
        }
        paper.mark("</span></a></li>\n")?;
    }
    paper.mark("</ol></nav>\n")
}

/// A count in few letters: `999`, `12k`, `3M`.
fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}M", number / 1_000_000),
    }
}
