//! JSON: one document, or one value per line. The fields are those of the model.

use std::io::{self, Write};

use memchr::{memchr, memchr3};
use recount_model::{Message, Problem, SessionFacts};
use serde::Serialize;

use crate::{Renderer, TranscriptPart};

/// Writes JSON on one line, with characters escaped that a terminal might interpret: the same data, safe to print.
pub fn write_json<T: ?Sized + Serialize>(mut out: impl Write, value: &T) -> io::Result<()> {
    let mut text = Vec::new();
    serde_json::to_writer(&mut text, value)?;
    write_safe(&mut out, &text)
}

/// Writes serialized JSON. Risky characters can only be in a string, where they may be escaped.
pub fn write_safe(out: &mut impl Write, mut text: &[u8]) -> io::Result<()> {
    while let Some((at, risky)) = next_risky(text) {
        out.write_all(text.get(..at).unwrap_or_default())?;
        write!(out, "\\u{:04x}", u32::from(risky))?;
        text = text.get(at + risky.len_utf8()..).unwrap_or_default();
    }
    out.write_all(text)
}

fn next_risky(text: &[u8]) -> Option<(usize, char)> {
    let mut from = 0;
    loop {
        let rest = text.get(from..)?;
        // The bytes with which they begin.
        let (one, other) = (memchr3(0x7f, 0xc2, 0xe2, rest), memchr(0xd8, rest));
        let at = from + one.into_iter().chain(other).min()?;
        let end = (at + 4).min(text.len());
        let begun = text.get(at..end).unwrap_or_default().utf8_chunks().next()?;
        match begun.valid().chars().next() {
            Some(c) if is_risky(c) => return Some((at, c)),
            _ => from = at + 1,
        }
    }
}

/// Whether it is a C1 control, DEL or a bidi control. All are below U+10000.
fn is_risky(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One document: the session, its messages, its problems.
#[derive(Debug, Default)]
pub(crate) struct Document {
    messages: u64,
    problems: Vec<Problem>,
}

impl Renderer for Document {
    fn begin(
        &mut self,
        session: &SessionFacts,
        _part: TranscriptPart<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        *self = Self { messages: 0, problems: session.problem_list.clone() };
        out.write_all(br#"{"schema":"recount.show/1","session":"#)?;
        write_json(&mut *out, session)?;
        out.write_all(br#","messages":["#)
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(if self.messages > 0 { b",\n" } else { b"\n" })?;
        self.messages += 1;
        self.problems.extend(message.located_problems());
        write_json(out, message)
    }

    fn unread(&mut self, problem: &Problem, _out: &mut dyn Write) -> io::Result<()> {
        self.problems.push(problem.clone());
        Ok(())
    }

    fn end(&mut self, _next: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"],\"problems\":")?;
        write_json(&mut *out, &self.problems)?;
        out.write_all(b"}\n")
    }
}

/// The session on the first line, then one message per line; an unreadable message is replaced by a problem.
#[derive(Debug)]
pub(crate) struct Lines;

/// The first line.
#[derive(Serialize)]
struct Head<'a> {
    schema: &'static str,
    session: &'a SessionFacts,
    problems: &'a [Problem],
}

/// A line in place of a message.
#[derive(Serialize)]
struct Unread<'a> {
    problem: &'a Problem,
}

impl Renderer for Lines {
    fn begin(
        &mut self,
        session: &SessionFacts,
        _part: TranscriptPart<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let schema = "recount.session/1";
        write_json(&mut *out, &Head { schema, session, problems: &session.problem_list })?;
        out.write_all(b"\n")
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        write_json(&mut *out, message)?;
        out.write_all(b"\n")
    }

    fn unread(&mut self, problem: &Problem, out: &mut dyn Write) -> io::Result<()> {
        write_json(&mut *out, &Unread { problem })?;
        out.write_all(b"\n")
    }

    fn end(&mut self, _next: Option<&str>, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
