//! Tests that the findings are the same whether sessions are read or cached.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use recount_changes::{Changes, Topic};

use crate::{engine, entries, homes};

/// One in this number of homes is checked.
const STEP: usize = 3;

/// Returns the findings, except about recount's own data.
fn findings(home: &Path) -> Vec<String> {
    let engine = engine(home);
    let all = Changes::new(&engine).doctor(None, &()).unwrap();
    let all = all.iter().filter(|finding| finding.topic != Topic::Recount);
    all.map(|finding| format!("{finding:?}")).collect()
}

/// Returns the findings without a cache.
fn without_cache(home: &Path) -> Vec<String> {
    fs::remove_dir_all(home.join("recount-data")).unwrap();
    findings(home)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Makes a file old enough that nobody seems to write to it.
fn age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    if let Ok(file) = File::options().append(true).open(path) {
        file.set_modified(then).unwrap();
    }
}

#[test]
fn findings_are_cached_until_a_file_changes() {
    let (mut checked, mut found, mut torn) = (0, 0, 0);
    for (name, folder) in homes().step_by(STEP) {
        let home = folder.path();
        let mut all = Vec::new();
        files(&home.join(".gemini"), &mut all);
        for path in &all {
            age(path, 3600);
        }
        let first = findings(home);
        assert_eq!(findings(home), first, "{name}: remembered");
        assert_eq!(without_cache(home), first, "{name}: read again");
        (checked, found) = (checked + 1, found + first.len());
        let is_log = |path: &&PathBuf| {
            path.extension().is_some_and(|ending| ending == "jsonl")
                && path.parent().is_some_and(|folder| folder.ends_with("chats"))
        };
        let Some(log) = all.iter().find(is_log) else { continue };
        let Ok(mut file) = File::options().append(true).open(log) else { continue };
        file.write_all(b"{\"id\":\"torn\",\"timest").unwrap();
        drop(file);
        age(log, 60);
        let damaged = findings(home);
        assert_ne!(damaged, first, "{name}: {} is torn", log.display());
        assert_eq!(findings(home), damaged, "{name}: torn, remembered");
        assert_eq!(without_cache(home), damaged, "{name}: torn, read again");
        torn += 1;
    }
    assert!(
        checked > 10 && found > 10 && torn > 3,
        "{checked} homes, {found} findings, {torn} torn"
    );
}
