//! The interface of every format.

use std::fmt::Debug;
use std::io::{self, Write};

use recount_model::{Message, Problem, SessionFacts};

/// Writes sessions in one format, message by message.
///
/// A session is `begin`, any number of `message` and `unread`, and `end`. A long one may be written in parts, each with its
/// own `begin` and `end`. The next session may follow in the same output if the format allows it.
pub trait Renderer: Debug + Send {
    /// Writes the part above the messages.
    fn begin(
        &mut self,
        session: &SessionFacts,
        part: TranscriptPart<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()>;

    /// Whether anything of a message is written.
    fn shows(&self, _message: &Message) -> bool {
        true
    }

    /// Whether messages are needed at all.
    fn wants_messages(&self) -> bool {
        true
    }

    /// Whether tool arguments and outputs are written completely.
    fn shows_outputs(&self) -> bool {
        true
    }

    /// Whether it writes rows that are summed up over many sessions: what a session borrows from another is a row of that one.
    fn is_table(&self) -> bool {
        false
    }

    /// Whether sessions of sub-agents may be written where they were called.
    fn nests(&self) -> bool {
        false
    }

    /// Begins the session of a sub-agent; its messages follow.
    fn nest(&mut self, _agent: &SessionFacts, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Ends the session of a sub-agent.
    fn unnest(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Sets what the request of the next message cost, in dollars; only tables are told.
    fn price(&mut self, _cost: Option<f64>) {}

    /// Writes a message, if it is shown.
    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()>;

    /// Writes that a message could not be read.
    fn unread(&mut self, problem: &Problem, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the part below the messages. `next` is the file in which the session continues.
    fn end(&mut self, next: Option<&str>, out: &mut dyn Write) -> io::Result<()>;
}

/// A section of a session that is in one file.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptPart<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// The file of the previous part.
    pub previous: Option<&'a str>,
}

impl TranscriptPart<'_> {
    /// A session in one part, or its first part.
    pub const FIRST: Self = Self { number: 1, previous: None };
}
