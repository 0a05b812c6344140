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

/// What the process uses.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Bytes that are allocated.
    allocated: usize,
    /// Kilobytes that the system gave for them. Mapped pages of the index come and go as the system likes, so they are left out.
    resident: u64,
    files: usize,
}

impl Load {
    /// Returns the load now, where the system has figures.
    fn now() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let anonymous = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        let resident = anonymous.trim().trim_end_matches(" kB").parse().ok()?;
        let files = fs::read_dir("/proc/self/fd").ok()?.count();
        let counted = crate::ALLOCATOR.stats();
        let allocated = counted.bytes_allocated.wrapping_sub(counted.bytes_deallocated);
        Some(Self { allocated, resident, files })
    }

    /// Returns what a part of the run used: the least that was allocated and open, as threads that merge the index do both for a moment,
    /// at any time, and what is never freed or closed is always there; of what the system gave, the median, as the least is what is left
    /// when nothing was asked for long.
    fn of(mut part: Vec<Self>) -> Option<Self> {
        let allocated = part.iter().map(|load| load.allocated).min()?;
        let files = part.iter().map(|load| load.files).min()?;
        part.sort_by_key(|load| load.resident);
        Some(Self { allocated, resident: part.get(part.len() / 2)?.resident, files })
    }
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

#[expect(clippy::print_stdout, reason = "a long run reports what it measured")]
fn soak(questions: usize, compared: usize, sessions: usize, megabytes: f64) {
    // As programs do that answer many questions.
    recount_platform::return_freed_memory();
    let place = Place::new(sessions, megabytes);
    let engine = place.engine("data");
    let mut dice = Dice(7);
    let mut snapshot = engine.snapshot(&()).unwrap();
    let quarter = questions / 4;
    // With all the memory that they will need: it is measured, too.
    let mut quarters: [Vec<Load>; 4] = std::array::from_fn(|_| Vec::with_capacity(quarter));
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
        if let Some(part) = quarters.get_mut(number / quarter) {
            part.extend(Load::now());
        }
    }
    let used: Vec<Load> = quarters.into_iter().filter_map(Load::of).collect();
    for load in &used {
        println!("{load:?}");
    }
    if let [_, early, _, late] = used[..] {
        // Tests that run beside a short run open files and allocate memory, too.
        let is_alone = questions >= 1000;
        assert!(late.files <= early.files + if is_alone { 4 } else { 64 }, "{used:?}");
        if is_alone {
            assert!(late.allocated <= early.allocated + early.allocated / 20, "{used:?}");
            assert!(late.resident <= early.resident + early.resident / 20, "{used:?}");
        }
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
