//! The index of all prompts.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use recount_display::sanitize::single_line;
use recount_display::theme::Tone;
use recount_display::when;
use recount_display::width::truncate_to;
use recount_model::{Fate, MessageKind};

use super::text::Text;
use crate::draw::{Painter, columns};
use crate::effect::Answer;
use crate::field::Field;
use crate::keys::{Action, Place};
use crate::list::Cursor;
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::Slot;

/// The maximum number of characters of a prompt.
const LONGEST: usize = 300;
/// The maximum number of prompts.
const MOST: usize = 20_000;

/// All prompts of a session, to choose one from.
pub(super) struct Prompts {
    text: Arc<Text>,
    /// Which messages they are.
    at: Vec<usize>,
    /// What they say, on one line each; `None` before it is read.
    lines: Option<Vec<String>>,
    field: Field,
    cursor: Cursor,
    chosen: Arc<AtomicUsize>,
}

impl fmt::Debug for Prompts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Prompts({})", self.at.len())
    }
}

/// The texts of the prompts.
struct PromptLines(Vec<String>);

impl Prompts {
    pub(super) fn new(
        text: Arc<Text>,
        shown: &[usize],
        here: usize,
        chosen: Arc<AtomicUsize>,
    ) -> Self {
        let is_prompt =
            |at: &&usize| text.marks.get(**at).is_some_and(|mark| mark.kind == MessageKind::Prompt);
        let at: Vec<usize> = shown.iter().filter(is_prompt).copied().take(MOST).collect();
        let current = at.partition_point(|one| *one <= here).saturating_sub(1);
        let cursor = Cursor { at: current, ..Cursor::default() };
        Self { text, at, lines: None, field: Field::default(), cursor, chosen }
    }

    /// Returns the prompts that match, each with its number.
    fn rows(&self) -> Vec<(usize, usize, &str)> {
        let wanted = self.field.text().to_lowercase();
        let line = |number: usize| {
            self.lines.as_ref().map_or("…", |lines| lines.get(number).map_or("", String::as_str))
        };
        let rows = self.at.iter().enumerate().map(|(number, at)| (number, *at, line(number)));
        rows.filter(|(_, _, line)| {
            wanted.split_whitespace().all(|word| line.to_lowercase().contains(word))
        })
        .collect()
    }
}

impl Screen for Prompts {
    fn place(&self) -> Place {
        Place::Pick
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        if self.lines.is_none() {
            let (text, at) = (Arc::clone(&self.text), self.at.clone());
            cx.ask(Slot::Pick, move |_| {
                let line = |at: &usize| {
                    let read = text.read(&[*at]).into_iter().next();
                    match read {
                        Some((_, Ok(message))) => {
                            let start: String =
                                message.display_text.chars().take(LONGEST).collect();
                            single_line(&start)
                        }
                        _ => "(cannot be read)".to_owned(),
                    }
                };
                PromptLines(at.iter().map(line).collect())
            });
        }
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
            KeyCode::Enter => {
                if let Some((_, at, _)) = self.rows().get(self.cursor.at) {
                    self.chosen.store(*at, Ordering::Relaxed);
                }
                cx.pop();
            }
            KeyCode::Esc => cx.pop(),
            KeyCode::Char('c') if ctrl => return false,
            KeyCode::Down => self.cursor.step(1, many),
            KeyCode::Up => self.cursor.step(-1, many),
            KeyCode::Char('n') if ctrl => self.cursor.step(1, many),
            KeyCode::Char('p') if ctrl => self.cursor.step(-1, many),
            KeyCode::PageDown => self.cursor.step(self.cursor.page(), many),
            KeyCode::PageUp => self.cursor.step(-self.cursor.page(), many),
            _ => {
                self.cursor = Cursor { height: self.cursor.height, ..Cursor::default() };
                return self.field.key(key);
            }
        }
        true
    }

    fn pasted(&mut self, text: &str, _cx: &mut Context<'_>) {
        self.field.insert(text);
    }

    fn answered(&mut self, answer: &mut Answer, _cx: &mut Context<'_>) {
        if answer.slot == Slot::Pick
            && let Some(PromptLines(lines)) = answer.take()
        {
            self.lines = Some(lines);
        }
    }

    fn draw(&mut self, painter: &mut Painter<'_>, _shared: &Shared) {
        let rows: Vec<(usize, usize, String)> = self
            .rows()
            .into_iter()
            .map(|(number, at, line)| (number, at, line.to_owned()))
            .collect();
        let wide = painter.width().saturating_sub(4).min(110);
        let high = columns(self.at.len()).saturating_add(3).min(painter.height());
        let mut inner = painter.boxed(wide, high.max(5), &format!("{} prompts", self.at.len()));
        let x = inner.text(0, 0, "/ ", Tone::Dim);
        self.field.draw(&mut inner, x, 0, true);
        let list = inner.height().saturating_sub(1);
        self.cursor.fit(usize::from(list), rows.len());
        if rows.is_empty() {
            inner.text(0, 1, "no prompt matches", Tone::Dim);
        }
        let digits = self.at.len().to_string().len();
        let shown = rows.iter().enumerate().skip(self.cursor.top).take(usize::from(list));
        for (y, (at, (number, message, line))) in shown.enumerate() {
            let y = columns(y) + 1;
            let mark = self.text.marks.get(*message);
            let time = mark.and_then(|mark| mark.time).map(when::clock_time).unwrap_or_default();
            let x = inner.text(0, y, &format!("{:>digits$}  {time:>5}  ", number + 1), Tone::Dim);
            let fate = mark.map(|mark| mark.fate).filter(|fate| *fate != Fate::Kept);
            let fate = fate.map(|fate| format!(" [{fate}]")).unwrap_or_default();
            let room = usize::from(inner.width().saturating_sub(x)).saturating_sub(fate.len());
            inner.text(x, y, &truncate_to(line, room), Tone::Plain);
            inner.text_right(y, &fate, Tone::Warning);
            if at == self.cursor.at {
                inner.modify(y, ratatui::style::Modifier::REVERSED);
            }
        }
    }

    fn hints(&self) -> &'static [Action] {
        &[]
    }

    fn command(&self, _shared: &Shared) -> String {
        format!("recount show {} --level talk", self.text.opened.facts.id.short())
    }

    fn is_full(&self) -> bool {
        false
    }
}
