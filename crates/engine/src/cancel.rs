//! How a question that takes long is ended early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;
use crate::snapshot::disk_scan::Progress;

/// Ends questions that were given it. Clones are one and the same.
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
    /// Ends every question that was given it; they return [`Error::Cancelled`].
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

/// Ends a question that nobody waits for any more.
pub(crate) fn stop_if_cancelled(progress: &dyn Progress) -> Result<(), Error> {
    if progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}
