//! Tests of what one run learns and the next one uses.

use std::path::Path;
use std::sync::Arc;
use std::{fs, thread};

use recount_engine::{Engine, ListQuery, Seek, Setup};
use recount_model::{Clock, ClueKind};
use recount_platform::Env;
use recount_testkit::{Home, NOW};

use super::{
    Counting, Scripted, assert_proven, engine, engine_at, hash, path, row, rows, session, still,
    write_hash_directory, write_session,
};

const MAP: &str = ".local/share/recount/folders.json";

/// Returns a home with a folder so deep that only a search finds it, and the directory of its hash.
fn deep() -> Home {
    let home = Home::empty();
    home.write("code/a/b/shop/README.md", "");
    write_hash_directory(&home, &home.at("code/a/b/shop"));
    home
}

/// Returns how often a run lists folders below `code/a/b`.
fn questions(home: &Home, now: &str, run: impl FnOnce(&Engine)) -> usize {
    let tree = Counting::below(home.path().join("code/a/b"));
    run(&engine_at(home, now).with_tree(Arc::<Counting>::clone(&tree)));
    tree.asked()
}

fn list(engine: &Engine) {
    assert!(!engine.projects(None, &()).unwrap().0.is_empty());
}

#[test]
fn what_a_search_found_is_known_without_another() {
    let home = deep();
    let shop = home.at("code/a/b/shop");
    let found = |engine: &Engine| assert_proven(engine, &shop, ClueKind::Scan);
    assert!(questions(&home, NOW, found) > 0);
    let tree = Counting::below("/".into());
    found(&engine(&home).with_tree(Arc::<Counting>::clone(&tree)));
    assert_eq!(tree.asked(), 0, "not even the upper levels are looked at");
    let listing = still(&home).list(&ListQuery::default(), &()).unwrap();
    assert_eq!(listing.sessions[0].project.path.as_ref().unwrap().as_str(), shop);
}

#[test]
fn a_search_without_result_is_not_repeated_until_something_changes() {
    let home = deep();
    write_hash_directory(&home, "/nowhere/at/all");
    assert!(questions(&home, NOW, list) > 0);
    assert_eq!(questions(&home, NOW, list), 0);
    home.write("code/a/file", "");
    assert_eq!(questions(&home, NOW, list), 0, "a file is no folder");
    home.write("code/new/x", "");
    assert!(questions(&home, NOW, list) > 0, "a folder was made");
    assert_eq!(questions(&home, NOW, list), 0);
    write_hash_directory(&home, "/nowhere/else");
    assert!(questions(&home, NOW, list) > 0, "something else is looked for");
    assert_eq!(questions(&home, NOW, list), 0);
    assert!(questions(&home, "2026-11-24T00:00:00Z", list) > 0, "a week has passed");
    let scan = |engine: &Engine| drop(engine.projects(Some(&Seek::default()), &()).unwrap());
    assert!(questions(&home, NOW, scan) > 0, "the user asks for it");
}

#[test]
fn homes_that_are_read_in_turn_do_not_make_each_other_search_again() {
    let (one, other) = (deep(), Home::empty());
    write_hash_directory(&one, "/nowhere/at/all");
    write_hash_directory(&other, "/nowhere/else");
    let ask = |home: &Home| {
        let data = one.at("data");
        let env = Env::for_tests(
            [("HOME", one.path().to_str().unwrap()), ("RECOUNT_DATA_DIR", &data)],
            None,
        );
        let clock = Clock::fixed(NOW.parse().unwrap());
        let homes = vec![home.path().to_owned()];
        let engine = Engine::new(Setup {
            known_sources: recount_engine::SOURCES,
            homes,
            sources: Vec::new(),
            env,
            clock,
        })
        .unwrap();
        let tree = Counting::below(one.path().join("code/a/b"));
        let engine = engine.with_processes(Arc::new(Scripted::default()));
        list(&engine.with_tree(Arc::<Counting>::clone(&tree)));
        tree.asked()
    };
    assert!(ask(&one) > 0 && ask(&other) > 0);
    assert_eq!((ask(&one), ask(&other)), (0, 0));
}

#[test]
fn text_without_a_result_is_not_read_again_until_it_changes() {
    let home = Home::empty();
    let shop = "/srv/shop";
    let write = |said: &str| write_session(&home, &hash(shop), &session("aa11bb22", shop, said));
    write("hello, /srv/none");
    assert_eq!(path(&rows(&still(&home))[0]), None);
    write("hello, /srv/shop");
    assert_eq!(path(&rows(&still(&home))[0]), None, "of the same size and time: not read again");
    home.write(&format!(".gemini/tmp/{}/shell_history", hash(shop)), "ls /srv/shop\n");
    assert_proven(&still(&home), shop, ClueKind::Text);
}

#[test]
fn a_folder_above_a_learned_one_is_found_too() {
    let home = Home::empty();
    home.write(".gemini/projects.json", r#"{"projects": {"/srv/shops/tea": "tea"}}"#);
    write_hash_directory(&home, "/srv/shops/tea");
    assert_proven(&still(&home), "/srv/shops/tea", ClueKind::Registry);
    home.write(".gemini/projects.json", r#"{"projects": {}}"#);
    let said = "see /srv/shops/tea/README.md";
    write_session(&home, &hash("/srv/shops"), &session("cc33dd44", "/srv/shops", said));
    assert_proven(&still(&home), "/srv/shops", ClueKind::Text);
}

#[test]
fn what_was_forgotten_is_found_again() {
    let home = deep();
    let shop = home.at("code/a/b/shop");
    assert_eq!(engine(&home).forget_projects().unwrap(), 0);
    let found = |engine: &Engine| assert_proven(engine, &shop, ClueKind::Scan);
    assert!(questions(&home, NOW, found) > 0);
    assert_eq!(engine(&home).forget_projects().unwrap(), 1);
    assert!(!home.path().join(MAP).exists());
    assert!(questions(&home, NOW, found) > 0);
}

#[test]
fn a_damaged_or_deleted_map_costs_a_search_and_nothing_else() {
    let home = deep();
    let shop = home.at("code/a/b/shop");
    let found = |engine: &Engine| assert_proven(engine, &shop, ClueKind::Scan);
    assert!(questions(&home, NOW, found) > 0);
    let whole = home.read(MAP);
    for damaged in [b"" as &[u8], b"{", b"\xff\0 not a map", &whole[..whole.len() / 2]] {
        home.write(MAP, damaged);
        assert!(questions(&home, NOW, found) > 0);
        assert_eq!(questions(&home, NOW, found), 0, "mended");
    }
    remove(&home.path().join(MAP));
    assert!(questions(&home, NOW, found) > 0);
}

#[expect(clippy::disallowed_methods, reason = "a test takes away what it made")]
fn remove(file: &Path) {
    fs::remove_file(file).unwrap();
}

#[test]
fn a_forged_map_proves_nothing() {
    let home = deep();
    let shop = home.at("code/a/b/shop");
    assert_proven(&engine(&home), &shop, ClueKind::Scan);
    let forged = String::from_utf8(home.read(MAP)).unwrap().replace(&shop, "/srv/evil");
    home.write(MAP, forged);
    assert_eq!(path(row(&rows(&still(&home)), &shop)), None);
}

#[test]
fn the_map_of_a_newer_release_is_left_alone() {
    let home = deep();
    let newer = r#"{"version": 99, "proven": {"in another": "form"}}"#;
    home.write(MAP, newer);
    assert_proven(&engine(&home), &home.at("code/a/b/shop"), ClueKind::Scan);
    assert_eq!(home.read(MAP), newer.as_bytes());
}

#[test]
fn runs_that_learn_at_once_lose_nothing() {
    let data = Home::empty();
    let homes: Vec<Home> = (0..8).map(|_| deep()).collect();
    let ask = |home: &Home| {
        let pairs =
            [("HOME", home.path().to_str().unwrap()), ("RECOUNT_DATA_DIR", &*data.at("data"))];
        let env = Env::for_tests(pairs, None);
        let clock = Clock::fixed(NOW.parse().unwrap());
        let setup = Setup {
            known_sources: recount_engine::SOURCES,
            homes: Vec::new(),
            sources: Vec::new(),
            env,
            clock,
        };
        Engine::new(setup).unwrap().with_processes(Arc::new(Scripted::default()))
    };
    thread::scope(|scope| {
        for home in &homes {
            scope.spawn(|| assert_proven(&ask(home), &home.at("code/a/b/shop"), ClueKind::Scan));
        }
    });
    for home in &homes {
        let engine = ask(home).with_tree(Arc::new(super::Bare));
        assert_proven(&engine, &home.at("code/a/b/shop"), ClueKind::Scan);
    }
    assert_eq!(ask(&homes[0]).forget_projects().unwrap(), 8);
}

#[test]
fn without_a_place_to_write_everything_is_still_answered() {
    let home = deep();
    home.write("file", "");
    let ask = |data: &str| {
        let env = Env::for_tests(
            [("HOME", home.path().to_str().unwrap()), ("RECOUNT_DATA_DIR", data)],
            None,
        );
        let clock = Clock::fixed(NOW.parse().unwrap());
        let setup = Setup {
            known_sources: recount_engine::SOURCES,
            homes: Vec::new(),
            sources: Vec::new(),
            env,
            clock,
        };
        Engine::new(setup).unwrap().with_processes(Arc::new(Scripted::default()))
    };
    for data in [home.at("file/data"), "/proc/none/data".to_owned()] {
        for _ in 0..2 {
            assert_proven(&ask(&data), &home.at("code/a/b/shop"), ClueKind::Scan);
        }
    }
}
