//! Questions to the engine, each on the thread of its slot. The newest question of a slot wins: an older one that waits is
//! dropped, one that runs is cancelled, and its answer is thrown away.

mod feed;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use recount_engine::{Cancel, Engine, Error, Opened, Progress, Snapshot};
use recount_model::{SessionFacts, SessionKey};

use crate::effect::{Answer, Event, Job};

pub(crate) use feed::{
    Alarmed, AtRisk, FIRST_ROWS, Feed, Fresh, Indexer, LiveNews, ReadNews, Reading, rows,
};

/// The index is closed when nothing has been searched for so long.
const IDLE: Duration = Duration::from_secs(10);

/// A preview is read when no other was asked for within this time.
const SETTLED: Duration = Duration::from_millis(5);

/// What a question is for. There is one thread and one open question for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Slot {
    /// Not asked by a screen: rows, live states and what is at risk.
    Feed,
    /// Which sessions match a query.
    Filter,
    /// The end of the selected session.
    Preview,
    /// A session to read.
    Reader,
    /// More of the session that is read.
    Page,
    /// Something in the session that is read.
    Find,
    /// How far a session was read.
    Mark,
    /// Full-text search.
    Search,
    /// The preview of a hit.
    Hit,
    /// Projects.
    Projects,
    /// Statistics.
    Stats,
    /// What was spent today.
    Spending,
    /// Guard and doctor.
    Problems,
    /// Receipts, trash, vault.
    History,
    /// The plan of a change.
    Plan,
    /// A change that is being made.
    Apply,
    /// Facts about one thing.
    Info,
    /// What can be chosen from.
    Pick,
    /// What a text to copy needs.
    Copy,
}

/// What a question may use.
#[derive(Debug)]
pub(crate) struct Work {
    engine: Engine,
    latest: Arc<Mutex<Option<Snapshot>>>,
    cancel: Cancel,
    recent: Recent,
}

/// The session that was opened last: who has previewed one often reads it next.
pub(crate) type Recent = Arc<Mutex<Option<Arc<Opened>>>>;

impl Work {
    pub(crate) fn new(engine: Engine, latest: Arc<Mutex<Option<Snapshot>>>) -> Self {
        Self { engine, latest, cancel: Cancel::default(), recent: Recent::default() }
    }

    /// Shares the session that was opened last.
    pub(crate) fn sharing(self, recent: &Recent) -> Self {
        Self { recent: Arc::clone(recent), ..self }
    }

    /// Opens a session, and remembers it.
    pub(crate) fn open(&self, key: &SessionKey) -> Result<Arc<Opened>, Error> {
        let opened = Arc::new(self.engine().open_key(key, self.progress())?);
        *self.recent.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// Returns the session that was opened last, if it is this one and its files have not changed since.
    pub(crate) fn recent(&self, facts: &SessionFacts) -> Option<Arc<Opened>> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let own = &recent.facts;
        let is_same =
            own.key() == facts.key() && own.updated == facts.updated && own.files == facts.files;
        is_same.then_some(recent)
    }

    /// Returns an engine that answers from the newest snapshot; before there is one, from the disk.
    pub(crate) fn engine(&self) -> Engine {
        let latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.as_ref().map_or_else(|| self.engine.afresh(), |snapshot| self.engine.at(snapshot))
    }

    /// Returns an engine that looks at the disk as it is, for changes.
    pub(crate) fn fresh_engine(&self) -> Engine {
        self.engine.afresh()
    }

    /// Returns the progress to pass to the engine: it cancels when a newer question is asked.
    pub(crate) fn progress(&self) -> &dyn Progress {
        &self.cancel
    }
}

/// The threads.
#[derive(Debug)]
pub(crate) struct Workers {
    engine: Engine,
    latest: Arc<Mutex<Option<Snapshot>>>,
    events: Sender<Event>,
    slots: BTreeMap<Slot, Sender<Asked>>,
    running: BTreeMap<Slot, Cancel>,
    recent: Recent,
}

struct Asked {
    job: Job,
    number: u64,
    cancel: Cancel,
}

impl Workers {
    pub(crate) fn new(
        engine: Engine,
        latest: Arc<Mutex<Option<Snapshot>>>,
        events: Sender<Event>,
    ) -> Self {
        Self {
            engine,
            latest,
            events,
            slots: BTreeMap::new(),
            running: BTreeMap::new(),
            recent: Recent::default(),
        }
    }

    /// Asks a question; the answer comes as an event with this number.
    pub(crate) fn ask(&mut self, slot: Slot, job: Job, number: u64) {
        let cancel = Cancel::default();
        if let Some(older) = self.running.insert(slot, cancel.clone()) {
            older.cancel();
        }
        let asked = Asked { job, number, cancel };
        let sender = self.slots.entry(slot).or_insert_with(|| {
            let (sender, receiver) = channel();
            let work = Work::new(self.engine.clone(), Arc::clone(&self.latest));
            let work = work.sharing(&self.recent);
            let events = self.events.clone();
            thread::spawn(move || answer_all(slot, work, &receiver, &events));
            sender
        });
        // The thread ends with the app.
        let _sent = sender.send(asked);
    }

    /// Cancels the question of a slot.
    pub(crate) fn forget(&mut self, slot: Slot) {
        if let Some(cancel) = self.running.remove(&slot) {
            cancel.cancel();
        }
    }
}

fn answer_all(slot: Slot, mut work: Work, asked: &Receiver<Asked>, events: &Sender<Event>) {
    while let Some(mut next) = next_question(slot, &work, asked) {
        // The row that was asked for is drawn first, and keys that are typed fast pass over some.
        while matches!(slot, Slot::Preview | Slot::Hit)
            && let Ok(newer) = asked.recv_timeout(SETTLED)
        {
            next = newer;
        }
        // Changes are never skipped.
        while slot != Slot::Apply
            && let Ok(newer) = asked.try_recv()
        {
            next = newer;
        }
        if next.cancel.is_cancelled() && slot != Slot::Apply {
            continue;
        }
        work.cancel = next.cancel;
        let value: Box<dyn Any + Send> = (next.job)(&work);
        if events.send(Event::Answer(Answer::new(slot, next.number, value))).is_err() {
            return;
        }
    }
}

/// Waits for a question. `None` when the app has ended.
fn next_question(slot: Slot, work: &Work, asked: &Receiver<Asked>) -> Option<Asked> {
    if slot == Slot::Search {
        match asked.recv_timeout(IDLE) {
            Ok(next) => return Some(next),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => work.engine.close_searcher(),
        }
    }
    asked.recv().ok()
}
