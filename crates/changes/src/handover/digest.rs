//! A short account of the turns of a conversation, within a budget of tokens. No model writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use recount_formats::handover::{HandoverMessage, HandoverRole, ToolAction};

/// The longest and shortest excerpt of a prompt or an answer, in tokens.
const LONGEST: usize = 400;
const SHORTEST: usize = 8;

/// How much of each text is kept while turns are collected, in characters: no excerpt is longer.
const KEPT: usize = LONGEST * 4 + 1;

/// How many changed files are named.
const FILES: usize = 20;

/// Estimates the number of tokens of a text: four ASCII characters each, or one of any other.
pub(super) fn tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + others
}

/// What a turn is about: a prompt and everything up to the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnOutline {
    /// How the prompt begins.
    prompt: String,
    /// How the last answer begins.
    answer: String,
    edits: u32,
    commands: u32,
    other_calls: u32,
    failed: u32,
    /// Its size in tokens, as it would be handed over.
    pub(super) tokens: usize,
}

/// Collects turns.
#[derive(Debug, Default)]
pub(super) struct Outliner {
    pub(super) turns: Vec<TurnOutline>,
    /// The changed files, each with the numbers of the first and the last turn that changed it.
    changed: BTreeMap<String, (usize, usize)>,
}

impl Outliner {
    /// Adds a message.
    pub(super) fn add(&mut self, message: &HandoverMessage) {
        if message.role == HandoverRole::User || self.turns.is_empty() {
            self.turns.push(TurnOutline::default());
        }
        let number = self.turns.len();
        let Some(turn) = self.turns.last_mut() else { return };
        turn.tokens += tokens(&message.text);
        turn.tokens += message.files.iter().map(|file| tokens(&file.content)).sum::<usize>();
        let start = || message.text.chars().take(KEPT).collect::<String>();
        match message.role {
            HandoverRole::User => turn.prompt = start(),
            HandoverRole::Model if message.text.trim().is_empty() => {}
            HandoverRole::Model => turn.answer = start(),
        }
        for call in &message.calls {
            turn.tokens += tokens(&call.output);
            turn.tokens +=
                call.args.values().filter_map(|arg| arg.as_str()).map(tokens).sum::<usize>();
            turn.failed += u32::from(call.is_error);
            match &call.action {
                Some(ToolAction::Write { path, .. } | ToolAction::Edit { path, .. }) => {
                    turn.edits += 1;
                    if !call.is_error {
                        self.changed.entry(path.clone()).or_insert((number, number)).1 = number;
                    }
                }
                Some(ToolAction::Shell { .. }) => turn.commands += 1,
                _ => turn.other_calls += 1,
            }
        }
    }

    /// Returns the number of the first of the last turns that are handed over whole: as many as fit in `budget`, but at least
    /// one.
    pub(super) fn first_whole(&self, budget: usize) -> usize {
        let mut rest = budget;
        let mut first = self.turns.len().saturating_sub(1);
        rest = rest.saturating_sub(self.turns.last().map_or(0, |turn| turn.tokens));
        for (number, turn) in self.turns.iter().enumerate().rev().skip(1) {
            if turn.tokens > rest {
                break;
            }
            rest -= turn.tokens;
            first = number;
        }
        first
    }

    /// Describes the first `many` turns in at most `budget` tokens. Empty if there are none.
    pub(super) fn digest(&self, many: usize, budget: usize) -> String {
        let turns = self.turns.get(..many).unwrap_or_default();
        if turns.is_empty() {
            return String::new();
        }
        let first = if many == 1 { "turn".to_owned() } else { format!("{many} turns") };
        let heading = format!("Summary of the first {first}, made from excerpts:\n");
        let files = self.files(many, budget / 4);
        let room = budget.saturating_sub(tokens(&heading) + tokens(&files));
        let lines = (0..=5).map(|halved| LONGEST >> halved).filter(|length| *length >= SHORTEST);
        for length in lines {
            let text: String =
                (1..).zip(turns).map(|(number, turn)| turn.lines(number, length)).collect();
            if tokens(&text) <= room {
                return format!("{heading}{files}{text}");
            }
        }
        // The first turn says what it is all about, the last ones where it stands.
        let mut text = turns.first().map(|turn| turn.lines(1, SHORTEST * 2)).unwrap_or_default();
        let mut last = Vec::new();
        let mut used = tokens(&text) + 10;
        for (number, turn) in turns.iter().enumerate().skip(1).rev() {
            let lines = turn.lines(number + 1, SHORTEST);
            used += tokens(&lines) + 1;
            if used > room {
                break;
            }
            last.push(lines);
        }
        let left_out = turns.len().saturating_sub(1 + last.len());
        if left_out > 0 {
            // Writing to a string does not fail.
            let _written = writeln!(text, "… {left_out} turns left out");
        }
        text.extend(last.into_iter().rev());
        let whole = format!("{heading}{files}{text}");
        if tokens(&whole) <= budget { whole } else { excerpt(&whole, budget) }
    }

    /// Lists the files that were changed up to a turn, the last changed first.
    fn files(&self, many: usize, budget: usize) -> String {
        let mut changed: Vec<(&String, (usize, usize))> =
            self.changed.iter().map(|(path, turns)| (path, *turns)).collect();
        changed.retain(|(_, (first, _))| *first <= many);
        changed.sort_by_key(|(_, (_, last))| std::cmp::Reverse(*last));
        let mut line = String::new();
        for (path, _) in changed.iter().take(FILES) {
            let path = one_line(path, 60);
            if tokens(&line) + tokens(&path) + 8 > budget {
                break;
            }
            line.push_str(if line.is_empty() { "Files changed: " } else { ", " });
            line.push_str(&path);
        }
        if !line.is_empty() {
            line.push('\n');
        }
        line
    }
}

impl TurnOutline {
    fn lines(&self, number: usize, length: usize) -> String {
        let mut lines = format!("{number}. User: {}\n", one_line(&self.prompt, length));
        let many = |count: u32, what: &str| match count {
            0 => None,
            1 => Some(format!("1 {what}")),
            count => Some(format!("{count} {what}s")),
        };
        let failed = (self.failed > 0).then(|| format!("{} failed", self.failed));
        let done = [
            many(self.edits, "edit"),
            many(self.commands, "command"),
            many(self.other_calls, "other call"),
            failed,
        ];
        let done: Vec<String> = done.into_iter().flatten().collect();
        if !done.is_empty() {
            let _written = writeln!(lines, "   Tools: {}", done.join(", "));
        }
        if !self.answer.is_empty() {
            let _written = writeln!(lines, "   Agent: {}", one_line(&self.answer, length));
        }
        lines
    }
}

/// Returns the start of a text on one line, within a number of tokens.
fn one_line(text: &str, length: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if tokens(&line) <= length { line } else { excerpt(&line, length) }
}

/// Returns the start of a text, with a mark, within a number of tokens.
fn excerpt(text: &str, length: usize) -> String {
    // In quarters of a token; the mark takes one token.
    let mut room = length.saturating_sub(1) * 4;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let cost = if c.is_ascii() { 1 } else { 4 };
        if cost > room {
            break;
        }
        room -= cost;
        end = at + c.len_utf8();
    }
    format!("{}…", text.get(..end).unwrap_or_default().trim_end())
}
