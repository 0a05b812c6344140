//! Full-text search.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;

use recount_engine::{HitOrder, SearchRequest, SearchResults};

use super::Driver;
use crate::Tab;
use crate::keys::Place;

/// The screen without the time that the search took.
fn timeless(app: &mut Driver) -> String {
    let screen = app.screen();
    let line = |line: &str| match line.rsplit_once(" ms") {
        // The number is at the right: without it, what is before it moves.
        Some((before, "")) => {
            let words = before.trim_end_matches(|letter: char| letter.is_ascii_digit());
            let parts = words.trim_start().split("  ").map(str::trim_start);
            let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
            format!(" {}N ms", parts.join("  "))
        }
        _ => line.to_owned(),
    };
    screen.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn searching(width: u16, height: u16, query: &str) -> Driver {
    let mut app = Driver::demo(width, height);
    app.press("2").type_text(query);
    app
}

#[test]
fn it_opens_with_the_keys_in_its_field() {
    let mut app = searching(80, 24, "");
    insta::assert_snapshot!(timeless(&mut app));
}

#[test]
fn hits_come_as_it_is_typed() {
    let mut app = searching(80, 24, "discount");
    insta::assert_snapshot!(timeless(&mut app));
    let mut wide = searching(140, 40, "discount");
    insta::assert_snapshot!(timeless(&mut wide));
    let mut small = searching(40, 12, "discount");
    insta::assert_snapshot!(timeless(&mut small));
}

#[test]
fn a_query_can_be_given() {
    let home = tempfile::tempdir().unwrap();
    recount_testbed::demo(&home.path().join("home"), super::now()).unwrap();
    let mut app = Driver::on(home, 80, 24, Tab::Search, Some("discount"));
    let screen = app.screen();
    assert!(screen.contains(" / discount") && screen.contains(" hits in "), "{screen}");
}

#[test]
fn a_mistake_keeps_the_last_hits_and_is_pointed_at() {
    let mut app = searching(80, 24, "discount");
    let before = app.screen();
    let hit = before.lines().nth(2).unwrap().to_owned();
    app.event(crate::effect::Event::Paste(" is:dead".to_owned()));
    let screen = timeless(&mut app);
    assert!(screen.contains("^^^^"), "{screen}");
    assert!(screen.contains("`is:` takes live, error or undone"), "{screen}");
    assert!(screen.contains(hit.trim()), "{screen}");
    insta::assert_snapshot!(screen);
}

#[test]
fn what_is_not_found_says_what_would_find_more() {
    let mut app = searching(80, 24, "discouut");
    let screen = timeless(&mut app);
    assert!(screen.contains("nothing found"), "{screen}");
    assert!(screen.contains("with a letter to spare: discouut~"), "{screen}");
    insta::assert_snapshot!(screen);
}

#[test]
fn tab_completes_fields_and_values_with_counts() {
    let mut app = searching(80, 24, "tax pro");
    app.press("tab");
    assert!(app.screen().contains("/ tax project:"), "{}", app.screen());
    app.press("tab");
    insta::assert_snapshot!(timeless(&mut app));
    app.press("tab tab esc");
    assert!(app.screen().contains("/ tax project:"), "{}", app.screen());
}

#[test]
fn arrows_move_in_the_hits_while_typing_and_enter_opens() {
    let mut app = searching(80, 24, "the");
    app.press("down down up");
    let screen = app.screen();
    assert!(screen.contains("hits in"), "{screen}");
    app.press("enter");
    assert_eq!(app.app.top().place(), Place::Reader);
    app.press("q alt-1");
    assert_eq!(app.app.top().place(), Place::Reader);
    app.press("q");
    // Esc leaves the field, then clears it.
    app.press("esc");
    assert!(!app.app.top().is_typing() && app.screen().contains("/ the"));
    app.press("esc");
    assert!(!app.screen().contains("/ the"), "{}", app.screen());
}

#[test]
fn the_scope_goes_round() {
    let mut app = searching(80, 24, "the");
    app.press("ctrl-r");
    let one = app.screen();
    assert!(one.contains("gemini · ") || one.contains("claude · "), "{one}");
    app.press("ctrl-r");
    assert!(app.screen().contains("everywhere · "), "{}", app.screen());
}

#[test]
fn what_is_typed_finds_the_same_as_the_command() {
    let app = Driver::demo(80, 24);
    let snapshot = app.engine.snapshot(&()).unwrap();
    let at = app.engine.at(&snapshot);
    let asked = |query: &str| SearchRequest {
        query: query.to_owned(),
        limit: 100,
        sort: HitOrder::Relevance,
        all_hits: false,
        width: 80,
        without_index: false,
        at_once: false,
    };
    let found = |results: SearchResults| {
        let hit = |hit: &recount_engine::Match| {
            (hit.session.id.to_string(), hit.message.place.offset, hit.snippet.clone())
        };
        (results.total, results.sessions, results.hits.iter().map(hit).collect::<Vec<_>>())
    };
    for query in [
        "discount",
        "tax rate",
        "\"tax\" OR 气温",
        "in:answer the",
        "project:shop tax",
        "is:undone",
        "zzz",
    ] {
        let typed = at.search_typed(&asked(query), None, &()).unwrap();
        let command = app.engine.afresh().search(&asked(query), &()).unwrap();
        assert!(!typed.is_unindexed, "{query}");
        assert_eq!(found(typed), found(command), "{query}");
    }
    let within = at.search_typed(&asked("tax OR parser"), Some("project:shop"), &()).unwrap();
    let command = app.engine.search(&asked("(tax OR parser) project:shop"), &()).unwrap();
    assert_eq!(found(within), found(command));
    let wrong = at.search_typed(&asked("a )"), Some("project:shop"), &()).unwrap_err();
    let recount_engine::Error::Query { pointed, .. } = wrong else { panic!("{wrong}") };
    assert!(pointed.starts_with("a )\n"), "{pointed}");
}

#[test]
fn what_is_said_meanwhile_is_found() {
    let mut app = searching(80, 24, "zanzibar");
    assert!(app.screen().contains("nothing found"), "{}", app.screen());
    let session = app.app.shared.rows.sessions.iter().find(|one| {
        one.source.as_str() == "gemini"
            && one
                .files
                .first()
                .is_some_and(|file| Path::new(&file.path).extension() == Some(OsStr::new("jsonl")))
    });
    let path = session.unwrap().files.first().unwrap().path.clone();
    #[expect(clippy::disallowed_methods, reason = "an agent writes")]
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    let record = r#"{"id":"zz-1","timestamp":"2026-11-15T23:29:00.000Z","type":"user","content":[{"text":"Ship it to Zanzibar"}]}"#;
    writeln!(file, "{record}").unwrap();
    drop(file);
    app.reload();
    let screen = app.screen();
    assert!(screen.contains("Ship it to Zanzibar"), "{screen}");
}

#[test]
fn a_word_is_found_before_it_is_finished() {
    let mut app = searching(80, 24, "quantity disc");
    let screen = app.screen();
    assert!(screen.contains("disc* 1 hit in 1 session"), "{screen}");
    app.type_text("ount");
    assert!(!app.screen().contains('*'), "{}", app.screen());
}
