//! Tests that copies of sessions are private.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "test setup must succeed")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use recount_testkit::Home;

use crate::home;

const DATA: &str = ".local/share/recount";

/// Returns everything in recount's data folder that others may access. Stored copies have the permissions of their
/// originals, in private folders.
fn open_to_others(home: &Home) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    let mut open = vec![home.path().join(DATA)];
    while let Some(path) = open.pop() {
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777;
        let is_copy = path.is_file() && path.to_string_lossy().contains("/trash/");
        if mode & 0o077 != 0 && !is_copy {
            found.push((path.clone(), mode));
        }
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}

/// Runs the program with a umask of 0.
fn run(home: &Home, arguments: &[&str]) {
    let prepared = home.command(arguments);
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(prepared.get_program()).args(arguments);
    shell.env_clear().current_dir(home.path());
    shell.envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{arguments:?}: {output:?}");
}

const COMMANDS: &[&[&str]] = &[
    &["list", "--all"],
    &["search", "tax"],
    &["sql", "select count(*) from sessions"],
    &["rename", "8662", "Tax", "--yes"],
    &["tag", "8662", "x"],
    &["delete", "fa29", "--yes"],
    &["guard", "--keep"],
    &["projects"],
    &["export", "8662", "--redact", "-o", "out.md"],
];

#[test]
fn new_files_and_folders_of_ours_are_private_whatever_the_mask() {
    let home = home(["gemini/lines/tools", "gemini/lines/subagent"]);
    for command in COMMANDS {
        run(&home, command);
        assert_eq!(open_to_others(&home), [], "{command:?}");
    }
    // Files that people asked for are theirs to share.
    let mode = fs::metadata(home.path().join("out.md")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o666);
}

#[test]
fn a_data_folder_that_others_can_read_is_closed_by_the_next_run() {
    for command in [&["list"][..], &["history"], &["rename", "8662", "Tax 2", "--yes"]] {
        let home = home(["gemini/lines/tools", "gemini/lines/subagent"]);
        for command in COMMANDS {
            run(&home, command);
        }
        let loosen = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let mut open = vec![home.path().join(DATA)];
        while let Some(path) = open.pop() {
            let is_folder = path.is_dir();
            if is_folder {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            loosen(&path, if is_folder { 0o755 } else { 0o644 });
        }
        run(&home, command);
        assert_eq!(open_to_others(&home), [], "{command:?}");
    }
}
