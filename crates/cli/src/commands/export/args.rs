//! The flags of `recount export`.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use recount_engine::export::{NativeFormat, native_formats};

use crate::commands::show::{LevelArg, ViewArg};

/// Write sessions to files that others can read
///
/// One session goes to standard output, or to the file or folder that -o names. Several, or a selection by project, time or text,
/// go into the folder that -o names: each to a file of its own below its project's, only what has changed since the last
/// export. Tables in Parquet go into a folder as well, and a folder of HTML gets an index.html. Sessions of this project are selected when nothing
/// is said.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount export latest > session.md\n  recount export 3d2f --minimal -o share.md    prompts and answers \
    alone\n  recount export 3d2f --level full --thoughts --split 50 -o parts/\n  recount export --all -o archive/             every \
    session; run it again for what is new\n  recount export --all --format html -o site/  pages for the browser, with an index\n  recount export --project shop --since 7d --format jsonl -o shop/\n  \
    recount export --all --format csv --table requests > requests.csv\n  recount export --all --format parquet -o tables/    for \
    DuckDB, Spark, ClickHouse\n  recount export 3d2f --redact -o share.md     secrets and names taken \
    out"
)]
pub(crate) struct ExportArgs {
    /// Id, its first characters, a file, @N (row of the last list) or `latest`
    #[arg(value_name = "SESSION")]
    pub(super) sessions: Vec<String>,

    /// The form; by default what the name of the file says, else md
    #[arg(short, long, value_name = "FORMAT", value_parser = formats())]
    pub(super) format: Option<FormatArg>,

    /// Write here: a file, a folder, or `-` for standard output
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,

    /// Sessions of this project: a path, a slug, the start of its hash, or a part of its name
    #[arg(long, value_name = "PROJECT", conflicts_with = "sessions")]
    pub(super) project: Option<String>,

    /// Sessions of all projects
    #[arg(short, long, conflicts_with_all = ["project", "sessions"])]
    pub(super) all: bool,

    /// Only sessions used at or after this time (2026-09-02, 12h, 7d, today)
    #[arg(long, value_name = "WHEN", conflicts_with = "sessions")]
    pub(super) since: Option<String>,

    /// Only sessions begun at or before this time
    #[arg(long, value_name = "WHEN", conflicts_with = "sessions")]
    pub(super) until: Option<String>,

    /// Only sessions in which this is found; the same queries as in `recount search`
    #[arg(long, value_name = "QUERY", conflicts_with = "sessions")]
    pub(super) text: Option<String>,

    /// How much to write (md, txt), or to show at first (html)
    #[arg(short, long, value_name = "LEVEL", default_value = "actions")]
    pub(super) level: LevelArg,

    /// Write the model's thoughts (md, txt), or show them at first (html)
    #[arg(short, long)]
    pub(super) thoughts: bool,

    /// Which messages: what the agent itself would load, or everything ever said (by default; never in an agent's own form)
    #[arg(long, value_name = "VIEW")]
    pub(super) view: Option<ViewArg>,

    /// For sharing: only prompts and answers, no paths, ids or tokens around them (md, html, txt)
    #[arg(long, conflicts_with_all = ["level", "thoughts"])]
    pub(super) minimal: bool,

    /// Begin a new file before a prompt once one has N messages (md, txt)
    #[arg(long, value_name = "N", requires = "output", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) split: Option<u32>,

    /// What becomes of images (md, html, txt); by default html has them within, others files beside the one that -o names
    #[arg(long, value_name = "HOW")]
    pub(super) images: Option<ImagesArg>,

    /// What becomes of images and of links in what was said (md)
    #[arg(long, value_name = "HOW", default_value = "inert")]
    pub(super) links: LinksArg,

    /// Take out secrets and personal data; with `=check` only say what would be, and exit with 3 if there is any
    #[arg(
        long,
        value_name = "MODE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "replace"
    )]
    pub(super) redact: Option<RedactArg>,

    /// The table (csv, parquet); a folder gets all when none is named
    #[arg(long, value_name = "TABLE")]
    pub(super) table: Option<TableArg>,
}

/// The form.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum FormatArg {
    /// Markdown
    Md,
    /// A page for browsers, whole in one file
    Html,
    /// One JSON document, as `show --json` prints it
    Json,
    /// The session on the first line, then one message per line
    Jsonl,
    /// Plain text, never wrapped
    Txt,
    /// A table
    Csv,
    /// Tables for other programs, in a folder
    Parquet,
    /// What an agent itself can load
    #[value(skip)]
    Own(&'static dyn NativeFormat),
}

/// The forms, and those of the agents that have one of their own.
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
    /// What the ending of a file says.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Self::from_str(&path.extension()?.to_string_lossy(), true).ok()
    }
}

/// What becomes of images and other binary parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ImagesArg {
    /// Files beside the export
    Beside,
    /// Part of the export (md, html)
    Within,
    /// Only named
    None,
}

/// What becomes of links and images in what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LinksArg {
    /// Links to the web stay; images and links that could run something become text
    Inert,
    /// As they were written
    Keep,
}

/// What is done about secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RedactArg {
    /// Put tags in their place
    Replace,
    /// Write nothing; report them
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
    /// One row per file that a message sent along or a call named (parquet)
    #[value(name = "files_touched")]
    FilesTouched,
}
