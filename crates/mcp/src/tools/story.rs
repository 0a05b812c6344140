//! A session in few words: whole turns from its start and its end, and the middle in one line.

use std::collections::VecDeque;
use std::sync::Arc;

use recount_display::number::plural;
use recount_engine::{Error, MessageCursor, Opened, Position, View};
use recount_model::{Message, MessageKind, ToolStatus};

use super::turns::Teller;
use crate::memory::Moment;
use crate::text::{fit, lines_tokens};

/// The number of messages that are read at a time.
const PAGE: usize = 64;
/// Calls of a turn that are shown at its start and at its end.
const FIRST_CALLS: usize = 6;
const LAST_CALLS: usize = 4;

/// A story that fits a budget.
#[derive(Debug, Default)]
pub(crate) struct Story {
    /// Its lines.
    pub(crate) lines: Vec<String>,
    /// The number of the message from which on something was left out.
    pub(crate) more: Option<usize>,
}

/// A prompt and what followed.
#[derive(Debug, Default)]
struct Turn {
    /// The number of its first message, from 1.
    number: usize,
    lines: Vec<String>,
    cost: usize,
    calls: usize,
    failed: usize,
}

impl Turn {
    fn finish(mut self) -> Self {
        self.lines = folded_calls(self.lines);
        self.cost = lines_tokens(&self.lines);
        self
    }

    /// Keeps only the lines that fit.
    fn cut_to(&mut self, budget: usize) {
        let left = fit(&mut self.lines, budget.saturating_sub(12));
        if left > 0 {
            self.lines.push(format!("… [{} of this turn left out]", plural(left as u64, "line")));
        }
        self.cost = lines_tokens(&self.lines);
    }
}

/// Replaces the middle of long runs of calls by their number.
fn folded_calls(lines: Vec<String>) -> Vec<String> {
    let mut short = Vec::with_capacity(lines.len());
    let mut run: Vec<String> = Vec::new();
    let flush = |run: &mut Vec<String>, short: &mut Vec<String>| {
        let many = run.len();
        if many > FIRST_CALLS + LAST_CALLS + 2 {
            let left = many - FIRST_CALLS - LAST_CALLS;
            let failed = run
                .iter()
                .skip(FIRST_CALLS)
                .take(left)
                .filter(|line| line.contains(" — failed"))
                .count();
            let tail = run.split_off(many - LAST_CALLS);
            run.truncate(FIRST_CALLS);
            run.push(format!("… {left} more calls ({failed} failed)"));
            run.extend(tail);
        }
        short.append(run);
    };
    for line in lines {
        if line.starts_with("- ") {
            run.push(line);
        } else {
            flush(&mut run, &mut short);
            short.push(line);
        }
    }
    flush(&mut run, &mut short);
    short
}

/// Turns that are left out, counted.
#[derive(Debug, Default)]
struct Folded {
    turns: usize,
    calls: usize,
    failed: usize,
    first: Option<usize>,
}

impl Folded {
    fn add(&mut self, turn: &Turn) {
        self.turns += 1;
        self.calls += turn.calls;
        self.failed += turn.failed;
        self.first.get_or_insert(turn.number);
    }

    fn line(&self) -> String {
        let (turns, calls) =
            (plural(self.turns as u64, "turn"), plural(self.calls as u64, "tool call"));
        format!(
            "… {turns} left out ({calls}, {} failed), from #{} on",
            self.failed,
            self.first.unwrap_or(1)
        )
    }
}

/// Summarizes a session within a budget, from a message on. From the start of a session, its end is included.
pub(crate) fn story(
    moment: &Moment<'_>,
    opened: &Arc<Opened>,
    from: Option<usize>,
    budget: usize,
) -> Result<Story, Error> {
    let mut keeper = Keeper::new(budget, from.is_none());
    let teller = Teller::new(moment, &opened.facts);
    let mut cursor = MessageCursor::new(Arc::clone(opened), View::Full);
    cursor.seek(&Position::Index(from.unwrap_or(1).saturating_sub(1)));
    let mut number = cursor.position();
    let mut turn = Turn { number: number + 1, ..Turn::default() };
    'all: loop {
        if moment.progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let page = cursor.next_page(PAGE);
        if page.is_empty() {
            break;
        }
        for message in page {
            number += 1;
            let Ok(message) = message else { continue };
            if message.kind == MessageKind::Prompt && !turn.lines.is_empty() {
                let next = Turn { number, ..Turn::default() };
                if !keeper.take(std::mem::replace(&mut turn, next).finish()) {
                    break 'all;
                }
            }
            add(&mut turn, &teller, &message, number)?;
        }
    }
    if !turn.lines.is_empty() {
        keeper.take(turn.finish());
    }
    Ok(keeper.told())
}

fn add(
    turn: &mut Turn,
    teller: &Teller<'_>,
    message: &Message,
    number: usize,
) -> Result<(), Error> {
    turn.lines.extend(teller.story(message, number)?);
    turn.calls += message.tool_calls.len();
    turn.failed +=
        message.tool_calls.iter().filter(|call| call.status == ToolStatus::Error).count();
    Ok(())
}

/// Keeps turns from the start and from the end, and counts those between. It never holds more than fits.
#[derive(Debug)]
struct Keeper {
    head: Vec<Turn>,
    tail: VecDeque<Turn>,
    folded: Folded,
    /// What is left for the head, and for the tail.
    room: (usize, usize),
    tail_room: usize,
}

impl Keeper {
    fn new(budget: usize, has_tail: bool) -> Self {
        let tail_room = if has_tail { budget * 9 / 20 } else { 0 };
        let room = (budget - tail_room, tail_room);
        Self { head: Vec::new(), tail: VecDeque::new(), folded: Folded::default(), room, tail_room }
    }

    /// Takes the next turn. Returns whether more are wanted.
    fn take(&mut self, mut turn: Turn) -> bool {
        let is_head = self.tail.is_empty() && self.folded.turns == 0;
        if is_head && self.head.is_empty() && turn.cost > self.room.0 {
            turn.cut_to(self.room.0);
        }
        if is_head && turn.cost <= self.room.0 {
            self.room.0 -= turn.cost;
            self.head.push(turn);
            return true;
        }
        if self.tail_room == 0 {
            self.folded.add(&turn);
            return false;
        }
        if turn.cost > self.tail_room {
            turn.cut_to(self.tail_room);
        }
        while turn.cost > self.room.1 {
            let Some(first) = self.tail.pop_front() else { break };
            self.room.1 += first.cost;
            self.folded.add(&first);
        }
        self.room.1 = self.room.1.saturating_sub(turn.cost);
        self.tail.push_back(turn);
        true
    }

    fn told(self) -> Story {
        let mut lines: Vec<String> = self.head.into_iter().flat_map(|turn| turn.lines).collect();
        if self.folded.turns > 0 && self.tail_room > 0 {
            lines.push(self.folded.line());
        }
        lines.extend(self.tail.into_iter().flat_map(|turn| turn.lines));
        Story { lines, more: self.folded.first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens;

    fn turn(number: usize, words: usize) -> Turn {
        Turn {
            number,
            lines: vec![format!("#{number} you: {}", "word ".repeat(words))],
            calls: 2,
            failed: 1,
            ..Turn::default()
        }
        .finish()
    }

    #[test]
    fn start_and_end_are_kept_and_the_middle_is_counted() {
        let mut keeper = Keeper::new(400, true);
        for number in 1..=100 {
            assert!(keeper.take(turn(number, 20)));
        }
        let story = keeper.told();
        let text = story.lines.join("\n");
        assert!(
            text.starts_with("#1 you") && story.lines.last().unwrap().starts_with("#100 you"),
            "{text}"
        );
        assert!(tokens(&text) <= 400, "{}", tokens(&text));
        let folded = 100 - (story.lines.len() - 1);
        assert!(
            text.contains(&format!(
                "… {folded} turns left out ({} tool calls, {folded} failed)",
                2 * folded
            )),
            "{text}"
        );
        assert_eq!(
            story.more,
            Some(story.lines.iter().position(|line| line.starts_with('…')).unwrap() + 1)
        );
    }

    #[test]
    fn a_turn_that_is_larger_than_the_budget_is_cut() {
        let mut keeper = Keeper::new(200, false);
        let lines = (0..100).map(|at| format!("| line {at} of a long answer")).collect();
        assert!(keeper.take(Turn { number: 1, lines, ..Turn::default() }.finish()));
        assert!(!keeper.take(turn(9, 100)));
        let story = keeper.told();
        assert!(tokens(&story.lines.join("\n")) <= 200);
        assert_eq!(story.more, Some(9));
    }

    #[test]
    fn many_calls_in_a_row_are_folded() {
        let lines: Vec<String> = (0..40)
            .map(|at| format!("- tool {at}{}", if at % 2 == 0 { " — failed: x" } else { "" }))
            .collect();
        let short = folded_calls(lines);
        assert_eq!(short.len(), 11);
        assert_eq!(short[6], "… 30 more calls (15 failed)");
    }
}
