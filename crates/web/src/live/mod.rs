//! What changes, told to all who listen: one watcher, one ring of events, any number of streams.

mod ring;
mod stream;
mod watcher;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use recount_model::Clock;
use serde_json::Value;
use tokio::sync::watch;

use crate::app::App;
use ring::{Event, Ring};
pub(crate) use stream::stream;

/// How long to go on watching after the last listener has left: a page that is reloaded comes back at once.
const LINGER: Duration = Duration::from_secs(5);

/// Events, and who listens.
#[derive(Debug)]
pub(crate) struct Hub {
    ring: Mutex<Ring>,
    /// The number of the newest event.
    newest: watch::Sender<u64>,
    listeners: Mutex<Listeners>,
    board: Mutex<Option<Arc<Value>>>,
}

#[derive(Debug, Default)]
struct Listeners {
    many: usize,
    /// When the last one went.
    left: Option<Instant>,
    /// Which of the watchers run.
    rows: bool,
    live: bool,
}

impl Default for Hub {
    fn default() -> Self {
        // Numbers go on after a restart, so that an old number is seen to be old.
        let first = u64::try_from(Clock::system().now().as_millisecond()).unwrap_or(1);
        Self {
            ring: Mutex::new(Ring::new(first)),
            newest: watch::Sender::new(first),
            listeners: Mutex::default(),
            board: Mutex::default(),
        }
    }
}

/// One of the two watchers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watcher {
    Rows,
    Live,
}

impl Hub {
    /// Sends an event. One with a slot replaces earlier ones with the same slot.
    pub(crate) fn tell(&self, name: &'static str, slot: Option<String>, data: &Value) {
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        let id = ring.push(name, slot, data.to_string());
        drop(ring);
        self.newest.send_replace(id);
    }

    /// Returns the events behind one, or `None` if some of them are forgotten.
    fn behind(&self, id: u64) -> Option<Vec<Event>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner).behind(id)
    }

    /// Returns the number of the newest event.
    fn newest(&self) -> u64 {
        *self.newest.borrow()
    }

    /// Returns the live board, while it is watched.
    pub(crate) fn board(&self) -> Option<Arc<Value>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_board(&self, board: Option<Arc<Value>>) {
        *self.board.lock().unwrap_or_else(PoisonError::into_inner) = board;
    }

    /// Whether a watcher goes on; if not, it has to end.
    fn goes_on(&self, watcher: Watcher) -> bool {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let lingers = listeners.left.is_none_or(|left| left.elapsed() < LINGER);
        if listeners.many > 0 || lingers {
            return true;
        }
        match watcher {
            Watcher::Rows => listeners.rows = false,
            Watcher::Live => listeners.live = false,
        }
        false
    }

    /// Notes that a watcher ended by itself.
    fn ended(&self, watcher: Watcher) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        match watcher {
            Watcher::Rows => listeners.rows = false,
            Watcher::Live => listeners.live = false,
        }
    }
}

/// One who listens, until it is dropped.
#[derive(Debug)]
struct Listener(Arc<App>);

impl Listener {
    /// Listens, and starts to watch if nobody did.
    fn new(app: &Arc<App>) -> Self {
        let mut listeners = app.hub.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.many += 1;
        listeners.left = None;
        if !std::mem::replace(&mut listeners.rows, true) {
            let (app, known) = (Arc::clone(app), app.known_snapshot());
            std::thread::spawn(move || watcher::watch_rows(&app, known));
        }
        if !std::mem::replace(&mut listeners.live, true) {
            let app = Arc::clone(app);
            std::thread::spawn(move || watcher::watch_live(&app));
        }
        drop(listeners);
        Self(Arc::clone(app))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut listeners = self.0.hub.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.many = listeners.many.saturating_sub(1);
        if listeners.many == 0 {
            listeners.left = Some(Instant::now());
        }
    }
}
