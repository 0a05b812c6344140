//! What every format can do.

use std::fmt::Debug;
use std::io::{self, Write};

use recount_model::{Message, Problem, SessionFacts};

/// Writes sessions in one format, message by message.
///
/// A session is `begin`, any number of `message` and `unread`, and `end`. A long one may be written in parts, each with a
/// `begin` and an `end` of its own. The next session may follow in the same output where a format allows it.
pub trait Renderer: Debug + Send {
    /// Writes what stands above the messages.
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

    /// Whether what was given to tools and what they gave back is written, all of it.
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

    /// Writes a message; nothing when it is not shown.
    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()>;

    /// Notes that a message could not be read.
    fn unread(&mut self, problem: &Problem, out: &mut dyn Write) -> io::Result<()>;

    /// Writes what stands below the messages. `next` is the file in which the session goes on.
    fn end(&mut self, next: Option<&str>, out: &mut dyn Write) -> io::Result<()>;
}

/// A stretch of a session that lies in one file.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptPart<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// The file of the part before.
    pub previous: Option<&'a str>,
}

impl TranscriptPart<'_> {
    /// A session in one piece, or its beginning.
    pub const FIRST: Self = Self { number: 1, previous: None };
}
