//! Pauses between messages.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

/// Shorter pauses are not mentioned.
const SECONDS: i64 = 15 * 60;

/// A pause between two messages. It displays as its [`rough_duration`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// Its length.
    pub seconds: i64,
}

impl Gap {
    /// Returns the gap between two messages, if it is long enough to mention.
    pub fn between(before: Option<Timestamp>, time: Timestamp) -> Option<Self> {
        let seconds = time.as_second().saturating_sub(before?.as_second());
        (seconds >= SECONDS).then_some(Self { seconds })
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&rough_duration(self.seconds))
    }
}

/// Returns a duration in its largest unit: `40 s`, `12 min`, `3 h`, `5 days`.
pub fn rough_duration(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
