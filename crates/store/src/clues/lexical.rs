//! Lexical paths: resolves `.` and `..` without the disk, as the folder may no longer exist.

use std::path::{Component, Path, PathBuf};

/// Returns an absolute path without `.`, `..` and trailing separators.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                normal.push(component);
            }
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved() {
        for (path, expected) in [
            ("/home/dev/./code//shop/", "/home/dev/code/shop"),
            ("/home/dev/code/../docs", "/home/dev/docs"),
            ("/../..", "/"),
            ("/", "/"),
            ("", ""),
        ] {
            assert_eq!(normal(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
