//! A plan for people: the sessions, then every file with what becomes of it.

use std::collections::BTreeSet;

use recount_changes::{FileState, Plan, Step, Subject, deleted_ids};

use crate::context::Context;
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::number::{bytes, plural};
use crate::output::span::{Line, Span};
use crate::output::theme::Tone;
use crate::output::width::truncate_to;

const COLUMNS: &[Column] = &[
    Column { heading: "CHANGE", align: Align::Left, fit: Fit::Keep },
    Column { heading: "WHAT", align: Align::Left, fit: Fit::Drop(1) },
    Column { heading: "BEFORE", align: Align::Right, fit: Fit::Keep },
    Column { heading: "AFTER", align: Align::Right, fit: Fit::Keep },
    Column { heading: "FILE", align: Align::Path, fit: Fit::Keep },
];

/// So much of a title is shown at least.
const SHORTEST: usize = 24;

/// Lays out a plan.
pub(super) fn plan(plan: &Plan, context: &Context) -> String {
    let canvas = context.page();
    let title = |subject: &Subject| {
        let short = subject.id.chars().take(8).collect::<String>();
        let title = subject.title.as_deref().unwrap_or("(no title)");
        let project = subject.project.as_deref().map(|path| context.folders.tilde(path));
        let id = Span::new(&format!("{short}  "), Tone::Strong);
        let project = project.map(|path| format!("  {path}")).unwrap_or_default();
        let project = Span::new(&project, Tone::Dim);
        // A sub-agent is called by its task, which may be a page long.
        let room = canvas.room().saturating_sub(id.width() + project.width()).max(SHORTEST);
        let title = truncate_to(Span::new(title, Tone::Plain).text(), room);
        Line::new([id, Span::new(&title, Tone::Plain), project])
    };
    let mut page = canvas.print(plan.sessions.iter().map(title));
    let deleted = deleted_ids(plan);
    let rows: Vec<Vec<Span>> =
        plan.steps.iter().map(|step| row(plan, &deleted, step, context)).collect();
    page.push_str(&render(COLUMNS, &rows, &canvas));
    page
}

fn row(plan: &Plan, deleted: &BTreeSet<&str>, step: &Step, context: &Context) -> Vec<Span> {
    let (change, tone) = match (&step.before, &step.after) {
        (Some(_), None) if step.moved_to.is_some() => ("moved", Tone::Dim),
        (Some(_), None) if step.session.as_deref().is_some_and(|id| deleted.contains(id)) => {
            ("to trash", Tone::Removed)
        }
        // The session stays: what is removed is kept as undo data.
        (Some(_), None) => ("remove", Tone::Removed),
        (None, _) if plan.undoes.is_some() => ("back", Tone::Added),
        (None, _) => ("new", Tone::Added),
        (Some(_), Some(_)) => ("change", Tone::Warning),
    };
    let size =
        |state: &Option<FileState>| state.as_ref().map_or("-".to_owned(), |s| bytes(s.bytes));
    vec![
        Span::new(change, tone),
        Span::new(&step.what, Tone::Dim),
        Span::new(&size(&step.before), Tone::Plain),
        Span::new(&size(&step.after), Tone::Plain),
        Span::new(&context.folders.tilde(&step.path.to_string_lossy()), Tone::Plain),
    ]
}

/// How many files a plan changes, in words.
pub(crate) fn files(plan: &Plan) -> String {
    plural(plan.steps.len() as u64, "file")
}

/// How many sessions a plan is about, in words.
pub(crate) fn sessions(plan: &Plan) -> String {
    plural(plan.sessions.len() as u64, "session")
}

/// How large files were and are, in words.
pub(crate) fn shrunk(plan: &Plan) -> String {
    let (before, after) = sizes(plan);
    format!("{} -> {}", bytes(before), bytes(after))
}

/// How much smaller files become, in words.
pub(crate) fn saved(plan: &Plan) -> String {
    let (before, after) = sizes(plan);
    let saved = before.saturating_sub(after);
    let share = (saved * 100).checked_div(before).unwrap_or_default();
    format!("saves {} of {} ({share}%)", bytes(saved), bytes(before))
}

/// How large all files are before and after.
fn sizes(plan: &Plan) -> (u64, u64) {
    let size = |states: Vec<&FileState>| states.iter().map(|state| state.bytes).sum();
    let before = size(plan.steps.iter().filter_map(|step| step.before.as_ref()).collect());
    let after = size(plan.steps.iter().filter_map(|step| step.after.as_ref()).collect());
    (before, after)
}
