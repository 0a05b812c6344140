//! Parquet: rows in, the bytes of a file out, for programs that read tables.
//!
//! A [`TableFile`] collects rows in columns and writes them as a row group on request. The caller decides when, as only it
//! knows how many files are being written at once. Only the column offsets of a written row group stay in memory.

mod column;
mod read;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::basic::{Compression, Repetition, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{ColumnPath, Type};

use self::column::Gathered;
pub use self::read::read_table;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParquetKind {
    /// A word or a line, often repeated.
    Text,
    /// Text of any length, rarely repeated.
    LongText,
    /// An integer.
    Number,
    /// A floating-point number.
    Real,
    /// A boolean.
    Flag,
    /// A time.
    Time,
}

/// One column of a table.
#[derive(Clone, Copy, Debug)]
pub struct ParquetColumn {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: ParquetKind,
}

/// One cell of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParquetCell<'a> {
    /// Unknown.
    Null,
    /// Text of any length.
    Text(&'a str),
    /// An integer.
    Number(i64),
    /// A floating-point number.
    Real(f64),
    /// A boolean.
    Flag(bool),
    /// Milliseconds since 1970, UTC.
    Time(i64),
}

/// A table that is being written.
pub struct TableFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Gathered>,
    /// The memory used by the collected rows.
    bytes: usize,
}

impl<W: Write + Send> fmt::Debug for TableFile<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableFile").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl<W: Write + Send> TableFile<W> {
    /// Starts a table.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(out: W, name: &str, columns: &[ParquetColumn]) -> io::Result<Self> {
        let fields = columns.iter().map(|column| {
            let kind = column.kind;
            let field = Type::primitive_type_builder(column.name, kind.physical())
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(kind.logical());
            field.build().map(Arc::new)
        });
        let fields = fields.collect::<Result<_, _>>().map_err(failed)?;
        let schema = Type::group_type_builder(name).with_fields(fields).build().map_err(failed)?;
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties(columns)));
        let columns = columns.iter().map(|column| Gathered::new(column.kind)).collect();
        Ok(Self { file: file.map_err(failed)?, columns, bytes: 0 })
    }

    /// Adds a row, with a cell per column.
    ///
    /// # Errors
    /// If the cells do not match the columns.
    pub fn push(&mut self, row: &[ParquetCell<'_>]) -> io::Result<()> {
        if row.len() != self.columns.len() {
            return Err(io::Error::other("a row has other columns than its table"));
        }
        for (column, cell) in self.columns.iter_mut().zip(row) {
            self.bytes += column.push(cell)?;
        }
        Ok(())
    }

    /// Returns the memory used by rows that are not written yet.
    pub fn gathered(&self) -> usize {
        self.bytes
    }

    /// Writes the collected rows as a row group.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group().map_err(failed)?;
        let mut columns = self.columns.iter_mut();
        while let (Some(mut writer), Some(column)) =
            (group.next_column().map_err(failed)?, columns.next())
        {
            column.write(&mut writer).map_err(failed)?;
            writer.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.bytes = 0;
        Ok(())
    }

    /// Writes the remaining rows, and returns the output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.file.into_inner().map_err(failed)
    }
}

/// Returns the column properties: compressed, dictionaries for repeated text, with statistics.
fn properties(columns: &[ParquetColumn]) -> WriterProperties {
    let mut properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    for column in columns.iter().filter(|column| column.kind == ParquetKind::LongText) {
        // A dictionary of unique texts is a second copy of them, and nobody needs their minimum.
        let path = ColumnPath::from(column.name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_statistics_enabled(path, EnabledStatistics::Chunk);
    }
    properties.build()
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        // A full disk is reported as such.
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
