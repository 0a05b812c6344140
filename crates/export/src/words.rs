//! Phrases that formats for people share: speaker, time, totals of a session.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use recount_model::{Media, Message, MessageKind, NoticeLevel, SessionFacts};

/// The title of a session without one.
pub(crate) const UNTITLED: &str = "(nothing said)";

/// Returns the speaker. A sub-agent's prompts come from its caller.
pub(crate) fn speaker(message: &Message, minimal: bool, is_agent: bool) -> String {
    if is_agent && message.kind == MessageKind::Prompt {
        return "Task".into();
    }
    who(message, minimal)
}

/// Returns the speaker of a message.
fn who(message: &Message, minimal: bool) -> String {
    match message.kind {
        MessageKind::Prompt => "You".into(),
        MessageKind::Answer => {
            message.model.clone().filter(|_| !minimal).unwrap_or_else(|| "Model".into())
        }
        MessageKind::Notice => match message.level {
            Some(NoticeLevel::Error) => "Error".into(),
            Some(NoticeLevel::Warning) => "Warning".into(),
            _ => "Info".into(),
        },
        MessageKind::Shell => "Your shell".into(),
        MessageKind::Context => "Context".into(),
        MessageKind::Hook => "Hook".into(),
        MessageKind::ToolResult => "Tool result".into(),
        MessageKind::Summary => "Summary".into(),
        MessageKind::Nudge => "Nudge".into(),
    }
}

/// Returns date and minute. Files are shared across time zones, so all times are UTC.
pub(crate) fn minute(time: Timestamp) -> String {
    utc(time, "%Y-%m-%d %H:%M UTC")
}

/// Returns the minute, with its date unless that is the previous one.
pub(crate) fn since(time: Timestamp, before: Option<Timestamp>) -> String {
    let date = |time: Timestamp| time.to_zoned(TimeZone::UTC).date();
    let same = before.is_some_and(|before| date(before) == date(time));
    utc(time, if same { "%H:%M" } else { "%Y-%m-%d %H:%M" })
}

/// Returns the day.
pub(crate) fn day(time: Timestamp) -> String {
    utc(time, "%Y-%m-%d")
}

fn utc(time: Timestamp, form: &str) -> String {
    time.to_zoned(TimeZone::UTC).strftime(form).to_string()
}

/// Formats a count with its noun: `1 prompt`, `2 prompts`.
pub(crate) fn plural(number: u64, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// Formats a size: `999 B`, `1.2 KB`, `34 MB`.
pub(crate) fn size(bytes: u64) -> String {
    let units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let (mut whole, mut tenths, mut unit) = (bytes, 0, 0);
    while whole >= 1000 && unit + 1 < units.len() {
        tenths = whole % 1000 / 100;
        whole /= 1000;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if unit > 0 && whole < 10 {
        format!("{whole}.{tenths} {name}")
    } else {
        format!("{whole} {name}")
    }
}

/// Returns a description of a binary part.
pub(crate) fn media(media: &Media) -> String {
    let mime = if media.mime.is_empty() { "data" } else { &media.mime };
    match media.bytes {
        0 => mime.to_owned(),
        bytes => format!("{mime}, {}", size(bytes)),
    }
}

/// Returns the counts of messages and tool calls.
pub(crate) fn figures(session: &SessionFacts, strict: bool) -> String {
    let (counts, kept) = (session.counts, session.kept);
    let (prompts, answers, calls) = if strict {
        (kept.prompts, kept.answers, kept.tool_calls)
    } else {
        (counts.prompts, counts.answers, session.tool_calls.total)
    };
    let mut figures = vec![plural(prompts, "prompt"), plural(answers, "answer")];
    if calls > 0 {
        let failed = session.tool_calls.failed;
        let failed =
            if failed > 0 && !strict { format!(" ({failed} failed)") } else { String::new() };
        figures.push(format!("{}{failed}", plural(calls, "tool call")));
    }
    if counts.undone > 0 && !strict {
        figures.push(format!("{} undone or replaced, and marked so", counts.undone));
    }
    figures.join(", ")
}

/// Returns the token usage.
pub(crate) fn tokens(session: &SessionFacts, strict: bool) -> String {
    if session.is_usage_unknown() {
        return "not recorded".to_owned();
    }
    let tokens = if strict { session.kept.tokens } else { session.tokens };
    format!(
        "{} (input {}, of these cached {}; output {}; thoughts {})",
        tokens.total, tokens.input, tokens.cached, tokens.output, tokens.thoughts
    )
}

/// Returns the cost by the price list, if it is known.
pub(crate) fn cost(session: &SessionFacts) -> Option<String> {
    let dollars = session.cost_usd?;
    let sign = if session.cost_is_lower_bound == Some(true) { "at least " } else { "" };
    let places = if dollars == 0.0 || dollars >= 1.0 { 2 } else { 4 };
    Some(format!("{sign}${dollars:.places$} at list prices"))
}

/// Returns the number of problems, if any.
pub(crate) fn problems(session: &SessionFacts) -> Option<String> {
    let many = plural(session.problems, "problem");
    (session.problems > 0)
        .then(|| format!("{many} met while reading: something may be missing here"))
}
