//! What needs repair or protection, in groups, each with its reason and its remedy.

mod found;
mod view;

use std::sync::Arc;

use jiff::Timestamp;
use ratatui::crossterm::event::{MouseEvent, MouseEventKind};
use ratatui::layout::Rect;
use recount_changes::{Changes, Finding, Remedy, Severity};
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;

use crate::Tab;
use crate::draw::Painter;
use crate::effect::{Answer, Effect, Notice};
use crate::keys::{Action, Place};
use crate::list::Cursor;
use crate::over::Sheet;
use crate::over::actions::{self, plans};
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::Slot;

use found::{Found, Group, founds};

/// What was found longer ago is looked for again when the tab is shown.
const OLD_SECONDS: i64 = 20;

/// A line of the list.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// The heading of a group, with the number of its rows.
    Head(Group, usize),
    /// The place of a problem.
    Row(usize),
}

/// What was found.
struct Looked(Result<Vec<Finding>, String>);

/// Looks for problems, in the background.
pub(crate) fn look(cx: &mut Context<'_>) {
    cx.ask(Slot::Problems, |work| {
        let engine = work.engine();
        let found = Changes::new(&engine).doctor(None, work.progress());
        Looked(found.map_err(|error| error.full_message()))
    });
}

/// What needs repair or protection.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    /// What was found; `None` until it was looked for.
    found: Option<Result<Vec<Found>, String>>,
    entries: Vec<Entry>,
    cursor: Cursor,
    /// The rows that were looked at.
    seen: usize,
    /// When they were looked at.
    looked: Option<Timestamp>,
    /// Whether it is being looked for.
    is_looking: bool,
    list: Rect,
}

impl Problems {
    /// Returns the problem under the cursor.
    fn selected(&self) -> Option<&Found> {
        let Some(Entry::Row(at)) = self.entries.get(self.cursor.at) else { return None };
        self.found.as_ref()?.as_ref().ok()?.get(*at)
    }

    /// Leaves a heading.
    fn land(&mut self, is_down: bool) {
        if !matches!(self.entries.get(self.cursor.at), Some(Entry::Head(..))) {
            return;
        }
        let by = if is_down || self.cursor.at == 0 { 1 } else { -1 };
        self.cursor.step(by, self.entries.len());
        if self.cursor.at == 1 {
            // The heading of the first group stays in view.
            self.cursor.top = 0;
        }
    }

    fn arrange(&mut self) {
        let found = self.found.as_ref().and_then(|found| found.as_ref().ok());
        let found = found.map(Vec::as_slice).unwrap_or_default();
        self.entries.clear();
        for group in Group::ALL {
            let own = found.iter().enumerate().filter(|(_, one)| one.group == group);
            let own: Vec<Entry> = own.map(|(at, _)| Entry::Row(at)).collect();
            if !own.is_empty() {
                self.entries.push(Entry::Head(group, own.len()));
                self.entries.extend(own);
            }
        }
        self.cursor.go(self.cursor.at, self.entries.len());
        self.land(true);
    }

    /// Opens the plan that solves the problem under the cursor, or copies its command.
    fn apply(&self, cx: &mut Context<'_>) {
        let Some(found) = self.selected() else { return };
        match &found.remedy {
            Some(Remedy::Keep) => actions::keep(cx),
            Some(Remedy::Fix) => plans::fix(cx),
            Some(Remedy::Repair(id)) => plans::repair(id.as_str().to_owned(), cx),
            Some(Remedy::Compact(id)) => plans::compact(id.as_str().to_owned(), cx),
            Some(Remedy::PruneOrphaned) => plans::prune_orphaned(cx),
            Some(Remedy::Relocate { old: Some(old), new: Some(new) }) => {
                plans::relocate(old.as_str().to_owned(), new.clone(), cx);
            }
            Some(Remedy::Relocate { old: Some(old), new: None }) => {
                plans::relocate_to(old.as_str().to_owned(), None, cx);
            }
            Some(Remedy::History) => cx.then(Effect::Go(Tab::History)),
            Some(_) => match &found.command {
                Some(command) => cx.then(Effect::Copy(command.clone(), "command line")),
                None => cx.say(Notice::info("there is no remedy")),
            },
            None => cx.say(Notice::info("there is nothing to do about it; enter shows it")),
        }
    }

    fn details(&self, cx: &mut Context<'_>) {
        let Some(found) = self.selected() else { return };
        let mut lines =
            vec![Line::new([StyledSpan::new(&found.what, Tone::Strong)]), Line::default()];
        let mut add = |name: &str, text: &str, tone| {
            let name = StyledSpan::new(&format!("{name:<9} "), Tone::Dim);
            lines.push(Line::new([name, StyledSpan::new(text, tone)]));
        };
        add("severity", found.severity_word(), Tone::Plain);
        add("group", found.group.name(), Tone::Plain);
        if let Some(key) = &found.session {
            add("session", key.id.as_str(), Tone::Name);
            add("title", &found.title, Tone::Plain);
        }
        if let Some(path) = &found.path {
            add("file", &cx.shared.folders.tilde(path), Tone::Plain);
        }
        if let Some(command) = &found.command {
            add("remedy", command, Tone::Name);
        }
        let command = found.command.clone().unwrap_or_else(|| "recount doctor".to_owned());
        cx.push(Sheet::new("problem", lines, command).about(found.path.clone()));
    }

    /// Does to the session of the row what can be done with sessions.
    fn on_session(&self, action: Action, cx: &mut Context<'_>) -> bool {
        let key = self.selected().and_then(|found| found.session.as_ref());
        let Some(session) = key.and_then(|key| cx.shared.session(key)) else { return false };
        let session = Arc::clone(session);
        actions::on_sessions(action, vec![session], cx)
    }
}

impl Screen for Problems {
    fn place(&self) -> Place {
        Place::Problems
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        let rows = Arc::as_ptr(&cx.shared.rows).addr();
        let age = |then: Timestamp| cx.shared.now.as_second() - then.as_second();
        let is_old = self.looked.is_none_or(|looked| age(looked) >= OLD_SECONDS);
        if (rows != self.seen || is_old) && !cx.shared.rows.is_remembered {
            (self.seen, self.is_looking, self.looked) = (rows, true, Some(cx.shared.now));
            look(cx);
        }
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        let before = self.cursor.at;
        if self.cursor.act(action, self.entries.len()) {
            self.land(self.cursor.at >= before);
            return true;
        }
        match action {
            Action::Apply => {
                self.apply(cx);
                // What is done is seen when the plan is left.
                self.looked = None;
            }
            Action::Redraw => {
                self.looked = None;
                self.refresh(cx);
                return false;
            }
            Action::Open if self.on_session(Action::Open, cx) => {}
            Action::Info if self.on_session(Action::Info, cx) => {}
            Action::Open | Action::Info => self.details(cx),
            Action::CopyPath if self.selected().is_some_and(|found| found.path.is_some()) => {
                let path = self.selected().and_then(|found| found.path.clone());
                cx.then(Effect::Copy(path.unwrap_or_default(), "path"));
            }
            Action::CopyId | Action::CopyFolder | Action::CopyResume => {
                return self.on_session(action, cx);
            }
            _ => return false,
        }
        true
    }

    fn answered(&mut self, answer: &mut Answer, cx: &mut Context<'_>) {
        if answer.slot != Slot::Problems {
            return;
        }
        let Some(Looked(findings)) = answer.take() else { return };
        self.is_looking = false;
        self.seen = Arc::as_ptr(&cx.shared.rows).addr();
        self.looked = Some(cx.shared.now);
        self.found = Some(findings.map(|all| founds(all, cx.shared)));
        self.arrange();
        let found = self.found.as_ref().and_then(|found| found.as_ref().ok());
        let is_one = |found: &&Found| found.severity != Severity::Note;
        let many = found.map_or(0, |found| found.iter().filter(is_one).count());
        cx.then(Effect::Problems(many));
    }

    fn takes_mouse(&self) -> bool {
        true
    }

    fn mouse(&mut self, event: MouseEvent, _area: Rect, _cx: &mut Context<'_>) -> bool {
        let many = self.entries.len();
        if !self.cursor.mouse(event, self.list, many) {
            return false;
        }
        self.land(event.kind != MouseEventKind::ScrollUp);
        true
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        self.draw_all(painter, shared);
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Apply, Action::Open, Action::Info, Action::CopyId, Action::Undo]
    }

    fn command(&self, _shared: &Shared) -> String {
        let command = self.selected().and_then(|found| found.command.clone());
        command.unwrap_or_else(|| "recount doctor".to_owned())
    }
}
