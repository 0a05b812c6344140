//! Completion of fields and their values, with the number of sessions that have them.

use std::collections::BTreeMap;

use recount_model::SessionFacts;

use crate::rows::Rows;

/// The fields, each with what it means.
const FIELDS: &[(&str, &str)] = &[
    ("in:", "prompt, answer, thought, call, output"),
    ("project:", "name or path"),
    ("tool:", "name of a tool"),
    ("model:", "name of a model"),
    ("source:", "agent"),
    ("is:", "error, undone, live"),
    ("after:", "2026-09-02, 7d, today"),
    ("before:", "2026-09-02, 7d, today"),
    ("file:", "path"),
    ("kind:", "prompt, answer, tool"),
    ("fate:", "rewound, compressed"),
];

/// Parts of a message.
const PARTS: &[&str] =
    &["prompt", "answer", "thought", "call", "output", "title", "path", "notice", "context"];
/// Names of tools that agents have; which ones a session called is in the index.
const TOOLS: &[&str] = &[
    "run_shell_command",
    "read_file",
    "write_file",
    "replace",
    "glob",
    "grep_search",
    "web_fetch",
    "Bash",
    "Edit",
    "Read",
    "Write",
    "Grep",
    "Glob",
    "shell",
    "apply_patch",
];
/// Times, with the number of days that they go back.
const TIMES: &[(&str, i64)] =
    &[("today", 1), ("yesterday", 2), ("7d", 7), ("30d", 30), ("365d", 365)];

/// What may be typed next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Completion {
    /// Where the completed text begins.
    pub(super) from: usize,
    /// The candidates, each with what is said about it.
    pub(super) candidates: Vec<(String, String)>,
    /// The one that is in the field.
    pub(super) at: Option<usize>,
}

impl Completion {
    /// Finds candidates for the text before the cursor; `None` if there are none.
    pub(super) fn of(before: &str, rows: &Rows, now: jiff::Timestamp) -> Option<Self> {
        let from = word_start(before);
        let word = before.get(from..).unwrap_or_default();
        let candidates = match word.split_once(':') {
            None => {
                let wanted = word.to_lowercase();
                let fields = FIELDS.iter().filter(|(name, _)| name.starts_with(&wanted));
                fields.map(|(name, about)| ((*name).to_owned(), (*about).to_owned())).collect()
            }
            Some((field, value)) => values(field, value, rows, now),
        };
        (!candidates.is_empty()).then_some(Self { from, candidates, at: None })
    }

    /// Goes to the next or previous candidate, and returns it.
    pub(super) fn step(&mut self, by: isize) -> Option<&str> {
        let many = self.candidates.len();
        let next = match self.at {
            None if by < 0 => many.checked_sub(1)?,
            None => 0,
            Some(at) => (at + many).saturating_add_signed(by) % many.max(1),
        };
        self.at = Some(next);
        self.candidates.get(next).map(|(text, _)| text.as_str())
    }
}

/// Returns where the last word begins; spaces in quotes belong to it.
fn word_start(before: &str) -> usize {
    let (mut start, mut is_quoted) = (0, false);
    for (at, letter) in before.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' | '(' if !is_quoted => start = at + 1,
            _ => {}
        }
    }
    start
}

fn values(field: &str, value: &str, rows: &Rows, now: jiff::Timestamp) -> Vec<(String, String)> {
    let sessions = || rows.sessions.iter().filter(|session| !session.is_background);
    let named = |names: &[&str]| -> Vec<(String, Option<u64>)> {
        names.iter().map(|name| ((*name).to_owned(), None)).collect()
    };
    let counted = |names: &dyn Fn(&SessionFacts) -> Vec<String>| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for session in sessions() {
            for name in names(session) {
                *counts.entry(name).or_default() += 1;
            }
        }
        let mut counts: Vec<_> =
            counts.into_iter().map(|(name, many)| (name, Some(many))).collect();
        counts.sort_by_key(|(_, many)| std::cmp::Reverse(*many));
        counts
    };
    let all: Vec<(String, Option<u64>)> = match field {
        "in" => named(PARTS),
        "project" => counted(&|one| vec![rows.names.name(&one.project).to_owned()]),
        "model" => counted(&|one| one.models.clone()),
        "source" => counted(&|one| vec![one.source.to_string()]),
        "tool" => named(TOOLS),
        "is" => named(&["error", "undone", "live"]),
        "kind" => named(&["prompt", "answer", "tool", "notice", "context"]),
        "fate" => named(&["rewound", "cancelled", "compressed", "replaced", "kept"]),
        "before" | "after" => {
            let back = |(name, days): &(&str, i64)| {
                let start = now.as_second() - days * 86_400;
                let is_after = |session: &&std::sync::Arc<SessionFacts>| {
                    session.updated.is_some_and(|updated| updated.as_second() >= start)
                };
                let after = sessions().filter(is_after).count();
                let many = if field == "after" { after } else { sessions().count() - after };
                ((*name).to_owned(), Some(many as u64))
            };
            TIMES.iter().map(back).collect()
        }
        _ => Vec::new(),
    };
    let wanted = value.trim_matches('"').to_lowercase();
    // A project whose folder is not known cannot be named.
    let fits =
        |(name, _): &(String, Option<u64>)| name != "?" && name.to_lowercase().contains(&wanted);
    let candidate = |(name, many): (String, Option<u64>)| {
        let is_word =
            name.chars().all(|letter| letter.is_alphanumeric() || "-_./".contains(letter));
        let text = if is_word { format!("{field}:{name}") } else { format!("{field}:\"{name}\"") };
        (text, many.map(|many| many.to_string()).unwrap_or_default())
    };
    all.into_iter().filter(fits).map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_completed() {
        assert_eq!(word_start("tax in:an"), 4);
        assert_eq!(word_start("project:\"my sh"), 0);
        assert_eq!(word_start("(to"), 1);
        let now = "2026-11-15T23:30:00Z".parse().unwrap();
        let rows = Rows::default();
        let texts = |before: &str| {
            let found = Completion::of(before, &rows, now).unwrap_or_default().candidates;
            found.into_iter().map(|(text, _)| text).collect::<Vec<_>>()
        };
        assert_eq!(texts("tax pro"), ["project:"]);
        assert_eq!(texts("in:thou"), ["in:thought"]);
        assert_eq!(texts("is:").len(), 3);
        assert_eq!(texts("nothing"), [""; 0]);
        let mut completion = Completion::of("is:", &rows, now).unwrap();
        assert_eq!(completion.step(1), Some("is:error"));
        assert_eq!(completion.step(-1), Some("is:live"));
    }
}
