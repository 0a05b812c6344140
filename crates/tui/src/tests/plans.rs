//! Plans, choices, and what is done with sessions.

use super::Driver;

/// The first row of the demo home.
const FIRST: &str = "7f07c6a1";

fn files_of(app: &Driver, id: &str) -> Vec<String> {
    app.tree().into_keys().filter(|name| name.contains(id)).collect()
}

#[test]
fn a_plan_shows_each_file_and_cancel_has_the_focus() {
    for (width, height) in [(80, 24), (140, 40), (40, 12)] {
        let mut app = Driver::demo(width, height);
        app.press("d");
        insta::assert_snapshot!(format!("delete_{width}x{height}"), app.screen());
        let before = app.tree();
        app.slowly("enter");
        assert_eq!(app.said(), "nothing was changed");
        assert_eq!(app.tree(), before);
    }
}

#[test]
fn keys_that_were_meant_for_the_list_do_not_accept_a_plan() {
    let mut app = Driver::demo(80, 24);
    let before = app.tree();
    app.press("d y");
    assert!(app.screen().contains("[ Cancel ]"), "{}", app.screen());
    app.wait(149).press("y enter");
    assert!(app.screen().contains("[ Cancel ]"), "{}", app.screen());
    assert_eq!(app.tree(), before);
    // Esc is never dropped.
    app.press("esc");
    assert!(!app.screen().contains("[ Cancel ]"), "{}", app.screen());
    app.press("d").wait(150).press("y");
    assert_ne!(app.tree(), before);
}

#[test]
fn a_deleted_session_is_taken_back_by_z() {
    let mut app = Driver::demo(140, 40);
    let before = app.tree();
    app.press("d").slowly("y");
    let said = app.said();
    assert!(said.starts_with("deleted 1 session · z takes it back · receipt 2026"), "{said}");
    assert!(files_of(&app, FIRST).is_empty());
    app.reload();
    assert!(!app.screen().contains("Draft the notes"), "{}", app.screen());
    app.press("z");
    let screen = app.screen();
    assert!(screen.contains("undo delete of 7f07c6a1 Draft the notes"), "{screen}");
    assert!(screen.contains("back "), "{screen}");
    app.slowly("y");
    assert!(app.said().starts_with("undone: 1 file"), "{}", app.said());
    assert_eq!(app.tree(), before);
}

#[test]
fn buttons_are_chosen_with_the_arrows_and_with_tab() {
    let mut app = Driver::demo(80, 24);
    app.press("d").slowly("right");
    assert!(app.screen().contains("[ y delete 1 session ]"), "{}", app.screen());
    app.slowly("left");
    assert!(app.screen().contains("[ Cancel ]"), "{}", app.screen());
    app.slowly("tab enter");
    assert!(app.said().starts_with("deleted 1 session"), "{}", app.said());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "another program writes")]
fn a_plan_says_when_it_has_changed_and_a_stale_one_is_refused() {
    let mut app = Driver::demo(80, 24);
    let name = files_of(&app, FIRST).remove(0);
    let path = app.home.path().join("home").join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    app.press("d");
    bytes.extend_from_slice(b"{\"$set\":{\"lastUpdated\":\"2026-11-15T23:29:00.000Z\"}}\n");
    std::fs::write(&path, &bytes).unwrap();
    // The watch has not seen it yet.
    app.slowly("y");
    insta::assert_snapshot!("refused", app.screen());
    app.slowly("enter").press("d");
    bytes.extend_from_slice(b"{\"$set\":{\"lastUpdated\":\"2026-11-15T23:29:30.000Z\"}}\n");
    std::fs::write(&path, &bytes).unwrap();
    app.reload();
    assert!(app.screen().contains("the plan has changed"), "{}", app.screen());
    app.slowly("y");
    assert!(app.said().starts_with("deleted 1 session"), "{}", app.said());
}

#[test]
fn many_sessions_need_their_number() {
    let mut app = Driver::demo(80, 24);
    let before = app.tree();
    app.press("* d");
    insta::assert_snapshot!("many", app.screen());
    app.slowly("y enter");
    assert_eq!(app.tree(), before, "an empty field cancels");
    app.press("d").slowly("3 enter");
    assert_eq!(app.said(), "type 29; esc cancels");
    app.slowly("backspace 2 9 enter");
    assert!(app.said().starts_with("deleted 29 sessions"), "{}", app.said());
    app.reload();
    app.press("z").wait(200).type_text("29").press("enter");
    assert_eq!(app.tree(), before);
}

#[test]
fn a_session_is_renamed_and_named_as_before() {
    let mut app = Driver::demo(80, 24);
    let before = app.tree();
    app.press("r");
    insta::assert_snapshot!("rename", app.screen());
    app.press("enter");
    assert_eq!(app.said(), "the title stays as it is");
    app.press("r ctrl-u").type_text("Notes of 2.3").press("enter");
    let screen = app.screen();
    assert!(screen.contains("→ Notes of 2.3"), "{screen}");
    app.slowly("y").reload();
    assert!(app.screen().contains("Notes of 2.3"), "{}", app.screen());
    app.press("z").slowly("y");
    assert_eq!(app.tree(), before);
}

#[test]
fn a_fork_is_a_new_session() {
    let mut app = Driver::demo(80, 24);
    let before = app.tree();
    app.press("f").slowly("y");
    assert!(app.said().starts_with("new session "), "{}", app.said());
    assert_eq!(app.tree().len(), before.len() + 1);
    app.press("z").slowly("y");
    assert_eq!(app.tree(), before);
}

#[test]
fn tags_and_pins_are_shown_at_once() {
    let mut app = Driver::demo(140, 40);
    app.press("t").type_text("release #urgent").press("enter");
    let said = app.said();
    assert_eq!(said, "tags of 7f07c6a1: #release #urgent (before: none) · t changes them");
    assert!(app.screen().contains("#release #urgent"), "{}", app.screen());
    app.press("j t").type_text("rel").press("tab enter");
    assert!(app.said().contains(": #release (before: none)"), "{}", app.said());
    app.press("k t");
    insta::assert_snapshot!("tags", app.screen());
    app.press("ctrl-u").type_text("release").press("enter");
    assert!(app.said().contains("#release (before: #release #urgent)"), "{}", app.said());
    app.press("p");
    assert_eq!(app.said(), "pinned 7f07c6a1 · p unpins it");
    assert!(app.screen().contains("* #release"), "{}", app.screen());
    app.press("p");
    assert_eq!(app.said(), "unpinned 7f07c6a1 · p pins it again");
}

#[test]
fn an_export_never_overwrites() {
    let mut app = Driver::demo(80, 24);
    app.press("e");
    insta::assert_snapshot!("export", app.screen());
    app.press("enter");
    let name = "draft-the-notes-for-version-2-3-0-from-the-log-7f07c6a1";
    assert!(app.said().contains(&format!("exported to ~/{name}.md")), "{}", app.said());
    let first = app.tree().get(&format!("{name}.md")).cloned().unwrap();
    app.press("e enter");
    assert!(app.said().contains(&format!("{name}-2.md")), "{}", app.said());
    assert_eq!(app.tree().get(&format!("{name}.md")), Some(&first));
    app.press("e").type_text("jsonl").press("enter");
    assert!(app.said().contains(".jsonl"), "{}", app.said());
}

#[test]
fn a_plan_that_changes_nothing_says_why() {
    let mut app = Driver::demo(80, 24);
    app.folder("code/store");
    app.press("m").type_text("~/code/store").press("enter").slowly("y").reload();
    app.press("m").type_text("~/code/store");
    insta::assert_snapshot!("move_to", app.screen());
    app.press("enter");
    let said = app.said();
    assert!(said.starts_with("nothing to change: ") && said.contains(FIRST), "{said}");
}

#[test]
fn a_folder_that_is_not_there_is_refused_with_the_reason() {
    let mut app = Driver::demo(80, 24);
    app.press("m").type_text("/nowhere/at/all").press("enter");
    insta::assert_snapshot!("no_folder", app.screen());
    app.press("esc");
    assert!(!app.screen().contains("/nowhere"), "{}", app.screen());
}

#[test]
fn no_size_panics() {
    let mut app = Driver::demo(80, 24);
    for keys in
        ["d", "esc m", "esc r", "esc t", "esc e", "esc z", "esc 6", "4", "i", "esc d", "esc 7"]
    {
        app.press(keys);
        for (width, height) in [(1, 1), (2, 1), (10, 3), (40, 10), (41, 11), (60, 14), (300, 100)] {
            app.resize(width, height).cells();
        }
        app.resize(80, 24);
    }
}

/// A process that looks like an agent; it ends with the test.
#[cfg(target_os = "linux")]
struct Agent(std::process::Child);

#[cfg(target_os = "linux")]
impl Drop for Agent {
    fn drop(&mut self) {
        let _killed = self.0.kill().and_then(|()| self.0.wait());
    }
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::disallowed_methods, reason = "an agent runs")]
fn a_session_that_an_agent_works_in_is_left_out_or_refused() {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    let mut app = Driver::demo(80, 24);
    let shop = super::seed::with_present(&mut app);
    let mut agent = Command::new("sleep");
    let agent = agent.arg0("gemini").arg("60").current_dir(shop).stdin(Stdio::null());
    let agent = Agent(agent.spawn().unwrap());
    let pid = agent.0.id();
    let before = app.tree();
    app.press("1 g j d");
    let screen = app.screen();
    assert!(screen.contains("is in use by process"), "{screen}");
    assert!(screen.contains("end the agent there first"), "{screen}");
    app.press("esc g space space d");
    let screen = app.screen();
    assert!(screen.contains("delete 2 sessions"), "{screen}");
    let words = format!("82e5e803 is left out: gemini (pid {pid}) works in it");
    assert!(screen.contains(&words), "{screen}");
    assert!(screen.contains("y delete 1 session"), "{screen}");
    app.slowly("y").press("z").slowly("y");
    assert_eq!(app.tree(), before);
}

#[test]
fn random_keys_do_no_harm_and_esc_leads_out() {
    const KEYS: &[&str] = &[
        "1",
        "4",
        "6",
        "7",
        "j",
        "k",
        "g",
        "G",
        "enter",
        "esc",
        "left",
        "right",
        "tab",
        "d",
        "m",
        "r",
        "t",
        "p",
        "f",
        "e",
        "z",
        "a",
        "i",
        "y",
        "space",
        "*",
        "/",
        "s u",
        "s s",
        "S",
        "h",
        "l",
        "~",
        "backspace",
        "2",
        "9",
        "?",
        "pgdn",
        "home",
        "up",
        "down",
        "shift-tab",
        "ctrl-u",
        "x",
        "del",
    ];
    let mut app = Driver::demo(80, 24);
    let mut state: usize = 7;
    for step in 0..1500 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = KEYS.get((state >> 33) % KEYS.len()).unwrap();
        app.wait(if state & 1024 == 0 { 200 } else { 0 }).press(key);
        if step % 50 == 0 {
            app.reload();
            app.resize(
                40 + u16::try_from(state >> 40 & 127).unwrap(),
                10 + u16::try_from(state >> 50 & 31).unwrap(),
            );
            let screen = app.screen();
            assert!(
                !screen.chars().any(|letter| letter.is_control() && letter != '\n'),
                "{screen}"
            );
        }
    }
    for _ in 0..12 {
        app.wait(200).press("esc");
    }
    assert!(!app.app.is_over());
}
