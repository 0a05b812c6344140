//! The documents of `--json`, written incrementally.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use recount_engine::export::json::{write_json, write_safe};
use recount_engine::{KeptListing, Listing};
use recount_model::{Message, Problem, Project, SessionFacts, SessionRow};
use serde::Serialize;

use crate::context::{Context, Paged};
use crate::output::row;

/// The approximate size of a row of a list, in bytes.
const ROW: usize = 2400;
/// The number of rows that are serialized at once.
const ROWS: usize = 64;
/// The maximum number of batches of rows that wait to be printed.
const AHEAD: usize = 32;

/// Prints a list of sessions.
pub(crate) fn sessions(context: &Context, listing: &Listing) -> io::Result<()> {
    let kept = listing.sessions.iter().flat_map(|session| &session.problem_list);
    let problems: Vec<&Problem> = listing.problems.iter().chain(kept).collect();
    let row = |facts: &Arc<SessionFacts>, write: &mut RowWriter<'_>| {
        write.row(&SessionRow::from(&**facts), &facts.project)
    };
    list(context, &listing.sessions, &row, &problems)
}

/// Prints the rows of a list that did not change.
pub(crate) fn kept_rows(context: &Context, kept: &KeptListing<'_>) -> io::Result<()> {
    let problems: Vec<&Problem> = kept.problems.iter().collect();
    let row = |(row, project): &(SessionRow<'_>, Arc<Project>), write: &mut RowWriter<'_>| {
        write.row(row, project)
    };
    list(context, &kept.rows, &row, &problems)
}

fn list<T: Sync>(
    context: &Context,
    rows: &[T],
    row: &WriteRow<'_, T>,
    problems: &[&Problem],
) -> io::Result<()> {
    let mut out = context.out(Paged::No);
    out.write_all(br#"{"schema":"recount.list/1","sessions":"#)?;
    rows_in_parallel(&mut out, rows, row)?;
    out.write_all(br#","problems":"#)?;
    write_json(&mut out, problems)?;
    out.write_all(b"}\n")?;
    out.finish()
}

/// Serializes one row.
type WriteRow<'f, T> = dyn Fn(&T, &mut RowWriter<'_>) -> io::Result<()> + Sync + 'f;

/// Where a row is serialized to.
struct RowWriter<'a> {
    text: &'a mut Vec<u8>,
    projects: &'a mut Projects,
}

impl RowWriter<'_> {
    fn row(&mut self, row: &SessionRow<'_>, project: &Arc<Project>) -> io::Result<()> {
        row::write(self.text, row, self.projects.text(project)?)
    }
}

/// Serializes a list on two cores: every other batch by a second thread, only a few ahead of what is printed.
fn rows_in_parallel<T: Sync>(
    out: &mut impl Write,
    rows: &[T],
    row: &WriteRow<'_, T>,
) -> io::Result<()> {
    let shares: Vec<&[T]> = rows.chunks(ROWS).collect();
    let shares = shares.as_slice();
    out.write_all(b"[")?;
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(AHEAD);
        scope.spawn(move || {
            let mut projects = Projects::default();
            for share in shares.iter().skip(1).step_by(2) {
                let mut text = Vec::with_capacity(share.len() * ROW);
                let made = write_rows(&mut text, share, row, &mut projects).map(|()| text);
                // The receiver is gone if printing failed: then there is no point in continuing.
                if sender.send(made).is_err() {
                    return;
                }
            }
        });
        let mut projects = Projects::default();
        let mut text = Vec::with_capacity(ROWS * ROW);
        for (at, share) in shares.iter().enumerate() {
            out.write_all(if at > 0 { b"," } else { b"" })?;
            if at % 2 == 0 {
                text.clear();
                write_rows(&mut text, share, row, &mut projects)?;
                write_safe(out, &text)?;
            } else {
                // A thread that panicked has printed the reason.
                let ended = |_| io::Error::other("a thread has ended early");
                write_safe(out, &receiver.recv().map_err(ended)??)?;
            }
        }
        drop(receiver);
        Ok::<(), io::Error>(())
    })?;
    out.write_all(b"]")
}

fn write_rows<T>(
    text: &mut Vec<u8>,
    rows: &[T],
    row: &WriteRow<'_, T>,
    projects: &mut Projects,
) -> io::Result<()> {
    for (at, one) in rows.iter().enumerate() {
        text.extend_from_slice(if at > 0 { b"," } else { b"" });
        row(one, &mut RowWriter { text, projects })?;
    }
    Ok(())
}

/// The serialized projects: many sessions share one.
#[derive(Default)]
struct Projects(HashMap<*const Project, String>);

impl Projects {
    fn text(&mut self, project: &Arc<Project>) -> io::Result<&str> {
        Ok(match self.0.entry(Arc::as_ptr(project)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(serde_json::to_string(project)?),
        })
    }
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

/// Prints a complete document.
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

    /// Ends the rows; with an error if they are incomplete.
    pub(crate) fn end(mut self, error: Option<&str>) -> io::Result<W> {
        self.out.write_all(b"]")?;
        if let Some(error) = error {
            self.out.write_all(br#","error":"#)?;
            write_json(&mut self.out, error)?;
        }
        self.out.write_all(b"}\n")?;
        Ok(self.out)
    }
}
