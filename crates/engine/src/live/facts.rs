//! The rows of the list for sessions that run: their titles, projects and totals, and what was spent. Read in the background, so that
//! a state is never late for them.
//!
//! To read the row of a session takes memory for each of its messages. So a row is read once, and what the board sees since is added
//! to it; it is read again when the session has come to rest. What was spent is added up once, and what sessions spend since is added.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use recount_model::{Clock, SessionFacts, SessionId, SourceName, Tokens};
use recount_platform::local_zone;

use crate::Engine;
use crate::live::LiveRow;
use crate::live::spending::Spending;
use crate::snapshot::Snapshot;

/// Rows of new sessions are read at most this often.
const EVERY: Duration = Duration::from_secs(2);
/// Rows that changed are read again at most this often. States do not depend on them.
const EVERY_CHANGED: Duration = Duration::from_secs(5);
/// Reading rows may take one part in this number of the time.
const SHARE: u32 = 200;
/// However long it takes, rows are read again after this time.
const LONGEST: Duration = Duration::from_secs(60);
/// A session that has used nothing for this time rests.
const REST: Duration = Duration::from_secs(10);
/// So often a row is read while its session works, if it has no title yet or is not in the list.
const TRIES: u32 = 4;
/// What was spent is added up again after this time: sessions of other machines may have come.
const SPENT_EVERY: Duration = Duration::from_secs(60 * 60);
/// When a day is over, no more often than this.
const SPENT_SOON: Duration = Duration::from_secs(60);

/// What is wanted.
#[derive(Debug)]
struct Ask {
    sessions: Vec<(SourceName, SessionId)>,
    spending: bool,
}

/// What was read.
struct Answer {
    /// How long it took.
    took: Duration,
    /// Rows, each with what it and its sub-agents used.
    rows: Vec<(Arc<SessionFacts>, Used)>,
    spending: Option<Spending>,
}

/// What was used, and what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Used {
    tokens: Tokens,
    cost_usd: Option<f64>,
}

impl Used {
    fn of(row: &LiveRow) -> Self {
        Self { tokens: row.tokens, cost_usd: row.cost_usd }
    }

    fn add(&mut self, other: Self) {
        self.tokens += other.tokens;
        if let Some(cost) = other.cost_usd {
            self.cost_usd = Some(self.cost_usd.unwrap_or_default() + cost);
        }
    }

    /// Returns what was used since `before`.
    fn since(self, before: Self) -> Self {
        let cost = self.cost_usd.map(|cost| (cost - before.cost_usd.unwrap_or_default()).max(0.0));
        Self { tokens: self.tokens.saturating_sub(before.tokens), cost_usd: cost }
    }
}

/// A row that was read.
#[derive(Debug)]
struct Known {
    facts: Arc<SessionFacts>,
    /// What the session used until then, its sub-agents included.
    used: Used,
    /// What the board had seen of that.
    seen: Used,
    /// How often it was read.
    reads: u32,
}

/// What the board says of a session.
#[derive(Debug)]
struct Seen {
    used: Used,
    /// Since when it has used nothing.
    since: Instant,
}

/// Rows of the list, read in the background.
#[derive(Debug)]
pub struct LiveFacts {
    asks: Sender<Ask>,
    answers: Receiver<Answer>,
    /// Of the sessions on the board, as is all that follows.
    known: BTreeMap<String, Known>,
    seen: BTreeMap<String, Seen>,
    /// Titles of sessions whose rows say nothing of the moment that is shown.
    titles: BTreeMap<String, String>,
    spending: Option<Spending>,
    /// When it was last asked for.
    spent: Option<Instant>,
    clock: Clock,
    asked: Option<Instant>,
    /// How long rows are good for: the longer, the longer it takes to read them.
    every: Duration,
    is_busy: bool,
    /// Sessions that were asked for and are not in the list: how often, and what the board had seen of them.
    missing: BTreeMap<String, (u32, Used)>,
    /// Those that were asked for last.
    wanted: Vec<String>,
}

impl Engine {
    /// Starts to read rows in the background.
    pub fn live_facts(&self) -> LiveFacts {
        let (asks, wanted) = channel::<Ask>();
        let (sender, answers) = channel();
        let engine = self.clone();
        std::thread::spawn(move || engine.answer_facts(&wanted, &sender));
        LiveFacts {
            asks,
            answers,
            known: BTreeMap::new(),
            seen: BTreeMap::new(),
            titles: BTreeMap::new(),
            spending: None,
            spent: None,
            clock: self.clock(),
            asked: None,
            every: EVERY_CHANGED,
            is_busy: false,
            missing: BTreeMap::new(),
            wanted: Vec::new(),
        }
    }

    fn answer_facts(&self, asks: &Receiver<Ask>, answers: &Sender<Answer>) {
        let mut snapshot = None;
        while let Ok(ask) = asks.recv() {
            let begun = Instant::now();
            let next = match &snapshot {
                None => self.snapshot(&()),
                Some(known) => self.refresh(known, &()).map(|(next, _)| next),
            };
            let Ok(next) = next else { continue };
            let rows = rows_of(&next, &ask.sessions);
            snapshot = Some(next);
            let spending = ask.spending.then(|| self.spending(&local_zone()).ok()).flatten();
            if answers.send(Answer { took: begun.elapsed(), rows, spending }).is_err() {
                return;
            }
        }
    }
}

/// Returns the rows of sessions, with what they and their sub-agents used.
fn rows_of(
    snapshot: &Snapshot,
    wanted: &[(SourceName, SessionId)],
) -> Vec<(Arc<SessionFacts>, Used)> {
    let is_wanted = |source: SourceName, id: &SessionId| {
        wanted.iter().any(|(known, session)| *known == source && session == id)
    };
    let own = |facts: &SessionFacts| Used { tokens: facts.tokens, cost_usd: facts.cost_usd };
    let mut below: BTreeMap<(SourceName, &SessionId), Used> = BTreeMap::new();
    for facts in snapshot.sessions() {
        if let Some(parent) = facts.parent.as_ref().filter(|id| is_wanted(facts.source, id)) {
            below.entry((facts.source, parent)).or_default().add(own(facts));
        }
    }
    let rows = snapshot.sessions().iter().filter(|facts| is_wanted(facts.source, &facts.id));
    let rows = rows.map(|facts| {
        let mut used = own(facts);
        used.add(below.get(&(facts.source, &facts.id)).copied().unwrap_or_default());
        (Arc::clone(facts), used)
    });
    rows.collect()
}

impl LiveFacts {
    /// Takes the rows of the board, and asks for rows of the list that are not known or no longer hold. Returns whether such rows
    /// came since the last time.
    pub fn update(&mut self, rows: &[LiveRow], has_changed: bool) -> bool {
        self.note(rows);
        let has_come = self.take_answers();
        let sessions: Vec<(SourceName, SessionId)> = rows
            .iter()
            .filter_map(|row| Some((row.session.source, row.session.id.clone()?)))
            .collect();
        if sessions.is_empty() || self.is_busy {
            return has_come;
        }
        let keys: Vec<String> = sessions.iter().map(|(source, id)| key(*source, id)).collect();
        // One that is not in the list is read again with those that changed.
        let is_new =
            |key: &String| !self.known.contains_key(key) && !self.missing.contains_key(key);
        let every = if keys.iter().any(is_new) { EVERY } else { self.every };
        let is_old = keys.iter().any(|key| self.is_old(key, has_changed));
        let spending = self.needs_spending();
        let is_due = self.asked.is_none_or(|at| at.elapsed() >= every);
        if (is_old || spending) && is_due {
            self.asked = Some(Instant::now());
            if spending {
                self.spent = self.asked;
            }
            self.wanted = keys;
            // A thread that is gone answers nothing more.
            self.is_busy = self.asks.send(Ask { sessions, spending }).is_ok();
        }
        has_come
    }

    /// Notes what the board says, and forgets sessions that are not on it any more.
    fn note(&mut self, rows: &[LiveRow]) {
        let mut before = std::mem::take(&mut self.seen);
        for row in rows {
            let Some(id) = &row.session.id else { continue };
            let key = key(row.session.source, id);
            let used = Used::of(row);
            let known = before.remove(&key);
            if let Some(spending) = &mut self.spending {
                // One that is new may go on with an old session.
                let is_begun = row.session.started.is_some_and(|at| at >= spending.at());
                let spent = match &known {
                    Some(known) => used.since(known.used).cost_usd.unwrap_or_default(),
                    None if is_begun => row.rates[0].usd,
                    None => 0.0,
                };
                spending.add(spent);
            }
            let since = known.filter(|known| known.used == used).map(|known| known.since);
            self.seen.insert(key, Seen { used, since: since.unwrap_or_else(Instant::now) });
        }
        let seen = &self.seen;
        self.known.retain(|key, _| seen.contains_key(key));
    }

    fn take_answers(&mut self) -> bool {
        let mut has_come = false;
        while let Ok(answer) = self.answers.try_recv() {
            self.is_busy = false;
            has_come = true;
            self.every = (answer.took * SHARE).clamp(EVERY_CHANGED, LONGEST);
            for (facts, used) in answer.rows {
                let key = key(facts.source, &facts.id);
                let seen = self.seen.get(&key).map(|seen| seen.used).unwrap_or_default();
                let reads = self.known.get(&key).map_or(1, |known| known.reads + 1);
                self.known.insert(key, Known { facts, used, seen, reads });
            }
            self.spending = answer.spending.or_else(|| self.spending.take());
            let mut missing = BTreeMap::new();
            for key in self.wanted.drain(..).filter(|key| !self.known.contains_key(key)) {
                let tries = self.missing.get(&key).map_or(1, |(tries, _)| tries.saturating_add(1));
                let seen = self.seen.get(&key).map(|seen| seen.used).unwrap_or_default();
                missing.insert(key, (tries, seen));
            }
            self.missing = missing;
        }
        has_come
    }

    /// Whether a row is to be read.
    fn is_old(&self, key: &str, has_changed: bool) -> bool {
        let Some(seen) = self.seen.get(key) else { return true };
        let rests = seen.since.elapsed() >= REST;
        match (self.known.get(key), self.missing.get(key)) {
            (Some(known), _) => {
                let is_untitled = known.facts.title.is_none() && known.reads < TRIES;
                (is_untitled && has_changed) || (rests && known.seen != seen.used)
            }
            (None, Some((tries, before))) => *tries < TRIES || (rests && *before != seen.used),
            (None, None) => true,
        }
    }

    /// Whether what was spent is to be added up.
    fn needs_spending(&self) -> bool {
        let now = self.clock.now().as_millisecond();
        let is_over = self.spending.is_some_and(|spending| spending.is_over(now));
        let every = if is_over { SPENT_SOON } else { SPENT_EVERY };
        self.spent.is_none_or(|at| at.elapsed() >= every)
    }

    /// Waits no longer than `patience` for what was asked for.
    pub fn wait(&mut self, patience: Duration) {
        let end = Instant::now() + patience;
        while self.is_busy && Instant::now() < end {
            self.take_answers();
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Notes the title of a session, for moments that its row says nothing of.
    pub fn set_title(&mut self, source: SourceName, id: &SessionId, title: &str) {
        self.titles.insert(key(source, id), title.to_owned());
    }

    /// Returns what a session used and what it cost, sub-agents included: of the whole session if its row was read.
    pub fn used(&self, row: &LiveRow) -> (Tokens, Option<f64>) {
        let seen = Used::of(row);
        let id = row.session.id.as_ref();
        let known = id.and_then(|id| self.known.get(&key(row.session.source, id)));
        let mut all = known.map_or(seen, |known| known.used);
        if let Some(known) = known {
            all.add(seen.since(known.seen));
        }
        // What was read last may be more than what is in the list.
        let used = if all.tokens.total >= seen.tokens.total { all } else { seen };
        (used.tokens, used.cost_usd)
    }

    /// Whether a session cost more than is known, if its row was read.
    pub fn is_lower_bound(&self, row: &LiveRow) -> bool {
        let id = row.session.id.as_ref();
        let known = id.and_then(|id| self.known.get(&key(row.session.source, id)));
        known.is_some_and(|known| known.facts.cost_is_lower_bound == Some(true))
    }

    /// Returns the title of a session, if it is known.
    pub fn title(&self, source: SourceName, id: &SessionId) -> Option<&str> {
        let row = self.known.get(&key(source, id)).and_then(|known| known.facts.title.as_deref());
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
