//! The list of sessions.

use super::Driver;

#[test]
fn the_list_is_shown_with_a_strip_below() {
    let mut app = Driver::demo(80, 24);
    insta::assert_snapshot!(app.screen());
}

#[test]
fn a_wide_terminal_has_the_preview_at_the_right() {
    let mut app = Driver::demo(140, 40);
    insta::assert_snapshot!(app.screen());
}

#[test]
fn an_empty_home_offers_the_demo() {
    let mut app = Driver::empty(80, 24);
    insta::assert_snapshot!(app.screen());
    app.press("D");
    assert!(app.done.contains(&"Demo".to_owned()), "{:?}", app.done);
}

#[test]
fn a_filter_narrows_the_list_as_it_is_typed() {
    let mut app = Driver::demo(80, 24);
    let all = app.screen();
    app.press("/").type_text("discount");
    let some = app.screen();
    assert!(some.contains("/ discount"), "{some}");
    assert!(some.lines().count() == all.lines().count() && some != all, "{some}");
    app.press("esc");
    // The session that was found stays selected.
    let rows = |screen: &str| screen.lines().take(14).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows(&app.screen()), rows(&all));
}
