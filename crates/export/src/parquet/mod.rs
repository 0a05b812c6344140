//! Parquet: rows in, the bytes of a file out, for programs that read tables.
//!
//! A [`TableFile`] gathers rows in columns and writes them as a row group when it is told to. Who calls says when, as only they know how
//! many files are being written at once. Nothing is kept of a row group that was written but where its columns stand.

mod column;
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

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParquetKind {
    /// A word or a line; the same ones come again and again.
    Text,
    /// Text of any length, of which hardly any comes twice.
    LongText,
    /// A whole number.
    Number,
    /// Another number.
    Real,
    /// Whether something is so.
    Flag,
    /// A moment.
    Time,
}

/// One column of a table.
#[derive(Clone, Copy, Debug)]
pub struct ParquetColumn {
    /// Its name.
    pub name: &'static str,
    /// What its cells are.
    pub kind: ParquetKind,
}

/// One cell of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParquetCell<'a> {
    /// Unknown.
    Null,
    /// Text of any length.
    Text(&'a str),
    /// A whole number.
    Number(i64),
    /// Another number.
    Real(f64),
    /// Whether something is so.
    Flag(bool),
    /// Milliseconds since 1970, UTC.
    Time(i64),
}

/// A table that is being written.
pub struct TableFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Gathered>,
    /// What the gathered rows take in memory.
    bytes: usize,
}

impl<W: Write + Send> fmt::Debug for TableFile<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableFile").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl<W: Write + Send> TableFile<W> {
    /// Begins a table.
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
    /// If the cells are not those of the columns.
    pub fn push(&mut self, row: &[ParquetCell<'_>]) -> io::Result<()> {
        if row.len() != self.columns.len() {
            return Err(io::Error::other("a row has other columns than its table"));
        }
        for (column, cell) in self.columns.iter_mut().zip(row) {
            self.bytes += column.push(cell)?;
        }
        Ok(())
    }

    /// Returns what the rows that are not written yet take in memory.
    pub fn gathered(&self) -> usize {
        self.bytes
    }

    /// Writes the rows since the last time as a row group.
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

    /// Writes what is left, and returns where it was written to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        self.file.into_inner().map_err(failed)
    }
}

/// How columns are written: compressed, words once per row group, with the least and greatest of each stretch.
fn properties(columns: &[ParquetColumn]) -> WriterProperties {
    let mut properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    for column in columns.iter().filter(|column| column.kind == ParquetKind::LongText) {
        // A dictionary of texts that come once is a second copy of them, and nobody looks for the least of them.
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
