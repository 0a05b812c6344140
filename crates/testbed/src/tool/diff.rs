//! The change of a file as the edit tools record it: a unified diff and its counts.

use crate::json::{Json, record};

pub(super) struct Change<'a> {
    pub(super) path: &'a str,
    pub(super) absolute: &'a str,
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    pub(super) is_new: bool,
}

/// One hunk: everything between the first and the last line that differ, with three lines of context.
struct Hunk<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    /// Equal lines before and after the hunk's changes.
    head: usize,
    tail: usize,
}

const AROUND: usize = 3;

impl Change<'_> {
    /// Returns the object under `resultDisplay`.
    pub(super) fn display(&self) -> Json {
        let name = self.path.rsplit('/').next().unwrap_or(self.path);
        let hunk = Hunk::between(self.before, self.after);
        let added = hunk.new.get(hunk.head..hunk.new.len() - hunk.tail).unwrap_or_default();
        let removed = hunk.old.get(hunk.head..hunk.old.len() - hunk.tail).unwrap_or_default();
        record! {
            "fileDiff": self.patch(name, &hunk),
            "fileName": name,
            "filePath": self.absolute,
            "originalContent": self.before,
            "newContent": self.after,
            "diffStat": record! {
                "model_added_lines": added.len() as u64,
                "model_removed_lines": removed.len() as u64,
                "model_added_chars": width(added),
                "model_removed_chars": width(removed),
                "user_added_lines": 0_u64,
                "user_removed_lines": 0_u64,
                "user_added_chars": 0_u64,
                "user_removed_chars": 0_u64,
            },
            "isNewFile": self.is_new,
        }
    }

    fn patch(&self, name: &str, hunk: &Hunk<'_>) -> String {
        let (was, is) = if self.is_new { ("Original", "Written") } else { ("Current", "Proposed") };
        let line = "=".repeat(67);
        let mut out = format!("Index: {name}\n{line}\n--- {name}\t{was}\n+++ {name}\t{is}\n");
        let (from, to) = (hunk.head.saturating_sub(AROUND), hunk.tail.saturating_sub(AROUND));
        let (old, new) = (hunk.old.len() - from - to, hunk.new.len() - from - to);
        let at = |count: usize| if count == 0 { 0 } else { from + 1 };
        out.extend([format!("@@ -{},{old} +{},{new} @@\n", at(old), at(new))]);
        let mut put = |sign: char, lines: &[&str]| {
            for line in lines {
                out.push(sign);
                out.push_str(line);
                out.push('\n');
            }
        };
        let (old_end, new_end) = (hunk.old.len() - hunk.tail, hunk.new.len() - hunk.tail);
        put(' ', hunk.old.get(from..hunk.head).unwrap_or_default());
        put('-', hunk.old.get(hunk.head..old_end).unwrap_or_default());
        put('+', hunk.new.get(hunk.head..new_end).unwrap_or_default());
        put(' ', hunk.old.get(old_end..hunk.old.len() - to).unwrap_or_default());
        out
    }
}

impl<'a> Hunk<'a> {
    fn between(before: &'a str, after: &'a str) -> Self {
        let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
        let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let most = old.len().min(new.len()) - head;
        let tail =
            old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        Self { old, new, head, tail }
    }
}

/// Returns the length as JavaScript counts it.
fn width(lines: &[&str]) -> u64 {
    lines.iter().map(|line| line.encode_utf16().count() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(before: &str, after: &str, is_new: bool) -> String {
        let change =
            Change { path: "src/tax.js", absolute: "/p/src/tax.js", before, after, is_new };
        change.patch("tax.js", &Hunk::between(before, after))
    }

    #[test]
    fn diffs_read_like_the_real_ones() {
        let bar = "=".repeat(67);
        assert_eq!(
            patch("const tax = 0.2;\n", "const tax = 0.25;\n", false),
            format!(
                "Index: tax.js\n{bar}\n--- tax.js\tCurrent\n+++ tax.js\tProposed\n@@ -1,1 +1,1 @@\n\
                 -const tax = 0.2;\n+const tax = 0.25;\n"
            )
        );
        assert!(patch("", "a\nb\n", true).ends_with("Written\n@@ -0,0 +1,2 @@\n+a\n+b\n"));
        assert!(
            patch("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", false)
                .ends_with("@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n")
        );
    }
}
