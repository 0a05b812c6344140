//! The newest events, so that a reader who was away for a moment misses nothing.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// The maximum number of events.
const EVENTS: usize = 1000;
/// The maximum size of all events.
const BYTES: usize = 1024 * 1024;

/// An event.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) id: u64,
    pub(super) name: &'static str,
    /// A later event with the same slot replaces this one.
    slot: Option<Arc<str>>,
    pub(super) data: Arc<str>,
}

/// The newest events.
#[derive(Debug)]
pub(super) struct Ring {
    events: VecDeque<Event>,
    bytes: usize,
    /// The number of the newest event.
    newest: u64,
    /// The number of the newest event that is forgotten.
    forgotten: u64,
}

impl Ring {
    pub(super) fn new(first: u64) -> Self {
        Self { events: VecDeque::new(), bytes: 0, newest: first, forgotten: first }
    }

    /// Adds an event and returns its number.
    pub(super) fn push(&mut self, name: &'static str, slot: Option<String>, data: String) -> u64 {
        self.newest += 1;
        self.bytes += data.len();
        let slot = slot.map(Arc::from);
        self.events.push_back(Event { id: self.newest, name, slot, data: data.into() });
        while self.events.len() > EVENTS || self.bytes > BYTES {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= oldest.data.len();
            self.forgotten = oldest.id;
        }
        self.newest
    }

    /// Returns the events after one, without those that later ones replace. `None` if some are forgotten, or the number
    /// is none of this run.
    pub(super) fn behind(&self, id: u64) -> Option<Vec<Event>> {
        if id < self.forgotten || id > self.newest {
            return None;
        }
        let mut met = HashSet::new();
        let newer = self.events.iter().rev().take_while(|event| event.id > id);
        let worth =
            |event: &&Event| event.slot.as_ref().is_none_or(|slot| met.insert(Arc::clone(slot)));
        let mut events: Vec<Event> = newer.filter(worth).cloned().collect();
        events.reverse();
        Some(events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reader_gets_only_what_still_counts() {
        let mut ring = Ring::new(10);
        for number in 0..5 {
            ring.push("rows", Some("a".to_owned()), format!("a{number}"));
            ring.push("rows", None, format!("b{number}"));
        }
        let data: Vec<String> =
            ring.behind(10).unwrap().iter().map(|event| event.data.to_string()).collect();
        assert_eq!(data, ["b0", "b1", "b2", "b3", "a4", "b4"]);
        assert_eq!(ring.behind(20).unwrap().len(), 0);
        assert!(ring.behind(9).is_none(), "from a run before");
        assert!(ring.behind(21).is_none(), "from a run after");
    }

    #[test]
    fn memory_is_bounded() {
        let mut ring = Ring::new(0);
        for _ in 0..3000 {
            ring.push("rows", None, "x".to_owned());
        }
        assert_eq!(ring.events.len(), EVENTS);
        assert!(ring.behind(1).is_none() && ring.behind(2500).is_some());
        for _ in 0..100 {
            ring.push("rows", None, "x".repeat(100_000));
        }
        assert!(ring.bytes <= BYTES && ring.events.len() <= 10);
        ring.push("rows", None, "x".repeat(2 * BYTES));
        assert_eq!(
            (ring.events.len(), ring.bytes),
            (0, 0),
            "one that is too large is forgotten at once"
        );
    }
}
