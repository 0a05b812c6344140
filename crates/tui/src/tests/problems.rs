//! Problems.

use super::Driver;

const CASES: &[&str] = &[
    "gemini/lines/resume-stub",
    "gemini/damaged/torn-tail",
    "gemini/damaged/not-understood",
    "gemini/damaged/subagent-with-kind",
];

/// Keeps two sessions, so that others are lost.
const TWO: &str = r#"{"general":{"sessionRetention":{"enabled":true,"maxCount":2}}}"#;

fn app(width: u16, height: u16) -> Driver {
    Driver::fixtures(CASES, "{}", width, height)
}

#[test]
fn problems_are_in_groups_with_their_remedies() {
    for (width, height) in [(80, 24), (140, 40), (40, 12)] {
        let mut app = Driver::fixtures(CASES, TWO, width, height);
        assert!(app.app.shared.problems > 0, "the tab counts before it is opened");
        app.press("6");
        insta::assert_snapshot!(format!("problems_{width}x{height}"), app.screen());
    }
}

#[test]
fn a_trap_is_removed_by_its_plan() {
    let mut app = Driver::fixtures(&["gemini/lines/resume-stub"], "{}", 140, 40);
    let before = app.tree();
    app.press("6");
    for _ in 0..9 {
        if app.screen().contains("recount guard --fix") {
            break;
        }
        app.press("j");
    }
    app.press("a");
    insta::assert_snapshot!("fix", app.screen());
    app.slowly("y");
    assert!(app.said().starts_with("fixed: 1 file"), "{}", app.said());
    app.reload();
    assert!(!app.screen().contains("endanger"), "{}", app.screen());
    app.press("z").slowly("y");
    assert_eq!(app.tree(), before);
}

#[test]
fn a_damaged_session_is_repaired() {
    let mut app = app(140, 40);
    let before = app.tree();
    app.press("6");
    for _ in 0..9 {
        if app.screen().contains("recount repair") {
            break;
        }
        app.press("j");
    }
    app.press("i");
    insta::assert_snapshot!("details", app.screen());
    app.press("esc a");
    insta::assert_snapshot!("repair", app.screen());
    app.slowly("y");
    assert!(app.said().contains("repaired"), "{}", app.said());
    assert_ne!(app.tree(), before);
    app.press("z").slowly("y");
    assert_eq!(app.tree(), before);
}

#[test]
fn only_a_command_is_copied() {
    let mut app = Driver::demo(80, 24);
    app.press("6 G k");
    for _ in 0..9 {
        if app.screen().contains("chmod") {
            break;
        }
        app.press("k");
    }
    app.press("a");
    assert!(app.done.iter().any(|one| one.contains("chmod go-rwx")), "{:?}", app.done);
}

#[test]
fn a_session_that_would_be_lost_is_copied_to_the_vault() {
    let mut app = Driver::fixtures(CASES, TWO, 140, 40);
    app.press("6");
    assert!(app.screen().contains("recount guard --keep"), "{}", app.screen());
    app.press("a");
    assert!(app.said().starts_with("kept: "), "{}", app.said());
}
