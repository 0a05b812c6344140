//! Escapes text for our own Markdown: on a line, in a code span, in a fence, in a tag.

use crate::text::{Bidi, isolated, visible};

/// Returns text for a line: none of it is read as Markdown or HTML.
pub(super) fn inline(text: &str, bidi: Bidi) -> String {
    let line = isolated(text, bidi);
    let mut safe = String::with_capacity(line.len() + 8);
    for character in line.chars() {
        match character {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '!' | '~' | '$' => {
                safe.push('\\');
                safe.push(character);
            }
            _ => safe.push(character),
        }
    }
    safe
}

/// Returns text as a code span on one line.
pub(super) fn span(text: &str, bidi: Bidi) -> String {
    let line = isolated(text, bidi);
    if line.is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_run(&line, '`') + 1);
    // The spaces separate backticks at either end, and are not shown.
    let pad = if line.starts_with(['`', ' ']) || line.ends_with(['`', ' ']) { " " } else { "" };
    format!("{ticks}{pad}{line}{pad}{ticks}")
}

/// Returns text for the content of a tag.
pub(super) fn html(text: &str, bidi: Bidi) -> String {
    isolated(text, bidi).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns text in a fence that it cannot close.
pub(super) fn fence(text: &str, language: &str, bidi: Bidi) -> String {
    let text = visible(text, bidi);
    let ticks = "`".repeat(longest_run(&text, '`').max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{ticks}{language}\n{text}{end}{ticks}\n")
}

/// Returns the length of the longest run of a character.
fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for character in text.chars() {
        run = if character == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_neither_markdown_nor_html() {
        for (text, written) in [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("# a\n## b", "\\# a \\#\\# b"),
            ("[x](y) `z` *w*", "\\[x\\](y) \\`z\\` \\*w\\*"),
            ("&lt;\0", "&amp;lt;␀"),
            ("--> <!--", "--&gt; &lt;\\!--"),
        ] {
            assert_eq!(inline(text, Bidi::Kept), written, "{text:?}");
        }
    }

    #[test]
    fn spans_and_fences_are_longer_than_their_content() {
        assert_eq!(span("a`b", Bidi::Kept), "``a`b``");
        assert_eq!(span("`", Bidi::Kept), "`` ` ``");
        assert_eq!(span("", Bidi::Kept), "");
        assert_eq!(fence("x", "sh", Bidi::Kept), "```sh\nx\n```\n");
        assert_eq!(fence("a\n````\nb\n", "", Bidi::Kept), "`````\na\n````\nb\n`````\n");
        assert_eq!(fence("```\r~~~", "", Bidi::Kept), "````\n```␍~~~\n````\n");
    }
}
