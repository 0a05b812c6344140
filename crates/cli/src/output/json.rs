//! The documents that `--json` prints, written as they come.

use std::io::{self, Write};

use recount_engine::Listing;
use recount_model::{Message, Problem, SessionFacts};
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::context::{Context, Paged};

/// Writes JSON in one line, with characters that a terminal might act on escaped: the same data, safe to look at.
#[derive(Clone, Copy, Debug, Default)]
struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Looking at all of it at once is faster than stopping at the first.
        if fragment.bytes().fold(0, u8::max) < 0x7f {
            return out.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some((at, risky)) = rest.char_indices().find(|(_, c)| is_risky(*c)) {
            out.write_all(rest.get(..at).unwrap_or_default().as_bytes())?;
            write!(out, "\\u{:04x}", u32::from(risky))?;
            rest = rest.get(at + risky.len_utf8()..).unwrap_or_default();
        }
        out.write_all(rest.as_bytes())
    }
}

/// C1 controls, DEL and what turns the direction of text. All lie below U+10000.
fn is_risky(c: char) -> bool {
    matches!(c, '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn write_json<T: ?Sized + Serialize>(out: impl Write, value: &T) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Safe))?)
}

/// Prints a list of sessions.
pub(crate) fn sessions(context: &Context, listing: &Listing) -> io::Result<()> {
    let mut out = context.out(Paged::No);
    out.write_all(br#"{"schema":"recount.list/1","sessions":"#)?;
    sessions_in_parallel(&mut out, &listing.sessions)?;
    out.write_all(br#","problems":"#)?;
    let kept = listing.sessions.iter().flat_map(|session| &session.problem_list);
    let problems: Vec<&Problem> = listing.problems.iter().chain(kept).collect();
    write_json(&mut out, &problems)?;
    out.write_all(b"}\n")?;
    out.finish()
}

/// Thousands of rows are made into text on all cores.
fn sessions_in_parallel(out: &mut impl Write, sessions: &[SessionFacts]) -> io::Result<()> {
    const SHARE: usize = 256;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    out.write_all(b"[")?;
    for (round, shares) in sessions.chunks(SHARE * threads).enumerate() {
        let to_text = |share: &[SessionFacts]| {
            let mut text = Vec::new();
            write_json(&mut text, share).map(|()| text)
        };
        let texts: Vec<io::Result<Vec<u8>>> = std::thread::scope(|scope| {
            let spawned: Vec<_> =
                shares.chunks(SHARE).map(|share| scope.spawn(move || to_text(share))).collect();
            spawned.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        for (at, text) in texts.into_iter().enumerate() {
            let text = text?;
            let rows = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
            if round + at > 0 {
                out.write_all(b",")?;
            }
            out.write_all(rows)?;
        }
    }
    out.write_all(b"]")
}

/// Prints a document with one list in it.
pub(crate) fn document<T: Serialize>(
    context: &Context,
    command: &str,
    key: &str,
    value: &T,
) -> io::Result<()> {
    let mut out = context.out(Paged::No);
    write!(out, r#"{{"schema":"recount.{command}/1","{key}":"#)?;
    write_json(&mut out, value)?;
    out.write_all(b"}\n")?;
    out.finish()
}

/// Prints a document that is whole.
pub(crate) fn whole<T: Serialize>(context: &Context, value: &T) -> io::Result<()> {
    let mut out = context.out(Paged::No);
    write_json(&mut out, value)?;
    out.write_all(b"\n")?;
    out.finish()
}

/// A session with its messages, written one after the other.
#[derive(Debug)]
pub(crate) struct Transcript<W> {
    out: W,
    first: bool,
    problems: Vec<Problem>,
}

impl<W: Write> Transcript<W> {
    pub(crate) fn begin(mut out: W, session: &SessionFacts) -> io::Result<Self> {
        out.write_all(br#"{"schema":"recount.show/1","session":"#)?;
        write_json(&mut out, session)?;
        out.write_all(br#","messages":["#)?;
        Ok(Self { out, first: true, problems: session.problem_list.clone() })
    }

    pub(crate) fn message(&mut self, message: &Message) -> io::Result<()> {
        if !self.first {
            self.out.write_all(b",\n")?;
        }
        self.first = false;
        write_json(&mut self.out, message)
    }

    pub(crate) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(crate) fn end(mut self) -> io::Result<W> {
        self.out.write_all(br#"],"problems":"#)?;
        write_json(&mut self.out, &self.problems)?;
        self.out.write_all(b"}\n")?;
        Ok(self.out)
    }
}

/// Rows of a table, written one after the other.
#[derive(Debug)]
pub(crate) struct Rows<W> {
    out: W,
    first: bool,
}

impl<W: Write> Rows<W> {
    pub(crate) fn begin(mut out: W, columns: &[String]) -> io::Result<Self> {
        out.write_all(br#"{"schema":"recount.sql/1","columns":"#)?;
        write_json(&mut out, columns)?;
        out.write_all(br#","rows":["#)?;
        Ok(Self { out, first: true })
    }

    pub(crate) fn row<T: Serialize>(&mut self, cells: &[T]) -> io::Result<()> {
        if !self.first {
            self.out.write_all(b",\n")?;
        }
        self.first = false;
        write_json(&mut self.out, cells)
    }

    pub(crate) fn end(mut self) -> io::Result<W> {
        self.out.write_all(b"]}\n")?;
        Ok(self.out)
    }
}
