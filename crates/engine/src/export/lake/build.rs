//! Builds the files of a partition.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use recount_catalog::facts::MessageRow;
use recount_catalog::sql::{SqlValue, VIEWS};
use recount_export::ExportTable;
use recount_export::parquet::{ParquetCell, ParquetColumn, TableFile, read_table};
use recount_formats::source::stable_hash;
use recount_model::{
    Message, Problem, SessionFacts, SessionId, SessionKind, SourceName, timestamp,
};
use recount_writer::Draft;

use super::columns::{LakeColumn, is_in_lake, lake_columns};
use super::copies::local_key;
use super::{Disclosure, LakeLevel, LakeMonth, LakePartition, LakePlan, LakeSession};
use crate::export::cells::{Said, typed};
use crate::export::rows::{spill, unwritten};
use crate::export::stock::Item;
use crate::messages::{Messages, Upcoming, View};
use crate::sql::bodies::thoughts;
use crate::sql::rows::{CountedTimes, fill_in, next};
use crate::sql::sessions::cells;
use crate::stats::usage::{Said as Counted, said};
use crate::{Error, Opened};

/// A file that was built.
#[derive(Clone, Debug)]
pub struct BuiltTable {
    /// The table.
    pub table: ExportTable,
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// The first row, for people: column and value.
    pub sample: Vec<(&'static str, String)>,
}

/// What was built of a partition.
#[derive(Debug, Default)]
pub struct LakeBuild {
    /// The files.
    pub tables: Vec<BuiltTable>,
    /// The problems.
    pub problems: Vec<Problem>,
    /// Whether a session could not be read any more: the partition is built again next time.
    pub lost: bool,
}

/// Earlier files of a partition, from which rows of deleted sessions are taken.
#[derive(Debug, Default)]
pub struct Carried {
    /// The files by table.
    pub files: Vec<(ExportTable, PathBuf)>,
    /// The level at which they were built.
    pub level: Option<LakeLevel>,
}

/// Returns the cells of a session's row, in the order of the columns.
pub(super) fn session_cells(session: &LakeSession, plan: &LakePlan) -> Vec<SqlValue<'static>> {
    let facts = match plan.redaction() {
        Some(redaction) => Cow::Owned(redaction.facts(&session.facts)),
        None => Cow::Borrowed(&*session.facts),
    };
    let view = VIEWS.iter().find(|view| view.name == ExportTable::Sessions.name());
    let columns = view.map(|view| view.columns).unwrap_or_default();
    let own = columns.iter().zip(cells(&facts)).filter(|(column, _)| is_in_lake(column));
    let mut cells: Vec<SqlValue<'static>> = own.map(|(_, cell)| cell).collect();
    for (column, cell) in lake_columns(ExportTable::Sessions).iter().zip(&mut cells) {
        let SqlValue::Text(text) = &*cell else { continue };
        match column.disclosure {
            Disclosure::Hashed => *cell = SqlValue::Text(Cow::Owned(plan.hidden(text))),
            Disclosure::Text if plan.options.level == LakeLevel::None => *cell = SqlValue::Null,
            Disclosure::Always | Disclosure::Text => {}
        }
    }
    let text = |text: &str| SqlValue::Text(Cow::Owned(text.to_owned()));
    cells.extend([
        text(session.main.as_str()),
        text(&session.project),
        SqlValue::Integer(i64::from(session.facts.is_background)),
        plan.options.label.as_deref().map_or(SqlValue::Null, text),
        SqlValue::Integer(0),
    ]);
    cells
}

impl LakePlan {
    /// Builds tables of a partition in a folder.
    ///
    /// # Errors
    /// If a file cannot be written. A session that cannot be read is a problem.
    pub fn build(
        &self,
        partition: &LakePartition,
        tables: &[ExportTable],
        folder: &Path,
        carried: &Carried,
    ) -> Result<LakeBuild, Error> {
        let files = tables.iter().map(|table| {
            let name = format!("{}.parquet", partition.folder(*table).replace('/', "."));
            File::new(*table, folder.join(name))
        });
        if self.stock.prices().is_none() {
            // A price of the user is invalid: nothing is sent without its cost.
            self.engine.prices()?;
        }
        let mut work = Work {
            plan: self,
            files: files.collect::<Result<_, _>>()?,
            month: partition.month,
            day: (i64::MIN, None),
            problems: Vec::new(),
            lost: false,
        };
        work.carry(carried, partition.source)?;
        for session in partition.began.iter().filter_map(|number| self.sessions.get(*number)) {
            work.session(session)?;
        }
        if tables.iter().any(|table| *table != ExportTable::Sessions) {
            for session in partition.sessions.iter().filter_map(|at| self.sessions.get(*at)) {
                work.messages(session)?;
            }
        }
        let mut built = Vec::new();
        for File { table, path, rows, count, sample, .. } in work.files {
            let draft = rows.finish().map_err(|source| unwritten(&path, source))?;
            built.push(BuiltTable { table, bytes: draft.finish()?, path, rows: count, sample });
        }
        Ok(LakeBuild { tables: built, problems: work.problems, lost: work.lost })
    }
}

/// A table that is being written.
struct File {
    table: ExportTable,
    path: PathBuf,
    columns: Vec<LakeColumn>,
    rows: TableFile<Draft>,
    count: u64,
    sample: Vec<(&'static str, String)>,
}

impl File {
    fn new(table: ExportTable, path: PathBuf) -> Result<Self, Error> {
        let columns = lake_columns(table);
        let parquet: Vec<ParquetColumn> = columns.iter().map(LakeColumn::parquet).collect();
        let rows = TableFile::new(Draft::new(&path)?, table.name(), &parquet);
        let rows = rows.map_err(|source| unwritten(&path, source))?;
        Ok(Self { table, path, columns, rows, count: 0, sample: Vec::new() })
    }

    /// Adds a row whose cells are allowed to leave the machine.
    fn push(&mut self, row: &[ParquetCell<'_>]) -> Result<(), Error> {
        if self.count == 0 {
            let cells = self.columns.iter().zip(row);
            self.sample = cells.map(|(column, cell)| (column.name, shown(cell))).collect();
        }
        self.count += 1;
        self.rows.push(row).map_err(|source| unwritten(&self.path, source))
    }

    /// Adds a row of a message: texts are dropped or hashed as the level says, and the lake's own cells are added.
    fn push_masked<'cell>(
        &mut self,
        mut row: Vec<ParquetCell<'cell>>,
        extra: &[ParquetCell<'cell>],
        plan: &LakePlan,
    ) -> Result<(), Error> {
        if plan.options.level != LakeLevel::None {
            row.extend_from_slice(extra);
            return self.push(&row);
        }
        let hashed: Vec<Option<String>> = self
            .columns
            .iter()
            .zip(&row)
            .map(|(column, cell)| match (column.disclosure, cell) {
                (Disclosure::Hashed, ParquetCell::Text(text)) => Some(plan.hidden(text)),
                _ => None,
            })
            .collect();
        let cells = self.columns.iter().zip(&row).zip(&hashed);
        let mut masked: Vec<ParquetCell<'_>> = cells
            .map(|((column, cell), hashed)| match column.disclosure {
                Disclosure::Always => *cell,
                Disclosure::Hashed => {
                    hashed.as_deref().map_or(ParquetCell::Null, ParquetCell::Text)
                }
                Disclosure::Text => ParquetCell::Null,
            })
            .collect();
        masked.extend_from_slice(extra);
        self.push(&masked)
    }
}

fn shown(cell: &ParquetCell<'_>) -> String {
    match cell {
        ParquetCell::Null => String::new(),
        ParquetCell::Text(text) => text.chars().take(80).collect(),
        ParquetCell::Number(number) => number.to_string(),
        ParquetCell::Real(number) => number.to_string(),
        ParquetCell::Flag(flag) => flag.to_string(),
        ParquetCell::Time(time) => {
            timestamp(*time).map(|time| time.to_string()).unwrap_or_default()
        }
    }
}

/// Collects the rows of a partition.
struct Work<'a> {
    plan: &'a LakePlan,
    files: Vec<File>,
    month: Option<LakeMonth>,
    /// Prices by model.
    /// The day of the last message, by its number, with its month: most have the same.
    day: (i64, Option<LakeMonth>),
    problems: Vec<Problem>,
    lost: bool,
}

/// What is known of a message besides its row.
struct MessageMeta {
    key: String,
    at: Option<i64>,
    counts_as: Option<&'static str>,
    is_copy: bool,
    is_request_copy: bool,
}

impl Work<'_> {
    /// Adds the rows of deleted sessions, as they were.
    fn carry(&mut self, carried: &Carried, source: SourceName) -> Result<(), Error> {
        let plan = self.plan;
        let is_left = |id: &str| {
            let id = (source, SessionId::new(id));
            plan.ids.contains(&id) || plan.left_out.contains(&id)
        };
        let level = plan.options.level;
        // What was built at another level is not known to fit this one, unless everything does.
        let is_masked = level != LakeLevel::Full && carried.level != Some(level);
        for (table, path) in &carried.files {
            let Some(file) = self.files.iter_mut().find(|file| file.table == *table) else {
                continue;
            };
            let columns: Vec<ParquetColumn> =
                file.columns.iter().map(LakeColumn::parquet).collect();
            let is_sessions = *table == ExportTable::Sessions;
            let id = if is_sessions { "id" } else { "session" };
            let id = columns.iter().position(|column| column.name == id).unwrap_or_default();
            let mut failed = None;
            let read = read_table(path, &columns, &mut |cells| {
                let Some(ParquetCell::Text(session)) = cells.get(id) else { return };
                if failed.is_some() || is_left(session) {
                    return;
                }
                let mut cells = cells.to_vec();
                for (column, cell) in file.columns.iter().zip(&mut cells) {
                    if is_masked && column.disclosure != Disclosure::Always {
                        *cell = ParquetCell::Null;
                    }
                    if column.name == "gone" {
                        *cell = ParquetCell::Flag(true);
                    }
                }
                failed = file.push(&cells).err();
            });
            read.map_err(|source| Error::Unreadable { path: path.clone(), source })?;
            failed.map_or(Ok(()), Err)?;
            spill(self.files.iter_mut().map(|file| (file.path.as_path(), &mut file.rows)))?;
        }
        Ok(())
    }

    /// Adds the row of a session.
    fn session(&mut self, session: &LakeSession) -> Result<(), Error> {
        let plan = self.plan;
        for file in self.files.iter_mut().filter(|file| file.table == ExportTable::Sessions) {
            let cells = session_cells(session, plan);
            let row: Vec<ParquetCell<'_>> = file
                .columns
                .iter()
                .zip(&cells)
                .map(|(column, cell)| typed(cell, column.kind()))
                .collect();
            file.push(&row)?;
        }
        spill(self.files.iter_mut().map(|file| (file.path.as_path(), &mut file.rows)))
    }

    /// Adds the rows of a session's messages in this month.
    fn messages(&mut self, session: &LakeSession) -> Result<(), Error> {
        let item = Item::listed(&session.facts);
        let Some(opened) = self.plan.stock.open(&item) else {
            self.problems.push(item.lost());
            self.lost = true;
            return Ok(());
        };
        let Some(mut bodies) = opened.messages(View::Full) else { return Ok(()) };
        // Messages from a base are counted in its own session.
        bodies.keep_own();
        let mut number = 0;
        let mut times = CountedTimes::from(session.facts.started);
        while bodies.len() > 0 {
            number += 1;
            let upcoming = bodies.upcoming();
            let meta = self.meta(session, &bodies, upcoming, number, &mut times);
            if self.month_of(session, meta.at) != self.month {
                bodies.skip_next();
                continue;
            }
            let Some((row, body)) = next(&mut bodies, &mut times) else { break };
            self.message((row, body), (&opened, session, number), &meta)?;
        }
        Ok(())
    }

    fn meta(
        &self,
        session: &LakeSession,
        bodies: &Messages<'_>,
        upcoming: Option<Upcoming<'_>>,
        number: usize,
        times: &mut CountedTimes,
    ) -> MessageMeta {
        let facts = &session.facts;
        let own = || stable_hash(&(facts.source.as_str(), facts.id.as_str(), "number", number));
        let Some(Upcoming { outline, entry, index, .. }) = upcoming else {
            let key = format!("{:016x}", own());
            let (is_copy, is_request_copy) = (false, false);
            let counts_as = None;
            return MessageMeta {
                key,
                at: times.at(None, false),
                counts_as,
                is_copy,
                is_request_copy,
            };
        };
        let key = bodies.source().message_key(outline, index);
        let shared = self.plan.shared.get().zip(key);
        let (is_copy, is_request_copy) =
            shared.map_or((false, false), |(shared, key)| shared.is_copy(local_key(facts), key));
        let counted = said(entry);
        let at = times.at(entry.time, counted.is_some());
        let counts_as = counted.map(|counted| match counted {
            // A sub-agent's prompt was not typed by a human.
            Counted::Prompt if facts.kind != SessionKind::Subagent => "prompt",
            Counted::Answer => "answer",
            Counted::Prompt | Counted::Other => "other",
        });
        let key = format!("{:016x}", key.unwrap_or_else(own));
        MessageMeta { key, at, counts_as, is_copy, is_request_copy }
    }

    /// Returns the month of a row: that of its time, or the last one before it in which its session has anything that counts.
    fn month_of(&mut self, session: &LakeSession, at: Option<i64>) -> Option<LakeMonth> {
        const DAY: i64 = 24 * 60 * 60 * 1000;
        let shared = self.plan.shared.get();
        let months = shared.and_then(|shared| shared.months(local_key(&session.facts)));
        let (Some(months), Some(at)) = (months, at) else { return session.began };
        let day = at.div_euclid(DAY);
        if self.day.0 != day {
            self.day = (day, timestamp(at).map(LakeMonth::of));
        }
        let Some(month) = self.day.1 else { return session.began };
        months.range(..=month).next_back().or(months.first()).copied()
    }

    fn message(
        &mut self,
        (mut row, body): (MessageRow, Result<Message, Problem>),
        (opened, session, number): (&Opened, &LakeSession, usize),
        meta: &MessageMeta,
    ) -> Result<(), Error> {
        let redaction = self.plan.redaction();
        let (file, message) = match body {
            Ok(mut message) => {
                if let Some(redaction) = redaction {
                    redaction.message(&session.facts, number, &mut message);
                }
                fill_in(&mut row, &message, opened.source());
                self.problems.extend(message.located_problems());
                (message.place.file.clone(), Some(message))
            }
            Err(mut problem) => {
                if let Some(redaction) = redaction {
                    problem.file = redaction.plain(&problem.file).into();
                }
                let file = problem.file.clone();
                self.problems.push(problem);
                (file, None)
            }
        };
        let cost = self.plan.stock.cost(&row);
        let facts: &SessionFacts = &session.facts;
        let id = facts.id.as_str();
        let message = message.as_ref();
        let said = Said { session: id, number, file: &file, row: &row, message, cost };
        let thoughts = message.and_then(|message| thoughts(&message.thoughts));
        let started = facts
            .started
            .map_or(ParquetCell::Null, |time| ParquetCell::Time(time.as_millisecond()));
        let key = ParquetCell::Text(&meta.key);
        let at = meta.at.map_or(ParquetCell::Null, ParquetCell::Time);
        let (main, project) =
            (ParquetCell::Text(session.main.as_str()), ParquetCell::Text(&session.project));
        let is_copy = ParquetCell::Flag(meta.is_copy);
        let counts_as = meta.counts_as.map_or(ParquetCell::Null, ParquetCell::Text);
        let of_message = [key, at, is_copy, main, project, started];
        let plan = self.plan;
        for file in &mut self.files {
            match file.table {
                ExportTable::Sessions => {}
                ExportTable::Messages => {
                    let extra = [key, at, counts_as, is_copy, main, project, started];
                    file.push_masked(said.message_row(thoughts.as_deref()), &extra, plan)?;
                }
                ExportTable::ToolCalls => {
                    for (number, call) in row.calls.iter().enumerate() {
                        file.push_masked(said.call_row(number, call), &of_message, plan)?;
                    }
                }
                ExportTable::Requests => {
                    if let Some(tokens) = row.tokens.filter(|_| !meta.is_request_copy) {
                        let extra = [key, at, main, project, started];
                        file.push_masked(said.request_row(tokens), &extra, plan)?;
                    }
                }
                ExportTable::FilesTouched => {
                    for touched in &row.touched {
                        let cells = said.touched_row(touched).to_vec();
                        file.push_masked(cells, &of_message, plan)?;
                    }
                }
            }
        }
        spill(self.files.iter_mut().map(|file| (file.path.as_path(), &mut file.rows)))
    }
}
