//! A recording, played in virtual time.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use recount_formats::live::{LiveFeed, TimelineEntry, TimelinePlayer, estimate_start};
use recount_model::{SessionId, SourceName};

use crate::live::board::LiveBoard;
use crate::live::day::Day;
use crate::live::{LiveEvent, LiveRow};
use crate::snapshot::disk_scan::Progress;
use crate::{Engine, Error};

/// How often the board is looked at, in milliseconds.
const STEP: i64 = 100;
/// The home that paths in a recording are taken to be below. Nothing is read from it.
const HOME: &str = "/home/dev";

/// A recording or a past day that is being played.
#[derive(Debug)]
pub struct Replay {
    script: Script,
    board: LiveBoard,
    player: TimelinePlayer,
    t: i64,
    end: i64,
    /// Lines or messages that could not be read.
    pub broken: usize,
}

/// What is played.
#[derive(Debug)]
enum Script {
    Recording(VecDeque<TimelineEntry>),
    Day(Day),
}

/// How often a day is looked at while a session runs, in milliseconds.
const DAY_STEP: i64 = 1000;

/// What is different at one moment of a recording.
#[derive(Clone, Debug)]
pub struct ReplayStep {
    /// Milliseconds since the start of the recording.
    pub t: i64,
    /// The rows.
    pub rows: Vec<LiveRow>,
    /// What is different.
    pub events: Vec<LiveEvent>,
}

impl Engine {
    /// Opens a recording.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn replay(&self, path: &Path) -> Result<Replay, Error> {
        let failed = |error| Error::Recording { path: path.to_owned(), error };
        let file = std::fs::File::open(path).map_err(failed)?;
        let mut entries: VecDeque<TimelineEntry> = VecDeque::new();
        let mut broken = 0;
        let mut line = Vec::new();
        let mut reader = BufReader::new(file);
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
                break;
            }
            match serde_json::from_slice(&line) {
                Ok(entry) => entries.push_back(entry),
                // The last line may be torn.
                Err(_) => broken += 1,
            }
        }
        let start = entries.iter().find_map(|entry| entry.t0_epoch_ms);
        let start =
            start.or_else(|| recorded_start(path)).or_else(|| estimate_start(entries.iter()));
        let home = Path::new(HOME);
        let mut feed = LiveFeed::default();
        for source in self.sources {
            for below in source.folders().below_home {
                feed.add(*source, &home.join(below));
            }
        }
        let end = entries.iter().map(|entry| entry.t).max().unwrap_or_default();
        let player = TimelinePlayer::new(home, start.unwrap_or_default());
        let board = LiveBoard::new(feed, self.prices().ok());
        Ok(Replay { script: Script::Recording(entries), board, player, t: 0, end, broken })
    }

    /// Plays what sessions record between two moments, in milliseconds since 1970.
    ///
    /// # Errors
    /// As [`Engine::list`].
    pub fn replay_between(
        &self,
        start: i64,
        end: i64,
        progress: &dyn Progress,
    ) -> Result<Replay, Error> {
        let day = Day::read(self, start, end, progress)?;
        let player = TimelinePlayer::new(Path::new(HOME), start);
        let board = LiveBoard::new(LiveFeed::default(), self.prices().ok());
        let broken = day.broken;
        Ok(Replay { script: Script::Day(day), board, player, t: 0, end: end - start, broken })
    }
}

impl Replay {
    /// Plays the next moment; `None` at the end.
    pub fn step(&mut self) -> Option<ReplayStep> {
        if self.t > self.end + STEP {
            return None;
        }
        let t = self.t;
        let entries = match &mut self.script {
            Script::Recording(entries) => entries,
            Script::Day(_) => return Some(self.step_of_day(t)),
        };
        // A line counts from its own moment on, so that the board is as exact as the recording.
        let next = entries.front().map(|entry| entry.t);
        if let Some(at) = next.filter(|next| *next <= t) {
            while entries.front().is_some_and(|entry| entry.t <= at) {
                if let Some(entry) = entries.pop_front() {
                    self.player.play(self.board.feed(), entry);
                }
            }
            Some(self.look(at))
        } else {
            self.t += STEP;
            Some(self.look(t))
        }
    }

    /// Looks at a moment of a day, and goes to the next at which something may change: a record, or, while a session is shown, the
    /// next second.
    fn step_of_day(&mut self, t: i64) -> ReplayStep {
        let now = self.player.time(t);
        let Script::Day(day) = &self.script else {
            return ReplayStep { t, rows: Vec::new(), events: Vec::new() };
        };
        let (rows, events) = self.board.changes_of(day.sessions(now), now);
        let next = day.next_moment(now).map_or(i64::MAX, |next| t + (next - now));
        let tick = if rows.is_empty() { i64::MAX } else { t + DAY_STEP };
        self.t = next.min(tick).min((self.end + STEP).max(t + 1));
        ReplayStep { t, rows, events }
    }

    /// Whether a past day is played rather than a recording.
    pub fn is_day(&self) -> bool {
        matches!(self.script, Script::Day(_))
    }

    /// Returns the titles of the sessions that are played, as far as they are on disk.
    pub fn titles(&self) -> impl Iterator<Item = (SourceName, &SessionId, &str)> {
        let day = match &self.script {
            Script::Day(day) => Some(day),
            Script::Recording(_) => None,
        };
        day.into_iter().flat_map(Day::titles)
    }

    /// Returns the time of a moment of the recording, in milliseconds since 1970.
    pub fn time(&self, t: i64) -> i64 {
        self.player.time(t)
    }

    fn look(&mut self, t: i64) -> ReplayStep {
        let (rows, events) = self.board.changes(self.player.time(t));
        ReplayStep { t, rows, events }
    }
}

/// Reads when a recording began from the description beside it.
fn recorded_start(path: &Path) -> Option<i64> {
    let bytes = recount_formats::bytes::read_small(&path.with_file_name("meta.json")).ok()?;
    let meta: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    meta.get("t0_epoch_ms")?.as_i64()
}
