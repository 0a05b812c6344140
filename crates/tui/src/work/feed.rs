//! What comes without being asked for: rows as they change, what runs, and what is at risk.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use recount_engine::live::{LiveAlarm, LiveAlarms, LiveRow};
use recount_engine::{Engine, Error, ListQuery, Progress, ReadMarks, Snapshot, WatchMode};
use recount_model::{Clock, SessionKey};
use recount_platform::{Env, start_detached};

use super::Slot;
use crate::effect::{Answer, Event};
use crate::rows::Rows;

/// Changes that come this soon after another are shown together.
const TOGETHER: Duration = Duration::from_millis(20);
/// What is at risk is looked up again at most this often.
const RISK: Duration = Duration::from_secs(10);
/// While a session works, its rates are looked at this often.
const RATES: Duration = Duration::from_secs(2);
/// Nobody waits for less.
const LONG: Duration = Duration::from_secs(3600);
/// Indexing is started again at most this often.
const INDEX: Duration = Duration::from_secs(10);
/// How much has been read is told this often.
const TOLD: u64 = 50;
/// The number of remembered rows in the first frame: more than any terminal has lines.
pub(crate) const FIRST_ROWS: usize = 200;

/// All sessions, as they are now.
#[derive(Debug)]
pub(crate) struct Fresh(pub(crate) Result<Arc<Rows>, Error>);

/// Sessions that their agent's next start deletes.
#[derive(Debug)]
pub(crate) struct AtRisk(pub(crate) HashSet<SessionKey>);

/// What runs now.
#[derive(Debug)]
pub(crate) struct LiveNews(pub(crate) Arc<Vec<LiveRow>>);

/// How far sessions were read.
#[derive(Debug)]
pub(crate) struct ReadNews(pub(crate) Arc<ReadMarks>);

/// An alarm that is due.
#[derive(Debug)]
pub(crate) struct Alarmed(pub(crate) LiveAlarm);

/// How much has been read.
#[derive(Debug)]
pub(crate) struct Reading(pub(crate) u64, pub(crate) u64);

/// Sends what changes.
#[derive(Clone, Debug)]
pub(crate) struct Feed {
    pub(crate) engine: Engine,
    /// The folder whose project is shown first.
    pub(crate) here: Option<PathBuf>,
    pub(crate) latest: Arc<Mutex<Option<Snapshot>>>,
    pub(crate) events: Sender<Event>,
    /// Starts indexing in the background; `None` where that is not wanted.
    pub(crate) indexer: Option<Indexer>,
}

/// Starts this program again to index what is new.
#[derive(Clone, Debug)]
pub(crate) struct Indexer {
    /// Arguments for another run of this program on the same homes.
    pub(crate) arguments: Vec<OsString>,
    last: Arc<Mutex<Option<Instant>>>,
}

impl Indexer {
    pub(crate) fn new(arguments: &[OsString]) -> Self {
        let mut words: Vec<OsString> = vec!["index".into(), "--background".into()];
        words.extend(arguments.iter().cloned());
        Self { arguments: words, last: Arc::default() }
    }

    /// Starts it, but not again and again. If it cannot be started, searches say what they lack.
    pub(crate) fn start(&self, env: &Env) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() > INDEX) {
            *last = Some(Instant::now());
            let _started = start_detached(env, &self.arguments);
        }
    }
}

impl Feed {
    /// Returns the rows that were listed last, without a look at the disk: the newest of them, or all.
    pub(crate) fn remembered(&self, newest: Option<usize>) -> Arc<Rows> {
        let sessions = self.engine.remembered_list(newest);
        let scope = self.engine.scope_of(&sessions, self.here.as_deref());
        Arc::new(Rows::new(sessions, scope, true))
    }

    /// Starts the threads.
    pub(crate) fn start(&self) {
        let rows = self.clone();
        thread::spawn(move || rows.watch_rows());
        let live = self.clone();
        thread::spawn(move || live.watch_live());
    }

    fn send(&self, value: impl Send + 'static) -> bool {
        let answer = Answer::new(Slot::Feed, 0, Box::new(value));
        self.events.send(Event::Answer(answer)).is_ok()
    }

    fn watch_rows(&self) {
        let reading = ReadingTold { feed: self, begun: Instant::now(), told: AtomicU64::new(0) };
        let watched = self.engine.snapshot(&reading).and_then(|first| {
            let number = self.publish(&first);
            Ok((self.engine.watch_from(&first, WatchMode::Events)?, first, number))
        });
        let (subscription, first, mut number) = match watched {
            Ok(watched) => watched,
            Err(error) => {
                self.send(Fresh(Err(error)));
                return;
            }
        };
        if let Some(indexer) = &self.indexer
            && !self.engine.at(&first).is_index_current()
        {
            indexer.start(self.engine.env());
        }
        let mut risk = Instant::now();
        self.tell_risk(&first);
        drop(first);
        loop {
            if subscription.next(LONG).is_none() {
                continue;
            }
            while subscription.next(TOGETHER).is_some() {}
            let snapshot = subscription.snapshot();
            if snapshot.number() == number {
                continue;
            }
            number = self.publish(&snapshot);
            if risk.elapsed() > RISK {
                risk = Instant::now();
                self.tell_risk(&snapshot);
            }
        }
    }

    /// Tells the rows of a snapshot, and answers questions from it from now on. Returns its number.
    fn publish(&self, snapshot: &Snapshot) -> u64 {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(snapshot.clone());
        // The browser may have read some further.
        self.send(ReadNews(Arc::new(self.engine.read_marks())));
        self.send(Fresh(rows(&self.engine.at(snapshot), self.here.as_deref())));
        snapshot.number()
    }

    fn tell_risk(&self, snapshot: &Snapshot) {
        if let Ok(at_risk) = self.engine.at(snapshot).at_risk(&()) {
            self.send(AtRisk(at_risk));
        }
    }

    fn watch_live(&self) {
        let mut watch = self.engine.watch_live();
        let mut alarms = LiveAlarms::default();
        let mut rows = Arc::new(watch.rows());
        // What is so from the start is seen, and no change.
        alarms.check(&rows, None, Clock::system().now().as_millisecond());
        loop {
            if !self.send(LiveNews(Arc::clone(&rows))) {
                return;
            }
            loop {
                let is_open = rows.iter().any(|row| row.state.is_open());
                let Ok((new, events)) = watch.next(if is_open { RATES } else { LONG }) else {
                    return;
                };
                // The board uses the time of the system, too.
                for alarm in alarms.check(&new, None, Clock::system().now().as_millisecond()) {
                    self.send(Alarmed(alarm));
                }
                let rates = |rows: &[LiveRow]| rows.iter().map(|row| row.rates).collect::<Vec<_>>();
                if !events.is_empty() || rates(&new) != rates(&rows) {
                    rows = Arc::new(new);
                    break;
                }
            }
        }
    }
}

/// Lists all sessions for the app, with labels, prices and the project of a folder.
pub(crate) fn rows(engine: &Engine, here: Option<&Path>) -> Result<Arc<Rows>, Error> {
    let mut listing = engine.list(&ListQuery::default(), &())?;
    engine.label_marked(&mut listing.sessions)?;
    engine.price(&mut listing.sessions, &());
    let scope = engine.scope_of(&listing.sessions, here);
    Ok(Arc::new(Rows::new(listing.sessions, scope, false)))
}

/// Tells how much has been read.
#[derive(Debug)]
struct ReadingTold<'a> {
    feed: &'a Feed,
    begun: Instant,
    told: AtomicU64,
}

impl Progress for ReadingTold<'_> {
    fn advance(&self, done: u64, total: u64) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        if now.saturating_sub(self.told.load(Ordering::Relaxed)) >= TOLD {
            if self.told.swap(now, Ordering::Relaxed) == 0 {
                // This takes a while: until then, all that was there before is shown.
                self.feed.send(Fresh(Ok(self.feed.remembered(None))));
            }
            self.feed.send(Reading(done, total));
        }
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}
