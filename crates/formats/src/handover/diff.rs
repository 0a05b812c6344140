//! Unified diffs, split into files and hunks, for agents that store changes in another form.

/// The change of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileDiff {
    /// Its path; empty if the diff does not name it.
    pub(crate) path: String,
    /// Whether the file is new.
    pub(crate) is_new: bool,
    /// Whether the file is removed.
    pub(crate) is_removed: bool,
    /// What changes in it.
    pub(crate) hunks: Vec<Hunk>,
}

/// A group of changed lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The first line in the old file, from 1.
    pub(crate) old_start: u64,
    /// The first line in the new file, from 1.
    pub(crate) new_start: u64,
    /// The lines, each with its sign.
    pub(crate) lines: Vec<String>,
}

impl Hunk {
    /// Counts the lines of the old file.
    pub(crate) fn old_lines(&self) -> u64 {
        self.count('+')
    }

    /// Counts the lines of the new file.
    pub(crate) fn new_lines(&self) -> u64 {
        self.count('-')
    }

    fn count(&self, other: char) -> u64 {
        self.lines.iter().filter(|line| !line.starts_with([other, '\\'])).count() as u64
    }
}

/// Splits a diff. Text before the first header is left out, as are lines that belong to no hunk.
pub(crate) fn files(diff: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    // How many lines of each side the current hunk still has, if its header says so.
    let mut rest: Option<(u64, u64)> = None;
    let mut lines = diff.lines().peekable();
    while let Some(line) = lines.next() {
        let is_inside = rest.is_some_and(|(old, new)| old > 0 || new > 0);
        if !is_inside
            && let Some(old) = line.strip_prefix("--- ")
            && let Some(new) = lines.next_if(|next| next.starts_with("+++ "))
        {
            files.push(header(old, new.get(4..).unwrap_or_default()));
            rest = None;
        } else if let Some(numbers) = line.strip_prefix("@@").filter(|_| !is_inside) {
            let ranges = ranges(numbers);
            rest = ranges.map(|[(_, old), (_, new)]| (old, new));
            let [(old_start, _), (new_start, _)] = ranges.unwrap_or([(1, 0), (1, 0)]);
            let hunk = Hunk { old_start, new_start, lines: Vec::new() };
            files.last_mut().into_iter().for_each(|file| file.hunks.push(hunk.clone()));
        } else if line.starts_with(['+', '-', ' ', '\\']) {
            if let Some((old, new)) = &mut rest {
                *old = old.saturating_sub(u64::from(line.starts_with(['-', ' '])));
                *new = new.saturating_sub(u64::from(line.starts_with(['+', ' '])));
            }
            let Some(file) = files.last_mut() else { continue };
            if file.hunks.is_empty() {
                file.hunks.push(Hunk { old_start: 1, new_start: 1, lines: Vec::new() });
            }
            file.hunks.last_mut().into_iter().for_each(|hunk| hunk.lines.push(line.to_owned()));
        }
    }
    files
}

fn header(old: &str, new: &str) -> FileDiff {
    let path = |side: &str| side.split('\t').next().unwrap_or_default().trim().to_owned();
    let (old, new) = (path(old), path(new));
    let (is_new, is_removed) = (old == "/dev/null", new == "/dev/null");
    FileDiff { path: if is_removed { old } else { new }, is_new, is_removed, hunks: Vec::new() }
}

/// Reads ` -1,2 +3,4 @@`.
fn ranges(numbers: &str) -> Option<[(u64, u64); 2]> {
    let mut words = numbers.split_whitespace();
    let mut range = |sign: char| {
        let word = words.next()?.strip_prefix(sign)?;
        let (start, lines) = word.split_once(',').unwrap_or((word, "1"));
        Some((start.parse().ok()?, lines.parse().ok()?))
    };
    Some([range('-')?, range('+')?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_split_into_files_and_hunks() {
        let diff = "Index: a\n====\n--- a\tCurrent\n+++ a\tProposed\n@@ -1,3 +1,2 @@\n x\n--- y\n-z\n+++ w\n@@ -9 +8 @@\n-1\n+2\n--- /dev/null\n+++ new\n@@ -0,0 +1,1 @@\n+n\n";
        let files = files(diff);
        let paths: Vec<(&str, bool)> =
            files.iter().map(|file| (file.path.as_str(), file.is_new)).collect();
        assert_eq!(paths, [("a", false), ("new", true)]);
        assert_eq!(files[0].hunks.len(), 2);
        assert_eq!(files[0].hunks[0].lines, [" x", "--- y", "-z", "+++ w"]);
        assert_eq!((files[0].hunks[1].old_start, files[0].hunks[1].new_start), (9, 8));
        assert_eq!((files[0].hunks[0].old_lines(), files[0].hunks[0].new_lines()), (3, 2));
    }

    #[test]
    fn a_diff_without_numbers_is_read_too() {
        let files = files("--- a\n+++ a\n@@\n x\n-y\n+z\n--- b\n+++ /dev/null\n");
        assert_eq!(files[0].hunks[0].lines, [" x", "-y", "+z"]);
        assert!(files[1].is_removed && files[1].path == "b");
        assert!(super::files("no diff").is_empty());
    }
}
