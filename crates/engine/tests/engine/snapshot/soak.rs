//! One engine, many questions, while files change: memory and open files stay as they are, and so do answers.

use std::fs;
use std::path::Path;

use super::questions::{QUESTIONS, answer};
use super::{Place, add_beside, age, append};

/// Numbers that look like chance, and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Bytes of memory in use and files that are open, where the system tells.
fn load() -> Option<(u64, usize)> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some((pages * 4096, fs::read_dir("/proc/self/fd").ok()?.count()))
}

fn change(place: &Place, dice: &mut Dice, number: usize) {
    let sessions = place.sessions();
    let logs: Vec<_> =
        sessions.iter().filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect();
    let log = logs[dice.roll(logs.len())];
    match dice.roll(10) {
        0..=5 => append(log, number),
        6 | 7 => {
            // As many come as go.
            let new = add_beside(log, number);
            age(&new, 100);
            if sessions.len() > 40 {
                let old = sessions.iter().find(|path| is_added(path));
                if let Some(old) = old {
                    fs::remove_file(old).unwrap();
                }
            }
        }
        _ => {
            let text = fs::read_to_string(log).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            let kept = lines[..lines.len().min(60)].join("\n");
            fs::write(log, format!("{kept}\n")).unwrap();
        }
    }
}

fn is_added(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("session-2026-11-15T18-00-"))
}

fn soak(questions: usize, compared: usize, sessions: usize, megabytes: f64) {
    let place = Place::new(sessions, megabytes);
    let engine = place.engine("data");
    let mut dice = Dice(7);
    let mut snapshot = engine.snapshot(&()).unwrap();
    let mut early = None;
    for number in 0..questions {
        if dice.roll(3) == 0 {
            change(&place, &mut dice, number);
        }
        (snapshot, _) = engine.refresh(&snapshot, &()).unwrap();
        let question = dice.roll(QUESTIONS);
        let told = answer(&engine.at(&snapshot), question);
        if number % compared == 0 {
            assert_eq!(told, answer(&place.engine("fresh"), question), "{number}: {question}");
        }
        if number == questions / 4 {
            early = load();
        }
    }
    if let (Some((bytes, files)), Some((later_bytes, later_files))) = (early, load()) {
        assert!(later_files <= files + 8, "{files} open files at first, {later_files} later");
        // What the allocator keeps for later comes and goes in a short run.
        let is_long = questions >= 1000;
        let most = bytes + bytes / 20;
        assert!(!is_long || later_bytes <= most, "{bytes} bytes at first, {later_bytes} later");
    }
}

/// How many questions a long run asks.
fn many() -> usize {
    std::env::var("SOAK_QUESTIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000)
}

#[test]
fn many_questions_while_files_change() {
    soak(60, 6, 16, 0.6);
}

#[test]
#[ignore = "takes an hour: `cargo xtask soak` runs it before a release"]
fn ten_thousand_questions_while_files_change() {
    soak(many(), 100, 400, 40.0);
}
