//! Search, Live and Stats at any size, with any keys and any text.

use super::Driver;
use super::live::{agents, news};

const SIZES: &[(u16, u16)] = &[
    (1, 1),
    (10, 3),
    (39, 9),
    (40, 10),
    (41, 13),
    (59, 14),
    (60, 15),
    (80, 24),
    (99, 16),
    (100, 17),
    (160, 50),
    (300, 100),
];

/// Keys that do something on one of the screens.
const KEYS: &[&str] = &[
    "j",
    "k",
    "g",
    "G",
    "pgdn",
    "ctrl-u",
    "esc",
    "/",
    "tab",
    "shift-tab",
    "b",
    "<",
    ">",
    ".",
    "!",
    "a",
    "|",
    "J",
    "K",
    "2",
    "3",
    "5",
    "ctrl-r",
    "enter",
    "down",
    "up",
    "alt-3",
    "tax",
    "in:",
    "\"",
    "(",
    "backspace",
    "ctrl-w",
    "space",
    "*",
    "~",
    "q",
    "o",
    "天",
    "home",
    "end",
    "del",
];

fn check(app: &mut Driver) {
    let buffer = app.cells();
    let bad = buffer.content.iter().find(|cell| cell.symbol().chars().any(char::is_control));
    assert!(bad.is_none(), "{bad:?}");
}

#[test]
fn every_size_can_be_drawn() {
    let mut app = Driver::demo(80, 24);
    let mut rows = agents(&app);
    if let Some(row) = rows.first_mut() {
        row.session.doing = Some("\u{1b}[2J\u{202e}evil\ttab\u{7}\u{9b}31m".to_owned());
        row.session.folder = Some("/x/\u{1b}]0;title\u{7}".to_owned());
    }
    news(&mut app, rows);
    for (tab, keys) in [("2", "discount"), ("3", ""), ("5", "")] {
        app.press(tab).type_text(keys);
        for (width, height) in SIZES {
            app.resize(*width, *height);
            check(&mut app);
        }
        app.press("esc");
    }
}

#[test]
fn no_key_does_harm() {
    let mut app = Driver::demo(80, 24);
    let rows = agents(&app);
    news(&mut app, rows);
    let mut state: u64 = 7;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for step in 0..1500 {
        app.press(KEYS[next(KEYS.len())]);
        if step % 7 == 0 {
            let (width, height) = SIZES[next(SIZES.len())];
            app.resize(width, height);
        }
        check(&mut app);
    }
}
