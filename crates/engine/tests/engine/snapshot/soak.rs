//! One engine, many questions, while files change: memory and open files stay as they are, and so do answers.

use std::fs;

use super::questions::{QUESTIONS, answer};
use super::{Place, add_beside, age, append, session_beside};

/// Numbers that look like chance, and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// Kilobytes of memory that this process allocated and uses, and its open files, where the system tells.
///
/// Mapped pages of the index come and go as the system likes, so they are left out.
fn load() -> Option<(u64, usize)> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let anonymous = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kilobytes = anonymous.trim().trim_end_matches(" kB").parse().ok()?;
    Some((kilobytes, fs::read_dir("/proc/self/fd").ok()?.count()))
}

/// The most memory and the fewest open files of a part of the run: a single look would see whatever the last question left.
/// Threads that merge the index have files open for a moment, at any time; those that are never closed are always there.
fn range(one: Option<(u64, usize)>, other: Option<(u64, usize)>) -> Option<(u64, usize)> {
    let (one, other) = (one?, other?);
    Some((one.0.max(other.0), one.1.min(other.1)))
}

fn change(place: &Place, dice: &mut Dice, number: usize) {
    let sessions = place.sessions();
    let logs: Vec<_> =
        sessions.iter().filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect();
    let log = logs[dice.roll(logs.len())];
    match dice.roll(10) {
        0..=5 => append(log, number),
        6 | 7 => {
            // The same few come and go: what is gone stays findable, so others would make answers larger and larger.
            let slot = dice.roll(8);
            let added = session_beside(logs[0], slot);
            if added.exists() {
                fs::remove_file(&added).unwrap();
            } else {
                let new = add_beside(logs[0], slot);
                assert_eq!(new, added);
                append(&new, number);
                age(&new, 100);
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

fn soak(questions: usize, compared: usize, sessions: usize, megabytes: f64) {
    let place = Place::new(sessions, megabytes);
    let engine = place.engine("data");
    let mut dice = Dice(7);
    let mut snapshot = engine.snapshot(&()).unwrap();
    let quarter = questions / 4;
    let (mut early, mut late) = (Some((0, usize::MAX)), Some((0, usize::MAX)));
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
        match number / quarter {
            1 => early = range(early, load()),
            3 => late = range(late, load()),
            _ => {}
        }
    }
    if let (Some((memory, files)), Some((later_memory, later_files))) = (early, late) {
        assert!(later_files <= files + 4, "{files} open files at first, {later_files} later");
        // What the allocator keeps for later comes and goes in a short run.
        let is_long = questions >= 1000;
        let limit = memory + memory / 20;
        assert!(!is_long || later_memory <= limit, "{memory} kB at first, {later_memory} kB later");
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
#[ignore = "takes minutes: `cargo xtask soak` runs it before a release"]
fn ten_thousand_questions_while_files_change() {
    soak(many(), 100, 400, 40.0);
}
