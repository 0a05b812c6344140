//! A change, as blocks of lines that stand side by side where there is room, and below each other where there is not.
//!
//! Each line keeps its mark (`+`, `-`, blank), so that nothing depends on colours.

use std::io;

use super::paper::Paper;
use crate::words;

/// Writes a unified diff.
pub(super) fn write(patch: &str, language: Option<&str>, paper: &mut Paper<'_>) -> io::Result<()> {
    let patch = without_names(words::without_index(patch));
    let is_split = has_both_sides(patch);
    paper.mark(if is_split { "<div class=\"diff split\"" } else { "<div class=\"diff\"" })?;
    if let Some(language) = language {
        paper.attribute("data-lang", language)?;
    }
    paper.mark(">")?;
    let mut rest = patch.trim_end_matches('\n');
    while !rest.is_empty() {
        let (kind, block, behind) = next_block(rest);
        rest = behind;
        match kind {
            Kind::Hunk => lines("<p class=\"hunk\">", block, "</p>", paper)?,
            Kind::Same => {
                lines("<pre class=\"same\">", block, "</pre>", paper)?;
                if is_split {
                    lines(
                        "<pre class=\"same again\" aria-hidden=\"true\">",
                        block,
                        "</pre>",
                        paper,
                    )?;
                }
            }
            Kind::Old => {
                lines("<pre class=\"old\">", block, "</pre>", paper)?;
                // What took its place stands beside it.
                let (next, new, behind) = next_block(rest);
                if next == Kind::New && !rest.is_empty() {
                    rest = behind;
                    lines("<pre class=\"new\">", new, "</pre>", paper)?;
                }
            }
            Kind::New => lines("<pre class=\"new\">", block, "</pre>", paper)?,
        }
    }
    paper.mark("</div>\n")
}

fn lines(
    open: &'static str,
    block: &str,
    close: &'static str,
    paper: &mut Paper<'_>,
) -> io::Result<()> {
    paper.mark(open)?;
    paper.text(block)?;
    paper.mark(close)
}

/// What lines of a diff are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Hunk,
    Same,
    Old,
    New,
}

fn kind(line: &str) -> Kind {
    match line.as_bytes().first() {
        Some(b'@') => Kind::Hunk,
        Some(b'-') => Kind::Old,
        Some(b'+') => Kind::New,
        _ => Kind::Same,
    }
}

/// The names of the file stand above the first lines; the call tells them. Further down, what looks like one is a line.
fn without_names(patch: &str) -> &str {
    let mut rest = patch;
    for mark in ["--- ", "+++ "] {
        match rest.split_once('\n') {
            Some((line, behind)) if line.starts_with(mark) => rest = behind,
            _ => return patch,
        }
    }
    rest
}

/// Splits off the lines that are of one kind.
fn next_block(text: &str) -> (Kind, &str, &str) {
    let first = kind(text);
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        // A note on a missing line end belongs to the line before.
        if kind(line) != first && !line.starts_with('\\') {
            break;
        }
        end += line.len();
        if first == Kind::Hunk {
            break;
        }
    }
    let (block, behind) = text.split_at(end);
    (first, block.strip_suffix('\n').unwrap_or(block), behind)
}

/// Whether there is anything to stand on the left: a new file has one side.
fn has_both_sides(patch: &str) -> bool {
    let mut kinds = patch.lines().map(kind).filter(|kind| matches!(kind, Kind::Same | Kind::Old));
    kinds.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Bidi;

    fn written(patch: &str) -> String {
        let mut out = Vec::new();
        write(patch, None, &mut Paper::new(&mut out, Bidi::Kept)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn old_and_new_stand_side_by_side() {
        let patch =
            "--- a\n+++ b\n@@ -1,3 +1,3 @@\n one\n--- two\n+<two>\n+2\n three\n\\ No newline\n";
        assert_eq!(
            written(patch),
            "<div class=\"diff split\"><p class=\"hunk\">@@ -1,3 +1,3 @@</p>\
             <pre class=\"same\"> one</pre><pre class=\"same again\" aria-hidden=\"true\"> one</pre>\
             <pre class=\"old\">--- two</pre><pre class=\"new\">+&lt;two&gt;\n+2</pre>\
             <pre class=\"same\"> three\n\\ No newline</pre>\
             <pre class=\"same again\" aria-hidden=\"true\"> three\n\\ No newline</pre></div>\n"
        );
    }

    #[test]
    fn a_new_file_has_one_side_and_no_diff_loses_a_line() {
        assert!(written("--- a\n+++ b\n@@ -0,0 +1 @@\n+new\n").starts_with("<div class=\"diff\">"));
        assert_eq!(
            written("no diff"),
            "<div class=\"diff split\"><pre class=\"same\">no diff</pre>\
            <pre class=\"same again\" aria-hidden=\"true\">no diff</pre></div>\n"
        );
        assert_eq!(written(""), "<div class=\"diff\"></div>\n");
    }
}
