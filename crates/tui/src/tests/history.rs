//! Changes, trash and vault.

use super::Driver;

/// Deletes a session, renames the next and takes the second back.
fn with_changes(width: u16, height: u16) -> Driver {
    let mut app = Driver::demo(width, height);
    app.press("d").slowly("y").reload();
    app.press("g r ctrl-u").type_text("Taxes").press("enter").slowly("y").reload();
    app.press("z").slowly("y").reload();
    app
}

#[test]
fn each_change_is_listed_with_its_state() {
    for (width, height) in [(80, 24), (140, 40), (40, 12)] {
        let mut app = with_changes(width, height);
        app.press("7");
        insta::assert_snapshot!(format!("changes_{width}x{height}"), app.screen());
        app.press("l");
        insta::assert_snapshot!(format!("trash_{width}x{height}"), app.screen());
    }
}

#[test]
fn a_change_shows_its_files_and_is_undone_where_it_stands() {
    let mut app = with_changes(140, 40);
    app.press("7 G enter");
    insta::assert_snapshot!("files", app.screen());
    app.press("esc z");
    assert!(app.screen().contains("undo delete of 7f07c6a1"), "{}", app.screen());
    app.slowly("y").reload();
    assert!(app.app.shared.rows.sessions.iter().any(|one| one.id.short() == "7f07c6a1"));
    app.press("G a");
    assert_eq!(app.said(), "nothing to undo: it is undone");
}

#[test]
fn a_session_comes_back_from_the_trash() {
    let mut app = Driver::demo(80, 24);
    let before = app.tree();
    app.press("d").slowly("y").reload();
    app.press("7 l enter");
    assert!(app.screen().contains("its files were"), "{}", app.screen());
    app.press("esc a").slowly("y");
    assert!(app.said().starts_with("1 session back in place: 1 file"), "{}", app.said());
    assert_eq!(app.tree(), before);
}

#[test]
fn a_session_comes_back_from_the_vault() {
    let mut app = Driver::demo(80, 24);
    app.press("7 h a");
    assert!(app.said().starts_with("kept: "), "{}", app.said());
    app.press("1 7");
    insta::assert_snapshot!("vault", app.screen());
    app.press("a");
    assert!(app.said().contains("nothing to change"), "{}", app.said());
}
