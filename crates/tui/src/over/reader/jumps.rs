//! Jumps from one prompt, error, call, change, undone message or pause to the next, and from one match to the next.

use recount_blocks::{Level, is_query};
use recount_model::{Fate, MessageKind};

use super::layout::Row;
use super::moves::{Landing, Spot, Target};
use super::text::{Scan, Seek};
use super::{Reader, Text};
use crate::effect::Notice;
use crate::keys::Action;
use crate::screen::Context;
use crate::work::Slot;

/// What can be jumped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Jump {
    Prompt,
    Error,
    Call,
    Change,
    Undone,
    Gap,
}

/// What `n` does again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    Jump(Jump),
    Find,
}

impl Jump {
    /// Returns what an action jumps to, and whether it is the next one.
    pub(super) fn of(action: Action) -> Option<(Self, bool)> {
        Some(match action {
            Action::NextPrompt | Action::JumpPromptNext => (Self::Prompt, true),
            Action::PreviousPrompt | Action::JumpPromptPrevious => (Self::Prompt, false),
            Action::NextError => (Self::Error, true),
            Action::PreviousError => (Self::Error, false),
            Action::NextCall => (Self::Call, true),
            Action::PreviousCall => (Self::Call, false),
            Action::NextFile => (Self::Change, true),
            Action::PreviousFile => (Self::Change, false),
            Action::NextUndone => (Self::Undone, true),
            Action::PreviousUndone => (Self::Undone, false),
            Action::NextGap => (Self::Gap, true),
            Action::PreviousGap => (Self::Gap, false),
            _ => return None,
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Error => "error",
            Self::Call => "tool call",
            Self::Change => "file change",
            Self::Undone => "undone message",
            Self::Gap => "pause",
        }
    }

    /// Whether a row of a message is one.
    fn is_row(self, row: &Row) -> bool {
        match self {
            Self::Error => row.is_error,
            Self::Call => row.is_call,
            Self::Change => row.is_change,
            Self::Prompt | Self::Undone | Self::Gap => false,
        }
    }

    const fn target(self, on: bool) -> Target {
        match self {
            Self::Error => Target::Error(on),
            Self::Call => Target::Call(on),
            Self::Change => Target::Change(on),
            Self::Prompt | Self::Undone | Self::Gap => Target::First,
        }
    }
}

impl Reader {
    /// Goes to the next or previous one.
    pub(super) fn jump(&mut self, jump: Jump, on: bool, cx: &mut Context<'_>) {
        self.last = Some(Last::Jump(jump));
        let in_calls = matches!(jump, Jump::Error | Jump::Call | Jump::Change);
        if in_calls && self.shown.level < Level::Actions {
            cx.say(Notice::info("tool calls are not shown at level talk: = shows more"));
            return;
        }
        if self.within(on, |row| jump.is_row(row)) {
            self.settle(cx);
            return;
        }
        let Some(text) = self.text_of() else { return };
        let here = self.cursor.message;
        let is_candidate = |at: usize| self.is_candidate(jump, &text, at);
        let after = self.messages.partition_point(|one| *one <= here);
        let before = self.messages.partition_point(|one| *one < here);
        let candidates: Vec<usize> = if on {
            let rest = self.messages.get(after..).unwrap_or_default().iter().copied();
            rest.filter(|at| is_candidate(*at)).collect()
        } else {
            let rest = self.messages.get(..before).unwrap_or_default().iter().rev().copied();
            rest.filter(|at| is_candidate(*at)).collect()
        };
        let target = jump.target(on);
        let seek = match jump {
            Jump::Error => Seek::Error,
            Jump::Change => Seek::Change,
            _ => return self.arrive(candidates.first().copied(), target, on, jump.name(), cx),
        };
        self.seeking = Some((target, on));
        self.scan(text, seek, candidates, cx);
    }

    fn is_candidate(&self, jump: Jump, text: &Text, at: usize) -> bool {
        let Some(mark) = text.marks.get(at) else { return false };
        match jump {
            Jump::Prompt => mark.kind == MessageKind::Prompt,
            Jump::Error => mark.failed > 0 || mark.kind == MessageKind::Notice,
            Jump::Call | Jump::Change => mark.calls > 0,
            Jump::Undone => mark.fate != Fate::Kept,
            Jump::Gap => self.gap(at).is_some(),
        }
    }

    /// Goes to another row of the same message. Returns whether there is one.
    fn within(&mut self, on: bool, is_it: impl Fn(&Row) -> bool) -> bool {
        let cursor = self.cursor;
        let rows = self.rows(cursor.message).iter().enumerate();
        let found = if on {
            rows.skip(cursor.line + 1).find(|(_, row)| is_it(row))
        } else {
            rows.take(cursor.line).rfind(|(_, row)| is_it(row))
        };
        let line = found.map(|(line, _)| line);
        self.cursor.line = line.unwrap_or(cursor.line);
        line.is_some()
    }

    fn arrive(
        &mut self,
        at: Option<usize>,
        target: Target,
        on: bool,
        what: &str,
        cx: &mut Context<'_>,
    ) {
        let Some(message) = at else {
            let way = if on { "further" } else { "earlier" };
            cx.say(Notice::info(format!("no {way} {what}")));
            return;
        };
        self.landing = Some(Landing { message, target, keeps_top: false });
        self.settle(cx);
    }

    fn scan(
        &mut self,
        text: std::sync::Arc<Text>,
        seek: Seek,
        candidates: Vec<usize>,
        cx: &mut Context<'_>,
    ) {
        let scan = Scan { key: self.key.clone(), text, seek, candidates, level: self.shown.level };
        cx.ask(Slot::Find, move |work| scan.run(work));
    }

    /// Does the last jump or find again.
    pub(super) fn again(&mut self, on: bool, cx: &mut Context<'_>) {
        match self.last {
            Some(Last::Jump(jump)) => self.jump(jump, on, cx),
            Some(Last::Find) => self.find_from(on, false, cx),
            None => cx.say(Notice::info("/ finds a text; ] and [ jump")),
        }
    }

    /// Finds what was typed.
    pub(super) fn find(&mut self, cx: &mut Context<'_>) {
        let text = self.field.text().trim().to_owned();
        if text.is_empty() {
            self.found.clear();
            return;
        }
        self.last = Some(Last::Find);
        self.find_from(true, true, cx);
    }

    fn find_from(&mut self, on: bool, with_this_row: bool, cx: &mut Context<'_>) {
        let text = self.field.text().trim().to_owned();
        let is_query = is_query(&text);
        self.found = if is_query {
            let plain = text.split_whitespace().filter(|word| !word.contains(':'));
            plain.max_by_key(|word| word.len()).unwrap_or_default().to_lowercase()
        } else {
            text.to_lowercase()
        };
        let found = self.found.clone();
        let is_it = |row: &Row| super::highlight::row_finds(row, &found);
        let Spot { message, line } = self.cursor;
        let is_here = with_this_row && self.rows(message).get(line).is_some_and(is_it);
        if !is_query && (is_here || self.within(on, is_it)) {
            self.settle(cx);
            return;
        }
        let Some(own) = self.text_of() else { return };
        let here = self.cursor.message;
        let after = self.messages.partition_point(|one| *one <= here);
        let before = self.messages.partition_point(|one| *one < here);
        let part = |range: std::ops::Range<usize>| self.messages.get(range).unwrap_or_default();
        let many = self.messages.len();
        // The whole session, and the message under the cursor last.
        let candidates: Vec<usize> = if on {
            part(after..many).iter().chain(part(0..after)).copied().collect()
        } else {
            let last = part(before..many).iter().rev();
            part(0..before).iter().rev().chain(last).copied().collect()
        };
        self.seeking = Some((Target::Found(on), on));
        let seek = if is_query { Seek::Query(text) } else { Seek::Text(text.to_lowercase()) };
        self.scan(own, seek, candidates, cx);
    }

    /// A search has ended.
    pub(super) fn found(&mut self, at: Result<Option<usize>, String>, cx: &mut Context<'_>) {
        let Some((target, on)) = self.seeking.take() else { return };
        let at = match at {
            Ok(at) => at,
            Err(error) => return cx.say(Notice::error(error)),
        };
        if let Target::Found(_) = target {
            let Some(at) = at else {
                let text = self.field.text().trim().to_owned();
                return cx.say(Notice::info(format!("'{text}' is not in what is shown")));
            };
            let here = self.cursor.message;
            if on && at <= here {
                cx.say(Notice::info("from the start again"));
            } else if !on && at >= here {
                cx.say(Notice::info("from the end again"));
            }
        }
        let what = match target {
            Target::Error(_) => "error",
            Target::Change(_) => "file change",
            _ => "match",
        };
        self.arrive(at, target, on, what, cx);
    }
}
