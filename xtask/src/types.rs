//! No public type name is defined twice.
//!
//! Two types of one name in different crates can only be distinguished by their paths. `Error` is exempt: one per crate is
//! a Rust convention.

use std::collections::BTreeMap;

use crate::Report;
use crate::files::RustFile;
use crate::rust::{code_lines, without_comments};
use crate::sizes::only_tests;

const EXEMPT: &[&str] = &["Error"];
const KEYWORDS: &[&str] = &["struct", "enum", "trait", "type", "union"];

/// Fails on every public type that shares its name with another.
pub(crate) fn check(files: &[RustFile]) -> Report {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let sources: Vec<(&str, String)> = files
        .iter()
        .filter(|file| is_covered(&file.path))
        .map(|file| (file.path.as_str(), without_comments(&file.text)))
        .collect();
    for (path, code) in &sources {
        for (line, name) in public_types(code) {
            places.entry(name).or_default().push(format!("{path}:{line}"));
        }
    }
    let mut report = Report::default();
    report.notes.push(format!("{} public types", places.values().map(Vec::len).sum::<usize>()));
    for (name, places) in places {
        if places.len() > 1 && !EXEMPT.contains(&name) {
            let places = places.join(", ");
            report.failures.push(format!("public type `{name}` is defined twice: {places}"));
        }
    }
    report
}

fn is_covered(path: &str) -> bool {
    let mut folders = path.split('/');
    folders.next() == Some("crates") && folders.nth(1) == Some("src") && !only_tests(path)
}

/// Returns the names of types that are `pub` without restriction, each with its line, counted from 1.
fn public_types(code: &str) -> Vec<(usize, &str)> {
    let named = |line: &'_ str| -> Option<(usize, usize)> {
        let rest = line.trim_start().strip_prefix("pub ")?;
        let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
        let (keyword, rest) = rest.split_once(' ')?;
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        KEYWORDS.contains(&keyword).then_some((line.len() - rest.len(), length))
    };
    code_lines(code)
        .enumerate()
        .filter_map(|(index, line)| {
            let (begin, length) = named(line)?;
            Some((index + 1, line.get(begin..begin + length)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| RustFile {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        check(&files.iter().map(file).collect::<Vec<_>>()).failures
    }

    #[test]
    fn a_name_that_is_defined_twice_fails_with_both_places() {
        let one = ("crates/model/src/lib.rs", "/// A.\npub struct Entry<'a> {}\n");
        let two = ("crates/store/src/a/b.rs", "pub enum Entry {}\n");
        assert_eq!(
            failures(&[one, two]),
            [
                "public type `Entry` is defined twice: crates/model/src/lib.rs:2, crates/store/src/a/b.rs:1"
            ]
        );
        assert_eq!(failures(&[one]), [""; 0]);
        let same_crate =
            ("crates/model/src/other.rs", "pub trait Entry: Debug {}\npub type Entry = u8;\n");
        assert_eq!(failures(&[one, same_crate]).len(), 1);
    }

    #[test]
    fn what_is_not_public_or_not_shipped_may_share_a_name() {
        let one = ("crates/model/src/lib.rs", "pub struct Entry;\npub enum Error {}\n");
        for other in [
            ("crates/store/src/lib.rs", "pub(crate) struct Entry;\nstruct Entry;\n"),
            ("crates/store/src/lib.rs", "// pub struct Entry;\nlet a = \"pub struct Entry\";\n"),
            ("crates/store/src/lib.rs", "pub enum Error {}\npub struct Entries;\n"),
            ("crates/store/src/lib.rs", "#[cfg(test)]\nmod tests {\n    pub struct Entry;\n}\n"),
            ("crates/store/tests/lib.rs", "pub struct Entry;\n"),
            ("crates/store/src/scan/tests.rs", "pub struct Entry;\n"),
            ("xtask/src/main.rs", "pub struct Entry;\n"),
        ] {
            assert_eq!(failures(&[one, other]), [""; 0], "{other:?}");
        }
    }
}
