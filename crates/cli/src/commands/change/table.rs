//! A plan for people: the sessions, then every file with its change.

use std::collections::BTreeSet;

use recount_changes::{Plan, Step, Subject, deleted_ids};
use recount_display::plan::{change, size};

use crate::context::Context;
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;
use crate::output::width::truncate_to;

const COLUMNS: &[Column] = &[
    Column { heading: "CHANGE", align: Align::Left, fit: Fit::Keep },
    Column { heading: "WHAT", align: Align::Left, fit: Fit::Drop(1) },
    Column { heading: "BEFORE", align: Align::Right, fit: Fit::Keep },
    Column { heading: "AFTER", align: Align::Right, fit: Fit::Keep },
    Column { heading: "FILE", align: Align::Path, fit: Fit::Keep },
];

/// The minimum width of a title.
const SHORTEST: usize = 24;

/// Lays out a plan.
pub(super) fn plan(plan: &Plan, context: &Context) -> String {
    let canvas = context.page();
    let title = |subject: &Subject| {
        let short = subject.id.chars().take(8).collect::<String>();
        let title = subject.title.as_deref().unwrap_or("(no title)");
        let project = subject.project.as_deref().map(|path| context.folders.tilde(path));
        let id = StyledSpan::new(&format!("{short}  "), Tone::Strong);
        let project = project.map(|path| format!("  {path}")).unwrap_or_default();
        let project = StyledSpan::new(&project, Tone::Dim);
        // The title of a sub-agent is its task, which may be a page long.
        let room = canvas.room().saturating_sub(id.width() + project.width()).max(SHORTEST);
        let title = truncate_to(StyledSpan::new(title, Tone::Plain).text(), room);
        Line::new([id, StyledSpan::new(&title, Tone::Plain), project])
    };
    let mut page = canvas.print(plan.sessions.iter().map(title));
    let deleted = deleted_ids(plan);
    let rows: Vec<Vec<StyledSpan>> =
        plan.steps.iter().map(|step| row(plan, &deleted, step, context)).collect();
    page.push_str(&render(COLUMNS, &rows, &canvas));
    page
}

fn row(plan: &Plan, deleted: &BTreeSet<&str>, step: &Step, context: &Context) -> Vec<StyledSpan> {
    vec![
        change(plan, deleted, step),
        StyledSpan::new(&step.what, Tone::Dim),
        StyledSpan::new(&size(step.before.as_ref()), Tone::Plain),
        StyledSpan::new(&size(step.after.as_ref()), Tone::Plain),
        StyledSpan::new(&context.folders.tilde(&step.path.to_string_lossy()), Tone::Plain),
    ]
}
