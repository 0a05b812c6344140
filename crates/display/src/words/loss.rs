//! Texts of what is lost when a session is handed over.

use recount_changes::{Loss, LossKind};

use crate::number::plural_exact;
use crate::sanitize::single_line;

/// Returns the text of a loss; `to` is the agent that continues the session.
pub fn loss(loss: &Loss, to: &str) -> String {
    let many = |what: &str| plural_exact(loss.count, what);
    let text = match &loss.kind {
        LossKind::Thoughts => {
            format!("{} left out: services accept only their own", many("thought"))
        }
        LossKind::Tool(name) => {
            let name = single_line(name);
            format!("{} of {name}, which {to} does not have: kept under that name", many("call"))
        }
        LossKind::Media => format!("{} left out: {to} does not accept them", many("attachment")),
        LossKind::OpenCalls => {
            format!("{} without a recorded result: a note takes its place", many("call"))
        }
        LossKind::CutOutputs => {
            format!("{} cut by the old agent: handed over as cut", many("tool output"))
        }
        LossKind::Subagents => {
            format!("{} left out: only what they returned is kept", many("sub-agent conversation"))
        }
        LossKind::ShellCommands => format!("{} handed over as prompts", many("shell command")),
        LossKind::Summaries => format!("{} handed over as prompts", many("summary message")),
        LossKind::Notices => format!("{} left out", many("notice")),
        LossKind::Context => {
            format!("{} left out: {to} adds its own", many("context message"))
        }
        LossKind::Undone => {
            format!("{} left out: the agent no longer loads them", many("message"))
        }
        LossKind::Unread => format!("{} left out: they cannot be read", many("message")),
        LossKind::Summarized => format!("{} handed over as a summary", many("turn")),
        _ => many("other loss"),
    };
    format!("{text}{}", places(loss))
}

/// Returns the numbers of the messages.
fn places(loss: &Loss) -> String {
    let numbers: Vec<String> = loss.messages.iter().map(u64::to_string).collect();
    match numbers.as_slice() {
        _ if loss.kind == LossKind::Summarized => String::new(),
        [] => String::new(),
        [one] => format!(" (message {one})"),
        all => {
            let more = if loss.count > all.len() as u64 { ", …" } else { "" };
            format!(" (messages {}{more})", all.join(", "))
        }
    }
}
