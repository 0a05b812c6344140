//! Projects.

use super::Driver;

#[test]
fn projects_are_filtered_and_sorted() {
    let mut app = Driver::demo(140, 40);
    app.press("4");
    insta::assert_snapshot!("projects", app.screen());
    let names = |app: &mut Driver| -> Vec<String> {
        let screen = app.screen();
        let rows = screen.lines().skip(3).take_while(|line| !line.trim().is_empty());
        rows.map(|row| row.split_whitespace().nth(1).unwrap().to_owned()).collect()
    };
    let newest = names(&mut app);
    app.press("s s");
    let largest = names(&mut app);
    assert_eq!(largest.first().unwrap(), "shop");
    app.press("S");
    assert_eq!(names(&mut app), largest.iter().rev().cloned().collect::<Vec<_>>());
    app.press("s n");
    assert_eq!(names(&mut app).get(1).unwrap(), "order-import");
    app.press("s u");
    assert_eq!(names(&mut app), newest);
    app.press("/").type_text("unknown");
    assert_eq!(names(&mut app), ["?"]);
    app.press("esc");
    assert_eq!(names(&mut app), newest);
    app.press("/").type_text("nothing like it").press("enter");
    assert!(app.screen().contains("no project matches 'nothing like it'"), "{}", app.screen());
    app.press("esc");
    assert_eq!(names(&mut app), newest);
}

#[test]
fn a_project_without_a_folder_says_what_to_do() {
    let mut app = Driver::demo(80, 24);
    app.press("4 G m");
    assert!(app.said().contains("recount projects --scan"), "{}", app.said());
    app.press("i");
    insta::assert_snapshot!("unlocated", app.screen());
}

#[test]
fn an_empty_home_has_no_projects_problems_or_changes() {
    let mut app = Driver::empty(80, 24);
    assert!(app.press("4").screen().contains("no projects found"));
    assert!(app.press("6").screen().contains("no problems found"));
    assert!(app.press("7").screen().contains("no changes yet"));
    app.press("l");
    assert!(app.screen().contains("the trash is empty"), "{}", app.screen());
    app.press("right");
    assert!(app.screen().contains("the vault is empty"), "{}", app.screen());
    app.press("a 7 z");
    assert!(!app.said().is_empty());
}
