//! What was said in the sessions of one home, as tables that can be asked in SQL: messages, tool calls, files touched.
//!
//! A cache like the catalog: another version means that it is made again, and a run that was stopped is continued by the
//! next one, as a session's rows and its stamp are written together.

mod rows;
mod tables;

use std::collections::HashMap;
use std::path::Path;

use rusqlite::{CachedStatement, Connection, Transaction, params};

use crate::{Error, schema, signed, unsigned};

pub use rows::{CallRow, MessageRow, SessionRows, TouchRow};
pub(crate) use tables::TABLES;

/// What was said in the sessions of one home.
#[derive(Debug)]
pub struct FactFile {
    db: Connection,
}

impl FactFile {
    /// Opens the file, or makes it. `version` tells how sessions are read: what was read otherwise is thrown away.
    ///
    /// # Errors
    /// [`Error::Damaged`] when there is a file that is none of ours: then it may be removed. Any other error when it
    /// cannot be opened, written or waited for.
    pub fn open(path: &Path, version: &str) -> Result<Self, Error> {
        let db = Connection::open(path)?;
        schema::prepare(&db, TABLES, version)?;
        Ok(Self { db })
    }

    /// Returns the stamps under which sessions are kept, by key.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn stamps(&self) -> Result<HashMap<u64, u64>, Error> {
        let mut select = self.db.prepare_cached("SELECT key, stamp FROM kept_sessions")?;
        let rows = select.query_map([], |row| {
            Ok((unsigned(row.get::<_, i64>(0)?), unsigned(row.get::<_, i64>(1)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Keeps sessions, each in the place of what was kept of it before.
    ///
    /// # Errors
    /// If the file cannot be written; then nothing of it is kept.
    pub fn keep(&mut self, sessions: &[SessionRows]) -> Result<(), Error> {
        let change = self.db.transaction()?;
        change.execute("DELETE FROM kept_marks", [])?;
        for session in sessions {
            delete(&change, signed(session.key))?;
            insert(&change, session)?;
        }
        Ok(change.commit()?)
    }

    /// Forgets sessions by their keys.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn forget(&mut self, keys: &[u64]) -> Result<(), Error> {
        if keys.is_empty() {
            return Ok(());
        }
        let change = self.db.transaction()?;
        change.execute("DELETE FROM kept_marks", [])?;
        for key in keys {
            delete(&change, signed(*key))?;
        }
        Ok(change.commit()?)
    }

    /// Whether it is known which requests are copies of one another, for all that is kept.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn knows_copies(&self) -> Result<bool, Error> {
        let mut select =
            self.db.prepare_cached("SELECT 1 FROM kept_marks WHERE name = 'copies'")?;
        Ok(select.exists([])?)
    }

    /// Finds requests that stand in several sessions: they were made in the one that began first, the others hold copies.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn find_copies(&mut self) -> Result<(), Error> {
        let change = self.db.transaction()?;
        change.execute("DELETE FROM kept_copies", [])?;
        {
            let mut select = change.prepare_cached(SHARED_REQUESTS)?;
            let mut insert = change.prepare_cached("INSERT INTO kept_copies VALUES (?1, ?2)")?;
            let mut rows = select.query([])?;
            let mut last: Option<i64> = None;
            while let Some(row) = rows.next()? {
                let request: i64 = row.get(0)?;
                if last.replace(request) == Some(request) {
                    insert.execute([row.get::<_, i64>(1)?, row.get::<_, i64>(2)?])?;
                }
            }
        }
        change.execute("INSERT OR IGNORE INTO kept_marks VALUES ('copies')", [])?;
        Ok(change.commit()?)
    }
}

/// Requests that stand in more than one place, the place that counts first.
const SHARED_REQUESTS: &str = "
    SELECT m.request, m.session, m.number
    FROM (SELECT request FROM kept_messages WHERE request IS NOT NULL GROUP BY request HAVING count(*) > 1) d
    CROSS JOIN kept_messages m INDEXED BY kept_messages_by_request ON m.request = d.request
    JOIN kept_sessions s ON s.key = m.session
    ORDER BY m.request, s.began, s.ended, s.id, m.number";

/// Takes a session out.
fn delete(change: &Transaction<'_>, key: i64) -> Result<(), Error> {
    change.prepare_cached("DELETE FROM kept_sessions WHERE key = ?1")?.execute([key])?;
    for table in tables::OF_SESSION {
        change
            .prepare_cached(&format!("DELETE FROM {table} WHERE session = ?1"))?
            .execute([key])?;
    }
    Ok(())
}

/// Puts a session in.
fn insert(change: &Transaction<'_>, rows: &SessionRows) -> Result<(), Error> {
    let SessionRows { key, stamp, source, id, folder, began, ended, is_background, .. } = rows;
    let session = signed(*key);
    let mut insert = change
        .prepare_cached("INSERT INTO kept_sessions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    insert.execute(params![
        session,
        signed(*stamp),
        source,
        id,
        folder,
        began,
        ended,
        is_background
    ])?;
    let mut file = change.prepare_cached("INSERT INTO kept_files VALUES (?1, ?2, ?3)")?;
    for (at, path) in rows.files.iter().enumerate() {
        file.execute(params![session, count(at), path])?;
    }
    let mut inserts = Inserts::new(change)?;
    for (at, message) in rows.messages.iter().enumerate() {
        inserts.message(session, count(at + 1), message)?;
    }
    Ok(())
}

/// The statements that put a message in.
struct Inserts<'a> {
    message: CachedStatement<'a>,
    version: CachedStatement<'a>,
    piece: CachedStatement<'a>,
    call: CachedStatement<'a>,
    touched: CachedStatement<'a>,
}

impl<'a> Inserts<'a> {
    fn new(change: &'a Transaction<'_>) -> Result<Self, Error> {
        Ok(Self {
            message: change.prepare_cached(
                "INSERT INTO kept_messages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                 ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)",
            )?,
            version: change
                .prepare_cached("INSERT INTO kept_versions VALUES (?1, ?2, ?3, ?4, ?5)")?,
            piece: change.prepare_cached("INSERT INTO kept_pieces VALUES (?1, ?2, ?3, ?4, ?5)")?,
            call: change.prepare_cached(
                "INSERT INTO kept_calls VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?,
            touched: change
                .prepare_cached("INSERT INTO kept_touched VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?,
        })
    }

    fn message(&mut self, session: i64, number: i64, row: &MessageRow) -> Result<(), Error> {
        let tokens = row.tokens.map(|tokens| tokens.map(bounded));
        let [input, output, cached, cache_write, thoughts, tool, total] =
            tokens.map_or([None; 7], |tokens| tokens.map(Some));
        self.message.execute(params![
            session,
            number,
            row.id,
            row.kind,
            row.fate,
            row.time,
            row.model,
            row.characters.map(bounded),
            bounded(row.tool_calls),
            input,
            output,
            cached,
            cache_write,
            thoughts,
            tool,
            total,
            count(row.file),
            row.line,
            bounded(row.offset),
            bounded(row.bytes),
            row.request.map(signed),
            bounded(row.cache_write_1h),
            row.at,
        ])?;
        for (at, (offset, bytes)) in row.versions.iter().enumerate() {
            let numbers = [session, number, count(at), bounded(*offset), bounded(*bytes)];
            self.version.execute(numbers)?;
        }
        for (at, (offset, bytes)) in row.pieces.iter().enumerate() {
            let numbers = [session, number, count(at), bounded(*offset), bounded(*bytes)];
            self.piece.execute(numbers)?;
        }
        for (at, call) in row.calls.iter().enumerate() {
            let CallRow { id, name, display_name, status, time, key_arg, agent_id, output_state } =
                call;
            let place = count(at + 1);
            self.call.execute(params![
                session,
                number,
                place,
                id,
                name,
                display_name,
                status,
                time,
                key_arg,
                agent_id,
                output_state
            ])?;
        }
        for (at, touched) in row.touched.iter().enumerate() {
            let TouchRow { tool, how, path, time } = touched;
            self.touched.execute(params![session, number, count(at), tool, how, path, time])?;
        }
        Ok(())
    }
}

/// The database knows only signed numbers; no count comes near their end.
fn bounded(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
