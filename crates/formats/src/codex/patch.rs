//! Patches as the agent writes them, and as unified diffs.

use std::fmt::Write as _;

use crate::json::JsonTree;

/// What a patch does to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Makes it.
    Add,
    /// Changes it.
    Update,
    /// Removes it.
    Delete,
}

/// Lists the files that a patch touches.
pub(super) fn paths(patch: &str) -> Vec<(String, Does)> {
    patch.lines().filter_map(heading).map(|(does, path)| (path.to_owned(), does)).collect()
}

fn heading(line: &str) -> Option<(Does, &str)> {
    let rest = line.strip_prefix("*** ")?;
    let (word, path) = rest.split_once(" File: ")?;
    let does = match word {
        "Add" => Does::Add,
        "Update" => Does::Update,
        "Delete" => Does::Delete,
        _ => return None,
    };
    Some((does, path.trim()))
}

/// Turns a patch of the agent's own form into a unified diff. Such a patch has no line numbers.
pub(super) fn diff(patch: &str) -> Option<String> {
    let mut diff = String::new();
    for line in patch.lines() {
        if let Some((does, path)) = heading(line) {
            diff.push_str(&head(does, path));
        } else if line.starts_with(['+', '-', ' ', '@']) && !diff.is_empty() {
            diff.push_str(line);
            diff.push('\n');
        }
    }
    (!diff.is_empty()).then_some(diff)
}

/// Makes one unified diff of the changes that an event lists.
pub(super) fn of_changes(changes: &[(String, JsonTree)]) -> String {
    let mut diff = String::new();
    for (path, change) in changes {
        // Older releases name the kind by a key.
        let (kind, change) = match (change.text("type"), change.as_object().and_then(<[_]>::first))
        {
            (Some(kind), _) => (kind, change),
            (None, Some((kind, inner))) => (kind.as_str(), inner),
            (None, None) => continue,
        };
        let (does, sign) = match kind {
            "add" => (Does::Add, '+'),
            "delete" => (Does::Delete, '-'),
            _ => (Does::Update, ' '),
        };
        diff.push_str(&head(does, path));
        if let Some(unified) = change.text("unified_diff") {
            diff.push_str(unified);
            if !unified.ends_with('\n') {
                diff.push('\n');
            }
        } else if let Some(content) = change.text("content") {
            for line in content.lines() {
                // Writing to a string cannot fail.
                let _written = writeln!(diff, "{sign}{line}");
            }
        }
    }
    diff
}

fn head(does: Does, path: &str) -> String {
    match does {
        Does::Add => format!("--- /dev/null\n+++ {path}\n"),
        Does::Update => format!("--- {path}\n+++ {path}\n"),
        Does::Delete => format!("--- {path}\n+++ /dev/null\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_and_changes_become_unified_diffs() {
        let patch = "*** Begin Patch\n*** Update File: /a/cart.py\n@@\n-old\n+new\n*** Add File: NOTES.md\n+# Notes\n*** Delete File: x\n*** End Patch\n";
        assert_eq!(
            paths(patch),
            [
                ("/a/cart.py".into(), Does::Update),
                ("NOTES.md".into(), Does::Add),
                ("x".into(), Does::Delete)
            ]
        );
        let expected = "--- /a/cart.py\n+++ /a/cart.py\n@@\n-old\n+new\n--- /dev/null\n+++ NOTES.md\n+# Notes\n--- x\n+++ /dev/null\n";
        assert_eq!(diff(patch).as_deref(), Some(expected));
        assert_eq!(diff("no patch"), None);
        let changes = br#"{"/a":{"type":"update","unified_diff":"@@ -1 +1 @@\n-a\n+b\n"},"/b":{"add":{"content":"x\ny\n"}}}"#;
        let tree = JsonTree::parse(changes).unwrap();
        let expected = "--- /a\n+++ /a\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ /b\n+x\n+y\n";
        assert_eq!(of_changes(tree.as_object().unwrap()), expected);
    }
}
