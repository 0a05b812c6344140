//! Cells of the tables for a session and a message.

use std::io;

use recount_catalog::facts::{CallRow, MessageRow, TouchRow};
use recount_catalog::sql;
use recount_export::ExportTable;
use recount_export::parquet::{ParquetCell, ParquetKind, TableFile};
use recount_model::Message;
use recount_writer::Draft;

use crate::sql::bodies::thoughts;

/// A message and its data.
pub(super) struct Said<'a> {
    pub(super) session: &'a str,
    /// Its index in the session, from 1.
    pub(super) number: usize,
    pub(super) file: &'a str,
    pub(super) row: &'a MessageRow,
    /// `None` if it could not be read.
    pub(super) message: Option<&'a Message>,
    /// What its request cost, in dollars.
    pub(super) cost: Option<f64>,
}

impl<'a> Said<'a> {
    /// Adds its rows in a table; the cells are in the order of the view's columns.
    pub(super) fn add_rows(
        &self,
        table: ExportTable,
        rows: &mut TableFile<Draft>,
    ) -> io::Result<()> {
        match table {
            ExportTable::Sessions => Ok(()),
            ExportTable::Messages => {
                let thoughts = self.message.and_then(|message| thoughts(&message.thoughts));
                rows.push(&self.message_row(thoughts.as_deref()))
            }
            ExportTable::ToolCalls => {
                let mut calls = self.row.calls.iter().enumerate();
                calls.try_for_each(|(at, call)| rows.push(&self.call_row(at, call)))
            }
            ExportTable::Requests => match self.row.tokens.filter(|_| !self.row.is_copy) {
                Some(tokens) => rows.push(&self.request_row(tokens)),
                None => Ok(()),
            },
            ExportTable::FilesTouched => {
                let mut touched = self.row.touched.iter();
                touched.try_for_each(|touched| rows.push(&self.touched_row(touched)))
            }
        }
    }

    pub(super) fn message_row(&self, thoughts: Option<&'a str>) -> Vec<ParquetCell<'a>> {
        let Self { row, message, .. } = *self;
        let mut cells = vec![
            ParquetCell::Text(self.session),
            count(self.number),
            text(row.id.as_deref()),
            ParquetCell::Text(&row.kind),
            ParquetCell::Text(&row.fate),
            time(row.time.as_deref()),
            text(row.model.as_deref()),
            row.characters.map_or(ParquetCell::Null, figure),
            figure(row.tool_calls),
        ];
        cells.extend(row.tokens.map_or([ParquetCell::Null; 7], |tokens| tokens.map(figure)));
        cells.extend([
            ParquetCell::Text(self.file),
            row.line.map_or(ParquetCell::Null, |line| ParquetCell::Number(i64::from(line))),
            figure(row.offset),
            figure(row.bytes),
            text(message.map(|message| message.text.as_str())),
            text(message.map(|message| message.display_text.as_str())),
            text(thoughts),
        ]);
        cells
    }

    pub(super) fn call_row(&self, at: usize, row: &'a CallRow) -> Vec<ParquetCell<'a>> {
        let call = self.message.and_then(|message| message.tool_calls.get(at));
        vec![
            ParquetCell::Text(self.session),
            text(self.row.id.as_deref()),
            count(self.number),
            count(at + 1),
            text(row.id.as_deref()),
            ParquetCell::Text(&row.name),
            text(row.display_name.as_deref()),
            text(row.status.as_deref()),
            ParquetCell::Flag(row.status.as_deref() == Some("error")),
            time(row.time.as_deref()),
            text(row.key_arg.as_deref()),
            text(row.agent_id.as_deref()),
            ParquetCell::Text(row.output_state),
            text(call.map(|call| call.args.as_str())),
            text(call.and_then(|call| call.output.as_deref())),
            text(call.and_then(|call| call.diff.as_deref())),
        ]
    }

    pub(super) fn request_row(&self, tokens: [u64; 7]) -> Vec<ParquetCell<'a>> {
        let row = self.row;
        let mut cells = vec![
            ParquetCell::Text(self.session),
            text(row.id.as_deref()),
            count(self.number),
            time(row.time.as_deref()),
            text(row.model.as_deref()),
            ParquetCell::Text(&row.fate),
        ];
        cells.extend(tokens.map(figure));
        cells.push(self.cost.map_or(ParquetCell::Null, ParquetCell::Real));
        cells
    }

    pub(super) fn touched_row(&self, row: &'a TouchRow) -> [ParquetCell<'a>; 7] {
        [
            ParquetCell::Text(self.session),
            text(self.row.id.as_deref()),
            count(self.number),
            ParquetCell::Text(&row.tool),
            ParquetCell::Text(row.how),
            ParquetCell::Text(&row.path),
            time(row.time.as_deref()),
        ]
    }
}

/// Converts a cell of a view to the type of its column.
pub(super) fn typed<'a>(cell: &'a sql::SqlValue<'_>, kind: ParquetKind) -> ParquetCell<'a> {
    match cell {
        sql::SqlValue::Text(moment) if kind == ParquetKind::Time => time(Some(moment)),
        sql::SqlValue::Text(text) => ParquetCell::Text(text),
        sql::SqlValue::Integer(number) if kind == ParquetKind::Flag => {
            ParquetCell::Flag(*number != 0)
        }
        sql::SqlValue::Integer(number) => ParquetCell::Number(*number),
        sql::SqlValue::Real(number) => ParquetCell::Real(*number),
        sql::SqlValue::Null | sql::SqlValue::Bytes(_) => ParquetCell::Null,
    }
}

fn text(text: Option<&str>) -> ParquetCell<'_> {
    text.map_or(ParquetCell::Null, ParquetCell::Text)
}

/// Converts a time of the SQL tables.
fn time(moment: Option<&str>) -> ParquetCell<'static> {
    let time = moment.and_then(|moment| moment.parse::<jiff::Timestamp>().ok());
    time.map_or(ParquetCell::Null, |time| ParquetCell::Time(time.as_millisecond()))
}

fn figure(figure: u64) -> ParquetCell<'static> {
    ParquetCell::Number(i64::try_from(figure).unwrap_or(i64::MAX))
}

fn count(count: usize) -> ParquetCell<'static> {
    figure(count as u64)
}
