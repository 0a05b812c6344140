//! Unified diffs: what was added and removed, told apart by sign and by colour.

use super::canvas::Canvas;
use super::span::{Line, Span};
use super::theme::Tone;
use super::wrap::{fold, hang};

/// Renders an untrusted unified diff.
pub(crate) fn render(diff: &str, canvas: &Canvas) -> String {
    canvas.print(lines(diff, canvas.room()))
}

/// Lays out an untrusted unified diff for a page of the given width.
pub(crate) fn lines(diff: &str, width: usize) -> Vec<Line> {
    let safe = Span::new(diff, Tone::Plain);
    let mut hunk = Hunk::default();
    let mut lines = Vec::new();
    for line in safe.text().lines() {
        let tone = hunk.tone(line);
        lines.extend(fold_behind_sign(line, tone, width));
    }
    lines
}

/// Folds a line so that its sign keeps a column of its own.
fn fold_behind_sign(line: &str, tone: Tone, width: usize) -> Vec<Line> {
    if !line.starts_with(['+', '-', ' ']) {
        return fold(&[Span::new(line, tone)], width);
    }
    let (sign, text) = line.split_at(1);
    let [sign, further] = [sign, "↪"].map(|mark| Line::new([Span::new(mark, tone)]));
    hang(fold(&[Span::new(text, tone)], width.saturating_sub(1)), &sign, &further)
}

/// How many lines of the current hunk are still to come: `---` within it is a removed `--`.
#[derive(Debug, Default)]
struct Hunk {
    removed: usize,
    added: usize,
}

impl Hunk {
    fn tone(&mut self, line: &str) -> Tone {
        if let Some(next) = Self::begin(line) {
            *self = next;
            return Tone::Hunk;
        }
        let is_inside = self.removed > 0 || self.added > 0;
        let is_header =
            ["--- ", "+++ ", "diff ", "index ", "Index: ", "====", "similarity ", "rename "]
                .iter()
                .any(|start| line.starts_with(start));
        if !is_inside && is_header {
            return Tone::Dim;
        }
        match line.chars().next() {
            Some('+') => {
                self.added = self.added.saturating_sub(1);
                Tone::Added
            }
            Some('-') => {
                self.removed = self.removed.saturating_sub(1);
                Tone::Removed
            }
            // "\ No newline at end of file" counts for neither side.
            Some('\\') => Tone::Dim,
            _ => {
                self.added = self.added.saturating_sub(1);
                self.removed = self.removed.saturating_sub(1);
                Tone::Plain
            }
        }
    }

    /// Reads `@@ -1,3 +1,4 @@`; a count that is left out is 1.
    fn begin(line: &str) -> Option<Self> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (removed, added) = ranges.split_once(" +")?;
        let count = |range: &str| {
            range.split_once(',').map_or(Some(1), |(_, lines)| lines.parse::<usize>().ok())
        };
        Some(Self { removed: count(removed)?, added: count(added)? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Paint;
    use super::Tone::{Added, Dim, Hunk as Place, Plain, Removed};
    use super::*;

    const DIFF: &str = "\
--- a/query.sql
+++ b/query.sql
@@ -1,3 +1,3 @@
 select 1;
--- old note
+++ new note that is rather long
 select 2;
\\ No newline at end of file
";

    #[test]
    fn a_diff_reads_as_one_without_colours() {
        insta::assert_snapshot!(render(DIFF, &Canvas::new(24, Paint::Off)), @r"
        --- a/query.sql
        +++ b/query.sql
        @@ -1,3 +1,3 @@
         select 1;
        --- old note
        +++ new note that is rat
        ↪her long
         select 2;
        \ No newline at end of f
        ile
        ");
    }

    #[test]
    fn dashes_within_a_hunk_are_changes_and_not_headers() {
        let mut hunk = Hunk::default();
        let tones: Vec<Tone> = DIFF.lines().map(|line| hunk.tone(line)).collect();
        assert_eq!(tones, [Dim, Dim, Place, Plain, Removed, Added, Plain, Dim]);
    }

    #[test]
    fn damaged_hunks_do_no_harm() {
        for diff in
            ["@@", "@@ -1 +1 @@", "@@ -1,x +1 @@", "@@ -1,99999999999999999999 +1 @@\n-a", "+", ""]
        {
            lines(diff, 20);
        }
    }
}
