//! Unified diffs.

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

/// A change as a unified diff.
///
/// The patch is kept as it is and split into lines when it is drawn or serialized. In JSON, `lines` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffBlock<'a> {
    /// The extension of the changed file.
    pub language: Option<&'a str>,
    /// The patch, without the `Index:` header that some agents write.
    pub patch: &'a str,
}

/// A line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DiffLine<'a> {
    /// What it is.
    pub kind: DiffLineKind,
    /// Its number in the old file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<u64>,
    /// Its number in the new file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<u64>,
    /// The line with its sign, without its line feed.
    pub text: &'a str,
}

/// What a line of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffLineKind {
    /// A name of a file or another header.
    Header,
    /// `@@ -1,3 +1,4 @@`: the line numbers of the lines below.
    Hunk,
    /// An added line.
    Added,
    /// A removed line.
    Removed,
    /// An unchanged line.
    Context,
    /// `\ No newline at end of file`: about the line before.
    Note,
}

impl<'a> DiffBlock<'a> {
    /// Wraps a patch as the session records it.
    pub fn new(patch: &'a str, language: Option<&'a str>) -> Self {
        Self { language, patch: without_index(patch) }
    }

    /// Returns the lines.
    pub fn lines(&self) -> impl Iterator<Item = DiffLine<'a>> + use<'a> {
        let mut hunk = Hunk::default();
        self.patch.split_inclusive('\n').map(move |line| {
            let text = line.strip_suffix('\n').unwrap_or(line);
            hunk.line(text)
        })
    }
}

impl Serialize for DiffBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut block = serializer.serialize_struct("DiffBlock", 2)?;
        block.serialize_field("language", &self.language)?;
        block.serialize_field("lines", &self.lines().collect::<Vec<_>>())?;
        block.end()
    }
}

/// The position within a hunk. The number of remaining lines decides whether `---` is a header or a
/// removed `--`.
#[derive(Debug, Default)]
struct Hunk {
    old: Side,
    new: Side,
}

#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// The number of the next line, if the hunk header has it.
    next: Option<u64>,
    /// The number of remaining lines.
    left: u64,
}

impl Side {
    /// Reads `1,3`; a missing count is 1.
    fn read(range: &str) -> Option<Self> {
        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
        Some(Self { next: start.parse().ok(), left: count.parse().ok()? })
    }

    fn advance(&mut self) -> Option<u64> {
        let number = self.next;
        self.next = number.map(|number| number.saturating_add(1));
        self.left = self.left.saturating_sub(1);
        number
    }
}

impl Hunk {
    fn line<'a>(&mut self, text: &'a str) -> DiffLine<'a> {
        let plain = |kind| DiffLine { kind, old: None, new: None, text };
        if let Some(next) = Self::begin(text) {
            *self = next;
            return plain(DiffLineKind::Hunk);
        }
        let is_inside = self.old.left > 0 || self.new.left > 0;
        if !is_inside && is_header(text) {
            return plain(DiffLineKind::Header);
        }
        match text.as_bytes().first() {
            Some(b'+') => DiffLine { new: self.new.advance(), ..plain(DiffLineKind::Added) },
            Some(b'-') => DiffLine { old: self.old.advance(), ..plain(DiffLineKind::Removed) },
            // Counts for neither side.
            Some(b'\\') => plain(DiffLineKind::Note),
            _ => {
                let (old, new) = (self.old.advance(), self.new.advance());
                DiffLine { old, new, ..plain(DiffLineKind::Context) }
            }
        }
    }

    /// Reads `@@ -1,3 +1,4 @@`.
    fn begin(line: &str) -> Option<Self> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        Some(Self { old: Side::read(old)?, new: Side::read(new)? })
    }
}

fn is_header(line: &str) -> bool {
    ["--- ", "+++ ", "diff ", "index ", "Index: ", "====", "similarity ", "rename "]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Agents write the file name and a rule above the actual diff; the call already has the name.
fn without_index(patch: &str) -> &str {
    match patch.split_once("\n--- ") {
        Some((head, _)) if head.starts_with("Index: ") => {
            patch.get(head.len() + 1..).unwrap_or(patch)
        }
        _ => patch,
    }
}

#[cfg(test)]
mod tests {
    use super::DiffLineKind::{Added, Context, Header, Hunk, Note, Removed};
    use super::*;

    const DIFF: &str = "\
--- a/query.sql
+++ b/query.sql
@@ -1,3 +7,3 @@
 select 1;
--- old note
+++ new note
 select 2;
\\ No newline at end of file
";

    fn lines(patch: &str) -> Vec<DiffLine<'_>> {
        DiffBlock::new(patch, None).lines().collect()
    }

    #[test]
    fn dashes_within_a_hunk_are_changes_and_not_headers() {
        let kinds: Vec<_> = lines(DIFF).iter().map(|line| line.kind).collect();
        assert_eq!(kinds, [Header, Header, Hunk, Context, Removed, Added, Context, Note]);
    }

    #[test]
    fn lines_have_their_numbers_in_both_files() {
        let numbers: Vec<_> = lines(DIFF).iter().map(|line| (line.old, line.new)).collect();
        let expected = [
            (Some(1), Some(7)),
            (Some(2), None),
            (None, Some(8)),
            (Some(3), Some(9)),
            (None, None),
        ];
        assert_eq!(numbers.get(3..), Some(&expected[..]));
        let alone = lines("+a\n b");
        assert!(alone.iter().all(|line| line.new.is_none()), "a diff without hunks: {alone:?}");
    }

    #[test]
    fn damaged_hunks_do_no_harm() {
        for patch in
            ["@@", "@@ -1 +1 @@", "@@ -1,x +1 @@", "@@ -1,99999999999999999999 +1 @@\n-a", "+", ""]
        {
            assert_eq!(lines(patch).len(), patch.lines().count(), "{patch}");
        }
    }

    #[test]
    fn the_index_header_is_dropped() {
        let patch = format!("Index: query.sql\n====\n{DIFF}");
        assert_eq!(DiffBlock::new(&patch, None).patch, DIFF);
        assert_eq!(DiffBlock::new("Index: a", None).patch, "Index: a");
    }
}
