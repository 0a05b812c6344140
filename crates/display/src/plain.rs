//! Text that is not Markdown: what a human typed, what a tool printed.
//!
//! Lines and their indentation are kept; only lines that are too wide are wrapped.

use std::borrow::Cow;

use super::canvas::Canvas;
use super::sanitize::sanitize;
use super::span::{Line, StyledSpan};
use super::theme::Tone;
use super::width::expand_tabs;
use super::wrap::wrap_each;

/// Renders untrusted text line by line.
pub fn render(text: &str, tone: Tone, canvas: &Canvas) -> String {
    // Split after sanitizing: only then line ends are final. A line may be all of the text, so it is not copied.
    let safe = sanitize(text);
    let safe = if safe.contains('\t') { Cow::Owned(expand_tabs(&safe)) } else { safe };
    let mut page = String::with_capacity(safe.len() + safe.len() / 8);
    for line in safe.lines() {
        wrap_indented(line, tone, canvas.room(), &mut |line| canvas.print_line(line, &mut page));
    }
    page
}

/// Lays out untrusted text for a page of the given width.
pub fn lines(text: &str, tone: Tone, width: usize) -> Vec<Line> {
    let safe = expand_tabs(&sanitize(text));
    let mut lines = Vec::new();
    for line in safe.lines() {
        wrap_indented(line, tone, width, &mut |line| lines.push(line));
    }
    lines
}

fn wrap_indented(line: &str, tone: Tone, width: usize, each: &mut dyn FnMut(Line)) {
    let words = line.trim_start_matches(' ');
    let indent = line.len() - words.len();
    // Deep indentation would leave a strip too narrow to read.
    if indent > width / 2 {
        return wrap_each(line, tone.style(), width, each);
    }
    let margin = Line::new([StyledSpan::new(&" ".repeat(indent), tone)]);
    wrap_each(words, tone.style(), width - indent, &mut |line| each(line.after(&margin)));
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
