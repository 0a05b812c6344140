//! Changes that have a plan.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_changes::{Changes, Compaction, Error as ChangeError, Fork, Plan, Prune};
use recount_display::number::plural;
use recount_display::plan::{files, left_out, sessions};
use recount_display::words;
use recount_engine::Engine;
use recount_model::{ProjectState, SessionFacts};
use recount_platform::quote;

use crate::effect::Notice;
use crate::over::{Choice, Pick, PlanScreen, Planned, Planning};
use crate::screen::Context;
use crate::shared::Shared;
use crate::work::Work;

/// Opens the plan to delete sessions; `whole` is the name of a project that loses all of them.
pub(crate) fn delete(chosen: Vec<Arc<SessionFacts>>, whole: Option<&str>, cx: &mut Context<'_>) {
    let many = plural(chosen.len() as u64, "session");
    let title = match whole {
        Some(project) => format!("delete all of {project}: {many}"),
        None => format!("delete {many}"),
    };
    let command = format!("recount delete {}", quoted(&chosen));
    let make = move |work: &Work| {
        let engine = work.fresh_engine();
        let (ids, left_out) = not_running(&engine, &chosen)?;
        let offer = Changes::new(&engine).delete_plan(&ids, work.progress())?;
        Ok(Planned { offer, left_out, ..Planned::default() })
    };
    let done = |plan: &Plan| format!("deleted {}", sessions(plan));
    let planning = Planning::new(title, "delete", make, done).command(command);
    let planning = if whole.is_some() { planning.typed() } else { planning };
    cx.push(PlanScreen::new(planning));
}

/// Asks for a project, then opens the plan to move sessions there.
pub(crate) fn move_to(chosen: Vec<Arc<SessionFacts>>, cx: &mut Context<'_>) {
    let is_elsewhere =
        |facts: &SessionFacts| chosen.iter().any(|one| one.project.key() != facts.project.key());
    let choices = projects(cx.shared, is_elsewhere);
    let title = format!("move {} to", what(&chosen));
    cx.push(Pick::folder(&title, choices, move |to, cx| {
        let short = cx.shared.folders.tilde(&to);
        // The command takes one session at a time.
        let line = |facts: &Arc<SessionFacts>| {
            format!("recount move {} {}", quote(facts.id.as_str()), quote(&to))
        };
        let command = chosen.iter().map(line).collect::<Vec<_>>().join("\n");
        let title = format!("move {} to {short}", what(&chosen));
        let make = move |work: &Work| {
            let engine = work.fresh_engine();
            let (ids, left_out) = not_running(&engine, &chosen)?;
            let to = absolute(&engine, &to);
            let offer = Changes::new(&engine).move_all_plan(&ids, &to, work.progress())?;
            Ok(Planned { offer, left_out, ..Planned::default() })
        };
        let done = move |plan: &Plan| format!("moved {} to {short}", sessions(plan));
        cx.push(PlanScreen::new(Planning::new(title, "move", make, done).command(command)));
    }));
}

/// Asks for a title, then opens the plan to set it.
pub(crate) fn rename(chosen: &[Arc<SessionFacts>], cx: &mut Context<'_>) {
    let Some(first) = chosen.first().cloned() else { return };
    let now = first.title.clone().unwrap_or_default();
    let title = format!("title of {}", first.id.short());
    let hint = "↵ shows the plan; without a title, its first prompt is shown";
    cx.push(Pick::text(&title, &now, hint, move |new, cx| {
        if first.title.as_deref().is_some_and(|title| title.trim() == new) {
            cx.say(Notice::info("the title stays as it is"));
            return;
        }
        let old = first.title.clone().unwrap_or_else(|| "(no title)".to_owned());
        let shown = if new.is_empty() { "(its first prompt)" } else { &new };
        let about = format!("{old} → {shown}");
        let command = format!("recount rename {} {}", quote(first.id.as_str()), quote(&new));
        let make = move |work: &Work| {
            let engine = work.fresh_engine();
            let (ids, left_out) = not_running(&engine, std::slice::from_ref(&first))?;
            let id = ids.first().map(String::as_str).unwrap_or_default();
            let offer = Changes::new(&engine).rename_plan(id, Some(&new), work.progress())?;
            Ok(Planned { offer, left_out, about: Some(about.clone()), ..Planned::default() })
        };
        let done = |plan: &Plan| format!("renamed {}", sessions(plan));
        cx.push(PlanScreen::new(Planning::new("rename", "rename", make, done).command(command)));
    }));
}

/// Opens the plan to copy a session as a new one.
pub(crate) fn fork(chosen: &[Arc<SessionFacts>], cx: &mut Context<'_>) {
    let Some(first) = chosen.first() else { return };
    let id = first.id.as_str().to_owned();
    let title = format!("fork {}", first.id.short());
    let command = format!("recount fork {}", quote(&id));
    let make = move |work: &Work| {
        let engine = work.fresh_engine();
        let fork = Fork { at: None, to: None, title: None };
        Ok(Changes::new(&engine).fork_plan(&id, fork, work.progress())?.into())
    };
    let done = |plan: &Plan| {
        let id = plan.sessions.first().map(|new| new.id.chars().take(8).collect::<String>());
        format!("new session {}", id.unwrap_or_default())
    };
    let planning = Planning::new(title, "fork", make, done).new_each_time().command(command);
    cx.push(PlanScreen::new(planning));
}

/// Opens the plan to undo a change: the last one if none is given.
pub(crate) fn undo(receipt: Option<String>, cx: &mut Context<'_>) {
    let now = cx.shared.now;
    let title = if receipt.is_some() { "undo a change" } else { "undo the last change" };
    let command = receipt.as_deref().map(|receipt| format!(" {}", quote(receipt)));
    let command = format!("recount undo{}", command.unwrap_or_default());
    let make = move |work: &Work| {
        let engine = work.fresh_engine();
        let changes = Changes::new(&engine);
        let offer = changes.undo_plan(receipt.as_deref())?;
        let undone = offer.plan.undoes.as_ref().map(|undoes| undoes.receipt.clone());
        let history = changes.history()?;
        let change = history.iter().find(|change| Some(&change.receipt) == undone.as_ref());
        let about = change.map(|change| format!("undo {}", words::described(change, now)));
        Ok(Planned { offer, about, ..Planned::default() })
    };
    let done = |plan: &Plan| format!("undone: {}", files(plan));
    let planning = Planning::new(title, "undo", make, done).command(command);
    cx.push(PlanScreen::new(planning.back("7 History takes it back")));
}

/// Opens the plan to restore a deleted session, from the trash or the vault.
pub(crate) fn restore(id: String, cx: &mut Context<'_>) {
    let short: String = id.chars().take(8).collect();
    let command = format!("recount restore {}", quote(&id));
    let make = move |work: &Work| {
        let engine = work.fresh_engine();
        Ok(Changes::new(&engine).restore_plan(Some(&id), None, work.progress())?.into())
    };
    let done = |plan: &Plan| format!("{} back in place: {}", sessions(plan), files(plan));
    let planning = Planning::new(format!("restore {short}"), "restore", make, done);
    cx.push(PlanScreen::new(planning.command(command)));
}

/// Opens the plan to tell the agents that a folder has moved.
pub(crate) fn relocate(old: String, new: String, cx: &mut Context<'_>) {
    let (from, to) = (cx.shared.folders.tilde(&old), cx.shared.folders.tilde(&new));
    let command = words::relocate(&old, &new);
    let make = move |work: &Work| {
        let engine = work.fresh_engine();
        let new = absolute(&engine, &new);
        Ok(Changes::new(&engine).relocate_plan(&old, Some(&new), work.progress())?.into())
    };
    let title = format!("relocate {from} to {to}");
    let done = move |plan: &Plan| format!("relocated {} to {to}", sessions(plan));
    cx.push(PlanScreen::new(Planning::new(title, "relocate", make, done).command(command)));
}

/// Asks for the new folder of a project, then opens the plan; the likely one comes first.
pub(crate) fn relocate_to(old: String, likely: Option<String>, cx: &mut Context<'_>) {
    let mut choices = projects(cx.shared, |facts| {
        facts.project.path.as_ref().is_some_and(|path| path.as_str() != old)
    });
    if let Some(likely) = likely {
        choices.retain(|choice| choice.value != likely);
        let name = leaf(&likely);
        let detail = format!("{}, the likely one", cx.shared.folders.tilde(&likely));
        choices.insert(0, Choice { value: likely, name, detail });
    }
    let title = format!("new folder of {}", cx.shared.folders.tilde(&old));
    cx.push(Pick::folder(&title, choices, move |new, cx| relocate(old, new, cx)));
}

/// Opens the plan to repair a session.
pub(crate) fn repair(id: String, cx: &mut Context<'_>) {
    let short: String = id.chars().take(8).collect();
    let command = format!("recount repair {}", quote(&id));
    let make = move |work: &Work| {
        let engine = work.fresh_engine();
        let ids = [id.clone()];
        Ok(Changes::new(&engine).repair_plan(&ids, work.progress())?.into())
    };
    let done = |plan: &Plan| format!("{} repaired: {}", sessions(plan), files(plan));
    let planning = Planning::new(format!("repair {short}"), "repair", make, done);
    cx.push(PlanScreen::new(planning.command(command)));
}

/// Opens the plan to compact a session.
pub(crate) fn compact(id: String, cx: &mut Context<'_>) {
    let short: String = id.chars().take(8).collect();
    let command = format!("recount compact {}", quote(&id));
    let make = move |work: &Work| {
        let engine = work.fresh_engine();
        let wanted = Compaction { sessions: vec![id.clone()], min_saving: 0, strict_only: false };
        Ok(Changes::new(&engine).compact_plan(&wanted, work.progress())?.into())
    };
    let done = |plan: &Plan| format!("compacted {}", sessions(plan));
    let planning = Planning::new(format!("compact {short}"), "compact", make, done);
    cx.push(PlanScreen::new(planning.command(command)));
}

/// Opens the plan to remove or rename the files that would cause sessions to be deleted.
pub(crate) fn fix(cx: &mut Context<'_>) {
    let make = |work: &Work| {
        let engine = work.fresh_engine();
        Ok(Changes::new(&engine).fix_plan(None, None, work.progress())?.offer.into())
    };
    let done = |plan: &Plan| format!("fixed: {}", files(plan));
    let planning = Planning::new("keep sessions from being deleted", "fix", make, done);
    cx.push(PlanScreen::new(planning.command("recount guard --fix".to_owned())));
}

/// Opens the plan to delete what belongs to deleted sessions and projects that are gone.
pub(crate) fn prune_orphaned(cx: &mut Context<'_>) {
    let make = |work: &Work| {
        let engine = work.fresh_engine();
        let rules = Prune { orphaned: true, ..Prune::default() };
        Ok(Changes::new(&engine).prune_plan(&rules, work.progress())?.into())
    };
    let done = |plan: &Plan| format!("pruned: {}", files(plan));
    let planning = Planning::new("prune what is orphaned", "prune", make, done);
    cx.push(PlanScreen::new(planning.command("recount prune --orphaned".to_owned())));
}

/// Returns the ids of the sessions that no process uses, and why the others are left out. It is an error if all are used.
fn not_running(
    engine: &Engine,
    chosen: &[Arc<SessionFacts>],
) -> Result<(Vec<String>, Vec<String>), ChangeError> {
    let (ids, used) = Changes::new(engine).not_running(chosen)?;
    Ok((ids, used.iter().map(|owner| left_out(owner, chosen)).collect()))
}

/// Returns the folders of other projects that are there, last used first.
fn projects(shared: &Shared, is_wanted: impl Fn(&SessionFacts) -> bool) -> Vec<Choice> {
    let mut choices: Vec<Choice> = Vec::new();
    for facts in &shared.rows.sessions {
        let Some(path) = &facts.project.path else { continue };
        let is_there = facts.project.state == ProjectState::Present;
        let is_known = choices.iter().any(|choice| choice.value == path.as_str());
        if is_there && !is_known && is_wanted(facts) {
            choices.push(Choice {
                value: path.as_str().to_owned(),
                name: shared.rows.names.name(&facts.project).to_owned(),
                detail: shared.folders.tilde(path.as_str()),
            });
        }
    }
    choices
}

/// Returns a typed folder as an absolute path; names of projects stay as they are.
fn absolute(engine: &Engine, wanted: &str) -> String {
    let path: PathBuf = engine.folders().expand(wanted);
    if path.is_absolute() || !wanted.starts_with('.') {
        return path.to_string_lossy().into_owned();
    }
    let mut whole = engine.env().current_folder().cloned().unwrap_or_default();
    for part in Path::new(wanted).components() {
        match part {
            std::path::Component::ParentDir => {
                whole.pop();
            }
            std::path::Component::CurDir => {}
            other => whole.push(other),
        }
    }
    whole.to_string_lossy().into_owned()
}

fn leaf(path: &str) -> String {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path).to_owned()
}

/// Names one session, or counts several.
pub(super) fn what(chosen: &[Arc<SessionFacts>]) -> String {
    match chosen {
        [one] => one.id.short().to_owned(),
        many => plural(many.len() as u64, "session"),
    }
}

fn quoted(chosen: &[Arc<SessionFacts>]) -> String {
    let ids: Vec<String> = chosen.iter().map(|facts| quote(facts.id.as_str())).collect();
    ids.join(" ")
}
