//! `recount watch`

mod alarm;
mod board;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::ToSpan as _;
use jiff::civil::Date;
use recount_documents as documents;
use recount_engine::Engine;
use recount_engine::live::{LiveEvent, LiveFacts, LiveRow, Replay};
use recount_model::{Clock, LiveState};
use recount_platform::{local_zone, return_freed_memory};
use recount_tui::Tab;

use crate::app;
use crate::context::{Context, Paged};
use crate::failure::{ERROR, Failure, NOTHING};
use crate::output::json;
use crate::output::progress::Bar;
use crate::when;
use alarm::Alarms;

/// The board is drawn at least this often, for its clocks.
const FRAME: Duration = Duration::from_secs(1);
/// Whoever looks once waits so long for titles and sums.
const SETTLED: Duration = Duration::from_millis(1500);
/// What is said when the system reports no changes.
const POLLING: &str = "the system does not report file changes here; files are checked each second";
/// What is said when processes cannot be listed.
const BLIND: &str = "processes cannot be listed here, so no session is seen to run; RECOUNT_PROCESS_TABLE names a file that lists them";
/// JSON needs no frames.
const LONG: Duration = Duration::from_secs(60);

/// Show what every running session is doing
///
/// For each session: whether the agent works, runs a tool, waits for a permission or waits for you; how full its context is and what
/// it uses per minute. A `?` marks a state that is inferred rather than told. Nothing has to be set up.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  recount watch\n  recount watch --once\n  recount watch --json | jq .session.state\n  recount watch --until needs-me && notify-send 'an agent waits'\n  recount watch --record day.jsonl\n  recount watch --replay day.jsonl --speed 10\n  recount watch --replay yesterday --speed 600"
)]
pub(crate) struct WatchArgs {
    /// Print the board once and exit
    #[arg(long)]
    once: bool,
    /// Exit when a session waits for you, when none works, or when none runs
    #[arg(long, value_enum, value_name = "STATE")]
    until: Option<Until>,
    /// Record what is seen to a file
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Play a recording, or a past day from session files
    ///
    /// A day is `today`, `yesterday` or a date. Session files do not say when a tool waited for a permission or when a process ended: a session
    /// that is silent for half an hour counts as done.
    #[arg(long, value_name = "FILE|DATE")]
    replay: Option<PathBuf>,
    /// How fast it is played: a factor, or `max`
    #[arg(long, default_value = "1", value_name = "N", requires = "replay")]
    speed: String,
    /// Raise alarms: a bell, a desktop notification, and `[alarm] run` of the config
    #[arg(long)]
    notify: bool,
}

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Until {
    /// A session waits for a permission, an answer or a prompt
    NeedsMe,
    /// No session works
    Idle,
    /// No session runs
    Done,
}

impl Until {
    fn is_met(self, rows: &[LiveRow]) -> bool {
        let has_ended = |row: &LiveRow| {
            matches!(row.state, LiveState::Done | LiveState::Gone)
                || (row.state == LiveState::Failed && row.session.headless)
        };
        let needs = |row: &LiveRow| {
            matches!(row.state, LiveState::Approve | LiveState::Yours | LiveState::Failed)
        };
        match self {
            Self::NeedsMe => rows.iter().any(|row| needs(row) && !has_ended(row)),
            Self::Idle => !rows.iter().any(|row| row.state.is_open()),
            Self::Done => rows.iter().all(has_ended),
        }
    }
}

pub(crate) fn run(args: &WatchArgs, context: &Context) -> Result<ExitCode, Failure> {
    return_freed_memory();
    let engine = context.plain_engine()?;
    let Some(what) = &args.replay else {
        let is_plain = !args.once && args.until.is_none() && args.record.is_none() && !args.notify;
        if is_plain && app::is_possible(context) {
            return app::run(context, Tab::Live, None);
        }
        return watch(&engine, args, context);
    };
    let speed = speed(&args.speed)?;
    let mut replay = match day(what, context)? {
        None => engine.replay(what)?,
        Some((start, end)) => {
            let bar = Bar::new(context, "reading sessions");
            let replay = context.engine()?.replay_between(start, end, &bar)?;
            bar.finish();
            replay
        }
    };
    replay_all(&mut replay, speed, &engine, args, context)
}

/// Returns the first moment of the day that is named and the one after its last, in milliseconds; `None` if it is a file.
fn day(what: &Path, context: &Context) -> Result<Option<(i64, i64)>, Failure> {
    let text = what.to_str().unwrap_or_default();
    let is_day = matches!(text, "today" | "yesterday") || text.parse::<Date>().is_ok();
    if what.exists() || !is_day {
        return Ok(None);
    }
    let zone = local_zone();
    let failed = |why: String| Failure::new(ERROR, format!("'{text}' is not a day: {why}"));
    let start = when::parse_in(text, context.clock.now(), &zone).map_err(failed)?;
    let next = start.to_zoned(zone.clone()).date().saturating_add(1.day());
    let end = next.at(0, 0, 0, 0).to_zoned(zone).map_err(|error| failed(error.to_string()))?;
    let end = end.timestamp().min(context.clock.now());
    Ok(Some((start.as_millisecond(), end.as_millisecond().max(start.as_millisecond()))))
}

/// Reads a speed; `None` is as fast as possible.
fn speed(text: &str) -> Result<Option<f64>, Failure> {
    if text == "max" {
        return Ok(None);
    }
    match text.trim_end_matches('x').parse() {
        Ok(speed) if speed > 0.0 && f64::is_finite(speed) => Ok(Some(speed)),
        _ => Err(Failure::new(ERROR, format!("'{text}' is not a speed: give a factor, or max"))),
    }
}

fn now() -> i64 {
    Clock::system().now().as_millisecond()
}

fn watch(engine: &Engine, args: &WatchArgs, context: &Context) -> Result<ExitCode, Failure> {
    let mut watch = engine.watch_live();
    if let Some(path) = &args.record {
        let home = context.global.home.first().cloned().or_else(|| context.folders.home.clone());
        watch.record(path, &home.unwrap_or_default())?;
        context.warn(&format!("recording to {}; session text is in it", path.display()));
    }
    let (mut is_polling, mut is_blind) = (false, false);
    let mut facts = engine.live_facts();
    let mut alarms = Alarms::new(engine, args.notify);
    let is_board = context.on_terminal() && !context.global.json && !args.once;
    let is_table = !is_board && !context.global.json;
    loop {
        let patience = if is_board { FRAME } else { LONG };
        let patience = if args.once || is_table { Duration::from_millis(1200) } else { patience };
        let (mut rows, mut events) = watch.next(patience)?;
        if !is_polling && !watch.is_told() {
            // Also when the limit of the system is reached later.
            is_polling = true;
            context.warn(POLLING);
        }
        if !is_blind && watch.is_blind() {
            is_blind = true;
            context.warn(BLIND);
        }
        if args.once || (is_table && args.until.is_none()) {
            rows = settle(&mut watch, &mut facts)?;
            events.clear();
        }
        facts.update(&rows, !events.is_empty());
        let now = now();
        alarms.check(&rows, &facts, now, context);
        if is_board {
            board::draw(&rows, &facts, now, context)?;
        } else if context.global.json && args.once {
            json::whole(context, &documents::live_board(&rows, &facts, now))?;
        } else if context.global.json {
            print_events(&events, &rows, &facts, None)?;
        }
        if let Some(until) = args.until {
            if until.is_met(&rows) {
                return Ok(ExitCode::SUCCESS);
            }
            if !args.once {
                continue;
            }
        }
        if args.once || is_table {
            if is_table {
                let mut out = context.out(Paged::No);
                out.write_all(board::table(&rows, &facts, now, context).as_bytes())?;
                out.finish()?;
            }
            let is_unmet = args.until.is_some();
            return Ok(if rows.is_empty() || is_unmet {
                ExitCode::from(NOTHING)
            } else {
                ExitCode::SUCCESS
            });
        }
    }
}

/// Looks for a moment longer: what a process writes is only known after two looks, and rows are read in the background.
fn settle(
    watch: &mut recount_engine::live::LiveWatch,
    facts: &mut LiveFacts,
) -> Result<Vec<LiveRow>, Failure> {
    let mut rows = watch.rows();
    for _ in 0..3 {
        if rows.is_empty() {
            break;
        }
        facts.update(&rows, true);
        rows = watch.next(Duration::from_millis(450))?.0;
    }
    facts.wait(SETTLED);
    Ok(rows)
}

fn replay_all(
    replay: &mut Replay,
    speed: Option<f64>,
    engine: &Engine,
    args: &WatchArgs,
    context: &Context,
) -> Result<ExitCode, Failure> {
    if replay.broken > 0 {
        let s = if replay.broken == 1 { "" } else { "s" };
        let what = if replay.is_day() {
            format!("message{s}")
        } else {
            format!("line{s} of the recording")
        };
        context.warn(&format!("{} {what} cannot be read", replay.broken));
    }
    // What the rows of the list say is not of the moment that is played.
    let mut facts = engine.live_facts();
    for (source, id, title) in replay.titles() {
        facts.set_title(source, id, title);
    }
    let is_board = context.on_terminal() && !context.global.json && !args.once;
    let mut before = 0;
    let mut last = Vec::new();
    let mut end = 0;
    while let Some(step) = replay.step() {
        if let Some(speed) = speed {
            let wait = u64::try_from(step.t - before).unwrap_or_default();
            std::thread::sleep(Duration::from_millis(wait).div_f64(speed));
        }
        if context.global.json && !args.once {
            print_events(&step.events, &step.rows, &facts, Some(step.t))?;
        } else if is_board
            && (speed.is_some() || !step.events.is_empty())
            && step.t / 200 != before / 200
        {
            board::draw(&step.rows, &facts, replay.time(step.t), context)?;
        }
        before = step.t;
        let is_met =
            args.until.is_some_and(|until| until.is_met(&step.rows) && !step.rows.is_empty());
        end = replay.time(step.t);
        last = step.rows;
        if is_met {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if context.global.json && args.once {
        json::whole(context, &documents::live_board(&last, &facts, end))?;
    } else if !context.global.json {
        let mut out = context.out(Paged::No);
        out.write_all(board::table(&last, &facts, end, context).as_bytes())?;
        out.finish()?;
    }
    Ok(if args.until.is_some() { ExitCode::from(NOTHING) } else { ExitCode::SUCCESS })
}

fn print_events(
    events: &[LiveEvent],
    rows: &[LiveRow],
    facts: &LiveFacts,
    t: Option<i64>,
) -> io::Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    for event in events {
        let document = documents::live_change(event, rows, facts, t);
        let mut line = Vec::new();
        recount_engine::export::json::write_json(&mut line, &document)?;
        line.push(b'\n');
        out.write_all(&line)?;
    }
    out.flush()
}
