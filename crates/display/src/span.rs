//! Styled text: the only thing that can be printed.
//!
//! A [`StyledSpan`] is sanitized when it is created and cannot be changed afterwards except by joining it to another, so every
//! [`Line`] is safe to print.

use std::fmt::Write as _;

use anstyle::Style;

use super::canvas::Paint;
use super::sanitize::sanitize;
use super::theme::Tone;
use super::width::{expand_tabs, width};

/// A run of safe text with one style. A `
/// ` in it becomes a line break when it is wrapped.
#[derive(Clone, Debug, PartialEq)]
pub struct StyledSpan {
    text: String,
    style: Style,
}

impl StyledSpan {
    /// Sanitizes untrusted text.
    pub fn new(text: &str, tone: Tone) -> Self {
        Self::styled(text, tone.style())
    }

    /// Sanitizes untrusted text.
    pub fn styled(text: &str, style: Style) -> Self {
        Self { text: expand_tabs(&sanitize(text)), style }
    }

    /// Returns the safe text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns its style.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Returns its width in columns.
    pub fn width(&self) -> usize {
        width(&self.text)
    }
}

/// One line of the terminal, without its line break.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line(Vec<StyledSpan>);

impl Line {
    /// Puts spans on one line; line breaks within them become spaces.
    pub fn new(spans: impl IntoIterator<Item = StyledSpan>) -> Self {
        let mut line = Self::default();
        for mut span in spans {
            if span.text.contains('\n') {
                span.text = span.text.replace('\n', " ");
            }
            line.push(span);
        }
        line
    }

    fn push(&mut self, span: StyledSpan) {
        match self.0.last_mut() {
            Some(last) if last.style == span.style => last.text.push_str(&span.text),
            _ => self.0.push(span),
        }
    }

    /// Returns this line with another one in front.
    #[must_use]
    pub fn after(self, prefix: &Self) -> Self {
        let mut line = prefix.clone();
        for span in self.0 {
            line.push(span);
        }
        line
    }

    /// Returns its spans.
    pub fn spans(&self) -> &[StyledSpan] {
        &self.0
    }

    /// Returns its width in columns.
    pub fn width(&self) -> usize {
        match self.0.as_slice() {
            [] => 0,
            [one] => one.width(),
            // A combining mark at the start of a span changes the last cluster of the span before it.
            many => width(&many.iter().map(StyledSpan::text).collect::<String>()),
        }
    }

    /// Appends the line and a line break to `page`, without trailing spaces.
    pub fn print(&self, page: &mut String, paint: Paint) {
        let mut spans = self.0.as_slice();
        while let Some((last, before)) = spans.split_last()
            && last.text.trim_end_matches(' ').is_empty()
        {
            spans = before;
        }
        for (index, span) in spans.iter().enumerate() {
            let is_last = index + 1 == spans.len();
            let text = if is_last { span.text.trim_end_matches(' ') } else { &span.text };
            if paint == Paint::Off || span.style.is_plain() || text.is_empty() {
                page.push_str(text);
            } else {
                // Writing to a string cannot fail.
                let _ = write!(page, "{}{text}{}", span.style.render(), span.style.render_reset());
            }
        }
        page.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(line: &Line, paint: Paint) -> String {
        let mut page = String::new();
        line.print(&mut page, paint);
        page
    }

    #[test]
    fn a_span_is_safe_from_the_start() {
        assert_eq!(StyledSpan::new("\x1b[31m\tx", Tone::Plain).text(), "␛[31m   x");
    }

    #[test]
    fn without_paint_there_is_no_escape() {
        let line =
            Line::new([StyledSpan::new("a", Tone::Error), StyledSpan::new(" b\n ", Tone::Dim)]);
        assert_eq!(printed(&line, Paint::Off), "a b\n");
        assert_eq!(printed(&line, Paint::On), "\x1b[1m\x1b[31ma\x1b[0m\x1b[2m b\x1b[0m\n");
    }

    #[test]
    fn a_mark_in_another_span_is_measured_with_its_base() {
        let line = Line::new([
            StyledSpan::new("❤", Tone::Strong),
            StyledSpan::new("\u{FE0F}", Tone::Plain),
        ]);
        assert_eq!(line.width(), 2);
    }
}
