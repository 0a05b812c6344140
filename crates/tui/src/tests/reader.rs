//! The reader, and the facts of a session.

use std::fmt::Write as _;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use recount_engine::Position;

use super::Driver;
use crate::Tab;
use crate::draw::Painter;
use crate::effect::{Answer, Effect};
use crate::over::Reader;
use crate::screen::{Context, Screen as _};
use crate::work::{Slot, Work};

/// Opens the session whose title has these words.
fn open(words: &str, width: u16, height: u16) -> Driver {
    let mut app = Driver::demo(width, height);
    app.press("/").type_text(words);
    app.press("enter enter");
    app
}

/// Writes text as JSON.
fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if u32::from(letter) < 32 => {
                write!(out, "\\u{:04x}", u32::from(letter)).unwrap();
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

const HEAD: &str = r#"{"sessionId":"fbebfe09-6619-4192-903f-4d9a9b853a20","projectHash":"52efbb073673fe2ab6aef99e8132e361c0d5e245fdc6ce54f5682353f3246bee","startTime":"2026-11-15T18:00:00.000Z","lastUpdated":"2026-11-15T18:00:00.000Z","kind":"main"}"#;
const FILE: &str = "home/.gemini/tmp/shop/chats/session-2026-11-15T18-00-fbebfe09.jsonl";

fn message(number: usize, text: &str) -> String {
    let (hour, minute, second) = (18 + number / 3600, number / 60 % 60, number % 60);
    let time = format!("2026-11-15T{hour:02}:{minute:02}:{second:02}.000Z");
    let text = json(text);
    if number.is_multiple_of(2) {
        return format!(
            r#"{{"id":"m{number}","timestamp":"{time}","type":"user","content":[{{"text":{text}}}]}}"#
        );
    }
    let tokens = r#"{"input":50000,"output":30,"cached":0,"thoughts":0,"tool":0,"total":50030}"#;
    format!(
        r#"{{"id":"m{number}","timestamp":"{time}","type":"gemini","content":{text},"thoughts":[],"tokens":{tokens},"model":"gemini-3.5-flash"}}"#
    )
}

#[expect(clippy::disallowed_methods, reason = "a home for tests")]
fn write(home: &std::path::Path, lines: &[String]) {
    let path = home.join(FILE);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, format!("{HEAD}\n{}\n", lines.join("\n"))).unwrap();
}

/// Opens a session with these texts: prompts and answers in turn.
fn session(texts: &[String], width: u16, height: u16) -> Driver {
    let home = tempfile::tempdir().unwrap();
    let lines: Vec<String> =
        texts.iter().enumerate().map(|(number, text)| message(number, text)).collect();
    write(home.path(), &lines);
    let mut app = Driver::on(home, width, height, Tab::Sessions, None);
    app.press("enter");
    app
}

fn many(number: usize) -> Vec<String> {
    (0..number).map(|at| format!("text number {at}")).collect()
}

fn position(app: &mut Driver) -> String {
    let screen = app.screen();
    let foot = screen.lines().rev().find(|line| line.contains("prompts ·"));
    foot.unwrap_or_default().trim().split(" · ").next().unwrap_or_default().to_owned()
}

/// Returns the text of the row with the cursor.
fn current(app: &mut Driver) -> String {
    let buffer = app.cells();
    let area = buffer.area;
    let is_selected = |y: &u16| {
        let cell = buffer.cell((0, *y)).unwrap();
        cell.modifier.contains(Modifier::REVERSED)
    };
    let Some(y) = (0..area.height).find(is_selected) else { return String::new() };
    let row: String = (0..area.width).filter_map(|x| Some(buffer.cell((x, y))?.symbol())).collect();
    row.trim().to_owned()
}

#[test]
fn a_session_is_read_with_cost_and_context_in_the_margin() {
    insta::assert_snapshot!("reader-80x24", open("discount", 80, 24).screen());
    insta::assert_snapshot!("reader-140x40", open("discount", 140, 40).screen());
    insta::assert_snapshot!("reader-40x12", open("discount", 40, 12).screen());
}

#[test]
fn the_end_shows_what_was_undone() {
    let mut app = open("discount", 80, 24);
    app.press("G");
    insta::assert_snapshot!(app.screen());
    app.press(", u");
    let hidden = app.screen();
    assert!(hidden.contains("7 undone hidden (,u)") && !hidden.contains("[rewound]"), "{hidden}");
    app.press(", u u");
    let strict = app.screen();
    assert!(strict.contains("strict view") && !strict.contains("[rewound]"), "{strict}");
    assert!(strict.contains("From ten pieces"), "the place is kept: {strict}");
}

#[test]
fn levels_show_less_and_more() {
    let mut app = open("discount", 80, 24);
    app.press("-");
    insta::assert_snapshot!("reader-talk", app.screen());
    app.press("- = =");
    insta::assert_snapshot!("reader-full", app.screen());
    app.press("=");
    let trace = app.screen();
    assert!(trace.contains("· trace ·") && trace.contains(" #"), "{trace}");
    app.press("=");
    assert_eq!(app.screen(), trace);
}

#[test]
fn blocks_are_folded_and_opened() {
    let mut app = open("discount", 100, 30);
    app.press("j j");
    assert!(current(&mut app).contains("▸ 3 calls: FindFiles"), "{}", app.screen());
    app.press("tab");
    let opened = app.screen();
    assert!(opened.contains("▾ 3 calls") && opened.contains("● ReadFile"), "{opened}");
    assert!(current(&mut app).contains("▾ 3 calls"));
    app.press("enter");
    assert!(app.screen().contains("▸ 3 calls"));
    app.press("shift-tab g");
    assert!(app.screen().contains("▾ 3 calls"));
    app.press("shift-tab");
    let shut = app.screen();
    assert!(shut.contains("▸ 3 calls") && shut.contains("▸ Edit src/cart.js"), "{shut}");
}

#[test]
fn one_jumps_by_prompt_error_call_change_and_undone() {
    let mut app = open("discount", 80, 24);
    app.press("J");
    assert!(current(&mut app).contains("Make it 15 %"), "{}", app.screen());
    assert_eq!(position(&mut app), "2/4 prompts");
    app.press("n");
    assert!(current(&mut app).contains("Hmm, that"), "n repeats: {}", app.screen());
    app.press("N N");
    assert!(current(&mut app).contains("Add a discount"));
    app.press("K");
    assert!(app.screen().contains("no earlier prompt"));
    app.press("] e");
    assert!(current(&mut app).contains("✗ Edit src/cart.js"), "{}", app.screen());
    app.press("] e");
    assert!(app.screen().contains("no further error"), "{}", app.screen());
    app.press("] f");
    assert!(current(&mut app).contains("▾ Edit src/cart.js"), "{}", app.screen());
    app.press("[ f");
    assert!(current(&mut app).contains("▾ WriteFile"), "{}", app.screen());
    app.press("g ] t ] t");
    assert!(current(&mut app).contains("▸ WriteTodos"), "{}", app.screen());
    app.press("] u");
    assert!(current(&mut app).contains("Make it 15 %"), "{}", app.screen());
    app.press("- ] t");
    assert!(app.screen().contains("not shown at level talk"));
}

#[test]
fn pauses_are_told_and_jumped_to() {
    let home = tempfile::tempdir().unwrap();
    let lines = [0, 1, 3, 10_802, 10_803].map(|at| message(at, &format!("at {at}")));
    write(home.path(), &lines);
    let mut app = Driver::on(home, 80, 24, Tab::Sessions, None);
    app.press("enter");
    let screen = app.screen();
    assert!(screen.contains("── 2 h later ──"), "{screen}");
    app.press("] g");
    assert!(current(&mut app).contains("at 10802"), "{}", app.screen());
    app.press("k");
    assert!(current(&mut app).contains("2 h later"), "{}", app.screen());
}

#[test]
fn a_text_is_found_in_folded_blocks_too() {
    let mut app = open("discount", 80, 24);
    app.press("/").type_text("boss");
    app.press("enter");
    assert!(current(&mut app).contains("boss meant"), "{}", app.screen());
    let buffer = app.cells();
    let is_marked = |cell: &&ratatui::buffer::Cell| {
        cell.modifier.contains(Modifier::REVERSED) && cell.symbol() == "b"
    };
    assert!(buffer.content.iter().any(|cell| is_marked(&cell)));
    app.press("n");
    assert!(app.screen().contains("from the start again"), "{}", app.screen());
    app.press("esc g /").type_text("src/tax.js");
    app.press("enter");
    let screen = app.screen();
    assert!(screen.contains("● ReadFile") && current(&mut app).contains("src/tax.js"), "{screen}");
    app.press("/").type_text("tool:replace");
    app.press("enter");
    assert!(!app.screen().contains("not in what is shown"), "{}", app.screen());
    app.press("/").type_text("nowhere to be found");
    app.press("enter");
    assert!(app.screen().contains("is not in what is shown"), "{}", app.screen());
    app.press("/").type_text("since:nonsense");
    app.press("enter");
    assert!(app.screen().contains('✗'), "{}", app.screen());
}

#[test]
fn prompts_are_an_index() {
    let mut app = open("discount", 80, 24);
    app.press("@");
    insta::assert_snapshot!(app.screen());
    app.press("boss enter");
    assert!(current(&mut app).contains("Hmm, that"), "{}", app.screen());
    app.press("@ esc");
    assert!(current(&mut app).contains("Hmm, that"));
}

#[test]
fn a_record_is_shown_as_it_is_on_disk() {
    let mut app = open("discount", 80, 24);
    app.press("R");
    let screen = app.screen();
    assert!(screen.contains(r#""type":"user""#) && screen.contains(".jsonl:"), "{screen}");
    app.press("j k G q");
    assert!(app.screen().contains("1/4 prompts"));
}

#[test]
fn texts_are_copied_and_given_away() {
    let mut app = open("discount", 80, 24);
    app.press("y m");
    let done = |app: &Driver| app.done.last().cloned().unwrap_or_default();
    assert_eq!(done(&app), "Copy(message: Add a discount: 10 % off from ten pieces of one kind.)");
    app.press("/").type_text("import { discount");
    app.press("enter y b");
    assert!(done(&app).starts_with("Copy(block: +import { discount }"), "{}", done(&app));
    app.press("y i");
    assert!(done(&app).starts_with("Copy(id: 279d2ba9"), "{}", done(&app));
    app.press("y c");
    assert!(done(&app).starts_with("Copy(command line: recount show 279d2ba9"), "{}", done(&app));
    app.press("P");
    assert_eq!(done(&app), "Page");
    assert!(app.screen().contains("n next"), "the reader is there again");
    app.press("E");
    assert!(done(&app).starts_with("Edit("), "{}", done(&app));
    app.press("o");
    assert!(done(&app).starts_with("Resume("), "{}", done(&app));
}

#[test]
fn the_list_gives_sessions_away_too() {
    let mut app = Driver::demo(80, 24);
    app.press("P");
    assert_eq!(app.done.last().unwrap(), "Page");
    app.press("E");
    assert!(app.done.last().unwrap().starts_with("Edit("));
}

#[test]
fn a_session_that_grows_is_followed_at_its_end_only() {
    let mut app = session(&many(60), 80, 24);
    app.press("G");
    assert!(current(&mut app).contains("text number 59"), "{}", app.screen());
    let mut lines: Vec<String> =
        many(70).iter().enumerate().map(|(at, text)| message(at, text)).collect();
    write(app.home.path(), &lines);
    app.reload();
    assert!(current(&mut app).contains("text number 69"), "{}", app.screen());
    app.press("g");
    lines.push(message(70, "one more"));
    write(app.home.path(), &lines);
    app.reload();
    assert!(current(&mut app).contains("text number 0"), "{}", app.screen());
    assert!(app.screen().contains("1 new below"), "{}", app.screen());
    app.press("F");
    assert!(current(&mut app).contains("one more"), "{}", app.screen());
    assert!(!app.screen().contains("new below"));
}

#[test]
fn what_came_since_the_end_was_shown_is_marked() {
    let write_texts = |app: &Driver, number: usize| {
        let lines: Vec<String> =
            many(number).iter().enumerate().map(|(at, text)| message(at, text)).collect();
        write(app.home.path(), &lines);
    };
    let mut app = session(&many(40), 80, 24);
    app.press("esc");
    write_texts(&app, 41);
    app.reload();
    assert!(!app.screen().contains(" new "), "it was never read to its end: {}", app.screen());
    app.press("enter G esc");
    assert!(!app.screen().contains(" new "), "{}", app.screen());
    write_texts(&app, 44);
    app.reload();
    let list = app.screen();
    assert!(list.contains("3 new"), "{list}");
    app.press("enter");
    assert!(app.screen().contains("3 new below"), "{}", app.screen());
    app.press("esc");
    assert!(app.screen().contains("3 new"), "the end was not shown: {}", app.screen());
    app.press("enter G");
    let end = app.screen();
    let (line, first) = (end.find("── 3 new ──").unwrap(), end.find("text number 41").unwrap());
    assert!(end.find("text number 40").unwrap() < line && line < first, "{end}");
    assert!(!end.contains("new below"), "{end}");
    // Who follows at the end reads what comes.
    write_texts(&app, 46);
    app.wait(3000).reload();
    assert!(app.screen().contains("text number 45"), "{}", app.screen());
    app.press("esc");
    assert!(!app.screen().contains(" new "), "{}", app.screen());
    app.reload();
    assert!(!app.screen().contains(" new "), "the mark is on disk: {}", app.screen());
}

#[test]
fn a_session_that_fits_on_the_screen_is_read_when_it_is_shown() {
    let mut app = session(&many(3), 80, 24);
    app.press("esc");
    let lines: Vec<String> =
        many(5).iter().enumerate().map(|(at, text)| message(at, text)).collect();
    write(app.home.path(), &lines);
    app.reload();
    assert!(app.screen().contains("2 new"), "{}", app.screen());
    app.press("enter");
    assert!(app.screen().contains("── 2 new ──"), "{}", app.screen());
    app.press("esc");
    assert!(!app.screen().contains("2 new"), "{}", app.screen());
}

#[test]
fn a_session_that_is_gone_is_told() {
    let mut app = session(&many(4), 80, 24);
    app.press("esc");
    #[expect(clippy::disallowed_methods, reason = "a home for tests")]
    std::fs::remove_file(app.home.path().join(FILE)).unwrap();
    app.press("enter");
    let screen = app.screen();
    assert!(!screen.contains("reading the session"), "{screen}");
    app.press("j G ] p / q esc esc");
    assert!(app.screen().contains("1 Sessions"));
}

#[test]
fn a_long_session_is_laid_out_only_where_one_looks() {
    let mut app = session(&many(5000), 80, 24);
    let far = |app: &Driver| {
        let text = format!("{:?}", app.app.top());
        let number = |word: &str| -> usize {
            let before = text.split(word).next().unwrap().trim();
            before.rsplit([' ', '(']).next().unwrap().parse().unwrap()
        };
        assert_eq!(number("messages"), 5000, "{text}");
        assert!(number("loaded") <= 256 && number("laid out") <= 256, "{text}");
    };
    far(&app);
    app.press("G");
    assert!(current(&mut app).contains("text number 4999"), "{}", app.screen());
    far(&app);
    app.press("g");
    assert!(current(&mut app).contains("text number 0"), "{}", app.screen());
    for _ in 0..100 {
        app.press("pgdn");
        far(&app);
    }
    let screen = app.screen();
    assert!(!screen.contains('…'), "everything is read: {screen}");
    app.press("g /").type_text("number 3777");
    app.press("enter");
    assert!(current(&mut app).contains("text number 3777"), "{}", app.screen());
    far(&app);
}

#[test]
fn hostile_text_does_no_harm() {
    let texts = [
        "\u{1b}]0;pwn\u{7}\u{1b}[2J\u{9b}31m red \u{202e}txt.exe \u{2066}x\u{2069} \0 end"
            .to_owned(),
        format!("**bold** {}", "x".repeat(1_000_000)),
        format!(
            "{} 修正气温图表的编码问题，然后再试一次。{}",
            "天".repeat(300),
            "한국어 ".repeat(100)
        ),
        format!("{} e\u{301}\u{301} 🇩🇪 👍🏽", "👩\u{200d}👩\u{200d}👧".repeat(200)),
        "\r\r\n\t\ttabs\u{2028}line\u{85}".repeat(50),
        "```\n\u{1b}[31mcode\u{200f}\n```\n| a | b |\n|---|---|\n| \u{1b}[0m | \u{61c} |"
            .to_owned(),
    ];
    let mut app = session(&texts, 80, 24);
    for (width, height) in [(80, 24), (40, 10), (300, 100), (1, 1)] {
        app.resize(width, height);
        for keys in [
            "g",
            "J",
            "tab",
            "=",
            "G",
            "shift-tab",
            "=",
            "b",
            "b",
            "@",
            "esc",
            "R",
            "esc",
            "-",
            "u",
            "u",
            "-",
            "i",
            "G",
            "esc",
        ] {
            app.press(keys);
            let buffer = app.cells();
            for cell in &buffer.content {
                let is_bad = |letter: char| {
                    letter.is_control()
                        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2028}')
                };
                assert!(!cell.symbol().contains(is_bad), "{:?} after {keys}", cell.symbol());
            }
        }
    }
}

#[test]
fn no_keys_and_sizes_do_harm() {
    const KEYS: &[&str] = &[
        "j",
        "k",
        "g",
        "G",
        "pgdn",
        "pgup",
        "space",
        "b",
        "ctrl-d",
        "ctrl-u",
        "tab",
        "shift-tab",
        "-",
        "=",
        "u",
        ", u",
        "J",
        "K",
        "] e",
        "[ e",
        "] t",
        "[ t",
        "] f",
        "[ f",
        "] u",
        "[ u",
        "] g",
        "[ g",
        "n",
        "N",
        "/ discount enter",
        "esc",
        "@ down enter",
        "R esc",
        "F",
        "y m",
        "y b",
        "enter",
        "i esc",
        "?",
        "esc",
    ];
    let mut app = open("discount", 80, 24);
    let mut seed = 7_u64;
    let mut random = |many: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % many
    };
    for _ in 0..800 {
        if random(12) == 0 {
            let (width, height) = (random(160) + 1, random(50) + 1);
            app.resize(u16::try_from(width).unwrap(), u16::try_from(height).unwrap());
        }
        app.press(KEYS[random(KEYS.len())]);
        app.cells();
    }
}

#[test]
fn facts_are_told_with_their_reasons() {
    let mut app = Driver::demo(80, 24);
    app.press("/").type_text("discount");
    app.press("enter i");
    insta::assert_snapshot!("info-80x24", app.screen());
    app.press("G");
    insta::assert_snapshot!("info-80x24-end", app.screen());
    app.press("g /").type_text("evidence");
    app.press("enter");
    let screen = app.screen();
    assert!(screen.lines().nth(2).is_some_and(|line| line.contains("evidence")), "{screen}");
    app.press("esc");
    app.resize(140, 60).press("g");
    insta::assert_snapshot!("info-140x60", app.screen());
    app.press("enter");
    assert!(app.screen().contains("1/4 prompts"));
}

#[test]
fn a_hit_is_opened_at_its_message() {
    let mut app = session(&many(500), 80, 24);
    app.press("esc");
    let key = app.app.shared.rows.sessions[0].key();
    let mut reader = Reader::at(key, Position::Id("m321".to_owned()));
    let mut effects = Vec::new();
    reader.refresh(&mut Context { shared: &app.app.shared, effects: &mut effects });
    let Some(Effect::Ask(Slot::Reader, job, _)) = effects.pop() else { panic!() };
    let mut answer =
        Answer::new(Slot::Reader, 1, job(&Work::new(app.engine.clone(), Arc::default())));
    reader.answered(&mut answer, &mut Context { shared: &app.app.shared, effects: &mut effects });
    let (mut buffer, mut cursor) = (Buffer::empty(Rect::new(0, 0, 80, 20)), None);
    let mut painter = Painter::new(&mut buffer, crate::Theme::Auto, false, &mut cursor);
    reader.draw(&mut painter, &app.app.shared);
    let row = |y| (0..80).filter_map(|x| Some(buffer.cell((x, y))?.symbol())).collect::<String>();
    assert!(row(1).contains("text number 321"), "{}", row(1));
    assert_eq!(cursor.map(|at| at.y), Some(1));
}

/// Times the opening of a session of 300 MB.
#[test]
#[ignore = "takes long, and is meant for an optimized build"]
#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "it prints figures")]
fn a_huge_session_opens_at_once() {
    let home = tempfile::tempdir().unwrap();
    let options = recount_testbed::TestbedOptions {
        sessions: 1,
        megabytes: 300.0,
        ..recount_testbed::TestbedOptions::default()
    };
    recount_testbed::generate(&home.path().join("home"), &options, &mut |_, _| {}).unwrap();
    let began = std::time::Instant::now();
    let mut app = Driver::on(home, 140, 40, Tab::Sessions, None);
    println!("snapshot and rows: {:?}", began.elapsed());
    let memory = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let is_memory = |line: &&str| line.starts_with("VmHWM") || line.starts_with("VmRSS");
        status.lines().filter(is_memory).collect::<Vec<_>>().join(" ")
    };
    // The peak of what follows, not of what was before.
    let _is_linux = std::fs::write("/proc/self/clear_refs", "5");
    println!("{}", memory());
    for keys in ["enter", "G", "g", "J", "pgdn", "= =", "G", "] e"] {
        let began = std::time::Instant::now();
        app.press(keys);
        let pressed = began.elapsed();
        app.cells();
        println!("{keys}: {pressed:?}, drawn after {:?}; {:?}", began.elapsed(), app.app.top());
        println!("{}", memory());
    }
}
