//! The cells of one column, until they are written.

use std::io;

use ::parquet::basic::{LogicalType, TimeUnit, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::Result;
use ::parquet::file::writer::SerializedColumnWriter;

use super::{ParquetCell, ParquetKind};

/// The memory overhead of a text.
const AROUND: usize = size_of::<ByteArray>() + 16;

impl ParquetKind {
    pub(super) fn physical(self) -> Physical {
        match self {
            Self::Text | Self::LongText => Physical::BYTE_ARRAY,
            Self::Number | Self::Time => Physical::INT64,
            Self::Real => Physical::DOUBLE,
            Self::Flag => Physical::BOOLEAN,
        }
    }

    pub(super) fn logical(self) -> Option<LogicalType> {
        match self {
            Self::Text | Self::LongText => Some(LogicalType::String),
            Self::Time => Some(LogicalType::timestamp(true, TimeUnit::MILLIS)),
            Self::Number | Self::Real | Self::Flag => None,
        }
    }
}

/// The cells of one column.
pub(super) struct Gathered {
    kind: ParquetKind,
    /// 1 for each cell with a value, 0 for each null.
    there: Vec<i16>,
    values: Values,
}

enum Values {
    Texts(Vec<ByteArray>),
    Numbers(Vec<i64>),
    Reals(Vec<f64>),
    Flags(Vec<bool>),
}

impl Gathered {
    pub(super) fn new(kind: ParquetKind) -> Self {
        let values = match kind {
            ParquetKind::Text | ParquetKind::LongText => Values::Texts(Vec::new()),
            ParquetKind::Number | ParquetKind::Time => Values::Numbers(Vec::new()),
            ParquetKind::Real => Values::Reals(Vec::new()),
            ParquetKind::Flag => Values::Flags(Vec::new()),
        };
        Self { kind, there: Vec::new(), values }
    }

    /// Adds a cell, and returns its size in memory.
    pub(super) fn push(&mut self, cell: &ParquetCell<'_>) -> io::Result<usize> {
        let value = match (&mut self.values, *cell) {
            (_, ParquetCell::Null) => {
                self.there.push(0);
                return Ok(size_of::<i16>());
            }
            (Values::Texts(texts), ParquetCell::Text(text)) => {
                texts.push(ByteArray::from(text.as_bytes().to_vec()));
                text.len() + AROUND
            }
            (Values::Numbers(numbers), ParquetCell::Number(number))
                if self.kind == ParquetKind::Number =>
            {
                numbers.push(number);
                size_of::<i64>()
            }
            (Values::Numbers(numbers), ParquetCell::Time(millis))
                if self.kind == ParquetKind::Time =>
            {
                numbers.push(millis);
                size_of::<i64>()
            }
            (Values::Reals(reals), ParquetCell::Real(real)) => {
                reals.push(real);
                size_of::<f64>()
            }
            (Values::Flags(flags), ParquetCell::Flag(flag)) => {
                flags.push(flag);
                size_of::<bool>()
            }
            _ => return Err(io::Error::other("a cell is of another kind than its column")),
        };
        self.there.push(1);
        Ok(value + size_of::<i16>())
    }

    /// Writes the cells and clears them.
    pub(super) fn write(&mut self, out: &mut SerializedColumnWriter<'_>) -> Result<()> {
        let there = std::mem::take(&mut self.there);
        match &mut self.values {
            Values::Texts(texts) => write::<ByteArrayType>(out, &std::mem::take(texts), &there),
            Values::Numbers(numbers) => write::<Int64Type>(out, &std::mem::take(numbers), &there),
            Values::Reals(reals) => write::<DoubleType>(out, &std::mem::take(reals), &there),
            Values::Flags(flags) => write::<BoolType>(out, &std::mem::take(flags), &there),
        }
    }
}

fn write<T: DataType>(
    out: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    there: &[i16],
) -> Result<()> {
    out.typed::<T>().write_batch(values, Some(there), None).map(|_| ())
}
