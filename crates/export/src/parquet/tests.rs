//! Tests that read the output back with the crate's own reader.
#![expect(clippy::indexing_slicing, reason = "a test may fail by panic")]

use ::parquet::basic::{Compression, Encoding, LogicalType, TimeUnit};
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
use ::parquet::record::{Field, Row};

use super::*;

const COLUMNS: &[ParquetColumn] = &[
    ParquetColumn { name: "word", kind: ParquetKind::Text },
    ParquetColumn { name: "said", kind: ParquetKind::LongText },
    ParquetColumn { name: "count", kind: ParquetKind::Number },
    ParquetColumn { name: "cost", kind: ParquetKind::Real },
    ParquetColumn { name: "so", kind: ParquetKind::Flag },
    ParquetColumn { name: "at", kind: ParquetKind::Time },
];

/// The reader needs a seekable input; bytes are one as well.
fn read(bytes: Vec<u8>) -> (ParquetMetaData, Vec<Row>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    #[expect(clippy::disallowed_methods, reason = "test setup")]
    std::fs::write(&path, bytes).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    (reader.metadata().clone(), rows)
}

fn cells(row: &Row) -> Vec<Field> {
    row.get_column_iter().map(|(_, field)| field.clone()).collect()
}

#[test]
fn every_kind_of_cell_round_trips() {
    let mut table = TableFile::new(Vec::new(), "t", COLUMNS).unwrap();
    let nothing = [ParquetCell::Null; 6];
    let said = "two\nlines, a NUL \0 and 天気 \u{1b}[31m";
    let full = [
        ParquetCell::Text("a"),
        ParquetCell::Text(said),
        ParquetCell::Number(i64::MIN),
        ParquetCell::Real(-0.5),
        ParquetCell::Flag(true),
        ParquetCell::Time(1_786_000_000_123),
    ];
    let empty = [
        ParquetCell::Text(""),
        ParquetCell::Text(""),
        ParquetCell::Number(i64::MAX),
        ParquetCell::Real(f64::MAX),
        ParquetCell::Flag(false),
        ParquetCell::Time(-1),
    ];
    for row in [&full, &nothing, &empty] {
        table.push(row).unwrap();
    }
    let (_, rows) = read(table.finish().unwrap());
    let text = |text: &str| Field::Str(text.to_owned());
    assert_eq!(
        cells(&rows[0]),
        [
            text("a"),
            text(said),
            Field::Long(i64::MIN),
            Field::Double(-0.5),
            Field::Bool(true),
            Field::TimestampMillis(1_786_000_000_123)
        ]
    );
    assert_eq!(cells(&rows[1]), vec![Field::Null; 6]);
    assert_eq!(
        cells(&rows[2]),
        [
            text(""),
            text(""),
            Field::Long(i64::MAX),
            Field::Double(f64::MAX),
            Field::Bool(false),
            Field::TimestampMillis(-1)
        ]
    );
    assert_eq!(rows.len(), 3);
}

#[test]
fn a_table_without_rows_has_its_columns() {
    let (metadata, rows) =
        read(TableFile::new(Vec::new(), "t", COLUMNS).unwrap().finish().unwrap());
    assert!(rows.is_empty());
    let schema = metadata.file_metadata().schema_descr();
    let names: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
    assert_eq!(names, ["word", "said", "count", "cost", "so", "at"]);
    assert_eq!(
        schema.column(5).logical_type_ref(),
        Some(&LogicalType::timestamp(true, TimeUnit::MILLIS))
    );
    assert_eq!(schema.column(0).logical_type_ref(), Some(&LogicalType::String));
}

#[test]
fn row_groups_end_on_request_and_have_statistics() {
    let mut table = TableFile::new(Vec::new(), "t", COLUMNS).unwrap();
    for number in 0..3000_i64 {
        let said = format!("{number} {}", "x".repeat(2000));
        table
            .push(&[
                ParquetCell::Text(if number % 2 == 0 { "even" } else { "odd" }),
                ParquetCell::Text(&said),
                ParquetCell::Number(number),
                ParquetCell::Null,
                ParquetCell::Flag(number % 2 == 0),
                ParquetCell::Time(number),
            ])
            .unwrap();
        if table.gathered() > 1_000_000 {
            table.flush().unwrap();
            assert_eq!(table.gathered(), 0);
        }
    }
    let bytes = table.finish().unwrap();
    assert!(bytes.len() < 300_000, "{} bytes are not compressed", bytes.len());
    let (metadata, rows) = read(bytes);
    assert_eq!(metadata.num_row_groups(), 7);
    let last = |row: &Row| row.get_column_iter().nth(2).map(|(_, field)| field.clone());
    let numbers: Vec<_> = rows.iter().filter_map(last).collect();
    assert_eq!(numbers, (0..3000).map(Field::Long).collect::<Vec<_>>());
    let group = metadata.row_group(0);
    let column = |at: usize| group.column(at);
    assert!(matches!(column(1).compression(), Compression::ZSTD(_)));
    let has_dictionary = |at: usize| column(at).encodings().any(|e| e == Encoding::RLE_DICTIONARY);
    assert!(has_dictionary(0) && !has_dictionary(1));
    let smallest = column(2).statistics().unwrap().min_bytes_opt().unwrap();
    assert_eq!(smallest, 0_i64.to_le_bytes());
    assert_eq!(
        column(3).statistics().unwrap().null_count_opt(),
        Some(group.num_rows().cast_unsigned())
    );
}

#[test]
fn rows_of_another_shape_are_refused() {
    let mut table = TableFile::new(Vec::new(), "t", COLUMNS).unwrap();
    assert!(table.push(&[ParquetCell::Null; 5]).is_err());
    let mut row = [ParquetCell::Null; 6];
    row[5] = ParquetCell::Number(1);
    assert!(table.push(&row).is_err(), "a number is no time");
}
