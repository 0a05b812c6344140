//! Tests of a session file that can no longer be read: it is not treated as empty, nor as what it was.

#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "test setup must succeed"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use recount_testkit::{Home, Output};
use serde_json::Value;

use crate::home;

const FILE: &str = ".gemini/tmp/shop/chats/session-2026-11-15T18-13-8662c6d1.jsonl";
/// An unprivileged user: modes do not restrict root.
const NOBODY: u32 = 65534;

/// Gives a home to a user that modes apply to. Returns the user that runs the program.
fn hand_over(home: &Home) -> Option<u32> {
    if fs::metadata(home.path()).unwrap().uid() != 0 {
        return None;
    }
    let mut open = vec![home.path().to_owned()];
    while let Some(path) = open.pop() {
        chown(&path, Some(NOBODY), None).unwrap();
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    Some(NOBODY)
}

fn run(home: &Home, who: Option<u32>, arguments: &[&str]) -> Output {
    home.run_with(arguments, |command| {
        who.map(|who| command.uid(who));
    })
}

fn json(home: &Home, who: Option<u32>, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    let output = run(home, who, &arguments);
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"))
}

fn lock(home: &Home) {
    let path = home.path().join(FILE);
    let before = fs::metadata(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let after = fs::metadata(&path).unwrap();
    assert_eq!(
        (before.len(), before.mtime(), before.ino()),
        (after.len(), after.mtime(), after.ino())
    );
}

/// Whether a user can start the program at all: a build folder may be private.
fn can_run(home: &Home, who: Option<u32>) -> bool {
    let program = Path::new(env!("CARGO_BIN_EXE_recount"));
    let open = |path: &Path| path.metadata().is_ok_and(|known| known.mode() & 0o001 != 0);
    (who.is_none() || program.ancestors().all(open)) && run(home, who, &["list"]).code.is_some()
}

#[test]
fn it_is_a_problem_everywhere_and_nothing_empty_is_written() {
    let home = home(["gemini/lines/tools", "gemini/lines/plain"]);
    let who = hand_over(&home);
    if !can_run(&home, who) {
        return;
    }
    let first = json(&home, who, &["export", "--all", "--format", "md", "-o", "out"]);
    assert_eq!(first["export"]["written"], 2, "{first}");
    let written = |home: &Home| {
        let mut files: Vec<_> = fs::read_dir(home.path().join("out/shop")).unwrap().collect();
        files.sort_by_key(|entry| entry.as_ref().unwrap().path());
        files.into_iter().map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect::<Vec<_>>()
    };
    let before = written(&home);
    assert_eq!(json(&home, who, &["guard", "--release", "0.60.0"])["doomed"], false);
    lock(&home);

    let listed = json(&home, who, &["list", "--all"]);
    assert_eq!(listed["problems"][0]["what"], "unreadable", "{listed}");
    let guard = json(&home, who, &["guard", "--release", "0.60.0"]);
    assert_eq!(guard["doomed"], true, "{guard}");
    let lost = &guard["projects"][0]["sessions"][0];
    assert_eq!(lost["files"][0]["why"], "unreadable", "{guard}");

    let again = json(&home, who, &["export", "--all", "--format", "md", "-o", "out"]);
    assert_eq!(again["export"]["removed"], 0, "{again}");
    assert!(again["export"]["problems"].as_u64().unwrap() > 0, "{again}");
    assert_eq!(written(&home), before);
    let fresh = json(&home, who, &["export", "--all", "--format", "json", "-o", "fresh"]);
    assert_eq!(fresh["export"]["files"], 1, "{fresh}");

    let one = run(&home, who, &["export", "8662", "--format", "json", "-o", "one.json"]);
    assert_eq!(one.code, Some(2), "{one}");
    assert!(one.stderr.contains("cannot be read"), "{one}");
    assert!(!home.path().join("one.json").exists());
    let shown = json(&home, who, &["show", "8662"]);
    assert_eq!(shown["problems"][0]["what"], "unreadable", "{shown}");
    for command in ["show", "story"] {
        let output = run(&home, who, &[command, "8662"]);
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains("cannot be shown"), "{output}");
    }
}
