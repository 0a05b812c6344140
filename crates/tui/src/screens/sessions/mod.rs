//! The list of sessions, with a preview.

mod columns;
mod preview;
mod view;

use std::collections::HashSet;
use std::sync::Arc;

use ratatui::crossterm::event::{KeyCode, KeyEvent, MouseEvent};
use ratatui::layout::Rect;
use recount_engine::ListQuery;
use recount_model::{SessionFacts, SessionKey};
use recount_platform::quote;

use crate::draw::Painter;
use crate::effect::{Answer, Effect, Notice};
use crate::field::Field;
use crate::keys::{Action, Place};
use crate::list::Cursor;
use crate::over::actions;
use crate::rows::{Order, Shown, View};
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::Slot;

use preview::{Pane, Preview};

/// Where the preview is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Layout {
    /// By the size of the terminal.
    #[default]
    Auto,
    Right,
    Below,
    Off,
}

/// The list of sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    shown: Shown,
    /// Whether the project of the current folder was chosen or left.
    is_scoped: Option<bool>,
    view: View,
    cursor: Cursor,
    /// The selected session; it stays selected while rows come and go.
    selected: Option<SessionKey>,
    marks: HashSet<SessionKey>,
    /// Where a range began.
    range: Option<usize>,
    field: Field,
    is_typing: bool,
    /// What is wrong with the filter.
    wrong: Option<String>,
    layout: Layout,
    /// The preview's share of the width, in percent; 0 is the default.
    share: u16,
    pane: Pane,
    /// The height of the preview, as last drawn.
    pane_height: usize,
    /// Where the list was drawn.
    list: Rect,
}

/// The sessions that match a query.
struct Matching {
    query: String,
    keys: Result<Vec<SessionKey>, String>,
}

/// What another screen may show here: a filter, everywhere or in one project.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShowSessions {
    /// The filter.
    pub(crate) filter: String,
    /// The key of the only project.
    pub(crate) project: Option<String>,
}

impl Sessions {
    /// Returns the selected session.
    fn session<'s>(&self, shared: &'s Shared) -> Option<&'s Arc<SessionFacts>> {
        shared.rows.sessions.get(*self.view.at.get(self.cursor.at)?)
    }

    /// Returns what an action is about: the marked sessions, else the selected one.
    fn chosen(&self, shared: &Shared) -> Vec<Arc<SessionFacts>> {
        if self.marks.is_empty() {
            return self.session(shared).cloned().into_iter().collect();
        }
        let rows = self.view.at.iter().filter_map(|at| shared.rows.sessions.get(*at));
        rows.filter(|session| self.marks.contains(&session.key())).cloned().collect()
    }

    /// Makes the rows again, and keeps the selected session selected.
    fn update_view(&mut self, cx: &mut Context<'_>) {
        if self.is_scoped.is_none() && !cx.shared.rows.is_remembered {
            let scope = cx.shared.rows.scope.as_ref();
            self.is_scoped = Some(scope.is_some());
            self.shown.project = scope.map(|scope| scope.project.key());
        }
        self.view = cx.shared.rows.view(&self.shown);
        if let Some(key) = &self.selected {
            let is_it = |at: &usize| {
                cx.shared.rows.sessions.get(*at).is_some_and(|session| session.key() == *key)
            };
            if let Some(at) = self.view.at.iter().position(is_it) {
                self.cursor.go(at, self.view.at.len());
            }
        }
        self.cursor.go(self.cursor.at, self.view.at.len());
        let rows = &cx.shared.rows;
        self.marks.retain(|key| rows.get(key).is_some());
        self.moved(cx);
    }

    /// The cursor may be on another row: its preview is read.
    fn moved(&mut self, cx: &mut Context<'_>) {
        let Some(session) = self.session(cx.shared) else {
            self.selected = None;
            return;
        };
        let (key, updated) = (session.key(), session.updated);
        if let Some(from) = self.range {
            let (first, last) = (from.min(self.cursor.at), from.max(self.cursor.at));
            let range = self.view.at.get(first..=last).unwrap_or_default();
            let rows = range.iter().filter_map(|at| cx.shared.rows.sessions.get(*at));
            self.marks = rows.map(|session| session.key()).collect();
        }
        if !self.pane.is_of(session) && self.layout != Layout::Off && !cx.shared.rows.is_remembered
        {
            let wanted = key.clone();
            cx.ask(Slot::Preview, move |work| Preview::read(work, wanted, updated));
        }
        self.selected = Some(key);
    }

    /// The filter is another: plain words look at what rows show, fields ask the engine.
    fn filter(&mut self, cx: &mut Context<'_>) {
        let text = self.field.text().trim().to_owned();
        self.wrong = None;
        let is_query = text.contains([':', '"', '*', '/']);
        if is_query {
            let query = ListQuery { text: Some(text.clone()), ..ListQuery::default() };
            cx.ask(Slot::Filter, move |work| {
                let listed = work.engine().list(&query, work.progress());
                let keys =
                    listed.map(|listing| listing.sessions.iter().map(|one| one.key()).collect());
                Matching { query: text, keys: keys.map_err(|error| error.full_message()) }
            });
            self.shown.words.clear();
        } else {
            self.shown.only = None;
            self.shown.words = text.to_lowercase().split_whitespace().map(str::to_owned).collect();
            cx.then(Effect::Forget(Slot::Filter));
            self.update_view(cx);
        }
    }

    fn clear_filter(&mut self, cx: &mut Context<'_>) {
        self.field.set("");
        self.filter(cx);
    }

    fn toggle_scope(&mut self, cx: &mut Context<'_>) {
        if self.shown.project.take().is_none() {
            let Some(scope) = &cx.shared.rows.scope else {
                cx.say(Notice::info(
                    "no session was started in this folder: all projects are shown",
                ));
                return;
            };
            self.shown.project = Some(scope.project.key());
        }
        self.is_scoped = Some(self.shown.project.is_some());
        self.update_view(cx);
    }

    fn sort(&mut self, order: Order, cx: &mut Context<'_>) {
        (self.shown.order, self.shown.reversed) = (order, false);
        self.update_view(cx);
    }

    fn mark(&mut self, action: Action, cx: &mut Context<'_>) {
        match action {
            Action::Mark => {
                if let Some(session) = self.session(cx.shared) {
                    let key = session.key();
                    if !self.marks.remove(&key) {
                        self.marks.insert(key);
                    }
                    self.cursor.step(1, self.view.at.len());
                    self.moved(cx);
                }
            }
            Action::MarkRange => {
                self.range = if self.range.is_some() { None } else { Some(self.cursor.at) };
                self.moved(cx);
            }
            _ => {
                let all = self.view.at.iter().filter_map(|at| cx.shared.rows.sessions.get(*at));
                let all: HashSet<SessionKey> = all.map(|session| session.key()).collect();
                self.marks = if self.marks == all { HashSet::new() } else { all };
            }
        }
    }

    /// Esc leaves one thing after the other. Returns whether there was something to leave.
    fn back(&mut self, cx: &mut Context<'_>) -> bool {
        if self.range.take().is_some() || !self.marks.is_empty() {
            self.marks.clear();
        } else if !self.field.is_empty() {
            self.clear_filter(cx);
        } else {
            return false;
        }
        true
    }
}

impl Screen for Sessions {
    fn place(&self) -> Place {
        Place::Sessions
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        self.update_view(cx);
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        if self.cursor.act(action, self.view.at.len()) {
            self.moved(cx);
            return true;
        }
        let shown = &mut self.shown;
        match action {
            Action::Filter => self.is_typing = true,
            Action::Back => return self.back(cx),
            Action::Everywhere => self.toggle_scope(cx),
            Action::FoldHeadless => shown.headless = !shown.headless,
            Action::FoldSubagents => shown.subagents = !shown.subagents,
            Action::FoldEmpty => shown.empty = !shown.empty,
            Action::SortUsed => self.sort(Order::Used, cx),
            Action::SortStarted => self.sort(Order::Started, cx),
            Action::SortCost => self.sort(Order::Cost, cx),
            Action::SortTokens => self.sort(Order::Tokens, cx),
            Action::SortSize => self.sort(Order::Size, cx),
            Action::SortPrompts => self.sort(Order::Prompts, cx),
            Action::SortProject => self.sort(Order::Project, cx),
            Action::Reverse => shown.reversed = !shown.reversed,
            Action::Mark | Action::MarkRange | Action::MarkAll => self.mark(action, cx),
            Action::NextPrompt => self.pane.jump(true, self.pane_height),
            Action::PreviousPrompt => self.pane.jump(false, self.pane_height),
            Action::Layout => {
                self.layout = match self.layout {
                    Layout::Auto | Layout::Right => Layout::Below,
                    Layout::Below => Layout::Off,
                    Layout::Off => Layout::Right,
                };
                self.moved(cx);
            }
            Action::Larger => self.share = (self.share.max(45) + 5).min(75),
            Action::Smaller => {
                self.share =
                    (if self.share == 0 { 45 } else { self.share }).saturating_sub(5).max(20);
            }
            Action::Demo if cx.shared.rows.sessions.is_empty() => cx.then(Effect::Demo),
            _ => {
                let chosen = self.chosen(cx.shared);
                return actions::on_sessions(action, chosen, cx);
            }
        }
        if matches!(
            action,
            Action::FoldHeadless | Action::FoldSubagents | Action::FoldEmpty | Action::Reverse
        ) {
            self.update_view(cx);
        }
        true
    }

    fn is_typing(&self) -> bool {
        self.is_typing
    }

    fn typed(&mut self, key: &KeyEvent, cx: &mut Context<'_>) -> bool {
        match key.code {
            KeyCode::Enter => {
                self.field.accept();
                self.is_typing = false;
            }
            KeyCode::Esc => {
                self.is_typing = false;
                self.clear_filter(cx);
            }
            KeyCode::Down | KeyCode::Up if self.field.text().is_empty() => {
                return self.field.key(key);
            }
            KeyCode::Down | KeyCode::Up | KeyCode::PageDown | KeyCode::PageUp => {
                let by = match key.code {
                    KeyCode::Down => 1,
                    KeyCode::Up => -1,
                    KeyCode::PageDown => self.cursor.page(),
                    _ => -self.cursor.page(),
                };
                self.cursor.step(by, self.view.at.len());
                self.moved(cx);
            }
            _ => {
                let before = self.field.text().to_owned();
                let used = self.field.key(key);
                if self.field.text() != before {
                    self.filter(cx);
                }
                return used;
            }
        }
        true
    }

    fn pasted(&mut self, text: &str, cx: &mut Context<'_>) {
        self.field.insert(text);
        self.filter(cx);
    }

    fn answered(&mut self, answer: &mut Answer, cx: &mut Context<'_>) {
        if answer.slot == Slot::Preview
            && let Some(preview) = answer.take::<Preview>()
        {
            self.pane.show(preview);
        } else if let Some(Matching { query, keys }) = answer.take()
            && query == self.field.text().trim()
        {
            match keys {
                Ok(keys) => self.shown.only = Some(keys),
                // The last good rows stay.
                Err(error) => self.wrong = Some(error),
            }
            self.update_view(cx);
        }
    }

    fn told(&mut self, what: Box<dyn std::any::Any + Send>, cx: &mut Context<'_>) {
        if let Ok(show) = what.downcast::<ShowSessions>() {
            self.shown.project = show.project;
            self.is_scoped = Some(self.shown.project.is_some());
            self.field.set(&show.filter);
            self.filter(cx);
            self.update_view(cx);
        }
    }

    fn takes_mouse(&self) -> bool {
        !self.is_typing
    }

    fn mouse(&mut self, event: MouseEvent, _area: Rect, cx: &mut Context<'_>) -> bool {
        let many = self.view.at.len();
        if !self.cursor.mouse(event, self.list, many) {
            return false;
        }
        self.moved(cx);
        true
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        self.draw_all(painter, shared);
    }

    fn hints(&self) -> &'static [Action] {
        &[
            Action::Open,
            Action::Resume,
            Action::Filter,
            Action::Mark,
            Action::Delete,
            Action::Move,
            Action::Rename,
            Action::Tag,
            Action::Fork,
            Action::Export,
            Action::CopyId,
            Action::Undo,
            Action::Everywhere,
            Action::Layout,
        ]
    }

    fn command(&self, shared: &Shared) -> String {
        let mut words = vec!["recount list".to_owned()];
        match &self.shown.project {
            None => words.push("--all".to_owned()),
            Some(key) => {
                let mut rows = shared.rows.sessions.iter();
                let project = rows.find(|session| session.project.key() == *key);
                let path = project.and_then(|session| session.project.path.as_ref());
                words.extend(path.map(|path| quote(path.as_str())));
            }
        }
        if !self.field.is_empty() {
            words.push(format!("--text {}", quote(self.field.text().trim())));
        }
        if self.shown.subagents {
            words.push("--kind main,subagent,headless".to_owned());
        }
        let sort = match self.shown.order {
            Order::Used | Order::Prompts | Order::Project => None,
            Order::Started => Some("started"),
            Order::Cost => Some("cost"),
            Order::Tokens => Some("tokens"),
            Order::Size => Some("size"),
        };
        words.extend(sort.map(|sort| format!("--sort {sort}")));
        words.join(" ")
    }
}
