//! Cancels long queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;
use crate::snapshot::disk_scan::Progress;

/// Cancels the queries that it was passed to. Clones share one state.
///
/// ```
/// use recount_engine::{Cancel, Progress as _};
/// let cancel = Cancel::default();
/// let elsewhere = cancel.clone();
/// elsewhere.cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Cancels every query that it was passed to; they return [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Progress for Cancel {
    fn advance(&self, _done: u64, _total: u64) {}

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Ends a cancelled query.
pub(crate) fn stop_if_cancelled(progress: &dyn Progress) -> Result<(), Error> {
    if progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}
