//! Silences between messages, for formats that people read and for the terminal.

use jiff::Timestamp;

/// A silence longer than this is told.
const SECONDS: i64 = 15 * 60;

/// Returns how long nobody said anything, if that was long enough to tell.
pub fn between(before: Option<Timestamp>, time: Timestamp) -> Option<String> {
    let seconds = time.as_second().saturating_sub(before?.as_second());
    (seconds >= SECONDS).then(|| stretch(seconds))
}

/// A stretch of time in its largest unit: `40 s`, `12 min`, `3 h`, `5 days`.
pub fn stretch(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
