//! The documents that `--json` prints, written as they come.

use std::io::{self, Write};
use std::sync::Arc;

use recount_engine::Listing;
use recount_engine::export::json::{write_json, write_safe};
use recount_model::{Message, Problem, SessionFacts};
use serde::Serialize;

use crate::context::{Context, Paged};

/// About what a row of a list takes, in bytes.
const ROW: usize = 1800;
/// Rows that are made into text at once.
const ROWS: usize = 64;

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

/// A list is made into text on two cores: the second half while the first is being printed.
fn sessions_in_parallel(out: &mut impl Write, sessions: &[Arc<SessionFacts>]) -> io::Result<()> {
    let (first, second) = sessions.split_at(sessions.len().div_ceil(2));
    out.write_all(b"[")?;
    std::thread::scope(|scope| {
        let behind = scope.spawn(|| {
            let mut text = Vec::with_capacity(second.len() * ROW);
            rows(&mut text, second).map(|()| text)
        });
        for (at, share) in first.chunks(ROWS).enumerate() {
            let mut text = Vec::with_capacity(share.len() * ROW);
            rows(&mut text, share)?;
            out.write_all(if at > 0 { b"," } else { b"" })?;
            write_safe(out, &text)?;
        }
        out.write_all(if second.is_empty() { b"" } else { b"," })?;
        // A thread that is gone has said why on its way out.
        let text = behind.join().map_err(|_| io::Error::other("a thread has ended early"))?;
        write_safe(out, &text?)
    })?;
    out.write_all(b"]")
}

fn rows(text: &mut Vec<u8>, sessions: &[Arc<SessionFacts>]) -> io::Result<()> {
    for (at, session) in sessions.iter().enumerate() {
        text.extend_from_slice(if at > 0 { b"," } else { b"" });
        serde_json::to_writer(&mut *text, session)?;
    }
    Ok(())
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
