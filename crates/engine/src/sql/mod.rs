//! Questions in SQL: what was said, as tables that are brought up to date first.

pub(crate) mod bodies;
mod fill;
mod mistake;
pub(crate) mod rows;
pub(crate) mod sessions;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use recount_catalog::Error as CatalogError;
use recount_catalog::sql::{Question, SqlError, SqlInput as Given, SqlValue};
use recount_model::{Problem, SessionFacts};

use crate::projects::resolve::Effort;
use crate::sessions::list::Digest;
use crate::snapshot::disk_scan::{DiskSnapshot, Progress};
use crate::{Engine, Error};
use bodies::Bodies;
use mistake::told;

/// The answer to a statement, not yet read.
#[derive(Debug)]
pub struct SqlTable {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Why newer messages may be missing.
    pub note: Option<String>,
    /// What could not be looked at, as much as was kept.
    pub problems: Vec<Problem>,
    /// How many problems there are.
    pub problem_count: u64,
    /// Of these, records of a kind we do not know.
    pub not_understood: u64,
    answer: recount_catalog::sql::SqlAnswer,
    statement: String,
    facts: Option<PathBuf>,
}

/// What was looked at for an answer.
#[derive(Debug, Default)]
struct Looked {
    sessions: Vec<Arc<SessionFacts>>,
    problems: Vec<Problem>,
    problem_count: u64,
    not_understood: u64,
    /// The fact file, up to date unless there is a note.
    facts: Option<PathBuf>,
    note: Option<String>,
}

impl Engine {
    /// Answers a statement in SQL over the views of [`VIEWS`](recount_catalog::sql::VIEWS). It may only read.
    ///
    /// # Errors
    /// If the statement is not understood or not allowed, or what it needs cannot be kept.
    pub fn sql(&self, statement: &str, progress: &dyn Progress) -> Result<SqlTable, Error> {
        let told = |fault| told(fault, statement);
        let question = Question::new(statement).map_err(told)?;
        let needs = question.needs();
        let mut looked = Looked::default();
        if needs.sessions {
            self.aliases()?;
            let (listing, disk, digests, _) = self.everything(&Effort::List, progress)?;
            looked.count(&disk, &digests);
            looked.sessions = listing.sessions;
            looked.sessions.retain(|facts| !facts.is_background);
            self.price(&mut looked.sessions, progress);
            if needs.facts {
                (looked.facts, looked.note) = self.fresh_facts(&disk, &digests, progress)?;
            }
        } else if needs.facts {
            let (disk, digests) = self.digests(progress)?;
            looked.count(&disk, &digests);
            (looked.facts, looked.note) = self.fresh_facts(&disk, &digests, progress)?;
        }
        let given = Given {
            facts: looked.facts.as_deref(),
            sessions: &mut looked.sessions.iter().map(|facts| sessions::cells(facts)),
            texts: Box::new(Bodies::new(self.roots.iter().map(|root| root.source))),
        };
        let answer = question.ask(given).map_err(told)?;
        Ok(SqlTable {
            columns: answer.columns().map_err(told)?,
            note: looked.note,
            problems: looked.problems,
            problem_count: looked.problem_count,
            not_understood: looked.not_understood,
            answer,
            statement: statement.to_owned(),
            facts: looked.facts,
        })
    }
}

impl Looked {
    fn count(&mut self, disk: &DiskSnapshot, digests: &[Digest]) {
        self.problems.clone_from(&disk.problems);
        self.problem_count = disk.problems.len() as u64;
        // What the agent ran for itself has requests, and nothing that anybody could miss.
        for facts in digests.iter().map(|digest| &digest.facts).filter(|facts| !facts.is_background)
        {
            self.problems.extend(facts.problem_list.iter().cloned());
            self.problem_count += facts.problems;
            self.not_understood += facts.not_understood;
        }
    }
}

impl SqlTable {
    /// Calls `visit` with each row, one after the other, and returns how many there were.
    ///
    /// # Errors
    /// What `visit` returns, or what stops the statement.
    pub fn each(
        &self,
        visit: &mut dyn FnMut(&[SqlValue<'_>]) -> io::Result<()>,
    ) -> Result<u64, Error> {
        self.answer.each(visit).map_err(|fault| {
            if let (SqlError::File(CatalogError::Damaged(_)), Some(path)) = (&fault, &self.facts) {
                // Its stamps may look sound for ever: the next run makes it again.
                let _removed = fill::remove(path);
            }
            told(fault, &self.statement)
        })
    }
}
