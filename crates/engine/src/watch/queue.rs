//! Changes that were not taken yet. Who is slow is told to start again; nobody waits for them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::watch::WatchEvent;

/// Maximum number of changes that wait for one listener.
const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct Queue {
    events: Mutex<VecDeque<WatchEvent>>,
    filled: Condvar,
}

impl Queue {
    /// Adds changes, or tells the listener to start again if there are too many.
    pub(crate) fn put(&self, new: &[WatchEvent]) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() + new.len() > MOST {
            events.clear();
            events.push_back(WatchEvent::Reset);
        } else {
            events.extend(new.iter().cloned());
        }
        self.filled.notify_all();
    }

    /// Takes the next one, waiting no longer than `patience`.
    pub(crate) fn take(&self, patience: Duration) -> Option<WatchEvent> {
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let is_empty = |events: &mut VecDeque<WatchEvent>| events.is_empty();
        let waited = self.filled.wait_timeout_while(events, patience, is_empty);
        let (mut events, _) = waited.unwrap_or_else(PoisonError::into_inner);
        events.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_slow_is_told_to_start_again() {
        let queue = Queue::default();
        queue.put(&vec![WatchEvent::Problems(Vec::new()); MOST]);
        queue.put(&[WatchEvent::Problems(Vec::new())]);
        assert!(matches!(queue.take(Duration::ZERO), Some(WatchEvent::Reset)));
        assert!(queue.take(Duration::from_millis(1)).is_none());
    }
}
