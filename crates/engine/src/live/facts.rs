//! The rows of the list for sessions that run: their titles, projects and totals, and what was spent. Read in the background, so that
//! a state is never late for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use recount_model::{SessionFacts, SessionId, SourceName};

use crate::Engine;
use crate::live::spending::Spending;

/// Rows of new sessions are read at most this often.
const EVERY: Duration = Duration::from_secs(2);
/// Rows that changed are read again at most this often. States do not depend on them.
const EVERY_CHANGED: Duration = Duration::from_secs(5);
/// Reading rows may take one part in this number of the time.
const SHARE: u32 = 200;
/// However long it takes, rows are read again after this time.
const LONGEST: Duration = Duration::from_secs(60);
/// What was spent is added up at most this often.
const SPENT_EVERY: Duration = Duration::from_secs(30);

/// What is wanted: agents and ids.
type Wanted = Vec<(SourceName, SessionId)>;

/// What was read.
struct Answer {
    /// How long it took.
    took: Duration,
    rows: Vec<Arc<SessionFacts>>,
    spending: Option<Spending>,
}

/// Rows of the list, read in the background.
#[derive(Debug)]
pub struct LiveFacts {
    asks: Sender<Wanted>,
    answers: Receiver<Answer>,
    known: BTreeMap<String, Arc<SessionFacts>>,
    /// Titles of sessions whose rows say nothing of the moment that is shown.
    titles: BTreeMap<String, String>,
    spending: Option<Spending>,
    asked: Option<Instant>,
    /// How long rows are good for: the longer, the longer it takes to read them.
    every: Duration,
    is_busy: bool,
    /// Sessions that were asked for and are not in the list.
    missing: BTreeSet<String>,
    /// Those that were asked for last.
    wanted: Vec<String>,
}

impl Engine {
    /// Starts to read rows in the background.
    pub fn live_facts(&self) -> LiveFacts {
        let (asks, wanted) = channel::<Wanted>();
        let (sender, answers) = channel();
        let engine = self.clone();
        std::thread::spawn(move || engine.answer_facts(&wanted, &sender));
        LiveFacts {
            asks,
            answers,
            known: BTreeMap::new(),
            titles: BTreeMap::new(),
            spending: None,
            asked: None,
            every: EVERY_CHANGED,
            is_busy: false,
            missing: BTreeSet::new(),
            wanted: Vec::new(),
        }
    }

    fn answer_facts(&self, wanted: &Receiver<Wanted>, answers: &Sender<Answer>) {
        let mut snapshot = None;
        let mut spent: Option<Instant> = None;
        while let Ok(wanted) = wanted.recv() {
            let begun = Instant::now();
            let next = match &snapshot {
                None => self.snapshot(&()),
                Some(known) => self.refresh(known, &()).map(|(next, _)| next),
            };
            let Ok(next) = next else { continue };
            let rows = next.sessions().iter().filter(|facts| {
                wanted.iter().any(|(source, id)| facts.source == *source && facts.id == *id)
            });
            let rows: Vec<Arc<SessionFacts>> = rows.cloned().collect();
            snapshot = Some(next);
            let is_due = spent.is_none_or(|at| at.elapsed() >= SPENT_EVERY);
            let spending = is_due.then(|| self.spending(&TimeZone::system()).ok()).flatten();
            if is_due {
                spent = Some(Instant::now());
            }
            if answers.send(Answer { took: begun.elapsed(), rows, spending }).is_err() {
                return;
            }
        }
    }
}

impl LiveFacts {
    /// Asks for rows that are not known or may have changed. Returns whether rows came since the last time.
    pub fn update(&mut self, wanted: Wanted, has_changed: bool) -> bool {
        let mut has_come = false;
        while let Ok(answer) = self.answers.try_recv() {
            self.is_busy = false;
            has_come = true;
            self.every = (answer.took * SHARE).clamp(EVERY_CHANGED, LONGEST);
            for facts in answer.rows {
                self.known.insert(key(facts.source, &facts.id), facts);
            }
            self.spending = answer.spending.or_else(|| self.spending.take());
            let known = &self.known;
            self.missing = self.wanted.drain(..).filter(|key| !known.contains_key(key)).collect();
        }
        if wanted.is_empty() || self.is_busy {
            return has_come;
        }
        let keys: Vec<String> = wanted.iter().map(|(source, id)| key(*source, id)).collect();
        // One that is not in the list is read again with those that changed.
        let is_new = |key: &String| !self.known.contains_key(key) && !self.missing.contains(key);
        let every = if keys.iter().any(is_new) { EVERY } else { self.every };
        let is_unknown = keys.iter().any(|key| !self.known.contains_key(key));
        let is_due = self.asked.is_none_or(|at| at.elapsed() >= every);
        if (is_unknown || has_changed) && is_due {
            self.asked = Some(Instant::now());
            self.wanted = keys;
            // A thread that is gone answers nothing more.
            self.is_busy = self.asks.send(wanted).is_ok();
        }
        has_come
    }

    /// Waits no longer than `patience` for what was asked for.
    pub fn wait(&mut self, patience: Duration) {
        let end = Instant::now() + patience;
        while self.is_busy && Instant::now() < end {
            self.update(Vec::new(), false);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Notes the title of a session, for moments that its row says nothing of.
    pub fn set_title(&mut self, source: SourceName, id: &SessionId, title: &str) {
        self.titles.insert(key(source, id), title.to_owned());
    }

    /// Returns the row of a session, if it was read.
    pub fn of(&self, source: SourceName, id: &SessionId) -> Option<&Arc<SessionFacts>> {
        self.known.get(&key(source, id))
    }

    /// Returns the title of a session, if it is known.
    pub fn title(&self, source: SourceName, id: &SessionId) -> Option<&str> {
        let row = self.of(source, id).and_then(|facts| facts.title.as_deref());
        row.or_else(|| self.titles.get(&key(source, id)).map(String::as_str))
    }

    /// Returns what was spent, if it was added up.
    pub fn spending(&self) -> Option<&Spending> {
        self.spending.as_ref()
    }
}

fn key(source: SourceName, id: &SessionId) -> String {
    format!("{source}:{id}")
}
