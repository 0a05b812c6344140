//! `recount export`

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use recount_engine::export::{
    Bidi, Format, Options, OwnForm, Redacted, Redaction, Table, own_forms,
};
use recount_engine::{Engine, Export, Exported, Query, Selection};
use recount_model::SessionFacts;
use serde::Serialize;

use super::list::moment;
use super::redacted;
use super::show::{LevelArg, ViewArg};
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::json;
use crate::output::number::{bytes, plural};
use crate::output::progress::Bar;

/// Write sessions to files that others can read
///
/// One session goes to standard output, or to the file or folder that -o names. Several, or a selection by project, time or text,
/// go into the folder that -o names: each to a file of its own below its project's, only what has changed since the last
/// export. Sessions of this project are selected when nothing is said.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount export latest > session.md\n  recount export 3d2f --minimal -o share.md    prompts and answers \
    alone\n  recount export 3d2f --level full --thoughts --split 50 -o parts/\n  recount export --all -o archive/             every \
    session; run it again for what is new\n  recount export --project shop --since 7d --format jsonl -o shop/\n  \
    recount export --all --format csv --table requests > requests.csv\n  recount export 3d2f --redact -o share.md     secrets and names taken \
    out"
)]
pub(crate) struct ExportArgs {
    /// Id, its first characters, a file, @N (row of the last list) or `latest`
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,

    /// The form; by default what the name of the file says, else md
    #[arg(short, long, value_name = "FORMAT", value_parser = formats())]
    format: Option<FormatArg>,

    /// Write here: a file, a folder, or `-` for standard output
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,

    /// Sessions of this project: a path, a slug, the start of its hash, or a part of its name
    #[arg(long, value_name = "PROJECT", conflicts_with = "sessions")]
    project: Option<String>,

    /// Sessions of all projects
    #[arg(short, long, conflicts_with_all = ["project", "sessions"])]
    all: bool,

    /// Only sessions used at or after this time (2026-09-02, 12h, 7d, today)
    #[arg(long, value_name = "WHEN", conflicts_with = "sessions")]
    since: Option<String>,

    /// Only sessions begun at or before this time
    #[arg(long, value_name = "WHEN", conflicts_with = "sessions")]
    until: Option<String>,

    /// Only sessions in which this is found; the same queries as in `recount search`
    #[arg(long, value_name = "QUERY", conflicts_with = "sessions")]
    text: Option<String>,

    /// How much to write (md, txt)
    #[arg(short, long, value_name = "LEVEL", default_value = "actions")]
    level: LevelArg,

    /// Write the model's thoughts (md, txt)
    #[arg(short, long)]
    thoughts: bool,

    /// Which messages: what the agent itself would load, or everything ever said (by default; never in an agent's own form)
    #[arg(long, value_name = "VIEW")]
    view: Option<ViewArg>,

    /// For sharing: only prompts and answers, no paths, ids or tokens around them (md, txt)
    #[arg(long, conflicts_with_all = ["level", "thoughts"])]
    minimal: bool,

    /// Begin a new file before a prompt once one has N messages (md, txt)
    #[arg(long, value_name = "N", requires = "output", value_parser = clap::value_parser!(u32).range(1..))]
    split: Option<u32>,

    /// Take out secrets and personal data; with `=check` only say what would be, and exit with 3 if there is any
    #[arg(
        long,
        value_name = "MODE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "replace"
    )]
    redact: Option<RedactArg>,

    /// The table (csv); a folder gets all three when none is named
    #[arg(long, value_name = "TABLE")]
    table: Option<TableArg>,
}

/// The form.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArg {
    /// Markdown
    Md,
    /// One JSON document, as `show --json` prints it
    Json,
    /// The session on the first line, then one message per line
    Jsonl,
    /// Plain text, never wrapped
    Txt,
    /// A table
    Csv,
    /// What an agent itself can load
    #[value(skip)]
    Own(&'static dyn OwnForm),
}

/// The forms, and those of the agents that have one of their own.
fn formats() -> impl TypedValueParser<Value = FormatArg> {
    let ours = FormatArg::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let own =
        |form: &'static dyn OwnForm| PossibleValue::new(form.source().as_str()).help(form.about());
    PossibleValuesParser::new(ours.chain(own_forms().map(own))).try_map(|name| {
        let own = own_forms().find(|form| form.source().as_str() == name).map(FormatArg::Own);
        own.map_or_else(|| FormatArg::from_str(&name, false), Ok)
    })
}

/// What is done about secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RedactArg {
    /// Put tags in their place
    Replace,
    /// Write nothing; report them
    Check,
}

/// The tables of CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TableArg {
    /// One row per session
    Sessions,
    /// One row per request to a model
    Requests,
    /// One row per tool call
    #[value(name = "tool_calls")]
    ToolCalls,
}

/// Where it goes.
#[derive(Clone, Debug)]
enum Target {
    Output,
    File(PathBuf),
    Folder(PathBuf),
}

pub(crate) fn run(args: &ExportArgs, context: &Context) -> Result<ExitCode, Failure> {
    let is_check = args.redact == Some(RedactArg::Check);
    let (format, own) = format(args, context);
    let format = if is_check { Format::Jsonl } else { format };
    let target = if is_check { Target::Output } else { target(args, format)? };
    let mut export = export(args, format, own, &target, context)?;
    let engine = context.plain_engine()?;
    let redaction = args.redact.map(|_| engine.redaction()).transpose()?.map(Arc::new);
    export.redaction.clone_from(&redaction);
    let selection = select(args, &engine, &export, context)?;
    selection.fits(&export)?;
    let sessions = selection.sessions();
    if sessions.is_empty() {
        context.warn("no session matches");
        return Ok(ExitCode::from(NOTHING));
    }
    let bar = Bar::new(context, "exporting");
    let exported = match &target {
        Target::Output if is_check => engine.export_to(&selection, &export, &mut io::sink())?,
        Target::Output => {
            let mut out = context.out(Paged::No);
            let exported = engine.export_to(&selection, &export, &mut out)?;
            out.finish()?;
            exported
        }
        Target::File(path) => engine.export_file(&selection, &export, path)?,
        Target::Folder(path) => engine.export_folder(&selection, &export, path, &bar)?,
    };
    bar.finish();
    let found = redaction.as_deref().map(Redaction::found).unwrap_or_default();
    if is_check {
        return redacted::check(&found, context);
    }
    tell(&exported, &found, &target, format, context)?;
    if redaction.is_some() && exported.written > 0 {
        redacted::tell(&found, context);
    }
    if exported.unseen > 0 {
        let media = plural(exported.unseen, "media file");
        context.warn(&format!("{media} kept as is: only text is looked through"));
    }
    let sum =
        |count: fn(&SessionFacts) -> u64| sessions.iter().map(|facts| count(facts)).sum::<u64>();
    let total = sum(|facts| facts.problems) + exported.problems.len() as u64;
    let kept = sessions.iter().flat_map(|facts| &facts.problem_list).chain(&exported.problems);
    Ok(context.problems(kept, total, sum(|facts| facts.not_understood)))
}

/// The form that is asked for, or that the name of the file says; and whose it is, if it is an agent's own.
fn format(args: &ExportArgs, context: &Context) -> (Format, Option<&'static dyn OwnForm>) {
    let ending =
        args.output.as_deref().and_then(Path::extension).map(|ending| ending.to_string_lossy());
    let told = ending.and_then(|ending| FormatArg::from_str(&ending, true).ok());
    let to_output = args.output.as_deref().is_none_or(|path| path == Path::new("-"));
    let usual = if context.global.json && to_output { FormatArg::Json } else { FormatArg::Md };
    let format = match args.format.or(told).unwrap_or(usual) {
        FormatArg::Md => Format::Markdown,
        FormatArg::Json => Format::Json,
        FormatArg::Jsonl => Format::Jsonl,
        FormatArg::Txt => Format::Text,
        FormatArg::Csv => Format::Csv,
        FormatArg::Own(form) => return (Format::Jsonl, Some(form)),
    };
    (format, None)
}

fn target(args: &ExportArgs, format: Format) -> Result<Target, Failure> {
    let one = args.sessions.len() == 1;
    let is_table = format == Format::Csv;
    let Some(path) = args.output.as_ref().filter(|path| path.as_path() != Path::new("-")) else {
        if one || is_table {
            return Ok(Target::Output);
        }
        return Err(Failure::new(ERROR, "several sessions need a folder to go to")
            .hint("name one with -o DIR; it is made if it is not there"));
    };
    let text = path.to_string_lossy();
    let named = path.is_dir() || text.ends_with('/') || text.ends_with(std::path::MAIN_SEPARATOR);
    let is_file = if is_table { path.extension().is_some() } else { one };
    Ok(if is_file && !named { Target::File(path.clone()) } else { Target::Folder(path.clone()) })
}

fn export(
    args: &ExportArgs,
    format: Format,
    own: Option<&'static dyn OwnForm>,
    target: &Target,
    context: &Context,
) -> Result<Export, Failure> {
    let name = own.map_or_else(|| format.extension(), |own| own.source().as_str());
    let refuse = |flag: &str, formats: &str| {
        let words = format!("{flag} is for {formats}, not for {name}");
        Err(Failure::new(ERROR, words)
            .hint(format!("leave out {flag}, or choose another --format")))
    };
    match format {
        _ if args.minimal && !format.has_parts() => return refuse("--minimal", "md and txt"),
        _ if args.split.is_some() && !format.has_parts() => return refuse("--split", "md and txt"),
        _ if args.table.is_some() && format != Format::Csv => return refuse("--table", "csv"),
        _ => {}
    }
    if own.is_some() && args.view == Some(ViewArg::Full) {
        let words = format!("--view full is not for {name}: what was undone would be said again");
        return Err(Failure::new(ERROR, words).hint("leave out --view, or choose another --format"));
    }
    if args.split.is_some() && matches!(target, Target::Output) {
        return Err(Failure::new(ERROR, "parts need files to go to").hint("name one with -o"));
    }
    let table = args.table.map(|table| match table {
        TableArg::Sessions => Table::Sessions,
        TableArg::Requests => Table::Requests,
        TableArg::ToolCalls => Table::ToolCalls,
    });
    let is_seen = matches!(target, Target::Output) && context.on_terminal();
    Ok(Export {
        format,
        options: Options {
            level: args.level.into(),
            thoughts: args.thoughts,
            minimal: args.minimal,
            bidi: if is_seen { Bidi::Shown } else { Bidi::Kept },
            table: table.unwrap_or_default(),
            strict: args.view == Some(ViewArg::Strict),
            ..Options::default()
        },
        split: args.split.and_then(|split| usize::try_from(split).ok()),
        tables: table.map_or_else(|| Table::ALL.to_vec(), |table| vec![table]),
        redaction: None,
        own,
    })
}

fn select(
    args: &ExportArgs,
    engine: &Engine,
    export: &Export,
    context: &Context,
) -> Result<Selection, Failure> {
    let bar = Bar::new(context, "reading sessions");
    if !args.sessions.is_empty() {
        let is_whole =
            matches!(export.format, Format::Json | Format::Jsonl) && export.own.is_none();
        let mut opened = Vec::new();
        for wanted in &args.sessions {
            let mut session = engine.open(wanted, &bar)?;
            if export.options.strict && !session.is_loadable() {
                let words = "the agent itself cannot load this session: its strict view is empty";
                context.warn(&format!("{}: {words}", session.facts.id.short()));
            }
            if is_whole {
                engine.complete(&mut session);
            }
            opened.push(session);
        }
        bar.finish();
        return Ok(Selection::Opened(opened));
    }
    let now = context.clock.now();
    let query = Query {
        project: args.project.as_deref().map(|project| context.project_argument(project)),
        here: context.env.current_folder().cloned().filter(|_| !args.all),
        since: moment("--since", args.since.as_deref(), now)?,
        until: moment("--until", args.until.as_deref(), now)?,
        text: args.text.clone(),
        ..Query::default()
    };
    let mut listing = engine.list(&query, &bar)?;
    bar.finish();
    // A session in which nothing was said is worth a file only when that may be our fault.
    listing.sessions.retain(|session| !session.is_empty() || session.problems > 0);
    Ok(Selection::Listed(listing))
}

/// What was done, for JSON.
#[derive(Serialize)]
struct Summary<'a> {
    written: u64,
    unchanged: u64,
    files: u64,
    bytes: u64,
    problems: usize,
    redacted: Vec<redacted::Row<'a>>,
}

/// Says what was done.
fn tell(
    exported: &Exported,
    found: &[Redacted],
    target: &Target,
    format: Format,
    context: &Context,
) -> Result<(), Failure> {
    let (Target::File(path) | Target::Folder(path)) = target else { return Ok(()) };
    let &Exported { written, unchanged, files, bytes: size, .. } = exported;
    if context.global.json {
        let problems = exported.problems.len();
        let redacted = redacted::rows(found);
        let summary = Summary { written, unchanged, files, bytes: size, problems, redacted };
        json::document(context, "export", "export", &summary)?;
        return Ok(());
    }
    let what = if format == Format::Csv { "table" } else { "session" };
    let mut words = if written > 0 {
        format!("{} written ({}, {})", plural(written, what), plural(files, "file"), bytes(size))
    } else {
        "nothing to write".into()
    };
    if unchanged > 0 {
        words = format!("{words}, {unchanged} unchanged");
    }
    context.warn(&format!("{words}: {}", context.folders.tilde(&path.to_string_lossy())));
    Ok(())
}
