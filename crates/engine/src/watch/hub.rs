//! The thread that watches, for all who listen.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::Engine;
use crate::snapshot::Snapshot;
use crate::watch::inbox::{Inbox, Told};
use crate::watch::queue::Queue;
use crate::watch::signals::{Signal, Signals, directories};
use crate::watch::{WatchMode, events};

/// What happens within so short a time is told at once.
const TOGETHER: Duration = Duration::from_millis(20);
/// Between two looks is at least this multiple of the time that the first one took: a session that is large and written all the time does
/// not take all of a core.
const REST: u32 = 3;
/// But no more than this.
const LONGEST: Duration = Duration::from_secs(2);
/// What the system may have missed is found so often.
const SWEEP: Duration = Duration::from_secs(60);
/// How often everything is looked at where the system cannot tell.
const POLL: Duration = Duration::from_secs(1);

/// The thread that watches. Dropping it ends the thread.
#[derive(Debug)]
pub(crate) struct Hub {
    shared: Arc<Shared>,
    inbox: Arc<Inbox<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    newest: Mutex<Snapshot>,
    listeners: Mutex<Vec<Weak<Queue>>>,
    mode: Mutex<WatchMode>,
}

impl Hub {
    pub(crate) fn start(engine: &Engine, snapshot: Snapshot, mode: WatchMode) -> Self {
        let is_remote = engine.roots().any(|root| recount_platform::is_remote(root));
        let mode = match mode {
            WatchMode::Events if is_remote => WatchMode::Polling(POLL),
            asked => asked,
        };
        let shared = Arc::new(Shared {
            newest: Mutex::new(snapshot.clone()),
            listeners: Mutex::default(),
            mode: Mutex::new(mode),
        });
        let inbox = Arc::new(Inbox::default());
        let mut work = Work {
            engine: engine.clone(),
            shared: Arc::clone(&shared),
            snapshot,
            signals: (mode == WatchMode::Events).then(|| signals(Arc::clone(&inbox))).flatten(),
            every: if let WatchMode::Polling(every) = mode { every } else { SWEEP },
        };
        let told = Arc::clone(&inbox);
        let thread = std::thread::spawn(move || work.run(&told));
        Self { shared, inbox, thread: Some(thread) }
    }

    pub(crate) fn subscribe(&self) -> Arc<Queue> {
        let queue = Arc::new(Queue::default());
        lock(&self.shared.listeners).push(Arc::downgrade(&queue));
        queue
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        lock(&self.shared.newest).clone()
    }

    pub(crate) fn mode(&self) -> WatchMode {
        *lock(&self.shared.mode)
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.inbox.tell(Signal::Stop);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

/// Nobody panics while holding a lock; if somebody did, what it guards would still be whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the thread works with.
struct Work {
    engine: Engine,
    shared: Arc<Shared>,
    snapshot: Snapshot,
    signals: Option<Signals>,
    /// How often everything is looked at.
    every: Duration,
}

impl Work {
    fn run(&mut self, inbox: &Inbox<()>) {
        self.watch_directories();
        // What changed before the first directory was watched.
        self.look(&Told { is_anywhere: true, ..Told::default() });
        let mut next_sweep = Instant::now() + self.every;
        let mut rested = Instant::now();
        loop {
            let mut told = Told::default();
            if inbox.wait(next_sweep.saturating_duration_since(Instant::now())) {
                let rest = rested.saturating_duration_since(Instant::now());
                if inbox.wait_for_end(rest.clamp(TOGETHER, LONGEST)) {
                    return;
                }
                told = inbox.take();
            } else {
                told.is_anywhere = true;
                next_sweep = Instant::now() + self.every;
            }
            let begun = Instant::now();
            let lost = self.signals.as_mut().is_some_and(|s| s.forget(&told.paths));
            self.look(&told);
            if lost {
                self.follow_directories();
            }
            rested = Instant::now() + begun.elapsed() * REST;
        }
    }

    /// Finds out what changed, and reports it.
    fn look(&mut self, told: &Told<()>) {
        let next = if told.is_anywhere {
            self.engine.refresh(&self.snapshot, &())
        } else {
            self.engine.refresh_paths(&self.snapshot, &told.paths, &())
        };
        // What cannot be understood now is looked at again with the next change.
        let Ok((snapshot, diff)) = next else { return };
        let is_new = !snapshot.is_same(&self.snapshot);
        self.snapshot = snapshot;
        if !diff.is_empty() {
            *lock(&self.shared.newest) = self.snapshot.clone();
            let events = events(diff, &self.snapshot);
            lock(&self.shared.listeners).retain(|listener| {
                listener.upgrade().inspect(|queue| queue.put(&events)).is_some()
            });
        }
        if is_new {
            self.follow_directories();
        }
    }

    /// Has the system watch the directories that count now. What came into new ones meanwhile is looked for.
    fn follow_directories(&mut self) {
        let new = self.watch_directories();
        if !new.is_empty() {
            self.look(&Told { paths: new.into_iter().collect(), ..Told::default() });
        }
    }

    /// Has the system watch the directories that count now. Returns those that were not watched before.
    fn watch_directories(&mut self) -> Vec<PathBuf> {
        let Some(signals) = &mut self.signals else { return Vec::new() };
        let (listed, read) = self.snapshot.basis();
        let new = signals.watch(&directories(listed, read));
        new.unwrap_or_else(|| {
            self.signals = None;
            self.every = POLL;
            *lock(&self.shared.mode) = WatchMode::Polling(POLL);
            Vec::new()
        })
    }
}

/// Starts to listen to the system.
fn signals(inbox: Arc<Inbox<()>>) -> Option<Signals> {
    Signals::new(move |signal| inbox.tell(signal))
}
