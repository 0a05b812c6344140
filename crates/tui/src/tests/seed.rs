//! What people did with the first tool of this kind, by keyboard alone: overview, open, inspect, move, delete. Bytes on disk are
//! compared, and `z` brings all of them back.

use super::Driver;

/// Moves the project shop to a folder that is there, so that the demo home has projects of every state.
pub(super) fn with_present(app: &mut Driver) -> String {
    let shop = app.folder("code/shop");
    app.press("4 /").type_text("shop").press("enter m").type_text(&shop).press("enter");
    app.slowly("y");
    assert!(app.said().starts_with("relocated 11 sessions to ~/code/shop"), "{}", app.said());
    app.reload();
    app.press("esc g");
    shop
}

#[test]
fn the_overview_tells_valid_orphaned_and_unlocated_projects_apart() {
    // The sizes of files depend on the length of the new path, so wide columns are not compared.
    for (width, height) in [(80, 24), (40, 12)] {
        let mut app = Driver::demo(width, height);
        with_present(&mut app);
        insta::assert_snapshot!(format!("overview_{width}x{height}"), app.screen());
    }
    let mut app = Driver::demo(140, 40);
    with_present(&mut app);
    let screen = app.screen();
    assert!(screen.contains("6 projects · 1 present · 4 missing · 1 unknown"), "{screen}");
}

#[test]
fn a_project_is_opened_and_inspected() {
    let mut app = Driver::demo(140, 40);
    app.press("4 j i");
    insta::assert_snapshot!("inspected", app.screen());
    app.press("esc enter");
    let screen = app.screen();
    assert!(screen.contains(" shop  newest"), "{screen}");
    assert!(screen.contains("11 sessions"), "{screen}");
}

#[test]
fn a_session_is_moved_and_comes_back() {
    let mut app = Driver::demo(140, 40);
    let shop = with_present(&mut app);
    let before = app.tree();
    app.press("1 g m");
    let pick = app.screen();
    assert!(pick.contains("shop") && pick.contains("~/code/shop"), "{pick}");
    app.press("enter");
    let plan = app.screen();
    assert!(plan.contains("move 7f07c6a1 to ~/code/shop"), "{plan}");
    assert!(plan.contains("[ Cancel ]    y move 1 session"), "{plan}");
    app.slowly("y");
    assert!(app.said().starts_with("moved 1 session to ~/code/shop · z"), "{}", app.said());
    let after = app.tree();
    let of = |tree: &std::collections::BTreeMap<String, Vec<u8>>, folder: &str| {
        tree.keys().filter(|name| name.starts_with(folder) && name.contains("7f07c6a1")).count()
    };
    assert_eq!(of(&before, ".gemini/tmp/release-tools/"), 1);
    assert_eq!(of(&after, ".gemini/tmp/release-tools/"), 0);
    assert_eq!(of(&after, ".gemini/tmp/shop/"), 1);
    app.reload();
    let first = app.app.shared.rows.sessions.first().cloned().unwrap();
    assert_eq!(first.project.path.as_ref().unwrap().as_str(), shop);
    app.press("z").slowly("y");
    assert_eq!(app.tree(), before);
}

#[test]
fn several_sessions_are_moved_by_one_plan() {
    let mut app = Driver::demo(140, 40);
    let store = app.folder("code/store");
    let before = app.tree();
    app.press("space space m").type_text(&store).press("enter").slowly("y");
    assert!(app.said().starts_with("moved 2 sessions to ~/code/store"), "{}", app.said());
    app.reload();
    let there = app.app.shared.rows.sessions.iter();
    let there = there.filter(|one| {
        !one.kind.is_subagent()
            && one.project.path.as_ref().is_some_and(|path| path.as_str() == store)
    });
    assert_eq!(there.count(), 2);
    app.press("z").slowly("y");
    assert_eq!(app.tree(), before);
}

#[test]
fn a_project_is_moved_and_comes_back() {
    let mut app = Driver::demo(140, 40);
    let before = app.tree();
    let tools = app.folder("moved/tools");
    app.press("4 a").type_text(&tools).press("enter");
    let plan = app.screen();
    assert!(plan.contains("relocate /home/dev/code/release-tools to ~/moved/tools"), "{plan}");
    assert!(plan.contains("~/.gemini/projects.json"), "{plan}");
    assert!(plan.contains("[ Cancel ]    y relocate 4 sessions"), "{plan}");
    app.slowly("y");
    assert!(app.said().starts_with("relocated 4 sessions to ~/moved/tools"), "{}", app.said());
    let after = app.tree();
    let register = String::from_utf8(after[".gemini/projects.json"].clone()).unwrap();
    assert!(register.contains(&tools) && !register.contains("release-tools\":"), "{register}");
    app.reload();
    assert!(app.screen().contains("1 present"), "{}", app.screen());
    app.press("z").slowly("y");
    assert_eq!(app.tree(), before);
}

#[test]
fn all_sessions_of_a_project_are_deleted_by_their_number() {
    let mut app = Driver::demo(80, 24);
    let before = app.tree();
    app.press("4 d");
    insta::assert_snapshot!("project_deleted", app.screen());
    app.slowly("y enter");
    assert_eq!(app.tree(), before, "the number was not typed");
    app.press("d").slowly("4 enter");
    assert!(app.said().starts_with("deleted 4 sessions"), "{}", app.said());
    app.reload();
    assert!(app.screen().contains("release-tools     missing          0"), "{}", app.screen());
    app.press("z").slowly("y");
    assert_eq!(app.tree(), before);
}
