//! Compares a new session, as it is read from disk, with what was handed over.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use recount_engine::{MessageCursor, Opened, View};
use recount_formats::handover::{HandoverMessage, HandoverRole};
use recount_model::{Message, MessageKind};

/// The number of messages that are read at a time.
const PAGE: usize = 64;

/// What the new session must have: what was said, in order, by its words alone.
#[derive(Debug, Default)]
pub(super) struct Expected {
    turns: Vec<ExpectedTurn>,
}

/// A prompt and the answers to it.
#[derive(Debug, Default)]
struct ExpectedTurn {
    /// The number of the prompt in the old session.
    number: u64,
    /// `None` at the start of a conversation that begins with an answer.
    prompt: Option<u64>,
    answers: Words,
    calls: usize,
}

/// The hash of all words of some texts, however they are divided.
#[derive(Debug, Default)]
struct Words(DefaultHasher);

impl Words {
    fn add(&mut self, text: &str) {
        text.split_whitespace().for_each(|word| word.hash(&mut self.0));
    }

    fn of(text: &str) -> u64 {
        let mut words = Self::default();
        words.add(text);
        words.0.finish()
    }
}

impl Expected {
    /// Adds a message that is handed over.
    pub(super) fn add(&mut self, message: &HandoverMessage, number: u64) {
        match message.role {
            HandoverRole::User if message.text.trim().is_empty() => {}
            HandoverRole::User => {
                let prompt = Some(Words::of(&message.text));
                self.turns.push(ExpectedTurn { number, prompt, ..ExpectedTurn::default() });
            }
            HandoverRole::Model => {
                if self.turns.is_empty() {
                    self.turns.push(ExpectedTurn { number, ..ExpectedTurn::default() });
                }
                if let Some(turn) = self.turns.last_mut() {
                    turn.answers.add(&message.text);
                    turn.calls += message.calls.len();
                }
            }
        }
    }

    /// Compares it with a session. The error is the number of the first prompt, in the old session, whose turn differs.
    pub(super) fn check(&self, opened: &Arc<Opened>) -> Result<(), u64> {
        let mut turns = self.turns.iter().peekable();
        let mut current = turns.next_if(|turn| turn.prompt.is_none());
        let (mut answers, mut calls) = (Words::default(), 0);
        let is_same = |turn: Option<&ExpectedTurn>, answers: &Words, calls: usize| match turn {
            Some(turn) if turn.answers.0.finish() != answers.0.finish() || turn.calls != calls => {
                Err(turn.number)
            }
            _ => Ok(()),
        };
        let mut cursor = MessageCursor::new(Arc::clone(opened), View::Strict);
        loop {
            let page = cursor.next_page(PAGE);
            if page.is_empty() {
                break;
            }
            for message in page {
                let number = || current.map_or(1, |turn| turn.number);
                let message = message.map_err(|_| number())?;
                if message.kind == MessageKind::Answer {
                    answers.add(&message.text);
                    calls += paired(&message).ok_or_else(number)?;
                } else if let Some(next) = turns.next_if(|turn| is_prompt(turn, &message)) {
                    is_same(current, &answers, calls)?;
                    (current, answers, calls) = (Some(next), Words::default(), 0);
                }
            }
        }
        is_same(current, &answers, calls)?;
        turns.next().map_or(Ok(()), |turn| Err(turn.number))
    }
}

/// Counts the calls of an answer; `None` if one has no result.
fn paired(message: &Message) -> Option<usize> {
    let calls = &message.tool_calls;
    calls.iter().all(|call| call.output.is_some()).then_some(calls.len())
}

/// A prompt that looks like something that the agent itself writes is not read as one, but it is there.
fn is_prompt(turn: &ExpectedTurn, message: &Message) -> bool {
    [&message.display_text, &message.text].iter().any(|text| turn.prompt == Some(Words::of(text)))
}
