//! What all requests share: the engine, the newest snapshot, opened sessions, plans, and who listens.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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

/// A snapshot is good for so long while nobody watches.
const FRESH: Duration = Duration::from_millis(300);
/// An answer takes no longer.
const LONGEST: Duration = Duration::from_secs(30);
/// Indexing is started again at most this often.
const INDEX: Duration = Duration::from_secs(10);
/// Maximum number of large answers on their way at once.
const HEAVY: usize = 4;

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
    latest: Mutex<Option<(Snapshot, Instant)>>,
    /// Whether the newest snapshot is kept up to date.
    pub(crate) is_watched: AtomicBool,
    indexing: Mutex<Option<Instant>>,
    pub(crate) readings: Readings,
    pub(crate) rows: RowsCache,
    pub(crate) plans: Plans,
    pub(crate) hub: Hub,
    pub(crate) heavy: Arc<Semaphore>,
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
            is_watched: AtomicBool::new(false),
            indexing: Mutex::default(),
            readings: Readings::default(),
            rows: RowsCache::default(),
            plans: Plans::default(),
            hub: Hub::default(),
            heavy: Arc::new(Semaphore::new(HEAVY)),
            stopping: watch::Sender::new(false),
        }
    }

    /// Returns the newest snapshot: up to date, or brought up to date now.
    pub(crate) fn snapshot(&self, progress: &dyn Progress) -> Result<Snapshot, Error> {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let next = match &*latest {
            Some((snapshot, _)) if self.is_watched.load(Ordering::Acquire) => {
                return Ok(snapshot.clone());
            }
            Some((snapshot, at)) if at.elapsed() < FRESH => return Ok(snapshot.clone()),
            Some((snapshot, _)) => self.engine.refresh(snapshot, progress)?.0,
            None => self.engine.snapshot(progress)?,
        };
        *latest = Some((next.clone(), Instant::now()));
        Ok(next)
    }

    /// Returns the newest snapshot if one was taken, without waiting.
    pub(crate) fn known_snapshot(&self) -> Option<Snapshot> {
        let latest = self.latest.try_lock().ok()?;
        latest.as_ref().map(|(snapshot, _)| snapshot.clone())
    }

    /// Looks at the disk again before the next answer: something was changed just now.
    pub(crate) fn expire(&self) {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, at)) = latest.as_mut() {
            *at = at.checked_sub(FRESH).unwrap_or(*at);
        }
    }

    /// Answers from this snapshot from now on.
    pub(crate) fn publish(&self, snapshot: Snapshot) {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = Some((snapshot, Instant::now()));
    }

    /// Returns an engine that answers from the newest snapshot.
    pub(crate) fn engine(&self, progress: &dyn Progress) -> Result<Engine, Error> {
        Ok(self.engine.at(&self.snapshot(progress)?))
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
