//! The documents that `--json` prints, written as they come.

use std::io::{self, Write};

use recount_engine::Listing;
use recount_model::{Message, Problem, SessionFacts};
use serde::Serialize;

use crate::context::{Context, Paged};

/// Prints a list of sessions.
pub(crate) fn sessions(context: &Context, listing: &Listing) -> io::Result<()> {
    let mut out = context.out(Paged::No);
    out.write_all(br#"{"schema":"recount.list/1","sessions":"#)?;
    sessions_in_parallel(&mut out, &listing.sessions)?;
    out.write_all(br#","problems":"#)?;
    let kept = listing.sessions.iter().flat_map(|session| &session.problem_list);
    let problems: Vec<&Problem> = listing.problems.iter().chain(kept).collect();
    serde_json::to_writer(&mut out, &problems)?;
    out.write_all(b"}\n")?;
    out.finish()
}

/// Thousands of rows are made into text on all cores.
fn sessions_in_parallel(out: &mut impl Write, sessions: &[SessionFacts]) -> io::Result<()> {
    const SHARE: usize = 256;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    out.write_all(b"[")?;
    for (round, shares) in sessions.chunks(SHARE * threads).enumerate() {
        let texts: Vec<serde_json::Result<Vec<u8>>> = std::thread::scope(|scope| {
            let spawned: Vec<_> = shares
                .chunks(SHARE)
                .map(|share| scope.spawn(|| serde_json::to_vec(share)))
                .collect();
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
    serde_json::to_writer(&mut out, value)?;
    out.write_all(b"}\n")?;
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
        serde_json::to_writer(&mut out, session)?;
        out.write_all(br#","messages":["#)?;
        Ok(Self { out, first: true, problems: session.problem_list.clone() })
    }

    pub(crate) fn message(&mut self, message: &Message) -> io::Result<()> {
        if !self.first {
            self.out.write_all(b",\n")?;
        }
        self.first = false;
        Ok(serde_json::to_writer(&mut self.out, message)?)
    }

    pub(crate) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(crate) fn end(mut self) -> io::Result<W> {
        self.out.write_all(br#"],"problems":"#)?;
        serde_json::to_writer(&mut self.out, &self.problems)?;
        self.out.write_all(b"}\n")?;
        Ok(self.out)
    }
}
