//! `recount ingest`

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use clap::Args;
use jiff::Timestamp;
use recount_changes::{Changes, IngestOptions, IngestOutcome, IngestedSession, Intake};
use recount_engine::Engine;
use recount_model::SessionFacts;
use serde::Serialize;

use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::columns::{Align, Column, Fit};
use crate::output::json;
use crate::output::number::{count, plural};
use crate::output::span::StyledSpan;
use crate::output::theme::Tone;

/// Keep headless output and telemetry logs as sessions
///
/// Reads what an agent prints when it runs without a terminal, as JSON or as one event per line, or a telemetry log, recognizes which it is, and
/// keeps it in recount's data folder. `list`, `show`, `search`, `stats` and `export` then treat it like any session. If the agent's own record
/// of the session is on disk, now or later, the two are one session and nothing is counted twice. Ingesting the same output again changes nothing;
/// a longer version of it replaces the shorter one, and another run of the same session is added to it.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount ingest run.jsonl                 # the output of an earlier run
  recount ingest telemetry.log
  recount ingest run.json --prompt 'Fix the tests' --project ~/code/shop
  recount ingest - --tee < run.jsonl       # in a pipe: AGENT … | recount ingest - --tee")]
pub(crate) struct IngestArgs {
    /// File with the output, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Pass the input on to standard output, unchanged and as it comes
    #[arg(long)]
    tee: bool,

    /// Folder that the agent ran in, if the output does not say
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// Prompt of the run, if the output does not repeat it
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
}

/// How much is read at once.
const PIECE: usize = 64 * 1024;

/// How many pieces may wait.
const AHEAD: usize = 16;

/// How often a stream is saved while it comes, at most.
const PAUSE: Duration = Duration::from_secs(1);

/// The share of the time that saving may take.
const SHARE: u32 = 20;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    sessions: Vec<Row<'a>>,
    /// Lines and records that belong to no run.
    skipped: u64,
    /// Whether the input ends in the middle of a record.
    torn: bool,
}

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    ingested: &'a IngestedSession,
    session: Option<&'a SessionFacts>,
}

pub(crate) fn run(args: &IngestArgs, context: &Context) -> Result<ExitCode, Failure> {
    if args.tee && context.global.json {
        return Err(Failure::new(ERROR, "--tee and --json both write to standard output")
            .hint("run `recount list --json` afterwards"));
    }
    let engine = context.plain_engine()?;
    let is_stdin = args.file == Path::new("-");
    let mut options = IngestOptions {
        project: args
            .project
            .as_deref()
            .map(|path| context.absolute(path).to_string_lossy().into_owned()),
        prompt: args.prompt.clone(),
        time: Some(context.clock.now()),
    };
    let mut intake = Intake::new(engine.sources());
    let total = if is_stdin {
        stream(io::stdin(), args.tee, &mut intake, &engine, &options)?
    } else {
        let (file, modified) = open(&args.file)?;
        options.time = modified.or(options.time);
        stream(file, args.tee, &mut intake, &engine, &options)?
    };
    intake.end();
    if intake.runs().is_empty() {
        return Err(nothing(args, total, &intake));
    }
    let done = Changes::new(&engine).ingest(intake.runs(), &options)?;
    report(&done, &intake, args, context)
}

fn open(path: &Path) -> Result<(File, Option<Timestamp>), Failure> {
    let failed =
        |error: io::Error| Failure::new(ERROR, format!("cannot read {}: {error}", path.display()));
    let file = File::open(path).map_err(failed)?;
    let known = file.metadata().map_err(failed)?;
    if known.is_dir() {
        return Err(Failure::new(ERROR, format!("{} is a folder", path.display()))
            .hint("give the file with an agent's output, or - for standard input"));
    }
    let modified = known.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    Ok((file, modified))
}

/// Reads to the end, and saves now and then: whoever stops the pipe does not lose what came before. Returns the number of bytes.
fn stream(
    mut input: impl Read + Send + 'static,
    tee: bool,
    intake: &mut Intake,
    engine: &Engine,
    options: &IngestOptions,
) -> Result<u64, Failure> {
    let (sender, receiver) = sync_channel::<io::Result<Vec<u8>>>(AHEAD);
    std::thread::spawn(move || {
        loop {
            let mut piece = vec![0; PIECE];
            let read = match input.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(0) => return,
                read => read,
            };
            let is_end = read.is_err();
            piece.truncate(read.as_ref().map_or(0, |length| *length));
            if sender.send(read.map(|_| piece)).is_err() || is_end {
                return;
            }
        }
    });
    let mut out = tee.then(io::stdout);
    let mut total = 0;
    let mut saving = Saving { next: Instant::now() + PAUSE, is_due: false };
    while let Some(piece) = saving.piece(&receiver, intake, engine, options) {
        let piece = piece
            .map_err(|error| Failure::new(ERROR, format!("cannot read the input: {error}")))?;
        total += piece.len() as u64;
        if let Some(to) = &mut out
            && to.write_all(&piece).and_then(|()| to.flush()).is_err()
        {
            // Nobody reads on; the session is kept all the same.
            out = None;
        }
        intake.push(&piece);
    }
    Ok(total)
}

/// When to save what has come so far.
struct Saving {
    next: Instant,
    is_due: bool,
}

impl Saving {
    /// Waits for the next piece; saves when it is time. `None` at the end.
    fn piece(
        &mut self,
        receiver: &Receiver<io::Result<Vec<u8>>>,
        intake: &Intake,
        engine: &Engine,
        options: &IngestOptions,
    ) -> Option<io::Result<Vec<u8>>> {
        loop {
            if self.is_due && Instant::now() >= self.next {
                let began = Instant::now();
                // The end saves once more, and says what is wrong.
                let _saved = Changes::new(engine).ingest(intake.runs(), options);
                self.next = Instant::now() + PAUSE.max(began.elapsed() * SHARE);
                self.is_due = false;
            }
            let wait = if self.is_due {
                self.next.saturating_duration_since(Instant::now())
            } else {
                Duration::from_secs(3600)
            };
            match receiver.recv_timeout(wait) {
                Ok(piece) => {
                    self.is_due = true;
                    return Some(piece);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

fn nothing(args: &IngestArgs, total: u64, intake: &Intake) -> Failure {
    let name = if args.file == Path::new("-") {
        "standard input".to_owned()
    } else {
        args.file.display().to_string()
    };
    if total == 0 {
        return Failure::new(NOTHING, format!("{name} is empty"))
            .hint("an agent that fails may print its error on standard error: add 2>&1");
    }
    let skipped = plural(intake.skipped(), "line");
    Failure::new(
        ERROR,
        format!("{name} is not headless output of a known agent ({skipped} skipped)"),
    )
    .hint("it must begin with the first record of a run, which has the session's id")
    .hint("`recount ingest --help` lists what is understood")
}

const COLUMNS: &[Column] = &[
    Column { heading: "SESSION", align: Align::Left, fit: Fit::Keep },
    Column { heading: "AGENT", align: Align::Left, fit: Fit::Keep },
    Column { heading: "RESULT", align: Align::Left, fit: Fit::Keep },
    Column { heading: "PROMPTS", align: Align::Right, fit: Fit::Keep },
    Column { heading: "TOOLS", align: Align::Right, fit: Fit::Keep },
    Column { heading: "TOKENS", align: Align::Right, fit: Fit::Keep },
    Column { heading: "TITLE", align: Align::Left, fit: Fit::Flexible },
];

fn report(
    done: &[IngestedSession],
    intake: &Intake,
    args: &IngestArgs,
    context: &Context,
) -> Result<ExitCode, Failure> {
    // What was written is read as any session is.
    let engine = context.plain_engine()?;
    let facts = |session: &IngestedSession| {
        let opened = engine.open(&format!("{}:{}", session.source, session.id), &());
        opened.ok().map(|opened| opened.facts)
    };
    let facts: Vec<Option<SessionFacts>> = done.iter().map(facts).collect();
    if context.global.json {
        let rows = done.iter().zip(&facts);
        let rows = rows.map(|(ingested, facts)| Row { ingested, session: facts.as_ref() });
        let (skipped, torn) = (intake.skipped(), intake.is_torn());
        let schema = "recount.ingest/1";
        json::whole(context, &Document { schema, sessions: rows.collect(), skipped, torn })?;
    } else if !args.tee {
        let rows: Vec<Vec<StyledSpan>> = done
            .iter()
            .zip(&facts)
            .map(|(done, facts)| cells(done, facts.as_ref(), context))
            .collect();
        let mut out = context.out(Paged::No);
        out.write_all(context.table(COLUMNS, &rows).as_bytes())?;
        out.finish()?;
    }
    if intake.is_torn() {
        context.warn("the input ends in the middle of a record; everything before it was kept");
    }
    if intake.skipped() > 0 {
        context.warn(&format!("{} skipped: not part of a run", plural(intake.skipped(), "line")));
    }
    for session in done {
        for (kind, number) in &session.unknown {
            let records = plural(*number, "record");
            context
                .warn(&format!("{}: {records} of unknown type '{kind}' kept", session.id.short()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn cells(
    done: &IngestedSession,
    facts: Option<&SessionFacts>,
    context: &Context,
) -> Vec<StyledSpan> {
    let outcome = match done.outcome {
        IngestOutcome::Kept => "kept",
        IngestOutcome::Extended => "extended",
        IngestOutcome::Unchanged => "unchanged",
        IngestOutcome::OnDisk => "on disk",
    };
    let figure =
        |of: fn(&SessionFacts) -> u64| facts.map(|facts| count(of(facts))).unwrap_or_default();
    let title = facts.and_then(|facts| facts.title.clone()).unwrap_or_default();
    vec![
        StyledSpan::new(&context.form().start(done.id.as_str()), Tone::Name),
        StyledSpan::new(done.source.as_str(), Tone::Plain),
        StyledSpan::new(outcome, Tone::Plain),
        StyledSpan::new(&figure(|facts| facts.counts.prompts), Tone::Plain),
        StyledSpan::new(&figure(|facts| facts.tool_calls.total), Tone::Plain),
        StyledSpan::new(&figure(|facts| facts.tokens.total), Tone::Plain),
        StyledSpan::new(&title, Tone::Plain),
    ]
}
