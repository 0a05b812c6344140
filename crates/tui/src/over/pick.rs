//! A choice from a list, or a line of text.

use std::fmt;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;
use recount_display::theme::Tone;
use recount_display::width::{truncate_start, truncate_to};

use crate::draw::{Painter, columns};
use crate::field::Field;
use crate::keys::{Action, Place};
use crate::list::Cursor;
use crate::screen::{Context, Screen};
use crate::shared::Shared;

/// Rows of the list.
const ROWS: u16 = 12;
/// The widest that it is drawn.
const WIDEST: u16 = 90;

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// What is passed on.
    pub(crate) value: String,
    /// What is shown.
    pub(crate) name: String,
    /// More about it, in weaker colour.
    pub(crate) detail: String,
}

/// What the typed text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Typed {
    /// It filters the rows.
    Filter,
    /// It filters the rows, and a path may be typed that is none of them.
    FilterOrPath,
    /// It is the answer.
    Text,
    /// It is the answer: words that may be completed from the rows.
    Words,
}

/// What is done with the answer.
type Then = Box<dyn FnOnce(String, &mut Context<'_>) + Send>;

/// A choice from a list, or a line of text.
pub(crate) struct Pick {
    title: String,
    /// What may be typed.
    hint: String,
    typed: Typed,
    field: Field,
    choices: Vec<Choice>,
    cursor: Cursor,
    then: Option<Then>,
}

impl fmt::Debug for Pick {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Pick({}: {})", self.title, self.field.text())
    }
}

impl Pick {
    fn new(
        title: &str,
        typed: Typed,
        then: impl FnOnce(String, &mut Context<'_>) + Send + 'static,
    ) -> Self {
        Self {
            title: title.to_owned(),
            hint: String::new(),
            typed,
            field: Field::default(),
            choices: Vec::new(),
            cursor: Cursor::default(),
            then: Some(Box::new(then)),
        }
    }

    /// One of these.
    pub(crate) fn one_of(
        title: &str,
        choices: Vec<Choice>,
        then: impl FnOnce(String, &mut Context<'_>) + Send + 'static,
    ) -> Self {
        Self { choices, ..Self::new(title, Typed::Filter, then) }
    }

    /// One of these folders, or another that is typed.
    pub(crate) fn folder(
        title: &str,
        choices: Vec<Choice>,
        then: impl FnOnce(String, &mut Context<'_>) + Send + 'static,
    ) -> Self {
        let hint = "type to filter, or a path: /…, ~/…, ./…".to_owned();
        Self { hint, choices, ..Self::new(title, Typed::FilterOrPath, then) }
    }

    /// A line of text, with what it is now.
    pub(crate) fn text(
        title: &str,
        now: &str,
        hint: &str,
        then: impl FnOnce(String, &mut Context<'_>) + Send + 'static,
    ) -> Self {
        let hint = hint.to_owned();
        Self { field: Field::new(now), hint, ..Self::new(title, Typed::Text, then) }
    }

    /// Words, with what they are now, and which there are.
    pub(crate) fn words(
        title: &str,
        now: &str,
        choices: Vec<Choice>,
        then: impl FnOnce(String, &mut Context<'_>) + Send + 'static,
    ) -> Self {
        let hint = "one word each, with spaces between; tab completes".to_owned();
        let field = Field::new(now);
        Self { hint, field, choices, ..Self::new(title, Typed::Words, then) }
    }

    /// Returns the word at the cursor, and where it begins.
    fn word(&self) -> (usize, &str) {
        let before = self.field.before();
        let from = before.rfind(' ').map_or(0, |space| space + 1);
        (from, before.get(from..).unwrap_or_default())
    }

    /// Returns the rows that the typed text leaves.
    fn rows(&self) -> Vec<Choice> {
        let text = self.field.text().trim();
        let has = |choice: &Choice, words: &[String]| {
            let all = format!("{} {}", choice.name, choice.detail).to_lowercase();
            words.iter().all(|word| all.contains(word.as_str()))
        };
        let words = |text: &str| -> Vec<String> {
            text.to_lowercase().split_whitespace().map(str::to_owned).collect()
        };
        match self.typed {
            Typed::Text => Vec::new(),
            Typed::Words => {
                let start = self.word().1.trim_start_matches('#').to_lowercase();
                let is_new = |choice: &&Choice| {
                    choice.value.to_lowercase().starts_with(&start)
                        && !text.split_whitespace().any(|one| one == choice.value)
                };
                self.choices.iter().filter(is_new).cloned().collect()
            }
            Typed::Filter | Typed::FilterOrPath => {
                let words = words(text);
                let mut rows: Vec<Choice> =
                    self.choices.iter().filter(|one| has(one, &words)).cloned().collect();
                let is_path = text.starts_with(['/', '~', '.']);
                if self.typed == Typed::FilterOrPath && is_path {
                    let is_known = |one: &Choice| one.value == text || one.detail == text;
                    if !rows.iter().any(is_known) {
                        let (value, name) = (text.to_owned(), text.to_owned());
                        rows.insert(0, Choice { value, name, detail: "this folder".to_owned() });
                    }
                }
                rows
            }
        }
    }

    fn accept(&mut self, cx: &mut Context<'_>) {
        let answer = match self.typed {
            Typed::Text | Typed::Words => self.field.text().trim().to_owned(),
            Typed::Filter | Typed::FilterOrPath => {
                let rows = self.rows();
                let Some(row) = rows.get(self.cursor.at) else { return };
                row.value.clone()
            }
        };
        if let Some(then) = self.then.take() {
            cx.pop();
            then(answer, cx);
        }
    }

    fn complete(&mut self) {
        let rows = self.rows();
        let Some(row) = rows.get(self.cursor.at) else { return };
        match self.typed {
            Typed::Words => {
                let from = self.word().0;
                self.field.replace_from(from, &format!("{} ", row.value));
            }
            Typed::FilterOrPath => self.field.set(&row.value),
            Typed::Filter | Typed::Text => {}
        }
        self.cursor.go(0, usize::MAX);
    }
}

impl Screen for Pick {
    fn place(&self) -> Place {
        Place::Pick
    }

    fn act(&mut self, _action: Action, _cx: &mut Context<'_>) -> bool {
        false
    }

    fn is_typing(&self) -> bool {
        true
    }

    fn typed(&mut self, key: &KeyEvent, cx: &mut Context<'_>) -> bool {
        let many = self.rows().len();
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => self.accept(cx),
            KeyCode::Esc => cx.pop(),
            KeyCode::Char('c') if ctrl => return false,
            KeyCode::Tab => self.complete(),
            KeyCode::BackTab => {}
            KeyCode::Down => self.cursor.step(1, many),
            KeyCode::Up => self.cursor.step(-1, many),
            KeyCode::PageDown => self.cursor.step(self.cursor.page(), many),
            KeyCode::PageUp => self.cursor.step(-self.cursor.page(), many),
            KeyCode::Char('n') if ctrl => self.cursor.step(1, many),
            KeyCode::Char('p') if ctrl => self.cursor.step(-1, many),
            _ => {
                let before = self.field.text().to_owned();
                let used = self.field.key(key);
                if self.field.text() != before {
                    self.cursor = Cursor { height: self.cursor.height, ..Cursor::default() };
                }
                return used;
            }
        }
        true
    }

    fn pasted(&mut self, text: &str, _cx: &mut Context<'_>) {
        self.field.insert(text);
        self.cursor = Cursor { height: self.cursor.height, ..Cursor::default() };
    }

    fn draw(&mut self, painter: &mut Painter<'_>, _shared: &Shared) {
        let rows = self.rows();
        let list = match self.typed {
            Typed::Text => 0,
            Typed::Words if self.choices.is_empty() => 0,
            _ => ROWS.min(columns(self.choices.len()).max(1)),
        };
        let hint = u16::from(!self.hint.is_empty());
        let width = painter.width().min(WIDEST);
        let mut inner = painter.boxed(width, list + hint + 3, &self.title);
        let sign = if self.typed == Typed::Text { "" } else { "/ " };
        let sign = if self.typed == Typed::Words { "# " } else { sign };
        let x = inner.text(0, 0, sign, Tone::Dim);
        self.field.draw(&mut inner, x, 0, true);
        let list = inner.height().saturating_sub(1 + hint);
        self.cursor.fit(usize::from(list), rows.len());
        let shown = rows.iter().enumerate().skip(self.cursor.top).take(usize::from(list));
        let widest = rows.iter().map(|row| recount_display::width::width(&row.name)).max();
        let half = usize::from(inner.width()) / 2;
        let names = widest.unwrap_or_default().clamp(8, half.max(8));
        for (line, (at, row)) in shown.enumerate() {
            let y = columns(line) + 1;
            let is_own = row.detail == "this folder";
            let name = if is_own { row.name.clone() } else { truncate_to(&row.name, names) };
            let x = inner.text(0, y, &name, Tone::Strong);
            let x = if is_own { x + 2 } else { columns(names) + 2 };
            let room = usize::from(inner.width().saturating_sub(x));
            let detail = match self.typed {
                Typed::FilterOrPath => truncate_start(&row.detail, room),
                _ => truncate_to(&row.detail, room),
            };
            inner.text(x, y, &detail, Tone::Dim);
            if at == self.cursor.at && self.typed != Typed::Words {
                inner.modify(y, Modifier::REVERSED);
            }
        }
        if rows.is_empty() && list > 0 && self.typed != Typed::Words {
            let words = if self.choices.is_empty() {
                "no other project has a folder that is there: type a path"
            } else {
                "nothing matches; esc goes back"
            };
            inner.text(0, 1, words, Tone::Dim);
        }
        if hint > 0 {
            let y = inner.height().saturating_sub(1);
            inner.text(0, y, &self.hint, Tone::Dim);
        }
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Open, Action::Back]
    }

    fn command(&self, _shared: &Shared) -> String {
        "recount --help".to_owned()
    }

    fn is_full(&self) -> bool {
        false
    }
}
