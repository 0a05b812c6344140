//! Unified diffs: added and removed lines are distinguished by sign and by color.

use recount_blocks::{DiffBlock, DiffLineKind};

use super::canvas::Canvas;
use super::span::{Line, StyledSpan};
use super::theme::Tone;
use super::wrap::{fold, hang};

/// Renders an untrusted unified diff.
pub fn render(diff: &str, canvas: &Canvas) -> String {
    canvas.print(lines(diff, canvas.room()))
}

/// Lays out an untrusted unified diff for a page of the given width.
pub fn lines(diff: &str, width: usize) -> Vec<Line> {
    let safe = StyledSpan::new(diff, Tone::Plain);
    let diff = DiffBlock { language: None, patch: safe.text() };
    diff.lines().flat_map(|line| fold_behind_sign(line.text, tone(line.kind), width)).collect()
}

/// Folds a line so that its sign has its own column.
fn fold_behind_sign(line: &str, tone: Tone, width: usize) -> Vec<Line> {
    if !line.starts_with(['+', '-', ' ']) {
        return fold(&[StyledSpan::new(line, tone)], width);
    }
    let (sign, text) = line.split_at(1);
    let [sign, further] = [sign, "↪"].map(|mark| Line::new([StyledSpan::new(mark, tone)]));
    hang(fold(&[StyledSpan::new(text, tone)], width.saturating_sub(1)), &sign, &further)
}

const fn tone(kind: DiffLineKind) -> Tone {
    match kind {
        DiffLineKind::Header | DiffLineKind::Note => Tone::Dim,
        DiffLineKind::Hunk => Tone::Hunk,
        DiffLineKind::Added => Tone::Added,
        DiffLineKind::Removed => Tone::Removed,
        DiffLineKind::Context => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::Paint;
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
    fn a_diff_reads_as_one_without_colors() {
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
    fn damaged_hunks_do_no_harm() {
        for diff in
            ["@@", "@@ -1 +1 @@", "@@ -1,x +1 @@", "@@ -1,99999999999999999999 +1 @@\n-a", "+", ""]
        {
            lines(diff, 20);
        }
    }
}
