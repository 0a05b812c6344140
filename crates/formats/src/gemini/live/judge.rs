//! From what is known of a session to what it is doing.

use recount_model::{LiveSignal, LiveState};

use crate::live::{Hooked, Known};

use super::conversation::{Conversation, Last, is_subagent_working};
use super::prompts::Prompted;

/// A prompt that was typed is on its way to the session file for so long.
const TYPED: i64 = 2500;
/// After an answer the title follows within this time: the program takes 0.3 s, and terminals are asked twice a second.
const TITLE_LAG: i64 = 1000;
/// A terminal that is silent for so long after the last record waits for somebody.
const SILENT_AFTER: i64 = 1500;
/// A record that was written before a hook ran may be seen so long after it.
const BEHIND: i64 = 1500;
/// A terminal that was never silent for so long after an answer shows a tool.
const BUSY_AFTER: i64 = 2200;

/// What the title of a terminal says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Says {
    #[default]
    Nothing,
    Ready,
    Working,
    ActionRequired,
}

/// The title of a terminal, and what it said before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Title {
    says: Says,
    at: i64,
    before: Says,
}

impl Title {
    /// Whether it has said since `time` that the agent works.
    pub(super) fn is_working_since(&self, time: i64) -> bool {
        self.says == Says::Working && self.at >= time
    }

    pub(super) fn update(&mut self, at: i64, title: &str) {
        let says = match title.chars().next() {
            Some('✋') => Says::ActionRequired,
            Some('◇') => Says::Ready,
            Some('✦' | '⏲') => Says::Working,
            _ => Says::Nothing,
        };
        if says != self.says {
            *self = Self { says, at, before: self.says };
        }
    }
}

/// What is known of a session.
pub(super) struct Looked<'a> {
    pub(super) known: &'a Known,
    pub(super) is_headless: bool,
    pub(super) is_editor: bool,
    pub(super) conversation: Option<&'a Conversation>,
    pub(super) prompted: Option<&'a Prompted>,
    /// What the agent said through hooks.
    pub(super) hooked: Option<&'a Hooked>,
    /// When a sub-agent last wrote.
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
}

fn verdict(state: LiveState, certain: bool, signals: Vec<LiveSignal>) -> Verdict {
    Verdict { state, certain, signals }
}

fn signal(from: &'static str, says: impl Into<String>, at: i64) -> LiveSignal {
    LiveSignal { from, says: says.into(), at }
}

/// Decides what a session is doing.
pub(super) fn judge(looked: &Looked<'_>) -> Verdict {
    if let Some(ended) = looked.known.ended {
        return ended_verdict(looked, ended);
    }
    let title = looked.title.copied().unwrap_or_default();
    if title.says == Says::ActionRequired {
        return verdict(
            LiveState::Approve,
            true,
            vec![signal("title", "action required", title.at)],
        );
    }
    let (last, last_at) =
        looked.conversation.map_or((Last::Nothing, 0), |one| (one.last, one.last_at));
    if let Some(asked) = asked_by_hook(looked, last_at, title) {
        return verdict(
            LiveState::Approve,
            true,
            vec![signal("hook", "asks for a permission", asked)],
        );
    }
    let hooked = looked.hooked.and_then(|one| one.prompt);
    let typed = looked.prompted.and_then(|one| one.prompt).max(hooked);
    // A title that still says ready is about to change, unless the prompt was taken by something else.
    let soonest = if title.says == Says::Ready { TITLE_LAG } else { 0 };
    let is_fresh =
        |typed: &i64| *typed > last_at && (soonest..TYPED).contains(&(looked.now - typed));
    if let Some(typed) = typed.filter(is_fresh) {
        return verdict(LiveState::Working, true, vec![signal("log", "a prompt was typed", typed)]);
    }
    let starts_work = title.says == Says::Working && title.at > last_at;
    let prompted = looked.conversation.map_or(i64::MAX, |one| one.prompted);
    if last == Last::Cancelled
        && let Some(child) = looked.known.tool_child(looked.now, prompted)
    {
        let runs = signal("process", format!("{} is being stopped", child.comm), child.start_ms);
        return verdict(LiveState::Tool, true, vec![runs]);
    }
    match last {
        Last::Nothing | Last::Cancelled | Last::Error if starts_work => {
            if let Some(child) = looked.known.tool_child(looked.now, title.at) {
                let runs = signal("process", format!("{} runs", child.comm), child.start_ms);
                return verdict(LiveState::Tool, true, vec![runs]);
            }
            verdict(LiveState::Working, true, vec![signal("title", "working", title.at)])
        }
        Last::Nothing => {
            let since = if last_at == 0 { looked.known.process.start_ms } else { last_at };
            verdict(LiveState::Yours, true, vec![signal("records", "no prompt yet", since)])
        }
        Last::Cancelled => verdict(
            LiveState::Yours,
            true,
            vec![signal("records", "the turn was cancelled", last_at)],
        ),
        Last::Error => {
            verdict(LiveState::Failed, true, vec![signal("records", "an error", last_at)])
        }
        Last::Prompt | Last::ToolResult => open_turn(looked, last, last_at, title),
        Last::Answer { is_empty } => answered(looked, is_empty, last_at, title),
    }
}

/// Returns since when a permission is asked for, if a hook said so and nothing has happened since.
fn asked_by_hook(looked: &Looked<'_>, last_at: i64, title: Title) -> Option<i64> {
    let asked = looked.hooked?.permission(looked.known, last_at)?;
    let is_answered = looked.known.tool_child(looked.now, asked).is_some()
        || title.is_working_since(asked)
        || looked.known.is_busy_since(asked + SILENT_AFTER);
    (!is_answered).then_some(asked)
}

/// Returns when the turn ended, if a hook said so and nothing has happened since.
fn ended_by_hook(looked: &Looked<'_>, prompted: i64, last_at: i64, title: Title) -> Option<i64> {
    let ended = looked.hooked?.turn_end(prompted)?;
    // The answer is on disk before the hook runs, but may be seen after it.
    (ended >= last_at - BEHIND && !title.is_working_since(ended)).then_some(ended)
}

/// A request is with the model, or what follows it is not on record yet.
fn open_turn(looked: &Looked<'_>, last: Last, last_at: i64, title: Title) -> Verdict {
    let record = if last == Last::Prompt { "a prompt" } else { "tool results" };
    let record = signal("records", record, last_at);
    if let Some(child) = looked.known.tool_child(looked.now, last_at - 300) {
        return verdict(
            LiveState::Tool,
            true,
            vec![record, signal("process", format!("{} runs", child.comm), child.start_ms)],
        );
    }
    match title.says {
        Says::Ready if title.at > last_at + 300 => {
            return verdict(
                LiveState::Yours,
                true,
                vec![record, signal("title", "ready", title.at)],
            );
        }
        Says::Working => {
            return verdict(
                LiveState::Working,
                true,
                vec![record, signal("title", "working", title.at)],
            );
        }
        Says::Ready | Says::Nothing | Says::ActionRequired => {}
    }
    let may_ask = !looked.is_headless && !looked.is_editor && title.says == Says::Nothing;
    let is_old = looked.now - last_at > SILENT_AFTER;
    if may_ask && is_old && looked.known.is_silent_since(last_at + SILENT_AFTER / 2) {
        let silent = looked.known.silent.unwrap_or(last_at);
        return verdict(
            LiveState::Approve,
            false,
            vec![record, signal("terminal", "nothing is drawn", silent)],
        );
    }
    verdict(LiveState::Working, true, vec![record])
}

/// An answer was written. A call that it asks for is not on record until it has finished.
fn answered(looked: &Looked<'_>, is_empty: bool, last_at: i64, title: Title) -> Verdict {
    let age = looked.now - last_at;
    let record =
        signal("records", if is_empty { "an answer without text" } else { "an answer" }, last_at);
    let prompted = looked.conversation.map_or(last_at, |one| one.prompted);
    if let Some(ended) = ended_by_hook(looked, prompted, last_at, title) {
        let over = signal("hook", "the turn is over", ended);
        return verdict(LiveState::Yours, true, vec![record, over]);
    }
    if let Some(child) = looked.known.tool_child(looked.now, last_at - 1000) {
        return verdict(
            LiveState::Tool,
            true,
            vec![record, signal("process", format!("{} runs", child.comm), child.start_ms)],
        );
    }
    if let Some(changed) = looked
        .subagent
        .filter(|changed| *changed > last_at - 1000 && is_subagent_working(*changed, looked.now))
    {
        return verdict(
            LiveState::Tool,
            true,
            vec![record, signal("records", "a sub-agent writes", changed)],
        );
    }
    match title.says {
        Says::Working if title.at > last_at && title.before == Says::Ready => {
            return verdict(
                LiveState::Working,
                true,
                vec![record, signal("title", "working", title.at)],
            );
        }
        Says::Working if age < TITLE_LAG && !is_empty => {
            let before = looked.before.map_or(LiveState::Working, |before| before.state);
            return verdict(before, false, vec![record, signal("title", "working", title.at)]);
        }
        Says::Working => {
            return verdict(
                LiveState::Tool,
                true,
                vec![record, signal("title", "working", title.at)],
            );
        }
        Says::Ready => {
            return verdict(
                LiveState::Yours,
                true,
                vec![record, signal("title", "ready", title.at)],
            );
        }
        Says::Nothing | Says::ActionRequired => {}
    }
    if looked.is_headless || looked.is_editor {
        // Nobody is asked anything; an empty answer is a call.
        let state = if is_empty { LiveState::Tool } else { LiveState::Yours };
        return verdict(state, is_empty, vec![record]);
    }
    let quiet = signal("terminal", "nothing is drawn", looked.known.silent.unwrap_or(last_at));
    let busy = signal("terminal", "is drawn", looked.known.seen);
    if is_empty {
        return if looked.known.is_silent_since(last_at + 300) {
            verdict(LiveState::Approve, true, vec![record, quiet])
        } else {
            verdict(LiveState::Tool, false, vec![record, busy])
        };
    }
    // Hooks would have said that the turn is over. A terminal that stays silent says so too.
    let is_hooked = looked.hooked.is_some_and(|one| one.is_in_turn(prompted));
    if is_hooked && age > BEHIND && !looked.known.is_silent_since(last_at + SILENT_AFTER) {
        let open = signal("hook", "the turn is not over", prompted);
        return verdict(LiveState::Tool, false, vec![record, open]);
    }
    let was_silent = looked.known.silent.is_some_and(|at| at > last_at);
    if age > BUSY_AFTER && !was_silent && looked.known.is_busy_since(last_at) {
        return verdict(LiveState::Tool, false, vec![record, busy]);
    }
    verdict(LiveState::Yours, false, vec![record])
}

/// The process has ended.
fn ended_verdict(looked: &Looked<'_>, ended: i64) -> Verdict {
    let gone = signal("process", "ended", ended);
    let last = looked.conversation.map_or(Last::Nothing, |one| one.last);
    if looked.is_headless {
        let is_answered = matches!(last, Last::Answer { .. });
        let state = if is_answered { LiveState::Done } else { LiveState::Failed };
        return verdict(state, last == Last::Error || is_answered, vec![gone]);
    }
    let quit = looked.prompted.and_then(|one| one.quit);
    let quit = quit.filter(|quit| *quit >= looked.known.process.start_ms);
    if let Some(quit) = quit {
        return verdict(LiveState::Done, true, vec![gone, signal("log", "told to quit", quit)]);
    }
    let end = looked.hooked.and_then(|one| one.end(looked.known.process.start_ms));
    if let Some(end) = end {
        return verdict(
            LiveState::Done,
            true,
            vec![gone, signal("hook", "the session ended", end)],
        );
    }
    let before = looked.before.map(|before| before.state);
    match before {
        Some(LiveState::Gone | LiveState::Done) => {
            looked.before.cloned().unwrap_or_else(|| verdict(LiveState::Done, false, vec![gone]))
        }
        Some(state) if state.is_open() && !looked.is_editor => verdict(
            LiveState::Gone,
            true,
            vec![gone, signal("records", "the turn was open", ended)],
        ),
        _ => verdict(LiveState::Done, false, vec![gone]),
    }
}
