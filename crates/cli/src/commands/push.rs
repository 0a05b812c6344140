//! `recount push`

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use recount_engine::export::lake::{LakeLevel, LakeOptions};
use recount_engine::{Engine, Setup, WatchMode};
use recount_lake::{Lake, LakeAccess, LakeError, PushOptions, PushReport, QueryEngine, views};
use recount_platform::clock;

use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure};
use crate::output::json;
use crate::output::number::{bytes, count, plural};
use crate::output::progress::Bar;
use crate::output::sanitize::single_line;

/// Changes are awaited until nothing happened for this long.
const QUIET: Duration = Duration::from_secs(2);
/// How long one look for changes takes.
const LOOK: Duration = Duration::from_secs(5);

/// Send sessions as tables to a team's object store
///
/// Keeps Parquet tables of this machine's sessions in a lake: a folder (file://) or a bucket (s3://, gs://, az://) that DuckDB, Spark, ClickHouse and
/// Polars read. By default only figures leave the machine: no prompts, titles, paths or branch names. A second run sends only what has changed.
/// Credentials come from the environment or the usual profile files, as other tools use them, and are never stored.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount push file://~/lake --dry-run        # rows, bytes and a sample; sends nothing
  recount push file://~/lake                  # figures only
  recount push file://~/lake --text redacted  # with text, without secrets
  recount push file://~/lake --raw            # also verified copies for `recount pull`
  recount push file://~/lake --views duckdb   # SQL that counts each request once")]
#[expect(clippy::struct_excessive_bools, reason = "each is one option")]
pub(crate) struct PushArgs {
    #[arg(
        value_name = "URL",
        help = "Lake: file:///DIR, s3://BUCKET/PATH, gs://BUCKET/PATH or az://CONTAINER/PATH"
    )]
    url: String,

    /// Text that leaves this machine
    #[arg(long, value_name = "LEVEL", default_value = "none")]
    text: TextArg,

    /// Also send copies of the session files, complete and unredacted, for `recount pull`
    #[arg(long)]
    raw: bool,

    /// Only sessions of this project; may be repeated
    #[arg(long, value_name = "PROJECT")]
    project: Vec<String>,

    /// No sessions of this project; may be repeated
    #[arg(long, value_name = "PROJECT")]
    exclude_project: Vec<String>,

    /// Name of this machine in the lake
    #[arg(long, value_name = "NAME")]
    label: Option<String>,

    /// Keep rows and copies of sessions that were deleted here
    #[arg(long)]
    keep_deleted: bool,

    /// Build and compare everything, but send nothing
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,

    /// Keep running, and push when sessions change
    #[arg(long)]
    watch: bool,

    /// Seconds between two pushes, at least
    #[arg(long, value_name = "SECONDS", default_value = "60", requires = "watch")]
    every: u64,

    /// Print views over the lake for this engine, and send nothing
    #[arg(long, value_name = "ENGINE", conflicts_with_all = ["watch", "dry_run", "raw"])]
    views: Option<EngineArg>,

    /// Continue what another data folder wrote as this origin: after a restored backup
    #[arg(long)]
    adopt: bool,

    /// Give this machine a new origin: after its data folder was copied from another machine
    #[arg(long, conflicts_with_all = ["adopt", "dry_run", "views"])]
    new_origin: bool,
}

/// How much text leaves the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TextArg {
    /// Figures only; names of projects, branches and files are hashed
    None,
    /// Text without secrets and personal data, as `export --redact` finds them
    Redacted,
    /// All text
    Full,
}

/// The engines that views are printed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineArg {
    /// `DuckDB`
    Duckdb,
    /// Spark SQL
    Spark,
    /// `ClickHouse`
    Clickhouse,
    /// Polars, as Python code
    Polars,
}

pub(crate) fn run(args: &PushArgs, context: &Context) -> Result<ExitCode, Failure> {
    let only_reads = args.dry_run || args.views.is_some();
    let access = if only_reads { LakeAccess::Read } else { LakeAccess::Write };
    let engine = context.plain_engine()?;
    let lake = Lake::open(&args.url, access, &engine)?;
    if let Some(engine) = args.views {
        return print_views(&lake, engine, context);
    }
    if args.new_origin {
        engine.new_lake_origin()?;
    }
    let options = PushOptions {
        tables: LakeOptions {
            level: match args.text {
                TextArg::None => LakeLevel::None,
                TextArg::Redacted => LakeLevel::Redacted,
                TextArg::Full => LakeLevel::Full,
            },
            projects: args.project.iter().map(|name| context.project_argument(name)).collect(),
            excluded: args.exclude_project.iter().map(|n| context.project_argument(n)).collect(),
            label: args.label.clone(),
            keep_deleted: args.keep_deleted,
        },
        raw: args.raw,
        dry_run: args.dry_run,
        adopt: args.adopt,
    };
    if args.raw && args.text != TextArg::Full {
        context.warn("--raw sends whole session files; --text limits only the tables");
    }
    if args.watch {
        return watch(&lake, &options, args, context);
    }
    let bar = Bar::new(context, "pushing");
    let report = lake.push(&engine, &options, &bar)?;
    bar.finish();
    print(&report, context)?;
    Ok(context.problems(&report.problems, report.problems.len() as u64, 0))
}

fn print_views(lake: &Lake, engine: EngineArg, context: &Context) -> Result<ExitCode, Failure> {
    let engine = match engine {
        EngineArg::Duckdb => QueryEngine::DuckDb,
        EngineArg::Spark => QueryEngine::Spark,
        EngineArg::Clickhouse => QueryEngine::ClickHouse,
        EngineArg::Polars => QueryEngine::Polars,
    };
    let mut out = context.out(Paged::No);
    std::io::Write::write_all(&mut out, views(lake, engine).as_bytes())?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Pushes again and again, when something has changed.
fn watch(
    lake: &Lake,
    options: &PushOptions,
    args: &PushArgs,
    context: &Context,
) -> Result<ExitCode, Failure> {
    // One run is many questions: its clock goes on.
    let engine = Engine::new(Setup { clock: clock(&context.env), ..context.setup() })?;
    let changes = engine.watch(WatchMode::Events)?;
    let (least, mut options) = (Duration::from_secs(args.every), options.clone());
    loop {
        let began = Instant::now();
        let is_pushed = match lake.push(&engine, &options, &()) {
            Ok(report) => {
                if report.files + report.removed > 0 {
                    print(&report, context)?;
                }
                // Whoever writes as this origin from now on is another.
                options.adopt = false;
                true
            }
            // Offline, or somebody else pushes: the next time will do.
            Err(error @ (LakeError::Request { .. } | LakeError::Running)) => {
                context.warn(&format!("{error}; trying again"));
                false
            }
            Err(error) => return Err(error.into()),
        };
        while is_pushed && changes.next(LOOK).is_none() {}
        while changes.next(QUIET).is_some() {}
        std::thread::sleep(least.saturating_sub(began.elapsed()));
    }
}

fn print(report: &PushReport, context: &Context) -> Result<(), Failure> {
    if context.global.json {
        json::document(context, "push", "push", report)?;
        return Ok(());
    }
    if report.dry_run {
        print_tables(report, context)?;
    }
    let done = if report.dry_run { "would be sent" } else { "sent" };
    let mut words = if report.files > 0 {
        format!("{} {done} ({})", plural(report.files, "file"), bytes(report.bytes))
    } else {
        "nothing to send".to_owned()
    };
    if report.unchanged > 0 {
        words = format!("{words}, {} unchanged", count(report.unchanged));
    }
    if report.removed > 0 {
        let gone = if report.dry_run { "would be removed" } else { "removed" };
        words = format!("{words}, {} {gone}", plural(report.removed, "file"));
    }
    if let Some(raw) = report.raw.as_ref().filter(|raw| raw.pieces > 0) {
        let pieces = plural(raw.pieces, "piece");
        words = format!("{words}; raw copies: {pieces} {done} ({})", bytes(raw.packed));
    }
    let sessions = plural(report.sessions, "session");
    context.warn(&format!("{words}: {sessions} as origin {}", report.origin));
    Ok(())
}

/// Prints what each table would have, with one row as a sample.
fn print_tables(report: &PushReport, context: &Context) -> Result<(), Failure> {
    use std::io::Write as _;

    let mut out = context.out(Paged::No);
    writeln!(out, "Text: {}", report.text)?;
    for table in &report.tables {
        let (rows, size) = (plural(table.rows, "row"), bytes(table.bytes));
        writeln!(out, "\n{}: {rows}, {}, {size}", table.name, plural(table.files, "file"))?;
        for (column, value) in table.sample.iter().filter(|(_, value)| !value.is_empty()) {
            writeln!(out, "  {column:<24} {}", single_line(value))?;
        }
    }
    writeln!(out)?;
    out.finish()?;
    Ok(())
}

impl From<LakeError> for Failure {
    fn from(error: LakeError) -> Self {
        match error {
            LakeError::Engine(error) => error.into(),
            LakeError::Changes(error) => error.into(),
            LakeError::Cloned { .. } => Self::new(crate::failure::REFUSED, error.to_string())
                .hint("on a machine that was copied from another: --new-origin")
                .hint("after the data folder was restored from a backup: --adopt"),
            LakeError::Running => Self::new(crate::failure::REFUSED, error.to_string())
                .hint("wait until it has ended"),
            LakeError::Url { .. } => Self::new(ERROR, error.to_string())
                .hint("for example: file:///mnt/nas/lake, s3://bucket/path"),
            LakeError::NoLake { .. } => Self::new(crate::failure::NOTHING, error.to_string()).hint(
                "check the URL: `recount push URL --raw` writes what `recount pull URL` reads",
            ),
            LakeError::NoOrigin { ref known, .. } => {
                let all: Vec<&str> = known.iter().take(20).map(String::as_str).collect();
                Self::new(crate::failure::NOTHING, error.to_string())
                    .hint(format!("there are: {}", all.join(", ")))
            }
            LakeError::NoRaw => Self::new(crate::failure::NOTHING, error.to_string())
                .hint("`recount push URL --raw` sends them"),
            LakeError::Request { .. } => Self::new(ERROR, error.to_string())
                .hint("check the URL, the network and the credentials in the environment")
                .hint("what is done stays: run it again to continue"),
            LakeError::Store { .. } => Self::new(ERROR, error.to_string())
                .hint("check the URL and the credentials in the environment"),
            LakeError::Unreadable { ref source, .. } => {
                Self::new(ERROR, format!("{error}: {source}"))
            }
            other => Self::new(ERROR, other.to_string()),
        }
    }
}
