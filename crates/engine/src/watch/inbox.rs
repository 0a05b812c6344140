//! What the system tells, until it is taken: each path once, so that it takes no more memory the more often a file is written.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::watch::signals::Signal;

/// Maximum number of paths that wait. If there are more, anything may have changed.
const MOST: usize = 4096;

/// What was told and not taken yet, with other things that those who listen are told.
#[derive(Debug)]
pub(crate) struct Inbox<T> {
    told: Mutex<Told<T>>,
    filled: Condvar,
}

/// What was told.
#[derive(Debug)]
pub(crate) struct Told<T> {
    /// Where something happened.
    pub(crate) paths: HashSet<PathBuf>,
    /// Whether something happened, nobody knows where.
    pub(crate) is_anywhere: bool,
    /// Whether nobody listens any more.
    pub(crate) is_over: bool,
    pub(crate) others: Vec<T>,
}

impl<T> Default for Told<T> {
    fn default() -> Self {
        Self { paths: HashSet::new(), is_anywhere: false, is_over: false, others: Vec::new() }
    }
}

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        Self { told: Mutex::default(), filled: Condvar::new() }
    }
}

impl<T> Told<T> {
    fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.is_anywhere && !self.is_over && self.others.is_empty()
    }
}

impl<T> Inbox<T> {
    /// Nobody panics while holding it; if somebody did, what it guards would still be whole.
    fn lock(&self) -> MutexGuard<'_, Told<T>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the system tells.
    pub(crate) fn tell(&self, signal: Signal) {
        let mut told = self.lock();
        match signal {
            Signal::At(paths) => told.paths.extend(paths),
            Signal::Somewhere => told.is_anywhere = true,
            Signal::Stop => told.is_over = true,
        }
        if told.paths.len() > MOST {
            told.paths = HashSet::new();
            told.is_anywhere = true;
        }
        self.filled.notify_all();
    }

    /// Takes something else.
    pub(crate) fn pass(&self, other: T) {
        self.lock().others.push(other);
        self.filled.notify_all();
    }

    /// Waits until something is told, no longer than `patience`. Returns whether something is.
    pub(crate) fn wait(&self, patience: Duration) -> bool {
        self.wait_until(patience, |told| !told.is_empty())
    }

    /// Waits until nobody listens any more, no longer than `patience`. Returns whether that is so.
    pub(crate) fn wait_for_end(&self, patience: Duration) -> bool {
        self.wait_until(patience, |told| told.is_over)
    }

    fn wait_until(&self, patience: Duration, is_met: impl Fn(&Told<T>) -> bool) -> bool {
        let waited = self.filled.wait_timeout_while(self.lock(), patience, |told| !is_met(told));
        is_met(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Takes what was told.
    pub(crate) fn take(&self) -> Told<T> {
        std::mem::take(&mut *self.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_often_is_kept_once_and_not_without_limit() {
        let inbox = Inbox::<u8>::default();
        assert!(!inbox.wait(Duration::ZERO));
        for _ in 0..10_000 {
            inbox.tell(Signal::At(vec![PathBuf::from("/a"), PathBuf::from("/b")]));
        }
        assert!(inbox.wait(Duration::ZERO));
        inbox.pass(7);
        let told = inbox.take();
        assert_eq!((told.paths.len(), told.is_anywhere, told.others), (2, false, vec![7]));
        for number in 0..10 * MOST {
            inbox.tell(Signal::At(vec![PathBuf::from(format!("/{number}"))]));
        }
        let told = inbox.take();
        assert!(told.paths.len() <= MOST && told.is_anywhere);
        assert!(!inbox.wait_for_end(Duration::ZERO));
        inbox.tell(Signal::Stop);
        assert!(inbox.wait_for_end(Duration::from_secs(60)) && inbox.take().is_over);
    }
}
