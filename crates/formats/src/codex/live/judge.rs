//! From what is known of a session to what it is doing.

use recount_model::{LiveSignal, LiveState};

use crate::live::{Hooked, Known, LiveProcess};

use super::rollout::{Rollout, Turn};

/// Tools that ask the user something.
const QUESTIONS: &[&str] = &["request_user_input"];
/// Tools that run without a process of their own for as long as they like.
const WAITING: &[&str] = &[
    "wait",
    "wait_agent",
    "spawn_agent",
    "send_input",
    "resume_agent",
    "close_agent",
    "write_stdin",
    "sleep",
    "update_plan",
    "web_search",
    "web.run",
];
/// A call without a process of its own that is older than this waits for a permission.
const ASKED: i64 = 450;

/// What the title of a terminal says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Says {
    #[default]
    Nothing,
    Working,
    ActionRequired,
}

/// The title of a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Title {
    says: Says,
    at: i64,
}

impl Title {
    pub(super) fn update(&mut self, at: i64, title: &str) {
        let is_spinner = |first: char| ('\u{2800}'..='\u{28ff}').contains(&first);
        let says = if title.contains("Action Required") {
            Says::ActionRequired
        } else if title.chars().next().is_some_and(is_spinner) {
            Says::Working
        } else {
            Says::Nothing
        };
        if says != self.says {
            *self = Self { says, at };
        }
    }
}

/// What is known of a session.
pub(super) struct Looked<'a> {
    pub(super) known: &'a Known,
    pub(super) rollout: Option<&'a Rollout>,
    /// Processes that name the session.
    pub(super) tools: &'a [LiveProcess],
    pub(super) is_headless: bool,
    /// What the agent said through hooks.
    pub(super) hooked: Option<&'a Hooked>,
    /// When a sub-agent that has not finished last wrote.
    pub(super) subagent: Option<i64>,
    pub(super) title: Option<&'a Title>,
    /// What was said of it before.
    pub(super) before: Option<&'a Verdict>,
    pub(super) now: i64,
}

/// What a session is doing, and why.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) state: LiveState,
    pub(super) certain: bool,
    pub(super) signals: Vec<LiveSignal>,
    is_ended: bool,
}

fn verdict(state: LiveState, certain: bool, signals: Vec<LiveSignal>) -> Verdict {
    Verdict { state, certain, signals, is_ended: false }
}

fn signal(from: &'static str, says: impl Into<String>, at: i64) -> LiveSignal {
    LiveSignal { from, says: says.into(), at }
}

/// Decides what a session is doing.
pub(super) fn judge(looked: &Looked<'_>) -> Verdict {
    if let Some(ended) = looked.known.ended {
        // A daemon may go on with the turn; the session that was watched is over.
        return match looked.before.filter(|before| before.is_ended) {
            Some(before) => before.clone(),
            None => ended_verdict(looked, ended),
        };
    }
    let title = looked.title.copied().unwrap_or_default();
    if title.says == Says::ActionRequired {
        return verdict(
            LiveState::Approve,
            true,
            vec![signal("title", "action required", title.at)],
        );
    }
    let Some(rollout) = looked.rollout else {
        let state = if looked.is_headless { LiveState::Working } else { LiveState::Yours };
        return verdict(
            state,
            true,
            vec![signal("records", "no prompt yet", looked.known.process.start_ms)],
        );
    };
    if rollout.calls.latest().is_some() {
        return open_call(looked, rollout, title);
    }
    let at = rollout.turn_at;
    match rollout.turn {
        Turn::Open => {
            verdict(LiveState::Working, true, vec![signal("records", "a turn is open", at)])
        }
        Turn::Complete | Turn::None if looked.subagent.is_some() => {
            let changed = looked.subagent.unwrap_or(at);
            verdict(LiveState::Tool, true, vec![signal("records", "a sub-agent works", changed)])
        }
        Turn::None if looked.is_headless => {
            verdict(LiveState::Working, true, vec![signal("records", "no turn yet", at)])
        }
        Turn::None => verdict(LiveState::Yours, true, vec![signal("records", "no prompt yet", at)]),
        Turn::Complete => {
            verdict(LiveState::Yours, true, vec![signal("records", "the turn is complete", at)])
        }
        Turn::Failed => {
            verdict(LiveState::Failed, true, vec![signal("records", "the turn failed", at)])
        }
        Turn::Aborted => {
            verdict(LiveState::Yours, true, vec![signal("records", "the turn was aborted", at)])
        }
    }
}

/// A call has no result yet: its tool runs, or somebody must allow it.
fn open_call(looked: &Looked<'_>, rollout: &Rollout, title: Title) -> Verdict {
    let Some(call) = rollout.calls.latest() else {
        return verdict(LiveState::Working, false, Vec::new());
    };
    let open = signal("records", format!("{} is open", call.name), call.since);
    let any = |names: &[&str]| rollout.calls.open().any(|call| names.contains(&call.name.as_str()));
    if any(QUESTIONS) {
        return verdict(LiveState::Approve, true, vec![open]);
    }
    let since = rollout.calls.open().map(|call| call.since).min().unwrap_or(call.since) - 1000;
    let named = looked.tools.iter().find(|one| one.start_ms >= since);
    if let Some(child) = looked.known.tool_child(looked.now, since).or(named) {
        let runs = signal("process", format!("{} runs", child.comm), child.start_ms);
        return verdict(LiveState::Tool, true, vec![open, runs]);
    }
    if looked.is_headless || rollout.never_asks || any(WAITING) || looked.subagent.is_some() {
        return verdict(LiveState::Tool, true, vec![open]);
    }
    // The hook is run before the question is shown, and before its call is on record or after.
    if let Some(asked) = looked.hooked.and_then(|one| one.permission(looked.known, call.since)) {
        let told = signal("hook", "asks for a permission", asked);
        return verdict(LiveState::Approve, true, vec![told, open]);
    }
    let age = looked.now - call.since;
    if title.says == Says::Working && age > 2 * ASKED {
        return verdict(LiveState::Tool, true, vec![open, signal("title", "working", title.at)]);
    }
    let state = if age < ASKED { LiveState::Tool } else { LiveState::Approve };
    verdict(state, false, vec![open])
}

/// The process has ended.
fn ended_verdict(looked: &Looked<'_>, ended: i64) -> Verdict {
    let gone = signal("process", "ended", ended);
    let turn = looked.rollout.map_or(Turn::None, |one| one.turn);
    let mut verdict = match turn {
        Turn::Open => verdict(
            LiveState::Gone,
            true,
            vec![
                gone,
                signal(
                    "records",
                    "the turn was open",
                    looked.rollout.map_or(ended, |one| one.turn_at),
                ),
            ],
        ),
        Turn::Failed | Turn::None if looked.is_headless => {
            verdict(LiveState::Failed, turn == Turn::Failed, vec![gone])
        }
        Turn::None | Turn::Complete | Turn::Failed | Turn::Aborted => {
            verdict(LiveState::Done, true, vec![gone])
        }
    };
    verdict.is_ended = true;
    verdict
}
