//! Reads a table back, row by row.

use std::fs::File;
use std::io;
use std::path::Path;

use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
use ::parquet::record::Field;

use super::{ParquetCell, ParquetColumn, ParquetKind, failed};

/// Calls `visit` with each row of a file: the cells of the given columns, null where the file does not have them.
///
/// # Errors
/// If the file cannot be read.
pub fn read_table(
    path: &Path,
    columns: &[ParquetColumn],
    visit: &mut dyn FnMut(&[ParquetCell<'_>]),
) -> io::Result<()> {
    let reader = SerializedFileReader::new(File::open(path)?).map_err(failed)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
    let places: Vec<Option<usize>> =
        columns.iter().map(|column| names.iter().position(|name| *name == column.name)).collect();
    for row in reader.get_row_iter(None).map_err(failed)? {
        let row = row.map_err(failed)?;
        let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        let cells: Vec<ParquetCell<'_>> = columns
            .iter()
            .zip(&places)
            .map(|(column, place)| {
                let field = place.and_then(|place| fields.get(place));
                field.map_or(ParquetCell::Null, |field| cell(field, column.kind))
            })
            .collect();
        visit(&cells);
    }
    Ok(())
}

/// Returns a cell; null for a value of another type than the column's.
fn cell(field: &Field, kind: ParquetKind) -> ParquetCell<'_> {
    match (field, kind) {
        (Field::Str(text), ParquetKind::Text | ParquetKind::LongText) => ParquetCell::Text(text),
        (Field::Long(number), ParquetKind::Number) => ParquetCell::Number(*number),
        (Field::Double(number), ParquetKind::Real) => ParquetCell::Real(*number),
        (Field::Bool(flag), ParquetKind::Flag) => ParquetCell::Flag(*flag),
        (Field::TimestampMillis(time), ParquetKind::Time) => ParquetCell::Time(*time),
        _ => ParquetCell::Null,
    }
}
