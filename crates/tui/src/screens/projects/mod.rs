//! Projects: their folders, whether those are there, and what the sessions in them add up to.

mod view;

use std::sync::Arc;

use ratatui::crossterm::event::{KeyCode, KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use recount_display::evidence;
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;
use recount_engine::ProjectRow;
use recount_model::{ProjectState, SessionFacts};
use recount_platform::quote;

use crate::Tab;
use crate::draw::Painter;
use crate::effect::{Answer, Effect, Notice};
use crate::field::Field;
use crate::keys::{Action, Place};
use crate::list::Cursor;
use crate::over::Sheet;
use crate::over::actions::{self, plans};
use crate::rows::Order;
use crate::screen::{Context, Screen};
use crate::screens::ShowSessions;
use crate::shared::Shared;
use crate::work::Slot;

/// A project, with its key.
#[derive(Clone, Debug)]
struct Listed {
    row: ProjectRow,
    key: String,
}

/// All projects.
struct Found(Result<Vec<ProjectRow>, String>);

/// Projects.
#[derive(Debug, Default)]
pub(crate) struct Projects {
    /// The projects; `None` until they were read.
    all: Option<Result<Vec<Listed>, String>>,
    /// The places of those that are shown.
    shown: Vec<usize>,
    cursor: Cursor,
    selected: Option<String>,
    order: Order,
    is_reversed: bool,
    field: Field,
    is_typing: bool,
    /// The rows that it was made from.
    seen: usize,
    list: Rect,
}

impl Projects {
    fn all(&self) -> &[Listed] {
        self.all.as_ref().and_then(|all| all.as_ref().ok()).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the project under the cursor.
    fn project(&self) -> Option<&Listed> {
        self.all().get(*self.shown.get(self.cursor.at)?)
    }

    fn moved(&mut self) {
        self.selected = self.project().map(|project| project.key.clone());
    }

    /// Chooses and orders the rows, and keeps the selected one selected.
    fn arrange(&mut self) {
        let text = self.field.text().to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        let all = self.all();
        let mut shown: Vec<usize> = all
            .iter()
            .enumerate()
            .filter(|(_, listed)| {
                let path = listed.row.path.as_ref().map(ToString::to_string).unwrap_or_default();
                let text = format!("{} {path} {}", listed.row.name, listed.row.state);
                let text = text.to_lowercase();
                words.iter().all(|word| text.contains(word))
            })
            .map(|(at, _)| at)
            .collect();
        let number = |at: &usize| {
            let Some(row) = all.get(*at).map(|listed| &listed.row) else { return 0 };
            match self.order {
                Order::Tokens => row.tokens.total,
                Order::Size => row.bytes,
                _ => 0,
            }
        };
        match self.order {
            Order::Project => shown
                .sort_by_cached_key(|at| all.get(*at).map(|listed| listed.row.name.to_lowercase())),
            Order::Tokens | Order::Size => {
                shown.sort_by_cached_key(|at| std::cmp::Reverse(number(at)));
            }
            // They come so.
            _ => {}
        }
        if self.is_reversed {
            shown.reverse();
        }
        let is_it = |at: &usize| all.get(*at).map(|listed| &listed.key) == self.selected.as_ref();
        let at = shown.iter().position(is_it).unwrap_or(self.cursor.at);
        self.shown = shown;
        self.cursor.go(at, self.shown.len());
        self.moved();
    }

    fn sort(&mut self, order: Order) {
        (self.order, self.is_reversed) = (order, false);
        self.arrange();
    }

    /// Returns the sessions of the project under the cursor.
    fn sessions(&self, shared: &Shared) -> Vec<Arc<SessionFacts>> {
        let Some(project) = self.project() else { return Vec::new() };
        let is_its = |facts: &&Arc<SessionFacts>| {
            facts.project.key() == project.key && !facts.kind.is_subagent()
        };
        shared.rows.sessions.iter().filter(is_its).cloned().collect()
    }

    /// Asks for the new folder of the project.
    fn relocate(&self, cx: &mut Context<'_>) {
        let Some(project) = self.project() else { return };
        let Some(path) = &project.row.path else {
            cx.say(Notice::info(
                "its folder is not known, so it cannot be relocated; `recount projects --scan DIR` searches for it",
            ));
            return;
        };
        let likely = project.row.moved_to.as_ref().map(|moved| moved.path.clone());
        plans::relocate_to(path.as_str().to_owned(), likely, cx);
    }

    fn evidence(&self, cx: &mut Context<'_>) {
        let Some(Listed { row, .. }) = self.project() else { return };
        let folders = &cx.shared.folders;
        let head = |text: &str| Line::new([StyledSpan::new(text, Tone::Heading)]);
        let mut lines = vec![
            evidence::heading(row, folders),
            Line::new([StyledSpan::new(state_words(row.state), Tone::Dim)]),
            Line::default(),
            head("how its folder is known"),
        ];
        lines.extend(evidence::clues(row, folders));
        let place = evidence::new_place(row, true, folders);
        if !place.is_empty() {
            lines.extend([Line::default(), head("where it may be now")]);
            lines.extend(place);
        }
        lines.extend([Line::default(), head("where agents keep it")]);
        lines.extend(evidence::parts(row, folders));
        let path = row.path.as_ref().map(ToString::to_string);
        let command = command_of(row);
        cx.push(Sheet::new(row.name.clone(), lines, command).about(path));
    }

    fn open(&self, cx: &mut Context<'_>) {
        if let Some(project) = self.project() {
            let project = Some(project.key.clone());
            let show = ShowSessions { filter: String::new(), project };
            cx.then(Effect::Tell(Tab::Sessions, Box::new(show)));
        }
    }
}

/// Returns the command that shows the evidence of a project.
fn command_of(row: &ProjectRow) -> String {
    let name = row.path.as_ref().map_or(row.name.as_str(), |path| path.as_str());
    format!("recount projects {} --evidence --parts", quote(name))
}

/// Returns what the state of a folder means.
const fn state_words(state: ProjectState) -> &'static str {
    match state {
        ProjectState::Present => "present: its folder is there",
        ProjectState::Missing => "missing: its folder is known, and no longer there",
        ProjectState::Unknown => "unknown: nothing tells which folder it belongs to",
        ProjectState::Scanning => "scanning: the search ran out of time",
    }
}

/// Adds their keys to the projects.
fn listed(rows: Vec<ProjectRow>) -> Vec<Listed> {
    rows.into_iter().map(|row| Listed { key: row.project().key(), row }).collect()
}

impl Screen for Projects {
    fn place(&self) -> Place {
        Place::Projects
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        let rows = Arc::as_ptr(&cx.shared.rows).addr();
        if rows != self.seen && !cx.shared.rows.is_remembered {
            self.seen = rows;
            cx.ask(Slot::Projects, |work| {
                let found = work.engine().projects(None, work.progress());
                Found(found.map(|(rows, _)| rows).map_err(|error| error.full_message()))
            });
        }
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        if self.cursor.act(action, self.shown.len()) {
            self.moved();
            return true;
        }
        match action {
            Action::Open => self.open(cx),
            Action::Info => self.evidence(cx),
            Action::Move | Action::Apply => self.relocate(cx),
            Action::Delete | Action::Export => {
                let sessions = self.sessions(cx.shared);
                let Some(project) = self.project() else { return true };
                if sessions.is_empty() {
                    cx.say(Notice::info("it has no sessions"));
                } else if action == Action::Delete {
                    plans::delete(sessions, Some(&project.row.name), cx);
                } else {
                    actions::on_sessions(action, sessions, cx);
                }
            }
            Action::SortUsed => self.sort(Order::Used),
            Action::SortTokens => self.sort(Order::Tokens),
            Action::SortSize => self.sort(Order::Size),
            Action::SortProject => self.sort(Order::Project),
            Action::Reverse => {
                self.is_reversed = !self.is_reversed;
                self.arrange();
            }
            Action::Filter => self.is_typing = true,
            Action::Back if !self.field.is_empty() => {
                self.field.set("");
                self.arrange();
            }
            Action::CopyFolder | Action::CopyPath => {
                let path = self.project().and_then(|project| project.row.path.as_ref());
                match path {
                    Some(path) => cx.then(Effect::Copy(path.to_string(), "folder")),
                    None => cx.say(Notice::error("the folder is not known")),
                }
            }
            _ => return false,
        }
        true
    }

    fn is_typing(&self) -> bool {
        self.is_typing
    }

    fn typed(&mut self, key: &KeyEvent, _cx: &mut Context<'_>) -> bool {
        match key.code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                self.field.set("");
            }
            KeyCode::Down => self.cursor.step(1, self.shown.len()),
            KeyCode::Up => self.cursor.step(-1, self.shown.len()),
            _ => {
                let used = self.field.key(key);
                self.arrange();
                return used;
            }
        }
        self.moved();
        self.arrange();
        true
    }

    fn pasted(&mut self, text: &str, _cx: &mut Context<'_>) {
        self.field.insert(text);
        self.arrange();
    }

    fn answered(&mut self, answer: &mut Answer, _cx: &mut Context<'_>) {
        if answer.slot == Slot::Projects
            && let Some(Found(found)) = answer.take()
        {
            self.all = Some(found.map(listed));
            self.arrange();
        }
    }

    fn takes_mouse(&self) -> bool {
        !self.is_typing
    }

    fn mouse(&mut self, event: MouseEvent, _area: Rect, _cx: &mut Context<'_>) -> bool {
        let many = self.shown.len();
        if !self.cursor.mouse(event, self.list, many) {
            return false;
        }
        self.moved();
        true
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        self.draw_all(painter, shared);
    }

    fn hints(&self) -> &'static [Action] {
        &[
            Action::Open,
            Action::Info,
            Action::Filter,
            Action::Move,
            Action::Delete,
            Action::Export,
            Action::SortUsed,
            Action::Undo,
        ]
    }

    fn command(&self, _shared: &Shared) -> String {
        "recount projects".to_owned()
    }
}
