//! Sessions as rows of several tables at once: each message is read once, whatever tables it has rows in.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use recount_catalog::facts::MessageRow;
use recount_catalog::sql;
use recount_export::ExportTable;
use recount_export::parquet::{ParquetCell, ParquetColumn, ParquetKind, TableFile};
use recount_model::{Message, Problem, SessionFacts};
use recount_writer::Draft;

use super::cells::{Said, typed};
use super::stock::{Item, Stock};
use super::{Export, Redaction};
use crate::cache::refresh::hash;
use crate::sql::rows::{fill_in, next, saved};
use crate::sql::sessions::cells;
use crate::{Error, Opened};

/// When the rows that were gathered take so much memory, those of the fullest table are written.
const MOST: usize = 16 * 1024 * 1024;
/// The column that is in the name of the folder; files must not say it again.
const IN_PATH: &str = "source";
/// Raised with every change to what the cells hold.
const ROWS: u32 = 2;

/// What was written.
pub(super) struct Gathered {
    /// Each file with its size, in the order in which they were asked for.
    pub(super) written: Vec<(PathBuf, u64)>,
    /// What could not be used.
    pub(super) problems: Vec<Problem>,
    /// Whether a session was gone when its turn came.
    pub(super) lost: bool,
}

/// Returns what changes when columns do.
pub(super) fn form() -> String {
    let columns: Vec<_> = ExportTable::ALL.iter().flat_map(|table| columns(*table)).collect();
    let columns: Vec<_> = columns.iter().map(|column| (column.name, column.kind)).collect();
    format!("rows={ROWS}.{:016x}", hash(&columns))
}

/// Writes tables of sessions, each to its file.
pub(super) fn gather(
    files: impl Iterator<Item = (ExportTable, PathBuf)>,
    items: &[Item<'_>],
    stock: &Stock,
    export: &Export,
) -> Result<Gathered, Error> {
    let files = files.map(|(table, path)| File::new(table, path)).collect::<Result<_, _>>()?;
    let mut tables = Tables { files };
    let mut gathered = Gathered { written: Vec::new(), problems: Vec::new(), lost: false };
    for item in items {
        let facts = match export.redaction.as_deref() {
            Some(redaction) => Cow::Owned(redaction.facts(item.facts)),
            None => Cow::Borrowed(item.facts),
        };
        if tables.has_messages() {
            let Some(opened) = stock.open(item) else {
                gathered.problems.push(item.lost());
                gathered.lost = true;
                continue;
            };
            let copied = stock.copied(item.facts);
            tables.said(&opened, &facts, (export, copied), &mut gathered.problems)?;
        }
        if !facts.is_background {
            tables.session(&facts)?;
        }
    }
    for File { path, rows, .. } in tables.files {
        let draft = rows.finish().map_err(|source| unwritten(&path, source))?;
        let bytes = draft.finish()?;
        gathered.written.push((path, bytes));
    }
    Ok(gathered)
}

/// The columns of a table: those of the view of its name.
fn columns(table: ExportTable) -> Vec<ParquetColumn> {
    let view = sql::VIEWS.iter().find(|view| view.name == table.name());
    let columns = view.map(|view| view.columns).unwrap_or_default();
    let column = |column: &sql::SqlColumn| ParquetColumn {
        name: column.name,
        kind: match column.kind {
            sql::ColumnKind::Text => ParquetKind::Text,
            sql::ColumnKind::LongText => ParquetKind::LongText,
            sql::ColumnKind::Number => ParquetKind::Number,
            sql::ColumnKind::Real => ParquetKind::Real,
            sql::ColumnKind::Flag => ParquetKind::Flag,
            sql::ColumnKind::Time => ParquetKind::Time,
        },
    };
    columns.iter().filter(|column| column.name != IN_PATH).map(column).collect()
}

/// A table that is being written.
struct File {
    table: ExportTable,
    path: PathBuf,
    columns: Vec<ParquetColumn>,
    rows: TableFile<Draft>,
}

impl File {
    fn new(table: ExportTable, path: PathBuf) -> Result<Self, Error> {
        let columns = columns(table);
        let rows = TableFile::new(Draft::new(&path)?, table.name(), &columns);
        let rows = rows.map_err(|source| unwritten(&path, source))?;
        Ok(Self { table, path, columns, rows })
    }
}

struct Tables {
    files: Vec<File>,
}

impl Tables {
    fn has_messages(&self) -> bool {
        self.files.iter().any(|file| file.table != ExportTable::Sessions)
    }

    /// Adds the row of a session.
    fn session(&mut self, facts: &SessionFacts) -> Result<(), Error> {
        for file in self.files.iter_mut().filter(|file| file.table == ExportTable::Sessions) {
            let view = sql::VIEWS.iter().find(|view| view.name == ExportTable::Sessions.name());
            let names = view.map(|view| view.columns).unwrap_or_default();
            let cells = cells(facts);
            let own = names.iter().zip(&cells).filter(|(column, _)| column.name != IN_PATH);
            let own = own.map(|(_, cell)| cell).zip(&file.columns);
            let row: Vec<ParquetCell<'_>> =
                own.map(|(cell, column)| typed(cell, column.kind)).collect();
            file.rows.push(&row).map_err(|source| unwritten(&file.path, source))?;
        }
        self.spill()
    }

    /// Adds the rows of everything that was said in a session.
    fn said(
        &mut self,
        opened: &Opened,
        facts: &SessionFacts,
        (export, copied): (&Export, Option<&HashSet<u64>>),
        problems: &mut Vec<Problem>,
    ) -> Result<(), Error> {
        let redaction = export.redaction.as_deref();
        let mut number = 0;
        let Some(mut bodies) = opened.messages(export.view()) else {
            for message in opened.saved() {
                number += 1;
                let told = (saved(message), Ok(message.clone()));
                self.message(told, (opened, facts, number), redaction, problems)?;
            }
            return Ok(());
        };
        // As in `sql`: what is borrowed from another session is counted there.
        bodies.keep_own();
        while let Some(mut told) = next(&mut bodies) {
            number += 1;
            let row = &mut told.0;
            row.is_copy =
                row.request.is_some_and(|key| copied.is_some_and(|all| all.contains(&key)));
            self.message(told, (opened, facts, number), redaction, problems)?;
        }
        Ok(())
    }

    fn message(
        &mut self,
        (mut row, body): (MessageRow, Result<Message, Problem>),
        (opened, facts, number): (&Opened, &SessionFacts, usize),
        redaction: Option<&Redaction>,
        problems: &mut Vec<Problem>,
    ) -> Result<(), Error> {
        let (file, message) = match body {
            Ok(mut message) => {
                if let Some(redaction) = redaction {
                    redaction.message(facts, number, &mut message);
                }
                fill_in(&mut row, &message, opened.source());
                problems.extend(message.located_problems());
                (message.place.file.clone(), Some(message))
            }
            Err(mut problem) => {
                if let Some(redaction) = redaction {
                    problem.file = redaction.plain(&problem.file).into();
                }
                let file = problem.file.clone();
                problems.push(problem);
                (file, None)
            }
        };
        let session = facts.id.as_str();
        let said = Said { session, number, file: &file, row: &row, message: message.as_ref() };
        // Nobody said anything in what the agent ran for itself, and yet its requests count.
        let is_told = |table: ExportTable| !facts.is_background || table == ExportTable::Requests;
        for File { table, path, rows, .. } in self.files.iter_mut().filter(|f| is_told(f.table)) {
            said.tell(*table, rows).map_err(|source| unwritten(path, source))?;
        }
        self.spill()
    }

    /// Writes rows when there are too many in memory.
    fn spill(&mut self) -> Result<(), Error> {
        let all: usize = self.files.iter().map(|file| file.rows.gathered()).sum();
        if all < MOST {
            return Ok(());
        }
        let fullest = self.files.iter_mut().max_by_key(|file| file.rows.gathered());
        fullest.map_or(Ok(()), |file| {
            file.rows.flush().map_err(|source| unwritten(&file.path, source))
        })
    }
}

fn unwritten(path: &Path, source: io::Error) -> Error {
    recount_writer::Error::WriteFile { path: path.to_owned(), source }.into()
}
