//! Sessions as rows of several tables at once: each message is read once for all tables.

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
use crate::sql::rows::{CountedTimes, fill_in, next, saved};
use crate::sql::sessions::cells;
use crate::{Error, Opened};

/// If the buffered rows take this much memory, those of the largest table are written.
const MOST: usize = 16 * 1024 * 1024;
/// The column that is in the name of the folder; files must not repeat it.
const IN_PATH: &str = "source";
/// Raised with every change to the content of the cells.
const ROWS: u32 = 3;

/// The result.
pub(super) struct Gathered {
    /// Each file with its size, in the requested order.
    pub(super) written: Vec<(PathBuf, u64)>,
    /// The problems.
    pub(super) problems: Vec<Problem>,
    /// Whether a session was deleted meanwhile.
    pub(super) lost: bool,
}

/// Returns a key that changes when columns do.
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
            tables.said(&opened, &facts, (export, stock, copied), &mut gathered.problems)?;
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

/// Returns the columns of a table: those of the view of its name.
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
        spill(self.files.iter_mut().map(|file| (file.path.as_path(), &mut file.rows)))
    }

    /// Adds the rows of all messages of a session.
    fn said(
        &mut self,
        opened: &Opened,
        facts: &SessionFacts,
        (export, stock, copied): (&Export, &Stock, Option<&HashSet<u64>>),
        problems: &mut Vec<Problem>,
    ) -> Result<(), Error> {
        let redaction = export.redaction.as_deref();
        let mut number = 0;
        let mut times = CountedTimes::from(facts.started);
        let Some(mut bodies) = opened.messages(export.view()) else {
            for message in opened.saved() {
                number += 1;
                let row = (saved(message, &mut times), Ok(message.clone()));
                let cost = stock.cost(&row.0);
                self.message(row, (opened, facts, number, cost), redaction, problems)?;
            }
            return Ok(());
        };
        // As in `sql`: messages from a base are counted in its own session.
        bodies.keep_own();
        while let Some(mut body) = next(&mut bodies, &mut times) {
            number += 1;
            let row = &mut body.0;
            row.is_copy =
                row.request.is_some_and(|key| copied.is_some_and(|all| all.contains(&key)));
            let cost = stock.cost(&body.0);
            self.message(body, (opened, facts, number, cost), redaction, problems)?;
        }
        Ok(())
    }

    fn message(
        &mut self,
        (mut row, body): (MessageRow, Result<Message, Problem>),
        (opened, facts, number, cost): (&Opened, &SessionFacts, usize, Option<f64>),
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
        let message = message.as_ref();
        let said = Said { session, number, file: &file, row: &row, message, cost };
        // Sessions that the agent ran for itself are no conversations, but their requests count.
        let is_told = |table: ExportTable| !facts.is_background || table == ExportTable::Requests;
        for File { table, path, rows, .. } in self.files.iter_mut().filter(|f| is_told(f.table)) {
            said.add_rows(*table, rows).map_err(|source| unwritten(path, source))?;
        }
        spill(self.files.iter_mut().map(|file| (file.path.as_path(), &mut file.rows)))
    }
}

/// Writes the rows of the fullest file if there are too many in memory.
pub(crate) fn spill<'f>(
    files: impl Iterator<Item = (&'f Path, &'f mut TableFile<Draft>)>,
) -> Result<(), Error> {
    let (mut all, mut fullest) = (0, None);
    for (path, rows) in files {
        let gathered = rows.gathered();
        all += gathered;
        if fullest.as_ref().is_none_or(|(most, _, _)| gathered >= *most) {
            fullest = Some((gathered, path, rows));
        }
    }
    let Some((_, path, rows)) = fullest.filter(|_| all >= MOST) else { return Ok(()) };
    rows.flush().map_err(|source| unwritten(path, source))
}

pub(crate) fn unwritten(path: &Path, source: io::Error) -> Error {
    recount_writer::Error::WriteFile { path: path.to_owned(), source }.into()
}
