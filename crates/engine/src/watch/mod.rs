//! Changes as they happen: one watcher for all who listen, and nothing runs while nobody does.

mod hub;
pub(crate) mod inbox;
mod queue;
pub(crate) mod signals;

use std::sync::Arc;
use std::time::Duration;

use recount_model::{Problem, Project, SessionFacts};

use crate::snapshot::{SessionChange, Snapshot, SnapshotDiff};
use crate::{Engine, Error};

pub(crate) use hub::Hub;
use queue::Queue;

/// Something that changed.
#[derive(Clone, Debug)]
pub enum WatchEvent {
    /// A session is new.
    Added(Arc<SessionFacts>),
    /// Something of a session is different.
    Changed(SessionChange),
    /// A session is gone; as it was.
    Gone(Arc<SessionFacts>),
    /// A project is new, or something of it is different.
    Project(Arc<Project>),
    /// What cannot be looked at is different; all of it.
    Problems(Vec<Problem>),
    /// More happened than was taken: start again from [`Subscription::snapshot`].
    Reset,
}

/// How changes are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// The system tells, and a look at everything once a minute finds what it missed. Where it cannot tell (network disks, too many
    /// watches) everything is looked at each second.
    Events,
    /// Everything is looked at so often.
    Polling(Duration),
}

/// One who listens. Dropping the last one ends the watching.
#[derive(Debug)]
pub struct Subscription {
    queue: Arc<Queue>,
    hub: Arc<Hub>,
}

impl Engine {
    /// Listens for changes. All who listen share one watcher, which works as the first of them asked.
    ///
    /// # Errors
    /// As [`Engine::snapshot`].
    pub fn watch(&self, mode: WatchMode) -> Result<Subscription, Error> {
        self.subscribe(mode, || self.snapshot(&()))
    }

    /// Listens for changes since a snapshot, which need not be taken again.
    pub fn watch_from(&self, snapshot: &Snapshot, mode: WatchMode) -> Result<Subscription, Error> {
        self.subscribe(mode, || Ok(snapshot.clone()))
    }

    fn subscribe(
        &self,
        mode: WatchMode,
        first: impl FnOnce() -> Result<Snapshot, Error>,
    ) -> Result<Subscription, Error> {
        // Nobody panics while holding it; if somebody did, what it guards would still be whole.
        let mut shared = self.hub.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let hub = match shared.upgrade() {
            Some(hub) => hub,
            None => Arc::new(Hub::start(self, first()?, mode)),
        };
        *shared = Arc::downgrade(&hub);
        let queue = hub.subscribe();
        Ok(Subscription { queue, hub })
    }
}

impl Subscription {
    /// Waits for the next change, no longer than `patience`.
    pub fn next(&self, patience: Duration) -> Option<WatchEvent> {
        self.queue.take(patience)
    }

    /// Returns the newest snapshot: with all changes that were or will be told so far.
    pub fn snapshot(&self) -> Snapshot {
        self.hub.snapshot()
    }

    /// How changes are noticed now.
    pub fn mode(&self) -> WatchMode {
        self.hub.mode()
    }
}

/// Tells a difference change by change.
fn events(diff: SnapshotDiff, snapshot: &Snapshot) -> Vec<WatchEvent> {
    let mut events: Vec<WatchEvent> = diff.projects.into_iter().map(WatchEvent::Project).collect();
    events.extend(diff.gone.into_iter().map(WatchEvent::Gone));
    events.extend(diff.added.into_iter().map(WatchEvent::Added));
    events.extend(diff.changed.into_iter().map(WatchEvent::Changed));
    if diff.problems {
        events.push(WatchEvent::Problems(snapshot.problems().to_vec()));
    }
    events
}
