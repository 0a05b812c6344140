//! Ordinary lines are not changed: the sources of this project, its fixtures, and recorded sessions if available.

use std::path::{Path, PathBuf};

use recount_redact::{Redactor, Rules, SecretKind};
use recount_testkit::{corpus, corpus_of_other_agents};

/// The percentage of ordinary lines that may be changed: one in a thousand.
const MOST: f64 = 0.1;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[expect(clippy::disallowed_methods, reason = "whole files are read for a test")]
fn texts(folder: &Path, all: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if path.is_dir() {
            if !matches!(&*name, "target" | ".git" | "node_modules" | "redact") {
                texts(&path, all);
            }
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            all.push((path, text));
        }
    }
}

/// Returns the number of lines and the changed ones. A user name in a path is not a mistake.
fn count(folders: &[PathBuf]) -> (usize, Vec<String>) {
    let mut rules = Rules::default();
    rules.kinds.remove(&SecretKind::User);
    let redactor = Redactor::new(rules).unwrap();
    let mut all = Vec::new();
    for folder in folders {
        texts(folder, &mut all);
    }
    let (mut lines, mut touched) = (0, Vec::new());
    for (path, text) in &all {
        // A log has a whole message on a line: each line of the message counts.
        for line in
            text.lines().flat_map(|line| line.split("\\n")).filter(|line| !line.trim().is_empty())
        {
            lines += 1;
            if let Some(finding) = redactor.find(line).first() {
                touched.push(format!(
                    "{}: {:?} {:?}",
                    path.display(),
                    finding.kind,
                    line.get(finding.range.clone())
                ));
            }
        }
    }
    (lines, touched)
}

#[expect(clippy::cast_precision_loss, reason = "far fewer lines than that")]
#[expect(clippy::print_stdout, reason = "the share is a figure that people ask for")]
fn check(what: &str, folders: &[PathBuf]) {
    let (lines, touched) = count(folders);
    assert!(lines > 0, "no text in {what}");
    let rate = 100.0 * touched.len() as f64 / lines as f64;
    let shown: Vec<&str> = touched.iter().map(String::as_str).take(200).collect();
    let summary =
        format!("{what}: {} of {lines} lines, {rate:.3} %\n{}", touched.len(), shown.join("\n"));
    println!("{what}: {} of {lines} lines touched", touched.len());
    assert!(rate <= MOST, "{summary}");
}

#[test]
fn ordinary_lines_are_left_alone() {
    for folder in ["crates", "docs", "xtask", "bench", "e2e", "fuzz", "fixtures"] {
        check(folder, &[repository().join(folder)]);
    }
    for corpus in [corpus(), corpus_of_other_agents()] {
        if corpus.is_recorded() {
            let folders: Vec<PathBuf> =
                corpus.captures.into_iter().map(|capture| capture.path).collect();
            check("recordings", &folders);
        }
    }
}
