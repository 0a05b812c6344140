//! Questions in SQL: read-only, over the documented views and nothing else.
//!
//! A statement is first prepared on empty tables. That tells a mistake before any file is read, and what the answer needs.

mod cost;
mod fault;
mod guard;
mod said;
mod views;

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags};

use crate::facts::TABLES;
use guard::Seen;

pub use cost::{PricedRequest, RequestPrices};
pub use fault::SqlError;
pub use said::{TextLocation, TextPart, TextSource};
pub use views::{ColumnKind, SqlColumn, SqlView, VIEWS};

/// The longest text that a statement may make or read.
const LONGEST: i32 = 256 * 1024 * 1024;

/// One cell of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue<'a> {
    /// Unknown.
    Null,
    /// A whole number.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// Text.
    Text(Cow<'a, str>),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
}

/// What an answer needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The rows of `sessions`.
    pub sessions: bool,
    /// An up-to-date fact file.
    pub facts: bool,
}

/// A statement that can be asked.
#[derive(Clone, Debug)]
pub struct Question {
    statement: String,
    needs: Needs,
}

/// What an answer is made of.
pub struct SqlInput<'a> {
    /// The fact file, if the answer needs one.
    pub facts: Option<&'a Path>,
    /// The rows of `sessions`, each with a cell per column.
    pub sessions: &'a mut dyn Iterator<Item = Vec<SqlValue<'static>>>,
    /// Reads messages from where they stand.
    pub texts: Box<dyn TextSource>,
    /// Knows prices.
    pub prices: Box<dyn RequestPrices>,
}

impl std::fmt::Debug for SqlInput<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlInput").field("facts", &self.facts).finish_non_exhaustive()
    }
}

/// An answer, not yet read.
#[derive(Debug)]
pub struct SqlAnswer {
    db: Connection,
    statement: String,
}

impl Question {
    /// Takes a statement, if it is one, only reads, and names only what there is.
    ///
    /// # Errors
    /// [`SqlError::Mistake`], [`SqlError::Refused`], [`SqlError::Several`] or [`SqlError::Nothing`].
    pub fn new(statement: &str) -> Result<Self, SqlError> {
        if guard::without_comments(statement).is_empty() {
            return Err(SqlError::Nothing);
        }
        // The database would take it for the end.
        if let Some(offset) = statement.find('\0') {
            return Err(SqlError::Mistake {
                what: "a statement cannot hold a NUL".into(),
                offset: Some(offset),
            });
        }
        if let Some(word) = guard::doing(statement) {
            return Err(SqlError::Refused(word.to_owned()));
        }
        let seen = Arc::new(Mutex::new(Seen::default()));
        let mut db = connect(None, &mut std::iter::empty(), Box::new(()), Box::new(()))?;
        watch(&mut db, &seen)?;
        let prepared = db.prepare(statement).map(|prepared| prepared.readonly());
        let seen = seen.lock().map(|seen| seen.clone()).unwrap_or_default();
        match prepared {
            Ok(true) => Ok(Self {
                statement: statement.to_owned(),
                needs: Needs { sessions: seen.sessions, facts: seen.facts },
            }),
            Ok(false) => Err(SqlError::Refused("a change".to_owned())),
            Err(error) => Err(explain(error, statement, seen.refused)),
        }
    }

    /// Returns what the answer needs.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// Asks.
    ///
    /// # Errors
    /// If the fact file cannot be read.
    pub fn ask(self, ground: SqlInput<'_>) -> Result<SqlAnswer, SqlError> {
        let SqlInput { facts, sessions, texts, prices } = ground;
        let mut db = connect(facts, sessions, texts, prices)?;
        db.execute_batch("PRAGMA query_only = ON")?;
        watch(&mut db, &Arc::default())?;
        Ok(SqlAnswer { db, statement: self.statement })
    }
}

impl SqlAnswer {
    /// Returns the names of its columns.
    ///
    /// # Errors
    /// If the fact file cannot be read.
    pub fn columns(&self) -> Result<Vec<String>, SqlError> {
        let prepared = self.db.prepare(&self.statement)?;
        Ok(prepared.column_names().map(str::to_owned).collect())
    }

    /// Calls `visit` with each row, one after the other, and returns how many there were.
    ///
    /// # Errors
    /// What `visit` returns; else what stops the statement: a number too large, a file that cannot be read.
    pub fn each(
        &self,
        visit: &mut dyn FnMut(&[SqlValue<'_>]) -> std::io::Result<()>,
    ) -> Result<u64, SqlError> {
        let mut prepared = self.db.prepare(&self.statement)?;
        let width = prepared.column_count();
        let mut rows = prepared.query([])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            let cells: Result<Vec<SqlValue<'_>>, _> =
                (0..width).map(|at| row.get_ref(at).map(cell)).collect();
            visit(&cells?)?;
            count += 1;
        }
        Ok(count)
    }
}

fn cell(value: ValueRef<'_>) -> SqlValue<'_> {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(number) => SqlValue::Integer(number),
        ValueRef::Real(number) => SqlValue::Real(number),
        ValueRef::Text(text) => SqlValue::Text(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => SqlValue::Bytes(Cow::Borrowed(bytes)),
    }
}

/// Opens the fact file for reading, or empty tables, with the views over it. Views are temporary: nothing of them is written
/// to the file.
fn connect(
    facts: Option<&Path>,
    sessions: &mut dyn Iterator<Item = Vec<SqlValue<'static>>>,
    texts: Box<dyn TextSource>,
    prices: Box<dyn RequestPrices>,
) -> Result<Connection, SqlError> {
    let db = if let Some(path) = facts {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(path, flags)?
    } else {
        let db = Connection::open_in_memory()?;
        db.execute_batch(TABLES.create)?;
        db
    };
    db.busy_timeout(Duration::from_secs(5))?;
    db.execute_batch("PRAGMA mmap_size = 1073741824")?;
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    db.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    said::register(&db, facts, texts)?;
    cost::register(&db, prices)?;
    for view in VIEWS {
        db.execute_batch(&view.create())?;
    }
    fill(&db, sessions)?;
    Ok(db)
}

fn fill(
    db: &Connection,
    sessions: &mut dyn Iterator<Item = Vec<SqlValue<'static>>>,
) -> rusqlite::Result<()> {
    let Some(first) = sessions.next() else { return Ok(()) };
    let marks = vec!["?"; first.len()].join(", ");
    let mut insert = db.prepare(&format!("INSERT INTO temp.sessions VALUES ({marks})"))?;
    for cells in std::iter::once(first).chain(sessions) {
        insert.execute(rusqlite::params_from_iter(cells.into_iter().map(value)))?;
    }
    Ok(())
}

fn value(cell: SqlValue<'static>) -> Value {
    match cell {
        SqlValue::Null => Value::Null,
        SqlValue::Integer(number) => Value::Integer(number),
        SqlValue::Real(number) => Value::Real(number),
        SqlValue::Text(text) => Value::Text(text.into_owned()),
        SqlValue::Bytes(bytes) => Value::Blob(bytes.into_owned()),
    }
}

fn watch(db: &mut Connection, seen: &Arc<Mutex<Seen>>) -> rusqlite::Result<()> {
    db.authorizer(Some(guard::guard(Arc::clone(seen))))
}

/// Distinguishes what was refused from what was not understood.
fn explain(error: rusqlite::Error, statement: &str, refused: Option<String>) -> SqlError {
    if let Some(what) = refused {
        return SqlError::Refused(what);
    }
    // What follows the first statement is prepared by itself, and its mistakes are counted from there.
    if matches!(&error, rusqlite::Error::SqlInputError { sql, .. } if sql.len() < statement.len()) {
        return SqlError::Several;
    }
    match SqlError::from(error) {
        SqlError::Mistake { what, .. } if what.starts_with("cannot modify ") => {
            SqlError::Refused("a change".to_owned())
        }
        SqlError::Mistake { what, offset: None } => {
            let offset = place(&what, statement);
            SqlError::Mistake { what, offset }
        }
        other => other,
    }
}

/// Finds the place of a mistake where the database tells none.
fn place(what: &str, statement: &str) -> Option<usize> {
    if what == "incomplete input" {
        return Some(statement.trim_end().len());
    }
    let name = what.strip_prefix("no such table: ")?;
    let name = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
    let is_inner = |c: char| c.is_alphanumeric() || c == '_';
    let statement = statement.to_ascii_lowercase();
    let found = statement.match_indices(&name).find(|(at, _)| {
        let before = statement.get(..*at).and_then(|text| text.chars().next_back());
        let after = statement.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_inner) && !after.is_some_and(is_inner)
    });
    found.map(|(at, _)| at)
}

#[cfg(test)]
mod tests;
