//! Tests of missing folders: the recorded renames, replayed on a disk on which the new folder exists.

use std::path::{Path, PathBuf};
use std::{fs, str};

use recount_engine::ProjectRow;
use recount_model::{ClueKind, ProjectState};
use recount_testkit::{Capture, Home, corpus};
use serde_json::json;

use super::{engine, hash, path, row, rows, session, still, write_session};

/// The contents of the folder in every recording.
const FILES: &[&str] =
    &["README.md", "prices.csv", "src/cart.js", "src/tax.js", "docs/guide.md", "docs/notes.md"];

/// Returns the recordings in which a folder was renamed, one of which is a fixture.
fn captures() -> Vec<PathBuf> {
    let is_rename = |capture: &Capture| {
        capture.name.ends_with("/17-renamed-dir") || capture.name.ends_with("/renamed-folder")
    };
    let found: Vec<Capture> = corpus().captures.into_iter().filter(is_rename).collect();
    assert!(!found.is_empty(), "no recording of a rename");
    found.iter().map(Capture::home).collect()
}

/// Returns the recording as if it had been made in this home.
fn replay(capture: &Path) -> Home {
    let home = Home::empty();
    let place = |path: &str| home.at(path.trim_start_matches("/home/dev/"));
    let hashes = ["/home/dev/code/shop", "/home/dev/code/store"]
        .map(|path| (hash(path), hash(&place(path))));
    copy(capture, "", &home, &|text| {
        let text = text.replace("/home/dev", home.path().to_str().unwrap());
        hashes.iter().fold(text, |text, (old, new)| text.replace(old, new))
    });
    home
}

#[expect(clippy::disallowed_methods, reason = "a test reads what it makes over")]
fn copy(from: &Path, below: &str, home: &Home, rewrite: &dyn Fn(&str) -> String) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            copy(&entry.path(), &format!("{name}/"), home, rewrite);
        } else {
            let bytes = fs::read(entry.path()).unwrap();
            home.write(&name, rewrite(str::from_utf8(&bytes).unwrap()));
        }
    }
}

fn write_folder(home: &Home, folder: &str) {
    for file in FILES {
        home.write(&format!("{folder}/{file}"), "");
    }
}

#[track_caller]
fn assert_moved(home: &Home, rows: &[ProjectRow], to: &str) {
    let shop = row(rows, "shop");
    assert_eq!(shop.state, ProjectState::Missing);
    assert_eq!(path(shop), Some(&*home.at("code/shop")));
    let moved = shop.moved_to.as_ref().unwrap();
    assert_eq!(moved.path, home.at(to), "{:?}", moved.evidence);
}

#[test]
fn the_new_folder_of_a_recorded_rename_is_proposed() {
    for capture in captures() {
        let home = replay(&capture);
        write_folder(&home, "code/store");
        let rows = rows(&engine(&home));
        assert_moved(&home, &rows, "code/store");
        let store = row(&rows, "store");
        assert_eq!((store.state, store.moved_to.is_none()), (ProjectState::Present, true));
    }
}

#[test]
fn the_new_folder_is_proposed_among_others() {
    for capture in captures() {
        let home = replay(&capture);
        write_folder(&home, "code/store");
        for other in
            ["code/blog/post.md", "code/lib/src/lib.rs", "docs/README.md", "shopping/list.txt"]
        {
            home.write(other, "");
        }
        assert_moved(&home, &rows(&engine(&home)), "code/store");
    }
}

#[test]
fn a_folder_that_is_there_has_not_moved() {
    for capture in captures() {
        let home = replay(&capture);
        write_folder(&home, "code/store");
        write_folder(&home, "code/shop");
        let rows = rows(&engine(&home));
        for row in &rows {
            assert_eq!((row.state, row.moved_to.is_none()), (ProjectState::Present, true));
        }
    }
}

/// Returns a project whose folder is missing, with the text of its only session.
fn gone_shop(said: &str) -> Home {
    let home = Home::empty();
    home.write(".gemini/tmp/shop/.project_root", home.at("code/shop"));
    write_session(&home, "shop", &session("aa11bb22", &home.at("code/shop"), said));
    home
}

#[test]
fn two_equal_places_make_no_proposal() {
    let home = gone_shop("hello");
    home.write("code/one/x", "");
    home.write("code/two/x", "");
    assert!(row(&rows(&engine(&home)), "shop").moved_to.is_none(), "nothing speaks for either");
    home.write("old/shop/x", "");
    home.write("archive/shop/x", "");
    let rows = rows(&engine(&home));
    assert!(row(&rows, "shop").moved_to.is_none(), "{:?}", row(&rows, "shop").moved_to);
}

#[test]
fn a_place_of_the_same_name_is_found_by_a_search() {
    let home = gone_shop("hello");
    home.write("archive/2026/shop/x", "");
    let rows = rows(&engine(&home));
    assert_moved(&home, &rows, "archive/2026/shop");
    let moved = row(&rows, "shop").moved_to.as_ref().unwrap();
    assert!(!moved.likely);
    assert_eq!(moved.evidence.iter().map(|clue| clue.clue).collect::<Vec<_>>(), [ClueKind::Name]);
}

#[test]
fn touched_files_identify_the_new_folder() {
    let home = Home::empty();
    let said =
        format!("see {0}/src/cart.js and {0}/src/tax.js and {0}/prices.csv", home.at("code/shop"));
    home.write(".gemini/tmp/shop/.project_root", home.at("code/shop"));
    write_session(&home, "shop", &session("aa11bb22", &home.at("code/shop"), &said));
    write_folder(&home, "code/store");
    home.write("code/blog/post.md", "");
    let rows = rows(&engine(&home));
    assert_moved(&home, &rows, "code/store");
    assert!(row(&rows, "shop").moved_to.as_ref().unwrap().likely);
}

#[test]
fn a_repository_that_was_seen_is_recognized_elsewhere() {
    let home = gone_shop("hello");
    let log = |folder: &str| {
        let line = "0000000000000000000000000000000000000000 39dce72a6a629936d45646fd6ecea4b32bd12370 \
                    Dev <dev@example.com> 1794769200 +0000\tclone: from x\n";
        home.write(&format!("{folder}/.git/logs/HEAD"), line);
    };
    log("code/shop");
    assert_eq!(row(&rows(&engine(&home)), "shop").state, ProjectState::Present);
    remove(&home.path().join("code"));
    log("elsewhere/under/another-name");
    let rows = rows(&engine(&home));
    assert_moved(&home, &rows, "elsewhere/under/another-name");
}

#[expect(clippy::disallowed_methods, reason = "a test takes away what it made")]
fn remove(folder: &Path) {
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_agents_own_directories_are_no_place_to_move_to() {
    let home = Home::empty();
    home.write("copy/tmp/shop/.project_root", "/gone/code/shop");
    home.write("copy/projects.json", json!({"projects": {"/gone/code/shop": "shop"}}).to_string());
    let env = recount_platform::Env::for_tests([("RECOUNT_DATA_DIR", &*home.at("data"))], None);
    let clock = recount_model::Clock::fixed(recount_testkit::NOW.parse().unwrap());
    let homes = vec![home.path().join("copy")];
    let setup = recount_engine::Setup {
        known_sources: recount_engine::SOURCES,
        homes,
        sources: Vec::new(),
        env,
        clock,
    };
    let engine = recount_engine::Engine::new(setup).unwrap();
    let engine = engine.with_processes(std::sync::Arc::new(super::Scripted::default()));
    let rows = rows(&engine);
    assert_eq!(row(&rows, "shop").state, ProjectState::Missing);
    assert!(row(&rows, "shop").moved_to.is_none(), "{:?}", row(&rows, "shop").moved_to);
}

#[test]
fn without_a_search_the_neighbours_are_still_compared() {
    let home = gone_shop("prices.csv cart.js tax.js guide.md");
    write_folder(&home, "code/store");
    assert_moved(&home, &rows(&still(&home)), "code/store");
}
