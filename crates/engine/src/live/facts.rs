//! The rows of the list for sessions that run: their titles, projects and totals. Read in the background, so that a state is
//! never late for them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use recount_model::{SessionFacts, SessionId, SourceName};

use crate::Engine;

/// Rows are read again at most this often.
const EVERY: Duration = Duration::from_secs(2);

/// What is wanted: agents and ids.
type Wanted = Vec<(SourceName, SessionId)>;

/// Rows of the list, read in the background.
#[derive(Debug)]
pub struct LiveFacts {
    asks: Sender<Wanted>,
    answers: Receiver<Vec<Arc<SessionFacts>>>,
    known: BTreeMap<String, Arc<SessionFacts>>,
    asked: Option<Instant>,
    is_busy: bool,
}

impl Engine {
    /// Starts to read rows in the background.
    pub fn live_facts(&self) -> LiveFacts {
        let (asks, wanted) = channel::<Wanted>();
        let (sender, answers) = channel();
        let engine = self.clone();
        std::thread::spawn(move || {
            let mut snapshot = None;
            while let Ok(wanted) = wanted.recv() {
                let next = match &snapshot {
                    None => engine.snapshot(&()),
                    Some(known) => engine.refresh(known, &()).map(|(next, _)| next),
                };
                let Ok(next) = next else { continue };
                let rows = next.sessions().iter().filter(|facts| {
                    wanted.iter().any(|(source, id)| facts.source == *source && facts.id == *id)
                });
                let rows: Vec<Arc<SessionFacts>> = rows.cloned().collect();
                snapshot = Some(next);
                if sender.send(rows).is_err() {
                    return;
                }
            }
        });
        LiveFacts { asks, answers, known: BTreeMap::new(), asked: None, is_busy: false }
    }
}

impl LiveFacts {
    /// Asks for rows that are not known or may have changed. Returns whether rows came since the last time.
    pub fn update(&mut self, wanted: Wanted, has_changed: bool) -> bool {
        let mut has_come = false;
        while let Ok(rows) = self.answers.try_recv() {
            self.is_busy = false;
            has_come = true;
            for facts in rows {
                self.known.insert(key(facts.source, &facts.id), facts);
            }
        }
        let is_unknown =
            wanted.iter().any(|(source, id)| !self.known.contains_key(&key(*source, id)));
        let is_due = self.asked.is_none_or(|at| at.elapsed() >= EVERY);
        if !wanted.is_empty() && (is_unknown || has_changed) && is_due && !self.is_busy {
            self.asked = Some(Instant::now());
            // A thread that is gone answers nothing more.
            self.is_busy = self.asks.send(wanted).is_ok();
        }
        has_come
    }

    /// Returns the row of a session, if it was read.
    pub fn of(&self, source: SourceName, id: &SessionId) -> Option<&Arc<SessionFacts>> {
        self.known.get(&key(source, id))
    }
}

fn key(source: SourceName, id: &SessionId) -> String {
    format!("{source}:{id}")
}
