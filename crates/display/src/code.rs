//! Blocks of code: indented, labelled with their language, colored if styling is on.

use recount_blocks::{Token, TokenClass, highlight};

use super::canvas::{Canvas, Paint};
use super::diff;
use super::sanitize::single_line;
use super::span::{Line, StyledSpan};
use super::theme::Tone;
use super::width::truncate_to;
use super::wrap::{fold, hang};

/// Renders untrusted code. The language is a fence's label or a file's extension, or empty.
pub fn render(code: &str, language: &str, canvas: &Canvas) -> String {
    canvas.print(lines(code, language, canvas.room(), canvas.paint()))
}

/// Lays out untrusted code for a page of the given width.
pub fn lines(code: &str, language: &str, width: usize, paint: Paint) -> Vec<Line> {
    let indent = Line::new([StyledSpan::new("  ", Tone::Plain)]);
    let further = Line::new([StyledSpan::new("↪ ", Tone::Dim)]);
    let room = width.saturating_sub(indent.width());
    let mut lines = Vec::new();
    let label = single_line(language);
    if !label.is_empty() {
        let label = truncate_to(&format!("── {label}"), width);
        lines.push(Line::new([StyledSpan::new(&label, Tone::Dim)]));
    }
    if matches!(label.as_str(), "diff" | "patch") {
        lines.extend(diff::lines(code, room).into_iter().map(|line| line.after(&indent)));
        return lines;
    }
    for line in coloured(code, &label, paint) {
        lines.extend(hang(fold(&line, room), &indent, &further));
    }
    lines
}

fn coloured(code: &str, language: &str, paint: Paint) -> Vec<Vec<StyledSpan>> {
    let safe = StyledSpan::new(code, Tone::Plain);
    match paint {
        Paint::On => {
            let lines = highlight(safe.text(), language).into_iter();
            lines.map(|line| line.into_iter().map(span).collect()).collect()
        }
        Paint::Off => {
            safe.text().lines().map(|line| vec![StyledSpan::new(line, Tone::Plain)]).collect()
        }
    }
}

fn span(token: Token<'_>) -> StyledSpan {
    let tone = match token.class {
        TokenClass::Plain => Tone::Plain,
        TokenClass::Keyword => Tone::Keyword,
        TokenClass::String => Tone::Text,
        TokenClass::Constant => Tone::Constant,
        TokenClass::Name => Tone::Name,
        TokenClass::Comment => Tone::Comment,
    };
    StyledSpan::new(token.text, tone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_folded_and_marked() {
        let code = "fn main() {\n\tlet answer = 42; // forty-two\n}\n";
        insta::assert_snapshot!(render(code, "rust", &Canvas::new(24, Paint::Off)), @"
        ── rust
          fn main() {
              let answer = 42; /
        ↪ / forty-two
          }
        ");
    }

    #[test]
    fn paint_adds_colors_and_nothing_else() {
        let code = "fn main() { let x = \"会\"; }\n";
        let painted = render(code, "rs", &Canvas::new(40, Paint::On));
        let plain = render(code, "rs", &Canvas::new(40, Paint::Off));
        assert_ne!(painted, plain);
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
    }

    #[test]
    fn a_diff_is_colored_as_one() {
        let painted = render("-old\n+new\n", "diff", &Canvas::new(40, Paint::On));
        assert!(painted.contains("\x1b[31m-old"), "{painted:?}");
    }
}
