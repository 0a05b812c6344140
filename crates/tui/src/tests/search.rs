//! Full-text search.

use super::Driver;
use crate::Tab;

/// The screen without the time that the search took.
fn timeless(app: &mut Driver) -> String {
    let screen = app.screen();
    let line = |line: &str| match line.rsplit_once(" ms") {
        Some((before, "")) => {
            format!(
                "{} N ms",
                before.trim_end_matches(|letter: char| letter.is_ascii_digit()).trim_end()
            )
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
    assert!(app.app.notice.is_some());
    app.press("alt-1");
    assert!(app.app.notice.is_some());
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
