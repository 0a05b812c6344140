//! SQL queries over sessions as tables, which are updated first.

pub(crate) mod bodies;
mod fill;
mod mistake;
pub(crate) mod rows;
pub(crate) mod sessions;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use recount_catalog::Error as CatalogError;
use recount_catalog::sql::{
    PricedRequest, Question, RequestPrices, SqlError, SqlInput as Given, SqlValue,
};
use recount_model::{Problem, SessionFacts};
use recount_prices::Prices;

use crate::projects::resolve::Effort;
use crate::sessions::list::Digest;
use crate::snapshot::disk_scan::{DiskSnapshot, Progress};
use crate::stats::pricing::request_cost;
use crate::{Engine, Error};
use bodies::Bodies;
use mistake::sql_error;

/// The answer to a statement, not yet read.
#[derive(Debug)]
pub struct SqlTable {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// Whether newer messages may be missing, because another run is reading them.
    pub is_behind: bool,
    /// The problems, up to a limit.
    pub problems: Vec<Problem>,
    /// The number of problems.
    pub problem_count: u64,
    /// Of these, records of a kind we do not know.
    pub not_understood: u64,
    answer: recount_catalog::sql::SqlAnswer,
    statement: String,
    facts: Option<PathBuf>,
}

/// What was read for an answer.
#[derive(Debug, Default)]
struct ReadData {
    sessions: Vec<Arc<SessionFacts>>,
    problems: Vec<Problem>,
    problem_count: u64,
    not_understood: u64,
    /// The fact file.
    facts: Option<PathBuf>,
    /// Whether another run is writing it.
    is_behind: bool,
}

impl Engine {
    /// Runs an SQL statement over the views of [`VIEWS`](recount_catalog::sql::VIEWS). It may only read.
    ///
    /// # Errors
    /// If the statement is invalid or not allowed, or what it needs cannot be stored.
    pub fn sql(&self, statement: &str, progress: &dyn Progress) -> Result<SqlTable, Error> {
        let sql_error = |fault| sql_error(fault, statement);
        let question = Question::new(statement).map_err(sql_error)?;
        let needs = question.needs();
        let mut read_data = ReadData::default();
        if needs.sessions {
            self.aliases()?;
            let (listing, disk, digests, _) = self.everything(&Effort::List, progress)?;
            read_data.count(&disk, &digests);
            read_data.sessions = listing.sessions;
            read_data.sessions.retain(|facts| !facts.is_background);
            self.price(&mut read_data.sessions, progress);
            if needs.facts {
                (read_data.facts, read_data.is_behind) =
                    self.fresh_facts(&disk, &digests, progress)?;
            }
        } else if needs.facts {
            let (disk, digests) = self.digests(progress)?;
            read_data.count(&disk, &digests);
            (read_data.facts, read_data.is_behind) = self.fresh_facts(&disk, &digests, progress)?;
        }
        let given = Given {
            facts: read_data.facts.as_deref(),
            sessions: &mut read_data.sessions.iter().map(|facts| sessions::cells(facts)),
            texts: Box::new(Bodies::new(self.roots.iter().map(|root| root.source))),
            prices: Box::new(KnownPrices(self.pricing().shared())),
        };
        let answer = question.ask(given).map_err(sql_error)?;
        Ok(SqlTable {
            columns: answer.columns().map_err(sql_error)?,
            is_behind: read_data.is_behind,
            problems: read_data.problems,
            problem_count: read_data.problem_count,
            not_understood: read_data.not_understood,
            answer,
            statement: statement.to_owned(),
            facts: read_data.facts,
        })
    }
}

/// The prices of this user; `None` if one is invalid.
struct KnownPrices(Option<Arc<Prices>>);

impl RequestPrices for KnownPrices {
    fn cost(&mut self, request: &PricedRequest<'_>) -> Option<f64> {
        let tokens = rows::tokens(request.tokens, request.cache_write_1h);
        request_cost(self.0.as_deref(), Some(request.model), Some(request.at), &tokens)
    }
}

impl ReadData {
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
    /// Calls `visit` with each row, one after the other, and returns their number.
    ///
    /// # Errors
    /// The error of `visit`, or of the statement.
    pub fn each(
        &self,
        visit: &mut dyn FnMut(&[SqlValue<'_>]) -> io::Result<()>,
    ) -> Result<u64, Error> {
        self.answer.each(visit).map_err(|fault| {
            if let (SqlError::File(CatalogError::Damaged(_)), Some(path)) = (&fault, &self.facts) {
                // Its stamps may look valid forever: the next run rebuilds it.
                let _removed = fill::remove(path);
            }
            sql_error(fault, &self.statement)
        })
    }
}
