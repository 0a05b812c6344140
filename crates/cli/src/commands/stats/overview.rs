//! One screen: today, this week, this month, and the top projects and models.

use std::process::ExitCode;

use recount_display::usage::{cost, tokens};
use recount_engine::Engine;
use recount_engine::stats::{Overview, StatsRequest, StatsRow, UsageFigures};

use super::{Bound, end, line, print, print_json};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::bar::{bar, sparkline};
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::form::Form;
use crate::output::number::{count, duration, percent};
use crate::output::project_names::ProjectNames;
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;

/// The maximum number of projects and models.
const TOP: usize = 5;
/// The width of bars.
const BAR: usize = 16;

/// Shows the screen, and warns if spending exceeds the budget.
pub(super) fn show(
    overview: &Overview,
    engine: &Engine,
    asked: &StatsRequest,
    context: &Context,
) -> Result<ExitCode, Failure> {
    if context.global.json {
        print_json(context, overview)?;
    } else {
        print(context, &page(overview, context))?;
        line::warn_over(&engine.budget(&asked.zone, &())?, context);
    }
    // This screen is for people, wherever it goes.
    Ok(end(context, &overview.report.total, &overview.report.basis, Bound::Marked))
}

/// Draws the screen.
fn page(overview: &Overview, context: &Context) -> String {
    let canvas = context.page();
    let total = &overview.report.total;
    let when = [
        ("today", &overview.today),
        ("this week", &overview.week),
        ("this month", &overview.month),
        ("all", total),
    ];
    let mut page = render(WHEN, &when.map(|(name, figures)| period(name, figures)), &canvas);
    let days: Vec<u128> = overview.recent.iter().map(|row| weight(&row.figures)).collect();
    if days.iter().any(|day| *day > 0) {
        let line = Line::new([
            StyledSpan::new("last 30 days  ", Tone::Dim),
            StyledSpan::new(&sparkline(&days), Tone::Plain),
        ]);
        page.push_str(&canvas.print([Line::default(), line]));
    }
    let tops = [("PROJECT", "projects", &overview.projects), ("MODEL", "models", &overview.models)];
    for (heading, what, rows) in tops {
        if !rows.is_empty() {
            page.push('\n');
            page.push_str(&render(&top_columns(heading), &top(rows, total, what), &canvas));
        }
    }
    page
}

const WHEN: &[Column] = &[
    Column { heading: "", align: Align::Left, fit: Fit::Keep },
    Column { heading: "SESSIONS", align: Align::Right, fit: Fit::Drop(4) },
    Column { heading: "PROMPTS", align: Align::Right, fit: Fit::Drop(3) },
    Column { heading: "REQUESTS", align: Align::Right, fit: Fit::Drop(5) },
    Column { heading: "TOOLS", align: Align::Right, fit: Fit::Drop(2) },
    Column { heading: "CACHED", align: Align::Right, fit: Fit::Drop(1) },
    Column { heading: "ACTIVE", align: Align::Right, fit: Fit::Drop(6) },
    Column { heading: "TOKENS", align: Align::Right, fit: Fit::Keep },
    Column { heading: "COST", align: Align::Right, fit: Fit::Keep },
];

fn period(name: &str, figures: &UsageFigures) -> Vec<StyledSpan> {
    let tone = if name == "all" { Tone::Strong } else { Tone::Plain };
    let cell = |text: &str| StyledSpan::new(text, tone);
    vec![
        StyledSpan::new(name, if name == "all" { Tone::Strong } else { Tone::Name }),
        cell(&count(figures.sessions)),
        cell(&count(figures.prompts)),
        cell(&count(figures.requests)),
        cell(&count(figures.tool_calls)),
        cell(&figures.cache_share().map(percent).unwrap_or_default()),
        cell(&duration(figures.active_seconds)),
        cell(&Form::Short.tokens(tokens(figures))),
        cell(&cost(figures)),
    ]
}

fn top_columns(heading: &'static str) -> [Column; 6] {
    [
        Column { heading, align: Align::Left, fit: Fit::Flexible },
        Column { heading: "SESSIONS", align: Align::Right, fit: Fit::Drop(1) },
        Column { heading: "REQUESTS", align: Align::Right, fit: Fit::Drop(3) },
        Column { heading: "TOKENS", align: Align::Right, fit: Fit::Keep },
        Column { heading: "COST", align: Align::Right, fit: Fit::Keep },
        Column { heading: "", align: Align::Left, fit: Fit::Drop(2) },
    ]
}

/// Returns the first few rows, and the total if there are more.
fn top(rows: &[StatsRow], total: &UsageFigures, what: &str) -> Vec<Vec<StyledSpan>> {
    let most = rows.iter().map(|row| weight(&row.figures)).max().unwrap_or(0);
    let line = |name: &str, figures: &UsageFigures, tone: Tone, drawn: &str| {
        vec![
            StyledSpan::new(name, tone),
            StyledSpan::new(&count(figures.sessions), Tone::Plain),
            StyledSpan::new(&count(figures.requests), Tone::Plain),
            StyledSpan::new(&Form::Short.tokens(tokens(figures)), Tone::Plain),
            StyledSpan::new(&cost(figures), Tone::Plain),
            StyledSpan::new(drawn, Tone::Dim),
        ]
    };
    let names = ProjectNames::of_rows(rows);
    let one = |row: &StatsRow| {
        let name = names.by_key(&row.key).or(row.name.as_deref()).unwrap_or(&row.key);
        line(name, &row.figures, Tone::Name, &bar(weight(&row.figures), most, BAR))
    };
    let mut lines: Vec<Vec<StyledSpan>> = rows.iter().take(TOP).map(one).collect();
    if rows.len() > TOP {
        let all = format!("all {} {what}", rows.len());
        lines.push(line(&all, total, Tone::Dim, ""));
    }
    lines
}

/// Returns the value that bars compare.
fn weight(figures: &UsageFigures) -> u128 {
    recount_display::usage::weight(false, figures)
}
