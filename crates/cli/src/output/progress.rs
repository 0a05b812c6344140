//! A bar on standard error for work that takes a while.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use recount_engine::Progress;

use crate::context::Context;
use crate::output::number::count;

/// Work that is done sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(300);

/// A bar that appears only when the work takes over 300 ms, and only on a terminal.
#[derive(Debug)]
pub(crate) struct Bar {
    drawn: ProgressBar,
    began: Instant,
    enabled: bool,
    shown: AtomicBool,
}

impl Bar {
    pub(crate) fn new(context: &Context, what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template(
            "{msg} {wide_bar} {bytes} of {total_bytes}  {bytes_per_sec}  {eta} left",
        );
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.set_message(what);
        let enabled = std::io::stderr().is_terminal() && !context.global.quiet;
        Self { drawn: bar, began: Instant::now(), enabled, shown: AtomicBool::new(false) }
    }

    /// Shows the bar, unless it is too early or nobody is looking.
    fn is_due(&self) -> bool {
        if !self.enabled || self.began.elapsed() < PATIENCE {
            return false;
        }
        if !self.shown.swap(true, Ordering::Relaxed) {
            self.drawn.set_draw_target(ProgressDrawTarget::stderr());
        }
        true
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.drawn.finish_and_clear();
    }
}

impl Progress for Bar {
    fn search(&self, folders: u64, found: usize, wanted: usize) {
        if !self.is_due() {
            return;
        }
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            self.drawn.set_style(style);
        }
        let folders = count(folders);
        self.drawn.set_message(match wanted {
            0 => format!("searching for folders that moved: {folders} looked into"),
            _ => format!("searching for folders: {folders} looked into, {found} of {wanted} found"),
        });
        self.drawn.tick();
    }

    fn advance(&self, done: u64, total: u64) {
        if !self.is_due() {
            return;
        }
        self.drawn.set_length(total);
        self.drawn.set_position(done);
    }
}
