//! Full-text search, as it is typed.

mod ask;
mod complete;
mod pane;
mod view;

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent};
use ratatui::layout::Rect;
use recount_engine::{Match, Position, SearchResults};
use recount_model::SourceName;
use recount_platform::quote;

use crate::draw::Painter;
use crate::effect::{Answer, Effect, Notice};
use crate::field::Field;
use crate::keys::{Action, Place};
use crate::list::Cursor;
use crate::over::{Reader, actions};
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::Slot;

use ask::{Answered, Mistake, Question, Wider};
use complete::Completion;
use pane::{Around, Pane};

/// The number of hits that is asked for first, at least.
const LEAST: usize = 24;
/// The largest number of hits.
const MOST: usize = 1000;

/// Where is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scope {
    #[default]
    Everywhere,
    /// The project of the current folder.
    Here,
    /// One agent.
    Agent(SourceName),
}

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

/// The last answer that was understood.
#[derive(Debug, Default)]
struct Shown {
    question: Question,
    results: SearchResults,
    /// The word that was taken as the beginning of words.
    begun: Option<String>,
    took: Duration,
    wider: Wider,
}

/// Full-text search.
#[derive(Debug, Default)]
pub(crate) struct Search {
    field: Field,
    is_typing: bool,
    scope: Scope,
    /// What was asked last.
    asked: Question,
    is_waiting: bool,
    shown: Option<Shown>,
    wrong: Option<Mistake>,
    /// How much is indexed, while the index is built.
    progress: Option<(u64, u64)>,
    completion: Option<Completion>,
    cursor: Cursor,
    pane: Pane,
    layout: Layout,
    /// Where the list was drawn.
    list: Rect,
}

impl Search {
    /// Begins with a query; the field has the keys.
    pub(crate) fn new(query: Option<String>) -> Self {
        let field = Field::new(&query.unwrap_or_default());
        Self { field, is_typing: true, ..Self::default() }
    }

    fn hits(&self) -> &[Match] {
        self.shown.as_ref().map_or(&[], |shown| &shown.results.hits)
    }

    fn hit(&self) -> Option<&Match> {
        self.hits().get(self.cursor.at)
    }

    /// Returns the question that the field and the scope ask.
    fn question(&self, shared: &Shared) -> Question {
        let within = match self.scope {
            Scope::Everywhere => None,
            Scope::Agent(source) => Some(format!("source:{source}")),
            Scope::Here => shared.rows.scope.as_ref().map(|scope| {
                let path = scope.project.path.as_ref().map(ToString::to_string);
                let name = path.unwrap_or_else(|| scope.project.name().to_owned());
                format!("project:\"{}\"", name.replace('"', ""))
            }),
        };
        let query = self.field.text().trim().to_owned();
        let asked = Question { query, within, limit: usize::from(shared.size.1).max(LEAST) };
        // More that was asked for is asked for again.
        if asked.is_same(&self.asked) {
            let limit = self.asked.limit.max(asked.limit);
            return Question { limit, ..asked };
        }
        asked
    }

    /// Asks if the question is another, or the answer may be.
    fn ask(&mut self, is_again: bool, cx: &mut Context<'_>) {
        let question = self.question(cx.shared);
        if question == self.asked && !is_again {
            return;
        }
        self.asked = question.clone();
        if question.query.is_empty() {
            (self.shown, self.wrong, self.is_waiting) = (None, None, false);
            cx.then(Effect::Forget(Slot::Search));
            return;
        }
        self.is_waiting = true;
        cx.ask(Slot::Search, move |work| question.ask(work));
    }

    fn answer(&mut self, answered: Answered, cx: &mut Context<'_>) {
        if answered.question != self.asked {
            return;
        }
        self.is_waiting = false;
        if answered.progress.is_some() {
            cx.then(Effect::Index);
        }
        self.progress = answered.progress;
        match answered.found {
            Ok(results) => {
                let (took, wider) = (answered.took, answered.wider);
                self.wrong = None;
                // The same question is asked again when sessions change: its hit stays selected.
                let is_same = |shown: &&Shown| shown.question.is_same(&answered.question);
                let before = self.shown.as_ref().filter(is_same).and(self.hit()).map(pane::key);
                let is_it = |hit: &Match| Some(pane::key(hit)) == before;
                let at = before.as_ref().and_then(|_| results.hits.iter().position(is_it));
                let (question, begun) = (answered.question, answered.begun);
                self.shown = Some(Shown { question, results, begun, took, wider });
                self.cursor.go(at.unwrap_or_default(), self.hits().len());
                self.moved(cx);
            }
            // The last good hits stay.
            Err(mistake) => self.wrong = Some(mistake),
        }
    }

    /// The cursor may be on another hit: what is around it is read.
    fn moved(&mut self, cx: &mut Context<'_>) {
        let Some(hit) = self.hits().get(self.cursor.at).cloned() else { return };
        self.pane.mark(&hit);
        self.ask_more(cx);
        if !self.pane.is_of(&hit) && self.layout != Layout::Off && !hit.is_gone {
            cx.ask(Slot::Hit, move |work| Around::read(work, &hit));
        }
    }

    /// Asks for more hits when the last ones are near.
    fn ask_more(&mut self, cx: &mut Context<'_>) {
        let Some(shown) = &self.shown else { return };
        let (many, limit) = (shown.results.hits.len(), shown.question.limit);
        let is_near = self.cursor.at + self.cursor.height.min(LEAST) >= many;
        let has_more = many >= limit && shown.results.sessions > many && limit < MOST;
        if is_near && has_more && self.asked == shown.question && self.cursor.at > 0 {
            self.asked.limit = limit.saturating_mul(4).min(MOST);
            let question = self.asked.clone();
            self.is_waiting = true;
            cx.ask(Slot::Search, move |work| question.ask(work));
        }
    }

    fn open(&mut self, at: usize, cx: &mut Context<'_>) {
        let Some(hit) = self.hits().get(at).cloned() else { return };
        self.field.accept();
        self.cursor.go(at, self.hits().len());
        self.moved(cx);
        if hit.is_gone {
            cx.say(Notice::error(
                "the files of that session are gone: only the index still knows it",
            ));
        } else {
            open_hit(&hit, cx);
        }
    }

    /// Goes to the next scope: here, this agent, everywhere.
    fn next_scope(&mut self, cx: &mut Context<'_>) {
        let rows = &cx.shared.rows;
        let agent = self.hit().map(|hit| hit.session.source);
        let agent = agent.or_else(|| rows.sessions.first().map(|session| session.source));
        self.scope = match (self.scope, agent) {
            (Scope::Everywhere, _) if rows.scope.is_some() => Scope::Here,
            (Scope::Everywhere | Scope::Here, Some(agent)) if rows.is_mixed => Scope::Agent(agent),
            _ => Scope::Everywhere,
        };
        self.ask(false, cx);
    }

    fn toggle_everywhere(&mut self, cx: &mut Context<'_>) {
        self.scope = match self.scope {
            Scope::Everywhere if cx.shared.rows.scope.is_some() => Scope::Here,
            Scope::Everywhere => {
                cx.say(Notice::info("no session was started in this folder"));
                Scope::Everywhere
            }
            _ => Scope::Everywhere,
        };
        self.ask(false, cx);
    }

    /// Completes the word before the cursor. Returns whether there was something to complete.
    fn complete(&mut self, by: isize, cx: &mut Context<'_>) -> bool {
        if self.completion.is_none() {
            let shared = cx.shared;
            self.completion = Completion::of(self.field.before(), &shared.rows, shared.now);
        }
        let Some(completion) = &mut self.completion else { return false };
        let (from, is_only) = (completion.from, completion.candidates.len() == 1);
        if let Some(text) = completion.step(by) {
            self.field.replace_from(from, text);
        }
        if is_only {
            self.completion = None;
        }
        self.ask(false, cx);
        true
    }

    fn clear(&mut self, cx: &mut Context<'_>) {
        self.field.set("");
        self.ask(false, cx);
    }

    fn step(&mut self, by: isize, cx: &mut Context<'_>) {
        let many = self.hits().len();
        self.cursor.step(by, many);
        self.moved(cx);
    }
}

/// Opens the session of a hit at its message.
fn open_hit(hit: &Match, cx: &mut Context<'_>) {
    let id = hit.message.id.as_ref().map(|id| id.as_str().to_owned());
    let place = &hit.message.place;
    let byte = Position::Byte { file: place.file.to_string(), offset: place.offset };
    if hit.is_gone {
        cx.say(Notice::error("its files are gone: 7 shows the trash and the vault"));
        return;
    }
    cx.push(Reader::at(hit.session.key(), id.map_or(byte, Position::Id)));
}

impl Screen for Search {
    fn place(&self) -> Place {
        Place::Search
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        // Rows have changed, or this is the first time.
        if !cx.shared.rows.is_remembered {
            self.ask(true, cx);
        }
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        let many = self.hits().len();
        if self.cursor.act(action, many) {
            self.moved(cx);
            return true;
        }
        match action {
            Action::Filter => self.is_typing = true,
            Action::Open => self.open(self.cursor.at, cx),
            Action::Back if !self.field.is_empty() => self.clear(cx),
            Action::Scope => self.next_scope(cx),
            Action::Everywhere => self.toggle_everywhere(cx),
            Action::NextPrompt => self.pane.jump(true),
            Action::PreviousPrompt => self.pane.jump(false),
            Action::Layout => {
                self.layout = match self.layout {
                    Layout::Auto | Layout::Right => Layout::Below,
                    Layout::Below => Layout::Off,
                    Layout::Off => Layout::Right,
                };
                self.moved(cx);
            }
            _ => {
                let chosen = self.hit().filter(|hit| !hit.is_gone).map(|hit| hit.session.key());
                let chosen = chosen.and_then(|key| cx.shared.session(&key).cloned());
                return actions::on_sessions(action, chosen.into_iter().collect(), cx);
            }
        }
        true
    }

    fn is_typing(&self) -> bool {
        self.is_typing
    }

    fn typed(&mut self, key: &KeyEvent, cx: &mut Context<'_>) -> bool {
        let is_alt = key.modifiers.contains(KeyModifiers::ALT);
        let is_ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Tab => return self.complete(1, cx),
            KeyCode::BackTab => return self.complete(-1, cx),
            _ => self.completion = None,
        }
        match key.code {
            KeyCode::Enter => self.open(self.cursor.at, cx),
            KeyCode::Esc => {
                self.field.accept();
                self.is_typing = false;
            }
            KeyCode::Char('r') if is_ctrl => self.next_scope(cx),
            KeyCode::Char(digit @ '1'..='9') if is_alt => {
                let number = digit.to_digit(10).unwrap_or(1);
                self.open(usize::try_from(number).unwrap_or(1).saturating_sub(1), cx);
            }
            KeyCode::Up | KeyCode::Down if self.field.is_empty() || self.hits().is_empty() => {
                self.field.key(key);
                self.ask(false, cx);
            }
            KeyCode::Up => self.step(-1, cx),
            KeyCode::Down => self.step(1, cx),
            KeyCode::PageDown => self.step(self.cursor.page(), cx),
            KeyCode::PageUp => self.step(-self.cursor.page(), cx),
            _ => {
                let used = self.field.key(key);
                self.ask(false, cx);
                return used;
            }
        }
        true
    }

    fn pasted(&mut self, text: &str, cx: &mut Context<'_>) {
        self.completion = None;
        self.field.insert(text);
        self.ask(false, cx);
    }

    fn answered(&mut self, answer: &mut Answer, cx: &mut Context<'_>) {
        if answer.slot == Slot::Search
            && let Some(answered) = answer.take::<Answered>()
        {
            self.answer(answered, cx);
        } else if answer.slot == Slot::Hit
            && let Some(around) = answer.take::<Around>()
        {
            self.pane.show(around);
        }
    }

    fn has_clock(&self, _shared: &Shared) -> bool {
        self.progress.is_some()
    }

    fn time(&mut self, cx: &mut Context<'_>) {
        // More may be indexed now.
        self.ask(true, cx);
    }

    fn takes_mouse(&self) -> bool {
        !self.is_typing
    }

    fn mouse(&mut self, event: MouseEvent, _area: Rect, cx: &mut Context<'_>) -> bool {
        let many = self.hits().len();
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
        if self.is_typing {
            return &[Action::Open, Action::Complete, Action::Scope, Action::Back];
        }
        &[
            Action::Open,
            Action::Filter,
            Action::Scope,
            Action::Resume,
            Action::Everywhere,
            Action::Layout,
            Action::CopyId,
            Action::Back,
        ]
    }

    fn command(&self, shared: &Shared) -> String {
        let Question { query, within, .. } = self.question(shared);
        let query = match within {
            Some(within) => format!("({query}) {within}"),
            None => query,
        };
        format!("recount search {}", quote(&query))
    }
}
