//! The flags of `recount export`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use recount_engine::export::{NativeFormat, native_formats};

use crate::commands::show::{LevelArg, ViewArg};

/// Export sessions as Markdown, HTML, JSON, CSV or Parquet
///
/// One session goes to standard output, or to the file or folder given by -o. Several sessions, or a selection by project, time
/// or text, go to the folder given by -o: one file per session, grouped by project. A second run writes only what has changed.
/// HTML folders get an index.html; Parquet writes one file per table. Without a selection, the sessions of this project are
/// exported.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount export latest > session.md
  recount export 279d --minimal -o share.md      # prompts and answers only
  recount export 279d --redact -o share.md       # without secrets and names
  recount export --all -o archive/               # every session; run it again to update
  recount export --all --format html -o site/    # web pages with an index
  recount export --all --format parquet -o tables/")]
pub(crate) struct ExportArgs {
    /// Sessions: ids or their first characters, files, @N or `latest`
    #[arg(value_name = "SESSION")]
    pub(super) sessions: Vec<String>,

    /// Output format; by default taken from the file name, else md
    #[arg(short, long, value_name = "FORMAT", value_parser = formats())]
    pub(super) format: Option<FormatArg>,

    /// Output file or folder, or `-` for standard output
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,

    /// Sessions of this project: a path, a slug, a hash prefix, or part of its name
    #[arg(long, value_name = "PROJECT", conflicts_with = "sessions")]
    pub(super) project: Option<String>,

    /// Sessions of all projects
    #[arg(short, long, conflicts_with_all = ["project", "sessions"])]
    pub(super) all: bool,

    /// Only sessions used at or after this time (2026-09-02, 12h, 7d, today)
    #[arg(long, value_name = "WHEN", conflicts_with = "sessions")]
    pub(super) since: Option<String>,

    /// Only sessions started at or before this time
    #[arg(long, value_name = "WHEN", conflicts_with = "sessions")]
    pub(super) until: Option<String>,

    /// Only sessions that match this query (as in `recount search`)
    #[arg(long, value_name = "QUERY", conflicts_with = "sessions")]
    pub(super) text: Option<String>,

    /// Amount of detail to write (md, txt) or to show at first (html)
    #[arg(short, long, value_name = "LEVEL", default_value = "actions")]
    pub(super) level: LevelArg,

    /// Include the model's thoughts (md, txt), or show them at first (html)
    #[arg(short, long)]
    pub(super) thoughts: bool,

    /// Which messages to write; full by default, always strict in an agent's native format
    #[arg(long, value_name = "VIEW")]
    pub(super) view: Option<ViewArg>,

    /// Only prompts and answers, without paths, ids and tokens (md, html, txt)
    #[arg(long, conflicts_with_all = ["level", "thoughts"])]
    pub(super) minimal: bool,

    /// Start a new file at the next prompt after N messages (md, txt)
    #[arg(long, value_name = "N", requires = "output", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) split: Option<u32>,

    /// Where images go (md, html, txt); by default embedded in html, separate files otherwise
    #[arg(long, value_name = "HOW")]
    pub(super) images: Option<ImagesArg>,

    /// Whether links and images in messages stay active (md)
    #[arg(long, value_name = "HOW", default_value = "inert")]
    pub(super) links: LinksArg,

    /// Redact secrets and personal data; `=check` only reports them and exits with 3 if there are any
    #[arg(
        long,
        value_name = "MODE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "replace"
    )]
    pub(super) redact: Option<RedactArg>,

    /// Table to write (csv, parquet); all tables by default when writing to a folder
    #[arg(long, value_name = "TABLE")]
    pub(super) table: Option<TableArg>,
}

/// The format.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum FormatArg {
    /// Markdown
    Md,
    /// A self-contained web page
    Html,
    /// One JSON document, as `show --json` prints it
    Json,
    /// The session on the first line, then one message per line
    Jsonl,
    /// Plain text, never wrapped
    Txt,
    /// A table
    Csv,
    /// Columnar tables for data tools, in a folder
    Parquet,
    /// What an agent itself can load
    #[value(skip)]
    Own(&'static dyn NativeFormat),
}

/// The formats, including the native formats of the agents.
fn formats() -> impl TypedValueParser<Value = FormatArg> {
    let ours = FormatArg::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let own = |form: &'static dyn NativeFormat| {
        PossibleValue::new(form.source().as_str()).help(form.about())
    };
    PossibleValuesParser::new(ours.chain(native_formats().map(own))).try_map(|name| {
        let own = native_formats().find(|form| form.source().as_str() == name).map(FormatArg::Own);
        own.map_or_else(|| FormatArg::from_str(&name, false), Ok)
    })
}

impl FormatArg {
    /// Returns the format for a file extension.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Self::from_str(&path.extension()?.to_string_lossy(), true).ok()
    }
}

/// What happens to images and other binary parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ImagesArg {
    /// Separate files next to the export
    Beside,
    /// Embedded in the export (md, html)
    Within,
    /// Names only
    None,
}

/// What happens to links and images in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LinksArg {
    /// Links to the web stay; images and links that could run something become text
    Inert,
    /// As they were written
    Keep,
}

/// What happens to secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RedactArg {
    /// Replace them with placeholders
    Replace,
    /// Report them and write nothing
    Check,
}

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TableArg {
    /// One row per session
    Sessions,
    /// One row per request to a model
    Requests,
    /// One row per tool call
    #[value(name = "tool_calls")]
    ToolCalls,
    /// One row per message (parquet)
    Messages,
    /// One row per file that was attached or named by a tool call (parquet)
    #[value(name = "files_touched")]
    FilesTouched,
}
