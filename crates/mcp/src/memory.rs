//! What questions are answered from: one engine and one snapshot for the life of the server, refreshed before each answer.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use recount_engine::export::Redaction;
use recount_engine::{Caller, Engine, Error, Progress, Snapshot};
use recount_model::{SessionFacts, SessionKey, SourceName};
use recount_platform::{may_leave_process, start_detached};

use crate::McpSetup;
use crate::text::{defuse, line};

/// Indexing is started again at most this often.
const INDEX: Duration = Duration::from_secs(60);
/// The number of searches after which the index is opened again.
const REOPEN: usize = 8;
/// Characters beyond those shown that are looked at for secrets: one that begins in the shown part must be seen whole.
const MARGIN: usize = 8 * 1024;

/// What questions are answered from.
#[derive(Debug)]
pub(crate) struct Memory {
    setup: McpSetup,
    latest: Mutex<Option<Snapshot>>,
    redaction: OnceLock<Option<Arc<Redaction>>>,
    indexed: Mutex<Option<Instant>>,
    /// The name by which the client introduced itself.
    client: Mutex<Option<String>>,
    began: Timestamp,
    searches: AtomicUsize,
}

/// What one call is answered from: the engine at this moment, and the session that asks.
#[derive(Debug)]
pub(crate) struct Moment<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) engine: Engine,
    pub(crate) snapshot: Snapshot,
    /// The session that asks, with its sub-agents.
    pub(crate) own: HashSet<SessionKey>,
    pub(crate) progress: &'a dyn Progress,
}

impl Memory {
    pub(crate) fn new(setup: McpSetup) -> Self {
        let began = setup.engine.clock().now();
        Self {
            setup,
            latest: Mutex::default(),
            redaction: OnceLock::new(),
            indexed: Mutex::default(),
            client: Mutex::default(),
            began,
            searches: AtomicUsize::new(0),
        }
    }

    /// Remembers the name of the client.
    pub(crate) fn introduce(&self, client: &str) {
        let mut known = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(client.to_lowercase());
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.setup.engine.clock().now()
    }

    /// Returns the agent that asks: the one that the user named, else the one that the client's name contains.
    fn agent(&self) -> Option<SourceName> {
        let client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        let by_client = || {
            let mut names = recount_engine::source_names().into_iter();
            names.find(|name| client.as_ref().is_some_and(|client| client.contains(name.as_str())))
        };
        self.setup.agent.or_else(by_client)
    }

    /// Looks at the disk, and returns what a question is answered from. `named` are ids of the asking session that came with it.
    pub(crate) fn moment<'a>(
        &'a self,
        named: Vec<String>,
        progress: &'a dyn Progress,
    ) -> Result<Moment<'a>, Error> {
        let snapshot = self.snapshot(progress)?;
        let engine = self.setup.engine.at(&snapshot);
        let folder = engine.env().current_folder().cloned();
        let caller = Caller { source: self.agent(), named, folder, since: self.began };
        let own = engine.caller_sessions(&caller, snapshot.sessions());
        Ok(Moment { memory: self, engine, snapshot, own, progress })
    }

    fn snapshot(&self, progress: &dyn Progress) -> Result<Snapshot, Error> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let next = match &*latest {
            Some(known) => self.setup.engine.refresh(known, progress)?.0,
            None => self.setup.engine.snapshot(progress)?,
        };
        *latest = Some(next.clone());
        Ok(next)
    }

    /// Counts a search. From time to time the index is opened again, so that not all of its pages become memory of this process.
    pub(crate) fn count_search(&self) {
        if self.searches.fetch_add(1, Ordering::Relaxed) % REOPEN == REOPEN - 1 {
            self.rest();
        }
    }

    /// Closes the index, whose pages count as memory of this process; the next search opens it again.
    pub(crate) fn rest(&self) {
        self.setup.engine.close_searcher();
    }

    /// Reads the sessions before the first call, and starts indexing if the index is behind. An error is reported by the first call.
    pub(crate) fn prepare(&self) {
        if let Ok(snapshot) = self.snapshot(&())
            && !self.setup.engine.at(&snapshot).is_index_current()
        {
            self.index();
        }
    }

    /// Whether an index may be built in another process. If not, the first search waits for it.
    pub(crate) fn may_index(&self) -> bool {
        self.setup.again.is_some() && may_leave_process(self.setup.engine.env())
    }

    /// Starts to index in another process, but not again and again. Returns whether one runs.
    pub(crate) fn index(&self) -> bool {
        let Some(again) = self.setup.again.as_ref().filter(|_| self.may_index()) else {
            return false;
        };
        let mut last = self.indexed.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() > INDEX) {
            *last = Some(Instant::now());
            let mut words = vec!["index".into(), "--background".into()];
            words.extend(again.iter().cloned());
            return start_detached(self.setup.engine.env(), &words).is_ok();
        }
        true
    }

    /// Returns what removes secrets; `None` if the user wants none removed.
    pub(crate) fn redaction(&self) -> Result<Option<&Redaction>, Error> {
        if !self.setup.is_redacting {
            return Ok(None);
        }
        if let Some(known) = self.redaction.get() {
            return Ok(known.as_deref());
        }
        let made = Arc::new(self.setup.engine.redaction()?);
        Ok(self.redaction.get_or_init(|| Some(made)).as_deref())
    }
}

impl Moment<'_> {
    /// Whether a session is the one that asks, or belongs to it.
    pub(crate) fn is_own(&self, facts: &SessionFacts) -> bool {
        self.own.contains(&facts.key())
    }

    /// Returns at most a number of characters of a text, without secrets, cleaned, with its lines.
    pub(crate) fn clean(&self, text: &str, most: usize) -> Result<String, Error> {
        // What is far behind the shown part is not looked at: outputs may be large.
        let far = text.char_indices().nth(most.saturating_add(MARGIN));
        let near = far.and_then(|(at, _)| text.get(..at)).unwrap_or(text);
        let Some(redaction) = self.memory.redaction()? else { return Ok(defuse(near)) };
        Ok(defuse(&redaction.text(near)))
    }

    /// Returns a text on one line, without secrets, cleaned and cut.
    pub(crate) fn line(&self, text: &str, most: usize) -> Result<String, Error> {
        // White space may take more than the words.
        Ok(line(&self.clean(text, most.saturating_mul(8))?, most))
    }
}
