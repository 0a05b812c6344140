//! What recount has changed, the trash, and the vault; each can be taken back.

mod view;

use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use recount_changes::{
    Change, ChangeState, Changes, Error as ChangeError, Plan, Trashed, VaultedSession,
};
use recount_display::number::bytes;
use recount_display::plan::{change, size};
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;
use recount_display::words;
use recount_model::SessionKey;
use recount_platform::quote;

use crate::draw::Painter;
use crate::effect::{Answer, Effect, Notice};
use crate::keys::{Action, Place};
use crate::list::Cursor;
use crate::over::Sheet;
use crate::over::actions::{self, plans};
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::Slot;

/// A section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Changes,
    Trash,
    Vault,
}

impl Section {
    const ALL: [Self; 3] = [Self::Changes, Self::Trash, Self::Vault];

    const fn name(self) -> &'static str {
        match self {
            Self::Changes => "Changes",
            Self::Trash => "Trash",
            Self::Vault => "Vault",
        }
    }

    fn step(self, by: isize) -> Self {
        let at = Self::ALL.iter().position(|one| *one == self).unwrap_or_default();
        let next = (at + Self::ALL.len()).saturating_add_signed(by) % Self::ALL.len();
        Self::ALL.get(next).copied().unwrap_or(self)
    }
}

/// What was changed and is kept.
#[derive(Debug, Default)]
struct Past {
    changes: Vec<Change>,
    trash: Vec<Trashed>,
    vault: Vec<VaultedSession>,
    /// Journals that cannot be read.
    damaged: usize,
}

fn past(changes: Changes<'_>) -> Result<Past, ChangeError> {
    Ok(Past {
        changes: changes.history()?,
        trash: changes.trash()?,
        vault: changes.vault()?.0,
        damaged: changes.damaged_journals()?.len(),
    })
}

/// The files of a change.
struct Files(String, Result<Plan, String>);

/// Changes, trash and vault.
#[derive(Debug, Default)]
pub(crate) struct History {
    past: Option<Result<Past, String>>,
    section: Section,
    cursors: [Cursor; 3],
    list: Rect,
}

impl History {
    fn past(&self) -> Option<&Past> {
        self.past.as_ref()?.as_ref().ok()
    }

    fn many(&self, section: Section) -> usize {
        self.past().map_or(0, |past| match section {
            Section::Changes => past.changes.len(),
            Section::Trash => past.trash.len(),
            Section::Vault => past.vault.len(),
        })
    }

    fn cursor(&mut self) -> &mut Cursor {
        let [changes, trash, vault] = &mut self.cursors;
        match self.section {
            Section::Changes => changes,
            Section::Trash => trash,
            Section::Vault => vault,
        }
    }

    fn at(&self) -> usize {
        let [changes, trash, vault] = &self.cursors;
        match self.section {
            Section::Changes => changes.at,
            Section::Trash => trash.at,
            Section::Vault => vault.at,
        }
    }

    fn change(&self) -> Option<&Change> {
        self.past()?.changes.get(self.at())
    }

    fn trashed(&self) -> Option<&Trashed> {
        self.past()?.trash.get(self.at())
    }

    fn vaulted(&self) -> Option<&VaultedSession> {
        self.past()?.vault.get(self.at())
    }

    /// Opens the plan that takes the row under the cursor back.
    fn take_back(&self, cx: &mut Context<'_>) {
        match self.section {
            Section::Changes => {
                let Some(change) = self.change() else {
                    cx.say(Notice::info("no changes yet"));
                    return;
                };
                match change.state {
                    ChangeState::Done | ChangeState::PartlyUndone if change.undoable => {
                        plans::undo(Some(change.receipt.clone()), cx);
                    }
                    ChangeState::Done | ChangeState::PartlyUndone => cx.say(Notice::error(
                        "it cannot be undone: its undo data was removed from the trash",
                    )),
                    state => {
                        let words = format!("nothing to undo: it is {}", words::state(state));
                        cx.say(Notice::info(words));
                    }
                }
            }
            Section::Trash => match self.trashed() {
                Some(item) => plans::restore(item.session.id.clone(), cx),
                None => cx.say(Notice::info("the trash is empty")),
            },
            Section::Vault => match self.vaulted() {
                Some(held) => plans::restore(held.id.clone(), cx),
                None => actions::keep(cx),
            },
        }
    }

    fn details(&self, cx: &mut Context<'_>) {
        let name = |name: &str| StyledSpan::new(&format!("{name:<9} "), Tone::Dim);
        let line =
            |what: &str, text: &str| Line::new([name(what), StyledSpan::new(text, Tone::Plain)]);
        let tilde = |path: &str| cx.shared.folders.tilde(path);
        match self.section {
            Section::Changes => {
                let Some(change) = self.change() else { return };
                let receipt = change.receipt.clone();
                cx.ask(Slot::History, move |work| {
                    let engine = work.engine();
                    let plan = Changes::new(&engine).plan_of(&receipt);
                    Files(receipt, plan.map_err(|error| error.full_message()))
                });
            }
            Section::Trash => {
                let Some(item) = self.trashed() else { return };
                let mut lines = vec![
                    line("session", &item.session.id),
                    line("title", item.session.title.as_deref().unwrap_or("(no title)")),
                    line("project", &tilde(item.session.project.as_deref().unwrap_or("?"))),
                    line("receipt", &item.receipt),
                    line("size", &bytes(item.bytes)),
                    Line::default(),
                    Line::new([StyledSpan::new("its files were", Tone::Heading)]),
                ];
                let file = |path: &std::path::PathBuf| {
                    Line::new([StyledSpan::new(&tilde(&path.to_string_lossy()), Tone::Plain)])
                };
                lines.extend(item.files.iter().map(file));
                let command = format!("recount restore {}", quote(&item.session.id));
                cx.push(Sheet::new("in the trash", lines, command));
            }
            Section::Vault => {
                let Some(held) = self.vaulted() else { return };
                let gone = if held.gone { "its files are gone" } else { "its files are there" };
                let lines = vec![
                    line("session", &held.id),
                    line("agent", &held.source),
                    line("title", held.title.as_deref().unwrap_or("(no title)")),
                    line("project", &tilde(held.project.as_deref().unwrap_or("?"))),
                    line("files", &held.files.to_string()),
                    line("size", &format!("{}, packed {}", bytes(held.bytes), bytes(held.packed))),
                    line("older", &format!("{} earlier versions", held.older)),
                    line("state", gone),
                ];
                let command = format!("recount restore {}", quote(&held.id));
                cx.push(Sheet::new("in the vault", lines, command));
            }
        }
    }

    /// Shows the files of a change before and after.
    fn files(&self, receipt: &str, plan: &Plan, cx: &mut Context<'_>) {
        let mut lines = Vec::new();
        if let Some(made) = self
            .past()
            .and_then(|past| past.changes.iter().find(|change| change.receipt == receipt))
        {
            let words = words::described(made, cx.shared.now);
            lines.push(Line::new([StyledSpan::new(&words, Tone::Strong)]));
            lines.push(Line::new([StyledSpan::new(words::state(made.state), Tone::Dim)]));
            lines.push(Line::default());
        }
        let heading = format!("{:<8}  {:>9}  {:>9}  FILE", "CHANGE", "BEFORE", "AFTER");
        lines.push(Line::new([StyledSpan::new(&heading, Tone::Dim)]));
        let deleted = recount_changes::deleted_ids(plan);
        for step in &plan.steps {
            let word = change(plan, &deleted, step);
            let pad = " ".repeat(10usize.saturating_sub(word.width()));
            let before = size(step.before.as_ref());
            let after = size(step.after.as_ref());
            let path = cx.shared.folders.tilde(&step.path.to_string_lossy());
            let rest = format!("{pad}{before:>9}  {after:>9}  {path}");
            lines.push(Line::new([word, StyledSpan::new(&rest, Tone::Plain)]));
        }
        let command = format!("recount undo {} --dry-run", quote(receipt));
        cx.push(Sheet::new(format!("change {receipt}"), lines, command));
    }

    /// Returns the session that the row is about, if it is still there.
    fn session(&self, shared: &Shared) -> Option<SessionKey> {
        let id = match self.section {
            Section::Changes => &self.change()?.sessions.first()?.id,
            Section::Trash => &self.trashed()?.session.id,
            Section::Vault => &self.vaulted()?.id,
        };
        let facts = shared.rows.sessions.iter().find(|facts| facts.id.as_str() == id)?;
        Some(facts.key())
    }

    fn copy_id(&self, cx: &mut Context<'_>) {
        let (text, what) = match self.section {
            Section::Changes => (self.change().map(|change| change.receipt.clone()), "receipt"),
            Section::Trash => (self.trashed().map(|item| item.session.id.clone()), "id"),
            Section::Vault => (self.vaulted().map(|held| held.id.clone()), "id"),
        };
        if let Some(text) = text {
            cx.then(Effect::Copy(text, what));
        }
    }
}

impl Screen for History {
    fn place(&self) -> Place {
        Place::History
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        cx.ask(Slot::History, |work| {
            let engine = work.engine();
            past(Changes::new(&engine)).map_err(|error| error.full_message())
        });
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        let many = self.many(self.section);
        if self.cursor().act(action, many) {
            return true;
        }
        match action {
            Action::NextPart => self.section = self.section.step(1),
            Action::PreviousPart => self.section = self.section.step(-1),
            Action::Undo | Action::Apply => self.take_back(cx),
            Action::Open => self.details(cx),
            Action::Info => {
                let session = self.session(cx.shared).and_then(|key| cx.shared.session(&key));
                let session = session.cloned();
                let is_shown = session
                    .is_some_and(|session| actions::on_sessions(Action::Info, vec![session], cx));
                if !is_shown {
                    self.details(cx);
                }
            }
            Action::CopyId => self.copy_id(cx),
            _ => return false,
        }
        true
    }

    fn answered(&mut self, answer: &mut Answer, cx: &mut Context<'_>) {
        if answer.slot != Slot::History {
            return;
        }
        if let Some(past) = answer.take::<Result<Past, String>>() {
            self.past = Some(past);
            let many = Section::ALL.map(|section| self.many(section));
            for (cursor, many) in self.cursors.iter_mut().zip(many) {
                cursor.go(cursor.at, many);
            }
        } else if let Some(Files(receipt, plan)) = answer.take() {
            match plan {
                Ok(plan) => self.files(&receipt, &plan, cx),
                Err(error) => cx.say(Notice::error(error)),
            }
        }
    }

    fn takes_mouse(&self) -> bool {
        true
    }

    fn mouse(&mut self, event: MouseEvent, _area: Rect, _cx: &mut Context<'_>) -> bool {
        let many = self.many(self.section);
        let list = self.list;
        self.cursor().mouse(event, list, many)
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        self.draw_all(painter, shared);
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Open, Action::Undo, Action::NextPart, Action::Info, Action::CopyId]
    }

    fn command(&self, _shared: &Shared) -> String {
        match self.section {
            Section::Changes => "recount history",
            Section::Trash => "recount trash",
            Section::Vault => "recount vault",
        }
        .to_owned()
    }
}
