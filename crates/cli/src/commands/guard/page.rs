//! What would be lost, project by project.

use std::collections::BTreeSet;

use recount_engine::{Agent, Guarded, Lost, ReleaseFrom, SessionAtRisk};
use recount_model::{DeletionReason, PendingDeletion};

use crate::context::Context;
use crate::output::columns::{Align, Column, Fit, render};
use crate::output::number::{bytes, plural};
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;
use crate::output::wrap::{hang, wrap};
use crate::when;
use crate::words::guard;

const COLUMNS: &[Column] = &[
    Column { heading: "ID", align: Align::Left, fit: Fit::Keep },
    Column { heading: "USED", align: Align::Left, fit: Fit::Drop(2) },
    Column { heading: "SIZE", align: Align::Right, fit: Fit::Drop(1) },
    Column { heading: "LOST", align: Align::Left, fit: Fit::Keep },
    Column { heading: "WHY", align: Align::Left, fit: Fit::Keep },
    Column { heading: "TITLE", align: Align::Left, fit: Fit::Flexible },
];

/// Lays out the predicted deletions.
pub(super) fn page(agents: &[Agent], projects: &[Guarded], context: &Context) -> String {
    let mut page = String::new();
    for agent in agents {
        page.push_str(&context.page().print([agent_line(agent)]));
    }
    page.push_str(&context.page().print(headline(projects)));
    let (danger, calm): (Vec<&Guarded>, Vec<&Guarded>) =
        projects.iter().partition(|row| row.is_in_danger());
    let has_several =
        projects.iter().any(|row| projects.first().is_some_and(|first| first.source != row.source));
    for row in &danger {
        page.push_str(&project(row, has_several, context));
    }
    if !calm.is_empty() {
        page.push_str(&calm_lines(&calm, &danger, context));
    }
    page
}

/// How many sessions would be deleted, of how many: those that humans began, and of which nothing would be left.
fn headline(projects: &[Guarded]) -> Option<Line> {
    let mains = || {
        let all = projects.iter().flat_map(|row| &row.sessions);
        all.filter(|session| !session.kind.is_subagent())
    };
    let lost = mains().filter(|session| session.lost == Lost::Whole).count() as u64;
    let safe: u64 = projects.iter().map(|row| row.safe.sessions).sum();
    let all = safe + mains().count() as u64;
    let sessions = if all == 1 { "session" } else { "sessions" };
    let unread = projects.iter().flat_map(unread).filter(|deletion| !deletion.is_link);
    let linked = plural(unread.count() as u64, "session file");
    let words = match (lost, linked.starts_with("0 ")) {
        (0, true) => return None,
        (0, false) => format!("{linked} in linked folders will be deleted on the next start"),
        (_, true) => format!("{lost} of {all} {sessions} will be deleted on the next start"),
        (_, false) => format!(
            "{lost} of {all} {sessions} and {linked} in linked folders will be deleted on the next start"
        ),
    };
    Some(Line::new([StyledSpan::new(&words, Tone::Error)]))
}

fn agent_line(agent: &Agent) -> Line {
    let from = match agent.release_from {
        ReleaseFrom::Asked => "as asked",
        ReleaseFrom::Installed => "installed",
        ReleaseFrom::Guessed => "the newest that is known",
    };
    Line::new([
        StyledSpan::new(
            &format!("At the next start of {} {}", agent.program, agent.release),
            Tone::Plain,
        ),
        StyledSpan::new(&format!(" ({from})"), Tone::Dim),
    ])
}

fn project(row: &Guarded, has_several: bool, context: &Context) -> String {
    let canvas = context.page();
    let mut page = canvas.print([Line::default(), heading(row, has_several, context)]);
    let inner = canvas.indent(StyledSpan::new("  ", Tone::Plain));
    let mut mains: Vec<&SessionAtRisk> =
        row.sessions.iter().filter(|session| !session.kind.is_subagent()).collect();
    mains.sort_by_key(|session| session.lost);
    if !mains.is_empty() {
        let cells: Vec<Vec<StyledSpan>> =
            mains.iter().map(|one| cells(one, row, context)).collect();
        page.push_str(&render(COLUMNS, &cells, &inner));
    }
    let mut lines = Vec::new();
    if context.global.verbose > 0 {
        lines.extend(row.deletions().map(|deletion| file(deletion, row, context)));
    }
    lines.extend(also(row));
    lines.extend(safe(row));
    lines.extend(
        row.retention
            .notes
            .iter()
            .map(|note| format!("note: {}", guard::note(note)))
            .map(|note| Line::new([StyledSpan::new(&note, Tone::Warning)])),
    );
    page.push_str(&inner.print(lines));
    page
}

/// Returns the project's name and folder, its agent if there are several, and how long that keeps sessions.
fn heading(row: &Guarded, has_several: bool, context: &Context) -> Line {
    let path = row.project.path.as_ref().map(|path| context.folders.tilde(path.as_str()));
    let kept = guard::kept(&row.retention, |path| context.folders.tilde(path));
    Line::new([
        StyledSpan::new(row.project.name(), Tone::Strong),
        StyledSpan::new(&format!("  {}", path.unwrap_or_default()), Tone::Plain),
        StyledSpan::new(
            &if has_several { format!("  {}", row.source) } else { String::new() },
            Tone::Plain,
        ),
        StyledSpan::new(&format!("  {kept}"), Tone::Dim),
    ])
}

fn cells(session: &SessionAtRisk, row: &Guarded, context: &Context) -> Vec<StyledSpan> {
    let used = session.updated.map(|updated| when::age(updated, context.clock.now()));
    let (lost, tone) = match session.lost {
        Lost::Whole => ("all", Tone::Error),
        Lost::Part => ("a part", Tone::Warning),
        Lost::Spare => ("nothing", Tone::Dim),
    };
    vec![
        StyledSpan::new(session.id.prefix(), Tone::Name),
        StyledSpan::new(&used.unwrap_or_default(), Tone::Dim),
        StyledSpan::new(&bytes(session.bytes), Tone::Dim),
        StyledSpan::new(lost, tone),
        StyledSpan::new(&guard::why(session, &row.retention), Tone::Plain),
        StyledSpan::new(session.title.as_deref().unwrap_or("(no messages)"), Tone::Plain),
    ]
}

fn file(deletion: &PendingDeletion, row: &Guarded, context: &Context) -> Line {
    let why = guard::one(deletion, &row.retention);
    Line::new([
        StyledSpan::new(&context.folders.tilde(&deletion.path), Tone::Plain),
        StyledSpan::new(&format!("  {}  {why}", bytes(deletion.bytes)), Tone::Dim),
    ])
}

/// What goes beside the sessions in the table.
fn also(row: &Guarded) -> Option<Line> {
    let agents = row.sessions.iter().filter(|session| session.kind.is_subagent());
    let agents = agents.count() as u64;
    let beside = row.sessions.iter().flat_map(|session| &session.beside);
    let others = |why: fn(DeletionReason) -> bool| {
        row.others
            .iter()
            .filter(move |deletion| why(deletion.why))
            .collect::<Vec<&PendingDeletion>>()
    };
    let beside: Vec<&PendingDeletion> =
        beside.chain(others(|why| why == DeletionReason::Beside)).collect();
    let outputs =
        others(|why| matches!(why, DeletionReason::OutputAge | DeletionReason::OutputCount));
    let points = others(DeletionReason::is_routine);
    let (links, linked): (Vec<&PendingDeletion>, Vec<&PendingDeletion>) =
        unread(row).partition(|deletion| deletion.is_link);
    let mut parts = Vec::new();
    let mut add = |deletions: &[&PendingDeletion], word: &str, note: &str| {
        if !deletions.is_empty() {
            let sum = bytes(deletions.iter().map(|deletion| deletion.bytes).sum());
            parts.push(format!("{}{note} ({sum})", plural(deletions.len() as u64, word)));
        }
    };
    add(&beside, "file", " beside them");
    add(&outputs, "old tool output", "");
    add(&points, "restore point", ", as at every start");
    add(&linked, "session file", " in a linked folder");
    if !links.is_empty() {
        let links = plural(links.len() as u64, "link");
        parts.push(format!("{links} to session files (the files stay)"));
    }
    if agents > 0 {
        parts.insert(0, plural(agents, "sub-agent session"));
    }
    let words = format!("also: {}", parts.join(", "));
    (!parts.is_empty()).then(|| Line::new([StyledSpan::new(&words, Tone::Dim)]))
}

/// Session files that are not read because they lie behind links, which the agent follows.
fn unread(row: &Guarded) -> impl Iterator<Item = &PendingDeletion> {
    let is_session = |why: DeletionReason| {
        let is_output = matches!(why, DeletionReason::OutputAge | DeletionReason::OutputCount);
        !is_output && why != DeletionReason::Beside && !why.is_routine()
    };
    row.others.iter().filter(move |deletion| is_session(deletion.why))
}

fn safe(row: &Guarded) -> Option<Line> {
    let words =
        format!("safe: {}, {}", plural(row.safe.sessions, "session"), bytes(row.safe.bytes));
    (row.safe.sessions > 0).then(|| Line::new([StyledSpan::new(&words, Tone::Dim)]))
}

/// Projects that lose nothing, in a few lines: one for each way in which they are kept.
fn calm_lines(calm: &[&Guarded], danger: &[&Guarded], context: &Context) -> String {
    let is_all = danger.is_empty();
    let sessions = calm.iter().map(|row| row.safe.sessions).sum();
    let all = if is_all { "Nothing would be deleted" } else { "Nothing would be deleted in" };
    // A project may have several directories: it counts once, as in `recount projects`, and not where another of them is in danger.
    let lost: BTreeSet<String> = danger.iter().map(|row| row.project.key()).collect();
    let keys = || calm.iter().map(|row| row.project.key()).filter(|key| !lost.contains(key));
    let projects = keys().collect::<BTreeSet<_>>().len() as u64;
    if projects == 0 && !is_all {
        return String::new();
    }
    let projects = plural(projects, "project");
    let summary =
        if is_all { format!("{all} ({projects}, ") } else { format!("{all} {projects} (") };
    let summary = format!("{summary}{}).", plural(sessions, "session"));
    let mut ways: Vec<(String, BTreeSet<String>)> = Vec::new();
    for row in calm.iter().filter(|row| !lost.contains(&row.project.key())) {
        let way = guard::kept(&row.retention, |path| context.folders.tilde(path));
        match ways.iter_mut().find(|(known, _)| *known == way) {
            Some((_, projects)) => _ = projects.insert(row.project.key()),
            None => ways.push((way, BTreeSet::from([row.project.key()]))),
        }
    }
    let canvas = context.page();
    let mut lines = vec![Line::default(), Line::new([StyledSpan::new(&summary, Tone::Plain)])];
    let indent = |width: usize| Line::new([StyledSpan::new(&" ".repeat(width), Tone::Plain)]);
    for (way, projects) in &ways {
        let words = format!("{}: {way}", plural(projects.len() as u64, "project"));
        let room = canvas.room().saturating_sub(4).max(20);
        let wrapped = wrap(&[StyledSpan::new(&words, Tone::Dim)], room);
        lines.extend(hang(wrapped, &indent(2), &indent(4)));
    }
    canvas.print(lines)
}
