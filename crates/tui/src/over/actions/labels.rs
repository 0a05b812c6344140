//! Tags and pins. They are recount's own, so there is no plan; what was done is said with how it is taken back.

use std::collections::BTreeSet;
use std::sync::Arc;

use recount_changes::{Changes, Error as ChangeError};
use recount_display::number::plural;
use recount_display::words;
use recount_model::{Labels, SessionFacts};

use super::ChangeOutcome;
use super::plans::what;
use crate::effect::Notice;
use crate::over::{Choice, Pick};
use crate::screen::Context;
use crate::work::{Slot, rows};

/// Pins sessions, or unpins them if all are pinned.
pub(crate) fn pin(chosen: &[Arc<SessionFacts>], cx: &mut Context<'_>) {
    let is_pinned =
        |facts: &Arc<SessionFacts>| facts.labels.as_ref().is_some_and(|labels| labels.pinned);
    let pinned = !chosen.iter().all(is_pinned);
    let many = what(chosen);
    let said = if pinned {
        format!("pinned {many} · p unpins it")
    } else {
        format!("unpinned {many} · p pins it again")
    };
    change(chosen, move |labels| labels.pinned = pinned, said, cx);
}

/// Asks for the tags of sessions.
pub(crate) fn tag(chosen: Vec<Arc<SessionFacts>>, cx: &mut Context<'_>) {
    let tags = |facts: &Arc<SessionFacts>| -> BTreeSet<String> {
        facts.labels.as_ref().map(|labels| labels.tags.clone()).unwrap_or_default()
    };
    // Those that all of them have can be changed for all of them.
    let mut common = chosen.iter().map(tags);
    let first = common.next().unwrap_or_default();
    let common = common.fold(first, |all, one| all.intersection(&one).cloned().collect());
    let mut known: Vec<(String, u64)> = Vec::new();
    for tag in cx.shared.rows.sessions.iter().flat_map(tags) {
        match known.iter_mut().find(|(name, _)| *name == tag) {
            Some((_, many)) => *many += 1,
            None => known.push((tag, 1)),
        }
    }
    known.sort_by_key(|(_, many)| std::cmp::Reverse(*many));
    let choice = |(tag, many): (String, u64)| Choice {
        name: format!("#{tag}"),
        value: tag,
        detail: plural(many, "session"),
    };
    let choices = known.into_iter().map(choice).collect();
    let mut now = common.iter().cloned().collect::<Vec<_>>().join(" ");
    if !now.is_empty() {
        now.push(' ');
    }
    let title = format!("tags of {}", what(&chosen));
    cx.push(Pick::words(&title, &now, choices, move |text, cx| set(&chosen, common, &text, cx)));
}

fn set(chosen: &[Arc<SessionFacts>], old: BTreeSet<String>, text: &str, cx: &mut Context<'_>) {
    let words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let new: BTreeSet<String> =
        words.map(|word| word.trim_start_matches(['+', '#']).to_owned()).collect();
    if new.iter().any(String::is_empty) {
        cx.say(Notice::error("a tag is one word: letters, digits, - _ . /"));
        return;
    }
    if new == old {
        cx.say(Notice::info("the tags stay as they are"));
        return;
    }
    let shown = |tags: &BTreeSet<String>| {
        let tags: Vec<String> = tags.iter().map(|tag| format!("#{tag}")).collect();
        if tags.is_empty() { "none".to_owned() } else { tags.join(" ") }
    };
    let said = format!(
        "tags of {}: {} (before: {}) · t changes them",
        what(chosen),
        shown(&new),
        shown(&old)
    );
    let apply = move |labels: &mut Labels| {
        labels.tags.retain(|tag| !old.contains(tag) || new.contains(tag));
        labels.tags.extend(new.iter().cloned());
    };
    change(chosen, apply, said, cx);
}

fn change(
    chosen: &[Arc<SessionFacts>],
    change: impl Fn(&mut Labels) + Send + 'static,
    said: String,
    cx: &mut Context<'_>,
) {
    let ids: Vec<String> = chosen.iter().map(|facts| facts.id.as_str().to_owned()).collect();
    let here = cx.shared.here.clone();
    cx.ask(Slot::Apply, move |work| {
        let changed = work.fresh_engine().change_labels(&ids, change, &());
        let said = changed.map(|_| said).map_err(ChangeError::from);
        ChangeOutcome::new(said, rows(&work.engine(), here.as_deref()).ok())
    });
}

/// Copies all sessions to the vault.
pub(crate) fn keep(cx: &mut Context<'_>) {
    cx.say(Notice::info("copying sessions to the vault…"));
    cx.ask(Slot::Apply, |work| {
        let engine = work.fresh_engine();
        let report = Changes::new(&engine).keep(None, &());
        ChangeOutcome::new(report.map(|report| words::guard::copied(&report)), None)
    });
}
