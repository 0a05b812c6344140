//! A diff, as blocks of lines side by side, or below each other if the page is narrow.
//!
//! Each line keeps its mark (`+`, `-`, blank), so that nothing depends on colors.

use std::io;

use recount_blocks::{DiffBlock, DiffLineKind};

use super::html_writer::HtmlWriter;

/// Writes a unified diff.
pub(super) fn write(diff: DiffBlock<'_>, html: &mut HtmlWriter<'_>) -> io::Result<()> {
    let patch = without_names(diff.patch).trim_end_matches('\n');
    let runs = runs(DiffBlock { patch, ..diff });
    // A new file has nothing on the left.
    let is_split = runs.iter().any(|(part, _)| matches!(part, Part::Same | Part::Old));
    html.mark(if is_split { "<div class=\"diff split\"" } else { "<div class=\"diff\"" })?;
    if let Some(language) = diff.language {
        html.attribute("data-lang", language)?;
    }
    html.mark(">")?;
    for (part, text) in runs {
        match part {
            Part::Place => element("<p class=\"hunk\">", text, "</p>", html)?,
            Part::Old => element("<pre class=\"old\">", text, "</pre>", html)?,
            Part::New => element("<pre class=\"new\">", text, "</pre>", html)?,
            Part::Same => {
                element("<pre class=\"same\">", text, "</pre>", html)?;
                if is_split {
                    let open = "<pre class=\"same again\" aria-hidden=\"true\">";
                    element(open, text, "</pre>", html)?;
                }
            }
        }
    }
    html.mark("</div>\n")
}

fn element(
    open: &'static str,
    text: &str,
    close: &'static str,
    html: &mut HtmlWriter<'_>,
) -> io::Result<()> {
    html.mark(open)?;
    html.text(text)?;
    html.mark(close)
}

/// The part of a diff that an element shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The hunk header with the line numbers.
    Place,
    Same,
    Old,
    New,
}

/// Groups adjacent lines that go into one element.
fn runs(diff: DiffBlock<'_>) -> Vec<(Part, &str)> {
    let mut runs: Vec<(Part, &str)> = Vec::new();
    let (mut start, mut end) = (0, 0);
    for line in diff.lines() {
        let last = runs.last().map(|(part, _)| *part);
        let part = match line.kind {
            DiffLineKind::Header | DiffLineKind::Hunk => Part::Place,
            DiffLineKind::Removed => Part::Old,
            DiffLineKind::Added => Part::New,
            DiffLineKind::Context => Part::Same,
            // It is about the line before.
            DiffLineKind::Note => last.unwrap_or(Part::Same),
        };
        let goes_on = last == Some(part) && part != Part::Place;
        if !goes_on {
            start = end;
        }
        let text = diff.patch.get(start..end + line.text.len()).unwrap_or_default();
        end += line.text.len() + 1;
        match runs.last_mut() {
            Some(run) if goes_on => run.1 = text,
            _ => runs.push((part, text)),
        }
    }
    runs
}

/// Removes the file names above the first hunk; the call has them. Further down, similar lines are content.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Bidi;

    fn written(patch: &str) -> String {
        let mut out = Vec::new();
        write(DiffBlock::new(patch, None), &mut HtmlWriter::new(&mut out, Bidi::Kept)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn old_and_new_lines_are_side_by_side() {
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
    fn headers_of_another_file_span_both_sides() {
        let patch = "@@ -1 +1 @@\n-a\n+b\n--- c\n+++ d\n@@ -1 +0,0 @@\n-e\n";
        assert_eq!(
            written(patch),
            "<div class=\"diff split\"><p class=\"hunk\">@@ -1 +1 @@</p><pre class=\"old\">-a</pre>\
             <pre class=\"new\">+b</pre><p class=\"hunk\">--- c</p><p class=\"hunk\">+++ d</p>\
             <p class=\"hunk\">@@ -1 +0,0 @@</p><pre class=\"old\">-e</pre></div>\n"
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
