//! What each prompt used, as small drawings: tokens as bars, the context as a line.
//!
//! They have no text in them, so that they may be stretched to any width; what they say stands around them.

use std::fmt::Write as _;
use std::io;

use recount_model::Tokens;

use super::grouped;
use super::paper::Paper;
use super::turn::Turn;

/// More prompts than this are drawn together.
const BARS: usize = 120;
const HEIGHT: u64 = 100;
/// Room for a bar and the gap behind it.
const STEP: u64 = 10;

/// One bar: a prompt, or several that follow each other.
#[derive(Clone, Copy, Debug, Default)]
struct Bar {
    first: usize,
    last: usize,
    tokens: Tokens,
    context: u64,
}

/// Writes the charts, where there is something to compare.
pub(super) fn write(turns: &[Turn], paper: &mut Paper<'_>) -> io::Result<()> {
    let bars = bars(turns);
    let most = bars.iter().map(|bar| bar.tokens.total).max().unwrap_or_default();
    if bars.len() < 2 || most == 0 {
        return Ok(());
    }
    paper.mark("<section class=\"charts\" id=\"charts\" aria-label=\"Use of tokens\">\n")?;
    tokens(&bars, most, paper)?;
    context(&bars, paper)?;
    paper.mark("</section>\n")
}

fn bars(turns: &[Turn]) -> Vec<Bar> {
    let size = turns.len().div_ceil(BARS).max(1);
    let chunks = turns.chunks(size).enumerate();
    let bar = |(number, turns): (usize, &[Turn])| {
        let first = number * size + 1;
        let start = Bar { first, last: first + turns.len() - 1, ..Bar::default() };
        turns.iter().fold(start, |mut bar, turn| {
            bar.tokens += turn.tokens;
            bar.context = bar.context.max(turn.context);
            bar
        })
    };
    chunks.map(bar).collect()
}

impl Bar {
    fn name(&self) -> String {
        let Self { first, last, .. } = self;
        if first == last { format!("Prompt {first}") } else { format!("Prompts {first} to {last}") }
    }
}

fn tokens(bars: &[Bar], most: u64, paper: &mut Paper<'_>) -> io::Result<()> {
    let largest = bars.iter().max_by_key(|bar| bar.tokens.total).copied().unwrap_or_default();
    let total: u64 = bars.iter().map(|bar| bar.tokens.total).fold(0, u64::saturating_add);
    caption("Tokens per prompt", &format!("most {}: {}", grouped(most), largest.name()), paper)?;
    let told = format!(
        "{} tokens in all. Each bar has, from below: input from the cache, other input, output with thoughts.",
        grouped(total)
    );
    drawing("tokens", "Tokens per prompt", &told, bars.len(), paper)?;
    for (number, bar) in (0_u64..).zip(bars) {
        let Tokens { input, cached, total, .. } = bar.tokens;
        let cached = cached.min(input);
        paper.mark("<a")?;
        paper.numbered("href", "#p", bar.first as u64)?;
        paper.mark("><title>")?;
        paper.text(&format!("{}: {} tokens", bar.name(), grouped(total)))?;
        paper.mark("</title>")?;
        paper.mark("<rect class=\"hit\" y=\"0\" height=\"100\"")?;
        paper.numbered("x", "", number * STEP)?;
        paper.numbered("width", "", STEP)?;
        paper.mark("/>")?;
        let parts = [
            ("<rect class=\"cached\" width=\"8\"", 0, cached),
            ("<rect class=\"input\" width=\"8\"", cached, input),
            ("<rect class=\"output\" width=\"8\"", input, total.max(input)),
        ];
        for (open, from, to) in parts {
            let (low, high) = (scaled(from, most), scaled(to, most));
            if high > low {
                paper.mark(open)?;
                paper.numbered("x", "", number * STEP + 1)?;
                paper.numbered("y", "", HEIGHT - high)?;
                paper.numbered("height", "", high - low)?;
                paper.mark("/>")?;
            }
        }
        paper.mark("</a>")?;
    }
    paper.mark("</svg></figure>\n")
}

fn context(bars: &[Bar], paper: &mut Paper<'_>) -> io::Result<()> {
    let Some(largest) = bars.iter().max_by_key(|bar| bar.context).filter(|bar| bar.context > 0)
    else {
        return Ok(());
    };
    let last = bars.last().map_or(0, |bar| bar.context);
    let words = format!("most {}: {}", grouped(largest.context), largest.name());
    caption("Context sent", &words, paper)?;
    let told =
        format!("The most tokens that one request of a prompt sent; {} at the end.", grouped(last));
    drawing("context", "Context sent per prompt", &told, bars.len(), paper)?;
    let mut line = String::new();
    for (number, bar) in (0_u64..).zip(bars) {
        let y = HEIGHT - scaled(bar.context, largest.context);
        // Writing to a string cannot fail.
        let _ = write!(line, "{},{y} {},{y} ", number * STEP, (number + 1) * STEP);
    }
    let width = bars.len() as u64 * STEP;
    paper.mark("<polygon class=\"fill\"")?;
    paper.attribute("points", &format!("0,{HEIGHT} {line}{width},{HEIGHT}"))?;
    paper.mark("/><polyline class=\"trend\"")?;
    paper.attribute("points", &line)?;
    paper.mark("/></svg></figure>\n")
}

fn caption(name: &'static str, words: &str, paper: &mut Paper<'_>) -> io::Result<()> {
    paper.mark("<figure class=\"chart\"><figcaption><b>")?;
    paper.mark(name)?;
    paper.mark("</b> <span>")?;
    paper.text(words)?;
    paper.mark("</span></figcaption>")
}

fn drawing(
    id: &'static str,
    name: &'static str,
    told: &str,
    bars: usize,
    paper: &mut Paper<'_>,
) -> io::Result<()> {
    paper.mark("<svg role=\"img\" preserveAspectRatio=\"none\" aria-labelledby=\"")?;
    paper.mark(id)?;
    paper.mark("-name ")?;
    paper.mark(id)?;
    paper.mark("-told\"")?;
    paper.attribute("viewBox", &format!("0 0 {} {HEIGHT}", bars as u64 * STEP))?;
    paper.mark("><title id=\"")?;
    paper.mark(id)?;
    paper.mark("-name\">")?;
    paper.mark(name)?;
    paper.mark("</title><desc id=\"")?;
    paper.mark(id)?;
    paper.mark("-told\">")?;
    paper.text(told)?;
    paper.mark("</desc>")
}

/// Where a value stands on the way from nothing to the most; what is there at all is seen.
fn scaled(value: u64, most: u64) -> u64 {
    if value == 0 || most == 0 {
        return 0;
    }
    let height = u128::from(value.min(most)) * u128::from(HEIGHT) / u128::from(most);
    u64::try_from(height).unwrap_or(HEIGHT).max(1)
}
