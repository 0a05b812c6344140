//! Small charts of each prompt's usage: tokens as bars, the context as a line.
//!
//! They contain no text, so that they can be stretched to any width; labels are around them.

use std::fmt::Write as _;
use std::io;

use recount_model::Tokens;

use super::grouped;
use super::html_writer::HtmlWriter;
use super::turn::Turn;

/// More prompts than this are combined.
const BARS: usize = 120;
const HEIGHT: u64 = 100;
/// The width of a bar and the gap after it.
const STEP: u64 = 10;

/// One bar: a prompt, or several consecutive ones.
#[derive(Clone, Copy, Debug, Default)]
struct Bar {
    first: usize,
    last: usize,
    tokens: Tokens,
    context: u64,
}

/// Writes the charts, if there is something to compare.
pub(super) fn write(turns: &[Turn], html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let bars = bars(turns);
    let most = bars.iter().map(|bar| bar.tokens.total).max().unwrap_or_default();
    if bars.len() < 2 || most == 0 {
        return Ok(());
    }
    html.mark("<section class=\"charts\" id=\"charts\" aria-label=\"Use of tokens\">\n")?;
    tokens(&bars, most, html)?;
    context(&bars, html)?;
    html.mark("</section>\n")
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

fn tokens(bars: &[Bar], most: u64, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let largest = bars.iter().max_by_key(|bar| bar.tokens.total).copied().unwrap_or_default();
    let total: u64 = bars.iter().map(|bar| bar.tokens.total).fold(0, u64::saturating_add);
    caption("Tokens per prompt", &format!("most {}: {}", grouped(most), largest.name()), html)?;
    let description = format!(
        "{} tokens in all. Each bar has, from below: input from the cache, other input, output with thoughts.",
        grouped(total)
    );
    drawing("tokens", "Tokens per prompt", &description, bars.len(), html)?;
    for (number, bar) in (0_u64..).zip(bars) {
        let Tokens { input, cached, total, .. } = bar.tokens;
        let cached = cached.min(input);
        html.mark("<a")?;
        html.numbered("href", "#p", bar.first as u64)?;
        html.mark("><title>")?;
        html.text(&format!("{}: {} tokens", bar.name(), grouped(total)))?;
        html.mark("</title>")?;
        html.mark("<rect class=\"hit\" y=\"0\" height=\"100\"")?;
        html.numbered("x", "", number * STEP)?;
        html.numbered("width", "", STEP)?;
        html.mark("/>")?;
        let parts = [
            ("<rect class=\"cached\" width=\"8\"", 0, cached),
            ("<rect class=\"input\" width=\"8\"", cached, input),
            ("<rect class=\"output\" width=\"8\"", input, total.max(input)),
        ];
        for (open, from, to) in parts {
            let (low, high) = (scaled(from, most), scaled(to, most));
            if high > low {
                html.mark(open)?;
                html.numbered("x", "", number * STEP + 1)?;
                html.numbered("y", "", HEIGHT - high)?;
                html.numbered("height", "", high - low)?;
                html.mark("/>")?;
            }
        }
        html.mark("</a>")?;
    }
    html.mark("</svg></figure>\n")
}

fn context(bars: &[Bar], html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let Some(largest) = bars.iter().max_by_key(|bar| bar.context).filter(|bar| bar.context > 0)
    else {
        return Ok(());
    };
    let last = bars.last().map_or(0, |bar| bar.context);
    let words = format!("most {}: {}", grouped(largest.context), largest.name());
    caption("Context sent", &words, html)?;
    let description =
        format!("The most tokens that one request of a prompt sent; {} at the end.", grouped(last));
    drawing("context", "Context sent per prompt", &description, bars.len(), html)?;
    let mut line = String::new();
    for (number, bar) in (0_u64..).zip(bars) {
        let y = HEIGHT - scaled(bar.context, largest.context);
        // Writing to a string cannot fail.
        let _ = write!(line, "{},{y} {},{y} ", number * STEP, (number + 1) * STEP);
    }
    let width = bars.len() as u64 * STEP;
    html.mark("<polygon class=\"fill\"")?;
    html.attribute("points", &format!("0,{HEIGHT} {line}{width},{HEIGHT}"))?;
    html.mark("/><polyline class=\"trend\"")?;
    html.attribute("points", &line)?;
    html.mark("/></svg></figure>\n")
}

fn caption(name: &'static str, words: &str, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    html.mark("<figure class=\"chart\"><figcaption><b>")?;
    html.mark(name)?;
    html.mark("</b> <span>")?;
    html.text(words)?;
    html.mark("</span></figcaption>")
}

fn drawing(
    id: &'static str,
    name: &'static str,
    description: &str,
    bars: usize,
    html: &mut HtmlWriter<'_>,
) -> io::Result<()> {
    html.mark("<svg role=\"img\" preserveAspectRatio=\"none\" aria-labelledby=\"")?;
    html.mark(id)?;
    html.mark("-name ")?;
    html.mark(id)?;
    html.mark("-told\"")?;
    html.attribute("viewBox", &format!("0 0 {} {HEIGHT}", bars as u64 * STEP))?;
    html.mark("><title id=\"")?;
    html.mark(id)?;
    html.mark("-name\">")?;
    html.mark(name)?;
    html.mark("</title><desc id=\"")?;
    html.mark(id)?;
    html.mark("-told\">")?;
    html.text(description)?;
    html.mark("</desc>")
}

/// Scales a value to the maximum; any value above zero is visible.
fn scaled(value: u64, most: u64) -> u64 {
    if value == 0 || most == 0 {
        return 0;
    }
    let height = u128::from(value.min(most)) * u128::from(HEIGHT) / u128::from(most);
    u64::try_from(height).unwrap_or(HEIGHT).max(1)
}
