//! Text that is not Markdown: what a human typed, what a tool printed.
//!
//! Lines and their indentation stay as they are; only what is too wide is wrapped.

use super::canvas::Canvas;
use super::span::{Line, Span};
use super::theme::Tone;
use super::wrap::{hang, wrap};

/// Renders untrusted text line by line.
pub(crate) fn render(text: &str, tone: Tone, canvas: &Canvas) -> String {
    // Split after sanitizing: only then is it settled what ends a line.
    let safe = Span::new(text, tone);
    let lines = safe.text().lines().flat_map(|line| wrap_indented(line, tone, canvas.room()));
    canvas.print(lines)
}

fn wrap_indented(line: &str, tone: Tone, width: usize) -> Vec<Line> {
    let words = line.trim_start_matches(' ');
    let indent = line.len() - words.len();
    // Deep indentation would leave a strip too narrow to read.
    if indent > width / 2 {
        return wrap(&[Span::new(line, tone)], width);
    }
    let margin = Line::new([Span::new(&" ".repeat(indent), tone)]);
    hang(wrap(&[Span::new(words, tone)], width - indent), &margin, &margin)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Paint;
    use super::*;

    #[test]
    fn lines_and_indentation_are_kept() {
        let text = "Fix this:\r\n\n    one two three four five\n\x1b[2Jend\n\n";
        insta::assert_snapshot!(render(text, Tone::Plain, &Canvas::new(20, Paint::Off)), @"
        Fix this:

            one two three
            four five
        ␛[2Jend
        ");
    }
}
