//! What comes without being asked for: rows as they change, what runs, and what is at risk.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use recount_engine::live::LiveRow;
use recount_engine::{Engine, Error, ListQuery, Progress, Snapshot, WatchMode};
use recount_model::SessionKey;

use super::Slot;
use crate::effect::{Answer, Event};
use crate::rows::Rows;

/// Changes that come this soon after another are shown together.
const TOGETHER: Duration = Duration::from_millis(20);
/// What is at risk is looked up again at most this often.
const RISK: Duration = Duration::from_secs(10);
/// Nobody waits for less.
const LONG: Duration = Duration::from_secs(3600);
/// How much has been read is told this often.
const TOLD: u64 = 50;

/// All sessions, as they are now.
#[derive(Debug)]
pub(crate) struct Fresh(pub(crate) Result<Arc<Rows>, Error>);

/// Sessions that their agent's next start deletes.
#[derive(Debug)]
pub(crate) struct AtRisk(pub(crate) HashSet<SessionKey>);

/// What runs now.
#[derive(Debug)]
pub(crate) struct LiveNews(pub(crate) Arc<Vec<LiveRow>>);

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
}

impl Feed {
    /// Returns the rows that were listed last, without a look at the disk.
    pub(crate) fn remembered(&self) -> Arc<Rows> {
        let sessions = self.engine.remembered_list();
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
        // Read with progress first: the watch reads the same again from the catalog.
        if let Err(error) = self.engine.snapshot(&reading).map(|snapshot| self.publish(&snapshot)) {
            self.send(Fresh(Err(error)));
        }
        let subscription = match self.engine.watch(WatchMode::Events) {
            Ok(subscription) => subscription,
            Err(error) => {
                self.send(Fresh(Err(error)));
                return;
            }
        };
        let mut number = self.publish(&subscription.snapshot());
        let mut risk = Instant::now();
        self.tell_risk();
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
                self.tell_risk();
            }
        }
    }

    /// Tells the rows of a snapshot, and answers questions from it from now on. Returns its number.
    fn publish(&self, snapshot: &Snapshot) -> u64 {
        *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(snapshot.clone());
        self.send(Fresh(rows(&self.engine.at(snapshot), self.here.clone())));
        snapshot.number()
    }

    fn tell_risk(&self) {
        let query = ListQuery { pending_deletion: true, ..ListQuery::default() };
        if let Ok(listing) = self.engine.afresh().list(&query, &()) {
            let at_risk = { listing.sessions }.into_iter();
            let at_risk = at_risk.filter(|session| session.pending_deletion == Some(true));
            self.send(AtRisk(at_risk.map(|session| session.key()).collect()));
        }
    }

    fn watch_live(&self) {
        let mut watch = self.engine.watch_live();
        let mut rows = watch.rows();
        loop {
            if !self.send(LiveNews(Arc::new(std::mem::take(&mut rows)))) {
                return;
            }
            loop {
                match watch.next(LONG) {
                    Ok((new, events)) if !events.is_empty() => {
                        rows = new;
                        break;
                    }
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
        }
    }
}

/// Lists all sessions for the app, with labels, prices and the project of a folder.
pub(crate) fn rows(engine: &Engine, here: Option<PathBuf>) -> Result<Arc<Rows>, Error> {
    let query = ListQuery { labelled: true, ..ListQuery::default() };
    let mut listing = engine.list(&query, &())?;
    engine.price(&mut listing.sessions, &());
    let scope = engine.scope_of(&listing.sessions, here.as_deref());
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
            self.told.store(now, Ordering::Relaxed);
            self.feed.send(Reading(done, total));
        }
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}
