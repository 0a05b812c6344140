//! Documents that are written one part after the other.

use std::io::{self, Write};

use recount_engine::export::json::write_json;
use recount_model::{Message, Problem, SessionFacts};
use serde::Serialize;

/// A session with its messages, written one after the other.
#[derive(Debug)]
pub struct TranscriptDocument<W> {
    out: W,
    first: bool,
    problems: Vec<Problem>,
}

impl<W: Write> TranscriptDocument<W> {
    /// Writes what comes before the messages.
    pub fn begin(mut out: W, session: &SessionFacts) -> io::Result<Self> {
        out.write_all(br#"{"schema":"recount.show/1","session":"#)?;
        write_json(&mut out, session)?;
        out.write_all(br#","messages":["#)?;
        Ok(Self { out, first: true, problems: session.problem_list.clone() })
    }

    /// Writes a message.
    pub fn message(&mut self, message: &Message) -> io::Result<()> {
        if !self.first {
            self.out.write_all(b",\n")?;
        }
        self.first = false;
        write_json(&mut self.out, message)
    }

    /// Notes a problem, for the end.
    pub fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Writes what comes after the messages.
    pub fn end(mut self) -> io::Result<W> {
        self.out.write_all(br#"],"problems":"#)?;
        write_json(&mut self.out, &self.problems)?;
        self.out.write_all(b"}\n")?;
        Ok(self.out)
    }
}

/// Rows of a table, written one after the other.
#[derive(Debug)]
pub struct TableDocument<W> {
    out: W,
    first: bool,
}

impl<W: Write> TableDocument<W> {
    /// Writes what comes before the rows.
    pub fn begin(mut out: W, columns: &[String]) -> io::Result<Self> {
        out.write_all(br#"{"schema":"recount.sql/1","columns":"#)?;
        write_json(&mut out, columns)?;
        out.write_all(br#","rows":["#)?;
        Ok(Self { out, first: true })
    }

    /// Writes a row.
    pub fn row<T: Serialize>(&mut self, cells: &[T]) -> io::Result<()> {
        if !self.first {
            self.out.write_all(b",\n")?;
        }
        self.first = false;
        write_json(&mut self.out, cells)
    }

    /// Ends the rows; with an error if they are incomplete.
    pub fn end(mut self, error: Option<&str>) -> io::Result<W> {
        self.out.write_all(b"]")?;
        if let Some(error) = error {
            self.out.write_all(br#","error":"#)?;
            write_json(&mut self.out, error)?;
        }
        self.out.write_all(b"}\n")?;
        Ok(self.out)
    }
}
