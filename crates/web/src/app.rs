//! What all requests share: the engine, the newest snapshot, opened sessions, plans, and who listens.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use recount_engine::{Cancel, Engine, Error, Progress, Snapshot};
use recount_platform::{quote, start_detached};
use tokio::sync::{Semaphore, watch};

use crate::api::changes::Plans;
use crate::api::reading::Readings;
use crate::api::rows::RowsCache;
use crate::failure::ApiError;
use crate::live::Hub;
use crate::mask::Mask;
use crate::safety::Safety;
use crate::server::stopped;

/// How long a snapshot is used while no watcher runs.
pub(crate) const FRESH: Duration = Duration::from_millis(300);
/// The longest time for an answer.
const LONGEST: Duration = Duration::from_secs(30);
/// Indexing is started again at most this often.
const INDEX: Duration = Duration::from_secs(10);
/// Maximum number of large answers on their way at once.
const HEAVY: usize = 3;
/// When nobody has asked for so long, the index is closed: its pages count as memory of this process.
const QUIET: Duration = Duration::from_secs(3);
/// When nobody has asked for so long, what else can be made again is let go.
const UNUSED: Duration = Duration::from_secs(60);

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) safety: Safety,
    /// Whether changes may be made.
    pub(crate) changes: bool,
    pub(crate) mask: Mask,
    pub(crate) is_demo: bool,
    /// Arguments for another run of this program on the same homes.
    pub(crate) arguments: Vec<OsString>,
    /// The newest snapshot, locked only for a moment.
    latest: Mutex<Option<(Snapshot, Instant)>>,
    /// Locked while a newer one is taken: one at a time.
    refreshing: Mutex<()>,
    /// Whether the newest snapshot is kept up to date.
    pub(crate) is_watched: AtomicBool,
    indexing: Mutex<Option<Instant>>,
    pub(crate) readings: Readings,
    pub(crate) rows: RowsCache,
    pub(crate) plans: Plans,
    pub(crate) hub: Hub,
    pub(crate) heavy: Arc<Semaphore>,
    /// When the last question was asked, while somebody waits to tidy up after it.
    asked: Mutex<Option<Instant>>,
    /// Becomes true when the server ends.
    pub(crate) stopping: watch::Sender<bool>,
}

impl App {
    pub(crate) fn new(
        engine: Engine,
        safety: Safety,
        options: crate::ServeOptions,
        arguments: Vec<OsString>,
        is_demo: bool,
    ) -> Self {
        Self {
            engine,
            safety,
            changes: options.changes,
            mask: options.mask,
            is_demo,
            arguments,
            latest: Mutex::default(),
            refreshing: Mutex::default(),
            is_watched: AtomicBool::new(false),
            indexing: Mutex::default(),
            readings: Readings::default(),
            rows: RowsCache::default(),
            plans: Plans::default(),
            hub: Hub::default(),
            heavy: Arc::new(Semaphore::new(HEAVY)),
            asked: Mutex::default(),
            stopping: watch::Sender::new(false),
        }
    }

    /// Returns the newest snapshot: up to date, or brought up to date now.
    pub(crate) fn snapshot(&self, progress: &dyn Progress) -> Result<Snapshot, Error> {
        if let Some(current) = self.current() {
            return Ok(current);
        }
        let _turn = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever had the turn before may have done it.
        if let Some(current) = self.current() {
            return Ok(current);
        }
        // What changes while the disk is read may be missing.
        let began = Instant::now();
        let next = match self.known_snapshot() {
            Some(snapshot) => self.engine.refresh(&snapshot, progress)?.0,
            None => self.engine.snapshot(progress)?,
        };
        *self.latest() = Some((next.clone(), began));
        Ok(next)
    }

    /// Returns the newest snapshot if it is up to date.
    fn current(&self) -> Option<Snapshot> {
        let is_watched = self.is_watched.load(Ordering::Acquire);
        let latest = self.latest();
        let current = latest.as_ref().filter(|(_, at)| is_watched || at.elapsed() < FRESH);
        current.map(|(snapshot, _)| snapshot.clone())
    }

    /// Returns the newest snapshot if one was taken, without waiting for a newer one.
    pub(crate) fn known_snapshot(&self) -> Option<Snapshot> {
        self.latest().as_ref().map(|(snapshot, _)| snapshot.clone())
    }

    fn latest(&self) -> MutexGuard<'_, Option<(Snapshot, Instant)>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something was changed just now: looks at the disk again before the next answer, unless it is watched anyway. Labels are not
    /// part of a snapshot, so rows are rewritten in any case.
    pub(crate) fn expire(&self) {
        self.rows.clear();
        if let Some((_, at)) = self.latest().as_mut() {
            *at = at.checked_sub(FRESH).unwrap_or(*at);
        }
    }

    /// Answers from this snapshot from now on.
    pub(crate) fn publish(&self, snapshot: Snapshot) {
        // A refresh that has begun ends with an older one.
        let _turn = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        *self.latest() = Some((snapshot, Instant::now()));
    }

    /// Returns an engine that answers from the newest snapshot.
    pub(crate) fn engine(&self, progress: &dyn Progress) -> Result<Engine, Error> {
        Ok(self.engine.at(&self.snapshot(progress)?))
    }

    /// Notes that a question is asked. Some time after the last one, memory is let go.
    fn note_question(self: &Arc<Self>) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.replace(Instant::now()).is_none() {
            tokio::spawn(tidy(Arc::clone(self)));
        }
    }

    /// Returns for how long nobody has asked; `None` if that is long enough, and the wait is over.
    fn unused_for(&self) -> Option<Duration> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = asked.map(|at| at.elapsed()).filter(|unused| *unused < UNUSED);
        if unused.is_none() {
            *asked = None;
        }
        unused
    }

    /// Starts indexing in the background, but not again and again.
    pub(crate) fn start_indexing(&self) {
        let mut last = self.indexing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_demo || last.is_some_and(|last| last.elapsed() < INDEX) {
            return;
        }
        *last = Some(Instant::now());
        let mut words: Vec<OsString> = vec!["index".into(), "--background".into()];
        words.extend(self.arguments.iter().cloned());
        // If it cannot be started, searches say what they lack.
        let _started = start_detached(self.engine.env(), &words);
    }

    /// Returns `recount` with the arguments that name the same homes.
    pub(crate) fn command(&self) -> String {
        self.arguments.iter().fold("recount".to_owned(), |line, word| {
            format!("{line} {}", quote(&word.to_string_lossy()))
        })
    }
}

/// Lets go of what can be made again, when nobody has asked for some time.
async fn tidy(app: Arc<App>) {
    let mut stopping = app.stopping.subscribe();
    while let Some(unused) = app.unused_for() {
        let next = if unused < QUIET { QUIET } else { UNUSED };
        if unused >= QUIET {
            // A search that is under way may hold it.
            let app = Arc::clone(&app);
            drop(tokio::task::spawn_blocking(move || app.engine.close_searcher()));
        }
        let left = next.saturating_sub(unused);
        tokio::select! {
            () = tokio::time::sleep(left) => {}
            () = stopped(&mut stopping) => return,
        }
    }
    app.readings.clear(&app.engine);
    app.rows.clear();
}

/// Cancels a question when nobody waits for its answer any more.
#[derive(Debug)]
struct Waiting(Cancel);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Answers a question on another thread. It is cancelled when nobody waits any more, or after too long.
pub(crate) async fn ask<T: Send + 'static>(
    app: &Arc<App>,
    question: impl FnOnce(&Arc<App>, &Cancel) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let cancel = Cancel::default();
    let waiting = Waiting(cancel.clone());
    app.note_question();
    let app = Arc::clone(app);
    let task = tokio::task::spawn_blocking(move || question(&app, &cancel));
    let answer = tokio::time::timeout(LONGEST, task).await;
    drop(waiting);
    match answer {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the question ended without an answer",
        )),
        Err(_) => Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "the answer takes too long")),
    }
}
