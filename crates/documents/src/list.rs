//! A list of sessions, written in parallel.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use recount_engine::export::json::{write_json, write_safe};
use recount_engine::{KeptListing, Listing};
use recount_model::{Problem, Project, SessionFacts, SessionRow};

use crate::row;

/// The approximate size of a row of a list, in bytes.
const ROW: usize = 2400;
/// The number of rows that are serialized at once.
const ROWS: usize = 64;
/// The maximum number of batches of rows that wait to be printed.
const AHEAD: usize = 32;

/// Writes a list of sessions.
pub fn sessions(out: &mut impl Write, listing: &Listing) -> io::Result<()> {
    let kept = listing.sessions.iter().flat_map(|session| &session.problem_list);
    let problems: Vec<&Problem> = listing.problems.iter().chain(kept).collect();
    let row = |facts: &Arc<SessionFacts>, write: &mut RowWriter<'_>| {
        write.row(&SessionRow::from(&**facts), &facts.project)
    };
    list(out, &listing.sessions, &row, &problems)
}

/// Writes the rows of a list that did not change.
pub fn kept_rows(out: &mut impl Write, kept: &KeptListing<'_>) -> io::Result<()> {
    let problems: Vec<&Problem> = kept.problems.iter().collect();
    let row = |(row, project): &(&SessionRow<'_>, Arc<Project>), write: &mut RowWriter<'_>| {
        write.row(row, project)
    };
    list(out, &kept.rows, &row, &problems)
}

fn list<T: Sync>(
    out: &mut impl Write,
    rows: &[T],
    row: &WriteRow<'_, T>,
    problems: &[&Problem],
) -> io::Result<()> {
    out.write_all(br#"{"schema":"recount.list/1","sessions":"#)?;
    rows_in_parallel(out, rows, row)?;
    out.write_all(br#","problems":"#)?;
    write_json(&mut *out, problems)?;
    out.write_all(b"}\n")
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
