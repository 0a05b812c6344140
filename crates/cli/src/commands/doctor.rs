//! `recount doctor`

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use recount_changes::{Changes, Finding, IntegrationState, IntegrationStatus, Severity, Topic};
use recount_documents::{FindingDocument, findings};

use crate::context::{Context, Paged};
use crate::failure::{FOUND, Failure};
use crate::output::canvas::Canvas;
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::json;
use crate::output::number::plural;
use crate::output::progress::Bar;
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;
use crate::output::wrap::{hang, wrap};
use crate::words;

/// Check sessions, registry and data folders for problems
///
/// Loads every session as its agent would, and checks pending deletions, permissions, sizes, the agent's project registry, orphaned
/// files and recount's own data. Shows the command that fixes each problem and changes nothing itself. Exits with 1 if problems were found.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  recount doctor                     # everything
  recount doctor shop                # one project
  recount doctor --json")]
pub(crate) struct DoctorArgs {
    /// Only this project: a path, a slug, a hash prefix, or part of its name
    #[arg(value_name = "PROJECT")]
    project: Option<String>,
}

pub(crate) fn run(args: &DoctorArgs, context: &Context) -> Result<ExitCode, Failure> {
    let changes = Changes::new(context.engine()?);
    let project = args.project.as_deref().map(|wanted| context.project_argument(wanted));
    let bar = Bar::new(context, "reading");
    let mut found = changes.doctor(project.as_deref(), &bar)?;
    let integrations = if project.is_none() { changes.integrations(true)? } else { Vec::new() };
    found.extend(integrations.iter().filter_map(Finding::of_integration));
    bar.finish();
    report_integrations(&integrations, context);
    let findings = findings(found, context.folders.home.as_deref());
    if context.global.json {
        json::document(context, "doctor", "findings", &findings)?;
    } else if !findings.is_empty() {
        let mut out = context.out(Paged::Yes);
        out.write_all(page(&findings, context).as_bytes())?;
        out.finish()?;
    }
    if findings.is_empty() {
        context.warn("no problems found");
        return Ok(ExitCode::SUCCESS);
    }
    let of = |severity| findings.iter().filter(|f| f.severity == severity).count() as u64;
    let counts =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
    let counts = counts.into_iter().map(|(severity, word)| (of(severity), word));
    let counts: Vec<String> =
        counts.filter(|(n, _)| *n > 0).map(|(n, word)| plural(n, word)).collect();
    context.warn(&counts.join(", "));
    Ok(ExitCode::from(FOUND))
}

/// Says which agents have recount, if any has.
fn report_integrations(all: &[IntegrationStatus], context: &Context) {
    let is_known = |one: &IntegrationStatus| {
        !matches!(one.state, IntegrationState::NoAgent | IntegrationState::NotThere)
    };
    if all.iter().any(is_known) {
        let state = |one: &IntegrationStatus| {
            format!("{} {}", one.name, words::integration_state(one.state))
        };
        let states: Vec<String> = all.iter().map(state).collect();
        context.warn(&format!("recount in the agents: {}", states.join(", ")));
    }
}

/// The gap between two columns.
const GAP: usize = 2;

const COLUMNS: &[Column] = &[
    Column { heading: "", align: Align::Left, fit: Fit::Keep },
    Column { heading: "WHERE", align: Align::Left, fit: Fit::Keep },
    Column { heading: "WHAT", align: Align::Left, fit: Fit::Flexible },
    Column { heading: "FIX", align: Align::Left, fit: Fit::Keep },
];

fn page(findings: &[FindingDocument], context: &Context) -> String {
    let canvas = context.page();
    let mut page = String::new();
    let mut topics: Vec<Topic> = findings.iter().map(|finding| finding.topic).collect();
    topics.dedup();
    for (number, topic) in topics.into_iter().enumerate() {
        if number > 0 {
            page.push('\n');
        }
        page.push_str(
            &canvas.print([Line::new([StyledSpan::new(words::topic(topic), Tone::Strong)])]),
        );
        let own = findings.iter().filter(|finding| finding.topic == topic);
        let rows: Vec<Vec<StyledSpan>> = own.map(row).collect();
        let page_of = if fits(&rows, canvas.room()) { beside } else { below };
        page.push_str(&page_of(&rows, &canvas));
    }
    page
}

/// Whether everything fits side by side in `room` columns.
fn fits(rows: &[Vec<StyledSpan>], room: usize) -> bool {
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(StyledSpan::width).max().unwrap_or(0)
    };
    (0..COLUMNS.len()).map(|column| widest(column) + GAP).sum::<usize>() <= room + GAP
}

/// Shows the remedy beside the problem.
fn beside(rows: &[Vec<StyledSpan>], canvas: &Canvas) -> String {
    render(COLUMNS, rows, canvas)
}

/// Shows the remedy below the problem, so that neither is cut. A remedy is never broken: it is there to be copied.
fn below(rows: &[Vec<StyledSpan>], canvas: &Canvas) -> String {
    let headings = COLUMNS.iter().map(|column| StyledSpan::new(column.heading, Tone::Dim));
    let headings: Vec<StyledSpan> = headings.take(3).collect();
    let rows: Vec<&[StyledSpan]> =
        std::iter::once(&headings).chain(rows).map(Vec::as_slice).collect();
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(StyledSpan::width).max().unwrap_or(0)
    };
    let widths = [widest(0) + GAP, widest(1) + GAP];
    let blank = |width: usize| StyledSpan::new(&" ".repeat(width), Tone::Plain);
    let left: usize = widths.iter().sum();
    let rest = Line::new([blank(left)]);
    let mut lines = Vec::new();
    for row in rows {
        let [severity, place, what, ..] = row else { continue };
        let padded = |cell: &StyledSpan, width: usize| {
            [cell.clone(), blank(width.saturating_sub(cell.width()))]
        };
        let [one, two] = [padded(severity, widths[0]), padded(place, widths[1])];
        let first = Line::new(one.into_iter().chain(two));
        let room = canvas.room().saturating_sub(left).max(20);
        lines.extend(hang(wrap(std::slice::from_ref(what), room), &first, &rest));
        if let Some(remedy) = row.get(3).filter(|remedy| remedy.text() != "-") {
            lines.push(Line::new([blank(widths[0]), remedy.clone()]));
        }
    }
    canvas.print(lines)
}

fn row(finding: &FindingDocument) -> Vec<StyledSpan> {
    let (word, tone) = match finding.severity {
        Severity::Error => ("error", Tone::Removed),
        Severity::Warning => ("warning", Tone::Warning),
        Severity::Note => ("note", Tone::Dim),
    };
    let place = match (&finding.session, &finding.path) {
        (Some(id), _) => id.prefix().to_owned(),
        (None, Some(path)) => tail(path),
        (None, None) => String::new(),
    };
    let remedy = finding.short_remedy.as_deref().unwrap_or("-");
    vec![
        StyledSpan::new(word, tone),
        StyledSpan::new(&place, Tone::Plain),
        StyledSpan::new(&finding.what, Tone::Plain),
        StyledSpan::new(remedy, Tone::Dim),
    ]
}

/// The maximum length of a name, and of a hash.
const LONG: usize = 24;
const SHORT: usize = 8;

/// Returns the end of a path, with long names shortened: `--json` has all of it.
fn tail(path: &Path) -> String {
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    let names = names.get(names.len().saturating_sub(2)..).unwrap_or_default().iter();
    let short = |name: &std::borrow::Cow<'_, str>| {
        let is_hash = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let room = if is_hash { SHORT } else { LONG };
        let start: String = name.chars().take(room).collect();
        if start.len() < name.len() { start + "…" } else { start }
    };
    names.map(short).collect::<Vec<String>>().join("/")
}
