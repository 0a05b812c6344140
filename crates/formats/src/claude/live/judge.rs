//! From what is known of a session to what it is doing.

use recount_model::{LiveSignal, LiveState};

use crate::live::{Hooked, Known};

use super::Registered;
use super::transcript::{Last, Transcript};

/// Tools that ask the user something.
const QUESTIONS: &[&str] = &["AskUserQuestion", "ExitPlanMode"];
/// Tools that start another agent.
const AGENTS: &[&str] = &["Task", "Agent"];
/// A call without a process of its own that is older than this waits for a permission.
const ASKED: i64 = 700;
/// While a request is with the model a terminal is drawn all the time. One that is not for this time shows a prompt that was given
/// back: who interrupts a request before its first word leaves no record.
const NOT_DRAWN: i64 = 3000;
/// The agent removes its own entry within this time of its end.
const ENDING: i64 = 300;

/// What is known of a session.
pub(super) struct Looked<'a> {
    pub(super) known: &'a Known,
    pub(super) registered: Option<&'a Registered>,
    pub(super) transcript: Option<&'a Transcript>,
    pub(super) is_headless: bool,
    /// What the agent said through hooks.
    pub(super) hooked: Option<&'a Hooked>,
    /// When a sub-agent that has not finished last wrote.
    pub(super) subagent: Option<i64>,
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
    /// Whether nothing can change it any more.
    is_final: bool,
}

fn verdict(state: LiveState, certain: bool, signals: Vec<LiveSignal>) -> Verdict {
    Verdict { state, certain, signals, is_final: false }
}

fn signal(from: &'static str, says: impl Into<String>, at: i64) -> LiveSignal {
    LiveSignal { from, says: says.into(), at }
}

/// Decides what a session is doing.
pub(super) fn judge(looked: &Looked<'_>) -> Verdict {
    if let Some(before) =
        looked.before.filter(|before| before.is_final && looked.known.ended.is_some())
    {
        return before.clone();
    }
    if let Some(ended) = looked.known.ended {
        return ended_verdict(looked, ended);
    }
    if let Some(removed) = looked.registered.and_then(|one| one.removed) {
        let state = failed_or_done(looked);
        let is_failed = state == LiveState::Failed;
        return verdict(state, is_failed, vec![signal("status", "ending", removed)]);
    }
    let status = looked.registered.and_then(|one| Some((one.status.as_deref()?, one.at)));
    match status {
        Some(("waiting", at)) => {
            let waits_for = looked.registered.and_then(|one| one.waits_for.as_deref());
            verdict(
                LiveState::Approve,
                true,
                vec![signal("status", waits_for.unwrap_or("waiting"), at)],
            )
        }
        Some(("busy" | "shell", at)) => busy(looked, at),
        Some(("idle", at)) => idle(looked, at),
        Some(_) | None => untold(looked),
    }
}

fn record(looked: &Looked<'_>) -> LiveSignal {
    let (last, at) = looked.transcript.map_or((Last::Nothing, 0), |one| (one.last, one.last_at));
    let says = match last {
        Last::Nothing => "no prompt yet",
        Last::Prompt => "a prompt",
        Last::ToolResult => "tool results",
        Last::Request => "a request",
        Last::Partial => "part of an answer",
        Last::Answer => "an answer",
        Last::Interrupted => "the turn was interrupted",
        Last::Error => "an error",
    };
    // Where nothing was recorded, the state is as old as the program.
    signal("records", says, if at == 0 { looked.known.process.start_ms } else { at })
}

fn busy(looked: &Looked<'_>, at: i64) -> Verdict {
    let told = signal("status", "busy", at);
    let transcript = looked.transcript;
    if let Some(call) = transcript.and_then(|one| one.calls.latest()) {
        let open = signal("records", format!("{} is open", call.name), call.since);
        return verdict(LiveState::Tool, true, vec![told, open]);
    }
    let since = transcript.map_or(at, |one| one.prompted) - 1000;
    if let Some(child) = looked.known.tool_child(looked.now, since) {
        let runs = signal("process", format!("{} runs", child.comm), child.start_ms);
        return verdict(LiveState::Tool, true, vec![told, runs]);
    }
    let is_over = transcript.is_some_and(|one| one.is_over() && one.last_at > at);
    match looked.subagent {
        Some(changed) if is_over => {
            let works = signal("records", "a sub-agent works", changed);
            verdict(LiveState::Tool, true, vec![told, works])
        }
        None if is_over => verdict(after_turn(looked), true, vec![record(looked)]),
        _ => verdict(LiveState::Working, true, vec![told, record(looked)]),
    }
}

fn idle(looked: &Looked<'_>, at: i64) -> Verdict {
    let told = signal("status", "idle", at);
    // The transcript may be ahead of the status.
    let is_ahead = looked
        .transcript
        .is_some_and(|one| one.last_at > at && matches!(one.last, Last::Prompt | Last::Request));
    if is_ahead {
        return verdict(LiveState::Working, false, vec![record(looked), told]);
    }
    verdict(after_turn(looked), true, vec![told, record(looked)])
}

/// Returns the state of a turn that is over.
fn after_turn(looked: &Looked<'_>) -> LiveState {
    match looked.transcript.map(|one| one.last) {
        Some(Last::Error) => LiveState::Failed,
        _ => LiveState::Yours,
    }
}

/// The agent does not say what it is doing: it is starting, runs without a terminal, or is too old.
fn untold(looked: &Looked<'_>) -> Verdict {
    let Some(transcript) = looked.transcript else {
        let state = if looked.is_headless { LiveState::Working } else { LiveState::Yours };
        return verdict(state, true, vec![record(looked)]);
    };
    if let Some(call) = transcript.calls.latest() {
        let open = signal("records", format!("{} is open", call.name), call.since);
        if transcript.calls.open().any(|call| QUESTIONS.contains(&call.name.as_str())) {
            return verdict(LiveState::Approve, true, vec![open]);
        }
        if let Some(child) = looked.known.tool_child(looked.now, transcript.prompted - 1000) {
            let runs = signal("process", format!("{} runs", child.comm), child.start_ms);
            return verdict(LiveState::Tool, true, vec![open, runs]);
        }
        if let Some(asked) =
            looked.hooked.and_then(|one| one.permission(looked.known, transcript.last_at))
        {
            let told = signal("hook", "asks for a permission", asked);
            return verdict(LiveState::Approve, true, vec![told, open]);
        }
        let is_agent = transcript.calls.open().any(|call| AGENTS.contains(&call.name.as_str()));
        if is_agent || looked.is_headless {
            return verdict(LiveState::Tool, true, vec![open]);
        }
        let state =
            if looked.now - call.since < ASKED { LiveState::Tool } else { LiveState::Approve };
        return verdict(state, false, vec![open]);
    }
    match transcript.last {
        Last::Prompt | Last::ToolResult | Last::Request | Last::Partial => {
            let quiet = looked.known.quiet_for(transcript.last_at, NOT_DRAWN);
            if let Some(quiet) = quiet.filter(|_| !looked.is_headless) {
                let silent = signal("terminal", "nothing is drawn", quiet);
                return verdict(LiveState::Yours, false, vec![record(looked), silent]);
            }
            verdict(LiveState::Working, true, vec![record(looked)])
        }
        Last::Nothing if looked.is_headless => {
            verdict(LiveState::Working, true, vec![record(looked)])
        }
        Last::Answer if looked.subagent.is_some() => {
            let changed = looked.subagent.unwrap_or(looked.now);
            verdict(LiveState::Tool, false, vec![signal("records", "a sub-agent works", changed)])
        }
        Last::Nothing | Last::Answer | Last::Interrupted | Last::Error => {
            verdict(after_turn(looked), true, vec![record(looked)])
        }
    }
}

fn failed_or_done(looked: &Looked<'_>) -> LiveState {
    let is_failed =
        looked.is_headless && looked.transcript.is_some_and(|one| one.last == Last::Error);
    if is_failed { LiveState::Failed } else { LiveState::Done }
}

/// The process has ended.
fn ended_verdict(looked: &Looked<'_>, ended: i64) -> Verdict {
    let gone = signal("process", "ended", ended);
    let is_settled = looked.now - ended >= ENDING;
    let is_left = looked.registered.is_some_and(|one| one.removed.is_none());
    let is_open = looked.transcript.is_some_and(|one| !one.is_over() && one.last != Last::Nothing);
    let mut verdict = if failed_or_done(looked) == LiveState::Failed {
        verdict(LiveState::Failed, true, vec![gone, record(looked)])
    } else if is_left && (is_open || !looked.is_headless) {
        if !is_settled && let Some(before) = looked.before {
            return before.clone();
        }
        verdict(LiveState::Gone, true, vec![gone, signal("status", "left behind", ended)])
    } else if looked.registered.is_none() && is_open && !looked.is_headless {
        verdict(LiveState::Gone, false, vec![gone, record(looked)])
    } else {
        verdict(LiveState::Done, looked.registered.is_some(), vec![gone])
    };
    verdict.is_final = is_settled;
    verdict
}
