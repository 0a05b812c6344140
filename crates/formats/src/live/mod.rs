//! What an agent's files, processes and terminal titles say of its sessions right now.
//!
//! A tracker is fed with what happens, in the order it happens, and answers at any moment what each session is doing. It reads no
//! clock, no disk and no process table: live watching and a replay feed it the same way.

mod feed;
mod follow;
mod hooks;
mod processes;
mod requests;
mod steady;
mod timeline;

use std::fmt::Debug;
use std::path::Path;

use recount_model::{LiveHook, LiveSession};

pub use feed::LiveFeed;
pub(crate) use follow::{Calls, text_of, time_of};
pub(crate) use hooks::{HookLog, Hooked};
pub use processes::Roster;
pub(crate) use processes::{Agents, Known, is_helper, option_value, program_name};
pub use recount_model::LiveProcess;
pub use requests::RequestPrice;
pub(crate) use requests::Requests;
pub use timeline::{TimelineEntry, TimelinePlayer, estimate_start};

/// How an agent's sessions are followed while they run.
pub trait LiveSource: Debug + Sync {
    /// Returns a tracker that has seen nothing yet.
    fn tracker(&self) -> Box<dyn LiveTracker>;

    /// Returns the environment variables of processes that the tracker looks at.
    fn variables(&self) -> &'static [&'static str];

    /// Returns the variables that tell the programs which the agent starts the id of its session.
    fn session_variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a process is the agent or one of its programs, by its command line.
    fn is_agent(&self, process: &LiveProcess) -> bool;

    /// Whether a directory below the data folder may hold files that are followed, or directories with such files.
    fn is_followed_directory(&self, below: &Path) -> bool;

    /// Returns how a file below the data folder is followed, if it is.
    fn form(&self, below: &Path) -> Option<FileForm>;
}

/// How a file is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileForm {
    /// Records, one per line, appended.
    Log,
    /// One document, rewritten whole.
    Document,
    /// Only whether it is there matters.
    Marker,
}

/// What is read of a document.
#[derive(Clone, Copy, Debug)]
pub struct DocumentParts<'a> {
    /// Its beginning; all of it if it is small.
    pub head: &'a [u8],
    /// Its end, if there is more than the beginning.
    pub tail: Option<&'a [u8]>,
}

/// Follows the sessions of one agent in one data folder.
///
/// Times are milliseconds since 1970; paths are below the data folder.
pub trait LiveTracker: Debug + Send {
    /// Takes one line of a log.
    fn record(&mut self, at: i64, file: &Path, line: &[u8]);

    /// Takes a document as it is now. One that is empty or torn says nothing.
    fn document(&mut self, at: i64, file: &Path, document: &DocumentParts<'_>);

    /// Notes that a file is read again from its start.
    fn restarted(&mut self, _at: i64, _file: &Path) {}

    /// Notes that a file is gone.
    fn removed(&mut self, at: i64, file: &Path);

    /// Takes the processes as they are now.
    fn processes(&mut self, at: i64, roster: &Roster<'_>);

    /// Takes the title of a terminal, which processes name by [`LiveProcess::terminal_key`].
    fn title(&mut self, at: i64, terminal: &str, title: &str);

    /// Takes what the agent said through a hook.
    fn hook(&mut self, _hook: &LiveHook) {}

    /// Returns what each session is doing, and what it used at these prices.
    fn sessions(&mut self, now: i64, price: &RequestPrice<'_>) -> Vec<LiveSession>;

    /// Forgets what ended before `time`.
    fn forget(&mut self, time: i64);
}
