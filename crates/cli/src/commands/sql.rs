//! `recount sql`

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use clap::Args;
use recount_display::words;
use recount_documents::TableDocument;
use recount_engine::export::csv;
use recount_engine::{SqlColumn, SqlTable, SqlValue, SqlView, VIEWS};
use serde::{Serialize, Serializer};

use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::form::Form;
use crate::output::grid::{Grid, GridCell, GridFit};
use crate::output::json;
use crate::output::number::plural;
use crate::output::progress::Bar;
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;
use crate::output::width::pad_to;

/// Query sessions with SQL
///
/// Runs a read-only SELECT over the views `sessions`, `messages`, `tool_calls`, `requests` and `files_touched`; --schema lists their
/// columns. Message text is read from session files only where it is selected.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount sql --schema
  recount sql \"SELECT model, sum(total), sum(cost_usd) FROM requests GROUP BY 1\"
  recount sql \"SELECT name, count(*), sum(is_error) FROM tool_calls GROUP BY 1\" --csv
  echo \"SELECT count(*) FROM messages\" | recount sql")]
pub(crate) struct SqlArgs {
    /// SELECT statement; read from standard input if missing or `-`
    #[arg(value_name = "SELECT")]
    statement: Option<String>,

    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// List the views and their columns
    #[arg(long, conflicts_with_all = ["statement", "csv"])]
    schema: bool,
}

/// The longest statement that is read from standard input.
const LONGEST: u64 = 1024 * 1024;

pub(crate) fn run(args: &SqlArgs, context: &Context) -> Result<ExitCode, Failure> {
    let statement = match &args.statement {
        _ if args.schema => return show_schema(context),
        Some(statement) if statement != "-" => statement.clone(),
        None if io::stdin().is_terminal() => return show_schema(context),
        _ => from_input()?,
    };
    let engine = context.engine()?;
    let bar = Bar::new(context, "reading sessions");
    let table = engine.sql(&statement, &bar);
    bar.finish();
    let table = table?;
    if table.is_behind {
        context.warn(words::SQL_IS_BEHIND);
    }
    let rows = if context.global.json {
        print_json(&table, context)?
    } else if args.csv {
        print_csv(&table, context)?
    } else {
        print_table(&table, context)?
    };
    let code = context.problems(&table.problems, table.problem_count, table.not_understood);
    if rows == 0 {
        context.warn("no rows");
        return Ok(ExitCode::from(NOTHING));
    }
    Ok(code)
}

fn from_input() -> Result<String, Failure> {
    let mut statement = String::new();
    let read = io::stdin().take(LONGEST).read_to_string(&mut statement);
    read.map_err(|error| {
        Failure::new(ERROR, format!("cannot read the statement from standard input: {error}"))
    })?;
    Ok(statement)
}

fn print_json(table: &SqlTable, context: &Context) -> Result<u64, Failure> {
    let mut rows = TableDocument::begin(context.out(Paged::No), &table.columns)?;
    let count = table.each(&mut |cells| {
        let cells: Vec<InJson<'_, '_>> = cells.iter().map(InJson).collect();
        rows.row(&cells)
    });
    // A statement can fail after its first rows: the output stays valid JSON, with the error.
    let error = count.as_ref().err().map(ToString::to_string);
    match rows.end(error.as_deref()) {
        Ok(out) => out.finish()?,
        Err(unwritten) if error.is_none() => return Err(unwritten.into()),
        // A failed write has its own error.
        Err(_) => {}
    }
    Ok(count?)
}

fn print_csv(table: &SqlTable, context: &Context) -> Result<u64, Failure> {
    let mut out = context.out(Paged::No);
    csv::row(&mut out, table.columns.iter().map(|name| csv::CsvCell::Text(name)))?;
    let count = table.each(&mut |cells| {
        let cells = cells.iter().map(|cell| match cell {
            SqlValue::Text(text) => csv::CsvCell::Text(text),
            other => csv::CsvCell::Number(plain(other)),
        });
        csv::row(&mut out, cells)
    })?;
    out.finish()?;
    Ok(count)
}

fn print_table(table: &SqlTable, context: &Context) -> Result<u64, Failure> {
    let fit = match context.form() {
        Form::Short => GridFit::Page,
        Form::Exact => GridFit::Tabs,
    };
    let out = context.out(Paged::Yes);
    let mut grid = Grid::new(out, context.page(), fit, table.columns.clone());
    let count = table.each(&mut |cells| {
        let cell = |cell: &SqlValue<'_>| match cell {
            SqlValue::Null => GridCell::nothing(),
            SqlValue::Integer(_) | SqlValue::Real(_) => GridCell::number(&plain(cell)),
            SqlValue::Text(text) => GridCell::text(text, fit),
            SqlValue::Bytes(_) => GridCell::text(&plain(cell), fit),
        };
        grid.row(cells.iter().map(cell).collect())
    })?;
    let (out, left_out) = grid.end()?;
    out.finish()?;
    if left_out > 0 {
        let columns = plural(left_out as u64, "column");
        context.warn(&format!("{columns} do not fit: select fewer, or use --csv or --json"));
    }
    Ok(count)
}

/// Formats numbers like `SQLite`, bytes in hex, null as empty.
fn plain(cell: &SqlValue<'_>) -> String {
    match cell {
        SqlValue::Null => String::new(),
        SqlValue::Integer(number) => number.to_string(),
        SqlValue::Real(number) => format!("{number:?}"),
        SqlValue::Text(text) => text.to_string(),
        SqlValue::Bytes(bytes) => bytes.iter().fold(String::new(), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _written = write!(hex, "{byte:02x}");
            hex
        }),
    }
}

/// A cell, for JSON.
struct InJson<'a, 'b>(&'a SqlValue<'b>);

impl Serialize for InJson<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            SqlValue::Null => to.serialize_none(),
            SqlValue::Integer(number) => to.serialize_i64(*number),
            SqlValue::Real(number) => to.serialize_f64(*number),
            SqlValue::Text(text) => to.serialize_str(text),
            SqlValue::Bytes(_) => to.serialize_str(&plain(self.0)),
        }
    }
}

/// A view, for JSON.
#[derive(Serialize)]
struct Described {
    name: &'static str,
    about: &'static str,
    columns: Vec<Named>,
}

/// A column, for JSON.
#[derive(Serialize)]
struct Named {
    name: &'static str,
    form: &'static str,
    about: &'static str,
}

fn show_schema(context: &Context) -> Result<ExitCode, Failure> {
    if context.global.json {
        let named = |&SqlColumn { name, kind, about, .. }: &'static SqlColumn| Named {
            name,
            form: kind.form(),
            about,
        };
        let described = |view: &'static SqlView| Described {
            name: view.name,
            about: view.about,
            columns: view.columns.iter().map(named).collect(),
        };
        let views: Vec<Described> = VIEWS.iter().map(described).collect();
        json::document(context, "sql-schema", "views", &views)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut lines = Vec::new();
    for view in VIEWS {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        let about = format!("  {}", view.about);
        lines.push(Line::new([
            StyledSpan::new(view.name, Tone::Strong),
            StyledSpan::new(&about, Tone::Dim),
        ]));
        let widest = view.columns.iter().map(|column| column.name.len()).max().unwrap_or(0);
        for column in view.columns {
            lines.push(Line::new([
                StyledSpan::new(&format!("  {}  ", pad_to(column.name, widest)), Tone::Name),
                StyledSpan::new(&format!("{:<7}  ", column.kind.form().to_lowercase()), Tone::Dim),
                StyledSpan::new(column.about, Tone::Plain),
            ]));
        }
    }
    let mut out = context.out(Paged::Yes);
    out.write_all(context.page().print(lines).as_bytes())?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
