//! What a text in a user row is: what a human typed, or what the agent put in its place.
//!
//! The agent writes its own text into user rows, in tags. A typed text may begin with a tag, too: only the tags of the agent
//! count.

use std::borrow::Cow;

/// How much of a text is looked at.
pub(crate) const LEAD: usize = 96;

/// What a text in a user row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wording {
    /// What a human typed.
    Typed,
    /// A command that a human typed and that the model is asked to follow.
    Command,
    /// A command that the agent itself ran.
    LocalCommand,
    /// What such a command printed.
    CommandOutput,
    /// A shell command that a human ran, or what it printed.
    Shell,
    /// Context that the agent put in.
    Context,
    /// A background task that ended.
    Notification,
    /// The human stopped the agent.
    Interruption,
}

/// Returns what a text is by its start.
pub(crate) fn wording(lead: &str) -> Wording {
    let lead = lead.trim_start();
    if lead.starts_with("[Request interrupted by user") {
        return Wording::Interruption;
    }
    if lead.starts_with("Caveat: The messages below") {
        return Wording::Context;
    }
    let tag = lead.strip_prefix('<').and_then(|rest| rest.split(['>', ' ', '\n']).next());
    match tag {
        Some("command-message") => Wording::Command,
        Some("command-name" | "command-args") => Wording::LocalCommand,
        Some("local-command-stdout" | "local-command-stderr") => Wording::CommandOutput,
        Some("bash-input" | "bash-stdout" | "bash-stderr") => Wording::Shell,
        Some(
            "system-reminder"
            | "local-command-caveat"
            | "user-memory-input"
            | "ide_opened_file"
            | "ide_selection"
            | "ide_diagnostics"
            | "session-start-hook"
            | "user-prompt-submit-hook"
            | "post-tool-use-hook"
            | "tick"
            | "new-diagnostics",
        ) => Wording::Context,
        Some(
            "task-notification"
            | "background-task-notification"
            | "teammate-message"
            | "agent-notification",
        ) => Wording::Notification,
        _ => Wording::Typed,
    }
}

/// Whether a human typed a text.
pub(crate) fn is_typed(text: &str) -> bool {
    let lead: String = text.chars().take(LEAD).collect();
    !lead.trim().is_empty() && matches!(wording(&lead), Wording::Typed | Wording::Command)
}

/// Whether a text may be a title: one that begins with any tag is not.
pub(crate) fn may_be_title(lead: &str) -> bool {
    let mut signs = lead.trim_start().chars();
    !(signs.next() == Some('<') && signs.next().is_some_and(char::is_alphabetic))
}

/// Returns the text inside a tag.
pub(crate) fn between<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once(&format!("</{tag}>")).map_or(rest, |(inside, _)| inside))
}

/// Returns a text as a human reads it: commands as they were typed, output without its tags.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    let end = text.char_indices().nth(LEAD).map_or(text.len(), |(at, _)| at);
    match wording(text.get(..end).unwrap_or(text)) {
        Wording::Command | Wording::LocalCommand => {
            let Some(name) = between(text, "command-name") else { return Cow::Borrowed(text) };
            let slash = if name.starts_with('/') { "" } else { "/" };
            let args = between(text, "command-args").unwrap_or_default().trim();
            let gap = if args.is_empty() { "" } else { " " };
            Cow::Owned(format!("{slash}{name}{gap}{args}"))
        }
        Wording::CommandOutput => {
            let outputs = ["local-command-stdout", "local-command-stderr"];
            Cow::Owned(joined(text, &outputs, without_styles))
        }
        Wording::Shell => {
            if let Some(command) = between(text, "bash-input") {
                return Cow::Owned(format!("! {}", command.trim()));
            }
            Cow::Owned(joined(text, &["bash-stdout", "bash-stderr"], str::to_owned))
        }
        Wording::Notification => {
            let summary = between(text, "summary").map(str::trim).filter(|text| !text.is_empty());
            let result = between(text, "result").map(str::trim).filter(|text| !text.is_empty());
            let parts: Vec<&str> = summary.into_iter().chain(result).collect();
            if parts.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(parts.join("\n\n")) }
        }
        Wording::Typed | Wording::Context | Wording::Interruption => Cow::Borrowed(text),
    }
}

fn joined(text: &str, tags: &[&str], clean: impl Fn(&str) -> String) -> String {
    let found = tags.iter().filter_map(|tag| between(text, tag));
    let found: Vec<String> = found.filter(|text| !text.trim().is_empty()).map(clean).collect();
    found.join("\n")
}

/// Leaves out the escapes that color a text.
fn without_styles(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escape)) = rest.split_once("\u{1b}[") {
        out.push_str(plain);
        let end = escape.find(|sign: char| !matches!(sign, '0'..='9' | ';'));
        rest = match end {
            Some(end) if escape.get(end..).is_some_and(|rest| rest.starts_with('m')) => {
                escape.get(end + 1..).unwrap_or_default()
            }
            _ => escape,
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_own_words_are_told_from_typed_ones() {
        let compact = "<command-name>/compact</command-name>\n            <command-message>compact";
        for (text, wanted) in [
            ("Say hello", Wording::Typed),
            ("<div> is broken", Wording::Typed),
            ("<3 this", Wording::Typed),
            (compact, Wording::LocalCommand),
            ("<command-message>init is running</command-message>", Wording::Command),
            ("<local-command-stdout></local-command-stdout>", Wording::CommandOutput),
            ("<bash-input>ls</bash-input>", Wording::Shell),
            ("<system-reminder>\nx", Wording::Context),
            ("Caveat: The messages below were generated", Wording::Context),
            ("<task-notification>\n<task-id>a", Wording::Notification),
            ("[Request interrupted by user for tool use]", Wording::Interruption),
        ] {
            assert_eq!(wording(text), wanted, "{text}");
        }
        assert!(may_be_title("a < b") && may_be_title("<3") && !may_be_title("<div> is broken"));
    }

    #[test]
    fn commands_and_their_output_are_shown_as_a_human_reads_them() {
        let command = "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>12</command-args>";
        assert_eq!(shown(command), "/review 12");
        assert_eq!(shown("<command-name>compact</command-name>"), "/compact");
        let output = "<local-command-stdout>\u{1b}[2mCompacted\u{1b}[22m</local-command-stdout>";
        assert_eq!(shown(output), "Compacted");
        assert_eq!(shown("<bash-input>ls</bash-input>"), "! ls");
        assert_eq!(shown("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>"), "a");
        let ended = "<task-notification>\n<summary>Agent done</summary>\n<result>42</result>";
        assert_eq!(shown(ended), "Agent done\n\n42");
    }
}
