//! How far sessions were read, by agent and session id. Only sessions whose end was shown once have a mark.

use std::collections::BTreeMap;

use recount_model::{SessionFacts, SessionKey};
use serde::{Deserialize, Serialize};

use crate::written::read_toml;

/// Maximum number of marks; those that were set longest ago are dropped first.
const MOST: usize = 2000;

/// How far sessions were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReadMarks(BTreeMap<String, BTreeMap<String, ReadMark>>);

/// How far one session was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ReadMark {
    /// How many messages it had when its end was shown.
    messages: u64,
    /// When that was, in seconds.
    at: i64,
}

impl ReadMarks {
    /// Reads the file.
    ///
    /// # Errors
    /// A message with the line, if the file is invalid.
    pub fn parse(text: &str) -> Result<Self, String> {
        read_toml(text)
    }

    /// Writes the file.
    pub fn to_text(&self) -> String {
        let head = "# How many messages of sessions were read, and when. Delete this file to forget it.\n\n";
        format!("{head}{}", toml::to_string(self).unwrap_or_default())
    }

    /// Returns how many messages of a session were read; `None` if its end was never shown.
    pub fn read(&self, key: &SessionKey) -> Option<u64> {
        self.0.get(key.source.as_str())?.get(key.id.as_str()).map(|mark| mark.messages)
    }

    /// Returns how many messages came since the end of a session was shown; 0 if that never was.
    pub fn new_messages(&self, facts: &SessionFacts) -> u64 {
        if self.0.is_empty() {
            return 0;
        }
        let read = self.read(&facts.key());
        read.map_or(0, |read| facts.counts.messages.saturating_sub(read))
    }

    /// Notes that a session was read to its end. Returns whether that was not known.
    pub fn mark(&mut self, key: &SessionKey, messages: u64, at: i64) -> bool {
        if self.read(key) == Some(messages) {
            return false;
        }
        let sessions = self.0.entry(key.source.as_str().to_owned()).or_default();
        sessions.insert(key.id.as_str().to_owned(), ReadMark { messages, at });
        self.drop_oldest(key);
        true
    }

    /// Drops what is too much, but not the mark that was just set: the clock may have been set back.
    fn drop_oldest(&mut self, new: &SessionKey) {
        let mut times: Vec<i64> =
            self.0.values().flat_map(|sessions| sessions.values()).map(|mark| mark.at).collect();
        let Some(over) = times.len().checked_sub(MOST).filter(|over| *over > 0) else { return };
        times.sort_unstable();
        // Marks of one second go together.
        let Some(last) = times.get(over - 1).copied() else { return };
        for (source, sessions) in &mut self.0 {
            let is_new = |id: &str| source == new.source.as_str() && id == new.id.as_str();
            sessions.retain(|id, mark| mark.at > last || is_new(id));
        }
        self.0.retain(|_, sessions| !sessions.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use recount_model::{SessionId, SourceName};

    use super::*;

    fn key(id: &str) -> SessionKey {
        SessionKey { source: SourceName::new("agent"), id: SessionId::new(id) }
    }

    #[test]
    fn marks_round_trip() {
        let mut marks = ReadMarks::default();
        let odd = key("3d2f9a10 \"x\"\n.y");
        assert!(marks.mark(&odd, 7, 100) && marks.mark(&key("b"), 3, 101));
        assert!(!marks.mark(&odd, 7, 200), "nothing new is known");
        assert_eq!(ReadMarks::parse(&marks.to_text()).unwrap(), marks);
        assert_eq!((marks.read(&odd), marks.read(&key("c"))), (Some(7), None));
        assert!(marks.mark(&odd, 5, 300), "a session that was cut is read again");
        assert_eq!(marks.read(&odd), Some(5));
        assert!(ReadMarks::parse("[agent.x]\nmessages = 'no'").unwrap_err().contains("line 2"));
    }

    #[test]
    fn the_oldest_marks_are_dropped() {
        let mut marks = ReadMarks::default();
        for at in 0..=MOST {
            marks.mark(&key(&at.to_string()), 1, i64::try_from(at).unwrap());
        }
        assert_eq!(marks.read(&key("0")), None);
        assert!(marks.mark(&key("late"), 1, -1) && marks.read(&key("late")).is_some());
        assert!(marks.read(&key("2")).is_some() && marks.read(&key(&MOST.to_string())).is_some());
    }
}
