//! A progress line on standard error for work that takes a while.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use recount_engine::Progress;

use crate::context::Context;
use crate::output::number::count;

/// Shorter work shows nothing.
const TIMEOUT: Duration = Duration::from_millis(300);
/// How often the line is updated, even if the progress is unknown.
const TICK: Duration = Duration::from_millis(120);

/// A progress line that appears when the work takes over 300 ms, on a terminal.
#[derive(Debug)]
pub(crate) struct Bar {
    drawn: ProgressBar,
    /// Dropped when the work is done.
    working: Option<mpsc::Sender<()>>,
    is_measured: AtomicBool,
}

impl Bar {
    pub(crate) fn new(context: &Context, what: &'static str) -> Self {
        let drawn = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} … {elapsed}") {
            drawn.set_style(style);
        }
        drawn.set_message(what);
        let is_enabled = std::io::stderr().is_terminal() && !context.global.quiet;
        let working = is_enabled.then(|| appear_later(drawn.clone()));
        Self { drawn, working, is_measured: AtomicBool::new(false) }
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.drawn.finish_and_clear();
    }
}

/// Shows the line after the delay, unless the work is done by then.
fn appear_later(drawn: ProgressBar) -> mpsc::Sender<()> {
    let (working, done) = mpsc::channel();
    std::thread::spawn(move || {
        let is_late = done.recv_timeout(TIMEOUT) == Err(RecvTimeoutError::Timeout);
        if is_late && !drawn.is_finished() {
            drawn.set_draw_target(ProgressDrawTarget::stderr());
            drawn.enable_steady_tick(TICK);
        }
    });
    working
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Progress for Bar {
    fn search(&self, folders: u64, found: usize, wanted: usize) {
        let folders = count(folders);
        self.drawn.set_message(match wanted {
            0 => format!("searching for moved folders: {folders} searched"),
            _ => format!("searching for folders: {folders} searched, {found} of {wanted} found"),
        });
    }

    fn advance(&self, done: u64, total: u64) {
        if self.working.is_none() {
            return;
        }
        if total > 0 && !self.is_measured.swap(true, Ordering::Relaxed) {
            let style = ProgressStyle::with_template(
                "{msg} {wide_bar} {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left",
            );
            if let Ok(style) = style {
                self.drawn.set_style(style);
            }
        }
        self.drawn.set_length(total);
        self.drawn.set_position(done);
    }
}
