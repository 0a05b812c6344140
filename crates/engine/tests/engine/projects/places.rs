//! Tests of where is searched: the likely places, configured ones, requested ones.

use std::path::PathBuf;

use recount_engine::{Engine, ListQuery, Seek, Setup};
use recount_model::{Clock, ClueKind, ProjectState};
use recount_platform::Env;
use recount_testkit::{Home, NOW};

use super::{Arc, Scripted, assert_proven, engine, path, row, rows, write_hash_directory};

/// Returns a home with a folder, and the directory of its hash.
fn with_folder(folder: &str) -> (Home, String) {
    let home = Home::empty();
    home.write(&format!("{folder}/README.md"), "");
    let path = home.at(folder);
    write_hash_directory(&home, &path);
    (home, path)
}

fn set(home: &Home, settings: &str) {
    home.write(".config/recount/config.toml", format!("[projects]\n{settings}\n"));
}

fn found(home: &Home, folder: &str) -> bool {
    path(row(&rows(&engine(home)), folder)).is_some()
}

fn scanned(home: &Home, places: &[&str], depth: Option<usize>, folder: &str) -> bool {
    let places: Vec<PathBuf> = places.iter().map(|place| home.path().join(place)).collect();
    let rows = engine(home).projects(Some(&Seek { places, depth }), &()).unwrap().0;
    path(row(&rows, folder)).is_some()
}

#[test]
fn likely_places_are_searched_four_levels_deep() {
    let (home, folder) = with_folder("code/1/2/3/4");
    assert_proven(&engine(&home), &folder, ClueKind::Scan);
    let (home, folder) = with_folder("code/1/2/3/4/5");
    assert!(!found(&home, &folder));
    let (home, folder) = with_folder("elsewhere/2/3/4");
    assert_proven(&engine(&home), &folder, ClueKind::Scan);
    assert_eq!(row(&rows(&engine(&home)), &folder).state, ProjectState::Present);
}

#[test]
fn the_user_says_where_and_how_deep() {
    let (home, folder) = with_folder("code/1/2/3/4/5");
    set(&home, "depth = 5");
    assert!(found(&home, &folder));
    let (home, folder) = with_folder("elsewhere/1/2");
    set(&home, "roots = [\"~/code\", \"/no/such/place\"]");
    assert!(!found(&home, &folder));
    set(&home, "roots = [\"~/elsewhere\"]\ndepth = 1");
    assert!(!found(&home, &folder));
    set(&home, "roots = [\"~/elsewhere\"]\ndepth = 2");
    assert!(found(&home, &folder));
}

#[test]
fn the_user_may_want_no_search_unasked() {
    let (home, folder) = with_folder("code/1");
    set(&home, "scan = false");
    assert!(!found(&home, &folder));
    let listing = engine(&home).list(&ListQuery::default(), &()).unwrap();
    assert_eq!(listing.sessions[0].project.state, ProjectState::Unknown);
    assert!(scanned(&home, &[], None, &folder), "asked");
}

#[test]
fn a_place_that_is_named_is_searched_to_its_end() {
    let (home, folder) = with_folder("disk/1/2/3/4/5/6/7/8");
    assert!(!scanned(&home, &[], None, &folder));
    assert!(!scanned(&home, &["disk"], Some(3), &folder));
    assert!(!scanned(&home, &["other", "code"], None, &folder));
    assert!(scanned(&home, &["other", "disk"], None, &folder));
    assert!(found(&home, &folder), "learned");
}

#[test]
fn a_home_that_is_given_is_searched_too() {
    let (other, folder) = with_folder("projects/tea");
    let own = Home::empty();
    let env = Env::for_tests([("HOME", own.path().to_str().unwrap())], None);
    let clock = Clock::fixed(NOW.parse().unwrap());
    let homes = vec![other.path().to_owned()];
    let engine = Engine::new(Setup {
        known_sources: recount_engine::SOURCES,
        homes,
        sources: Vec::new(),
        env,
        clock,
    })
    .unwrap();
    let engine = engine.with_processes(Arc::new(Scripted::default()));
    assert_proven(&engine, &folder, ClueKind::Scan);
}

#[test]
fn the_folder_one_is_in_is_always_tried() {
    let home = Home::empty();
    write_hash_directory(&home, "/srv/shops/tea");
    let inside = Some(PathBuf::from("/srv/shops/tea/src"));
    let env = Env::for_tests([("HOME", home.path().to_str().unwrap())], inside);
    let clock = Clock::fixed(NOW.parse().unwrap());
    let setup = Setup {
        known_sources: recount_engine::SOURCES,
        homes: Vec::new(),
        sources: Vec::new(),
        env,
        clock,
    };
    let engine = Engine::new(setup).unwrap().with_processes(Arc::new(Scripted::default()));
    assert_proven(&engine, "/srv/shops/tea", ClueKind::CurrentFolder);
    assert_eq!(rows(&engine)[0].state, ProjectState::Missing);
}
