//! A hand-over as a Markdown document, for any agent or person.

use std::fmt::Write as _;
use std::io;

use jiff::Timestamp;
use recount_formats::handover::{HandoverMessage, HandoverRole};

use super::content::Excerpt;

/// How much of a tool's output is printed, in lines and characters.
const OUTPUT_LINES: usize = 20;
const OUTPUT_CHARS: usize = 2000;

/// Writes a summary of the first turns, and the last turns as they are.
pub(super) fn markdown(excerpt: &Excerpt, budget: usize) -> io::Result<String> {
    let facts = &excerpt.opened.facts;
    let outliner = excerpt.outline()?;
    let skipped = outliner.first_whole(budget);
    let mut out = String::new();
    let title = facts.title.as_deref().unwrap_or("(no title)");
    let agent = excerpt.opened.source().display_name();
    // Writing to a string does not fail.
    let _written = writeln!(out, "# Hand-over: {}\n", inline(title));
    let _written = writeln!(out, "- Session: {agent} {}", inline(facts.id.as_str()));
    if let Some(path) = &facts.project.path {
        let _written = writeln!(out, "- Project: {}", inline(path.as_str()));
    }
    if let (Some(started), Some(updated)) = (facts.started, facts.updated) {
        let minute = |time: Timestamp| time.strftime("%Y-%m-%d %H:%M").to_string();
        let _written = writeln!(out, "- Time: {} to {} UTC", minute(started), minute(updated));
    }
    let _written = writeln!(out, "- Turns: {}", outliner.turns.len());
    let digest = outliner.digest(skipped, budget);
    if !digest.is_empty() {
        let _written = writeln!(out, "\n## Earlier turns\n\n{}", fenced(digest.trim_end()));
    }
    out.push_str("\n## Last turns\n");
    let last = Excerpt { skipped, ..excerpt.clone() };
    last.each(Timestamp::UNIX_EPOCH, &mut |message, _| {
        section(&mut out, &message);
        Ok(())
    })?;
    Ok(out)
}

fn section(out: &mut String, message: &HandoverMessage) {
    let who = match message.role {
        HandoverRole::User => "User",
        HandoverRole::Model => "Agent",
    };
    let _written = writeln!(out, "\n### {who}");
    if !message.text.trim().is_empty() {
        let _written = writeln!(out, "\n{}", fenced(message.text.trim()));
    }
    for file in &message.files {
        let _written = writeln!(out, "\nAttached file: {}", inline(&file.path));
    }
    for call in &message.calls {
        let failed = if call.is_error { ", failed" } else { "" };
        let _written = writeln!(out, "\nTool {}{failed}:\n", inline(&call.name));
        let asked = serde_json::to_string(&call.args).unwrap_or_default();
        let answered = call.diff.as_deref().filter(|_| !call.is_error).unwrap_or(&call.output);
        let both = format!("{}\n{}", cut(&asked), cut(answered));
        let _written = writeln!(out, "{}", fenced(both.trim()));
    }
}

/// Returns the start of a tool's input or output.
fn cut(text: &str) -> String {
    let mut lines = text.lines();
    let mut start: String = lines.by_ref().take(OUTPUT_LINES).collect::<Vec<_>>().join("\n");
    let is_long = start.chars().count() > OUTPUT_CHARS;
    if is_long {
        start = start.chars().take(OUTPUT_CHARS).collect();
    }
    if is_long || lines.next().is_some() { format!("{start}\n…") } else { start }
}

/// Returns text as a code block, whose fence is longer than any run of backticks in it.
fn fenced(text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

/// Returns text as code within a line.
fn inline(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mark = "`".repeat(longest_run(&text) + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{mark}{gap}{text}{gap}{mark}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
