//! Every action by name, and any command line of recount. Never a shell.

use std::ffi::OsString;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use recount_display::theme::Tone;

use crate::draw::{Painter, columns};
use crate::effect::{Effect, Notice};
use crate::field::Field;
use crate::keys::{Action, Binding, Place};
use crate::list::Cursor;
use crate::screen::{Context, Screen};
use crate::shared::Shared;

/// Every action by name.
#[derive(Debug)]
pub(crate) struct Palette {
    about: Place,
    field: Field,
    cursor: Cursor,
}

/// Number of rows that are shown.
const ROWS: u16 = 12;

impl Palette {
    pub(crate) fn new(about: Place) -> Self {
        Self { about, field: Field::default(), cursor: Cursor::default() }
    }

    fn rows(&self, shared: &Shared) -> Vec<(String, &'static Binding)> {
        let wanted = self.field.text().trim_start_matches(':').to_lowercase();
        let words: Vec<&str> = wanted.split_whitespace().collect();
        let all = shared.settings.keymap.at(self.about);
        all.filter(|(_, binding)| {
            let text = format!("{} {}", binding.name, binding.help.to_lowercase());
            binding.action != Action::Palette && words.iter().all(|word| text.contains(word))
        })
        .collect()
    }

    fn accept(&self, cx: &mut Context<'_>) {
        let rows = self.rows(cx.shared);
        cx.pop();
        if let Some((_, binding)) = rows.get(self.cursor.at) {
            cx.then(Effect::Act(binding.action));
            return;
        }
        match words(self.field.text()) {
            Some(words) if !words.is_empty() => cx.then(Effect::Run(words)),
            Some(_) => {}
            None => cx.say(Notice::error("a quote is not closed")),
        }
    }
}

/// Splits a command line into words, with quotes as in a shell and nothing else of it. The program's name may be left out.
fn words(line: &str) -> Option<Vec<OsString>> {
    let line = line.trim().trim_start_matches(':');
    let (mut words, mut word, mut quote): (Vec<OsString>, Option<String>, Option<char>) =
        (Vec::new(), None, None);
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take().map(OsString::from)),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word.map(OsString::from));
    if words.first().is_some_and(|first| first == "recount") {
        words.remove(0);
    }
    quote.is_none().then_some(words)
}

impl Screen for Palette {
    fn place(&self) -> Place {
        Place::Palette
    }

    fn act(&mut self, _action: Action, _cx: &mut Context<'_>) -> bool {
        false
    }

    fn is_typing(&self) -> bool {
        true
    }

    fn typed(&mut self, key: &KeyEvent, cx: &mut Context<'_>) -> bool {
        let many = self.rows(cx.shared).len();
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => self.accept(cx),
            KeyCode::Esc => cx.pop(),
            KeyCode::Char('c') if ctrl => return false,
            KeyCode::Backspace if self.field.is_empty() => cx.pop(),
            KeyCode::Down => self.cursor.step(1, many),
            KeyCode::Up => self.cursor.step(-1, many),
            KeyCode::Char('n') if ctrl => self.cursor.step(1, many),
            KeyCode::Char('p') if ctrl => self.cursor.step(-1, many),
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

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let rows = self.rows(shared);
        let mut inner = painter.boxed(70, ROWS + 3, "commands");
        let x = inner.text(0, 0, ": ", Tone::Dim);
        self.field.draw(&mut inner, x, 0, true);
        let list = inner.height().saturating_sub(1);
        self.cursor.fit(usize::from(list), rows.len());
        if rows.is_empty() {
            let words = format!("↵ runs: recount {}", self.field.text());
            inner.text(0, 1, &words, Tone::Dim);
        }
        let shown = rows.iter().enumerate().skip(self.cursor.top).take(usize::from(list));
        for (line, (at, (keys, binding))) in shown.enumerate() {
            let y = columns(line) + 1;
            inner.text(0, y, binding.name, Tone::Strong);
            inner.text(24, y, binding.help, Tone::Plain);
            inner.text_right(y, keys, Tone::Dim);
            if at == self.cursor.at {
                inner.modify(y, ratatui::style::Modifier::REVERSED);
            }
        }
    }

    fn hints(&self) -> &'static [Action] {
        &[]
    }

    fn command(&self, _shared: &Shared) -> String {
        "recount --help".to_owned()
    }

    fn is_full(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_and_nothing_is_run_by_a_shell() {
        let split = |line| {
            words(line).map(|words| {
                words.iter().map(|w| w.to_string_lossy().into_owned()).collect::<Vec<_>>()
            })
        };
        assert_eq!(split(":stats --by model").unwrap(), ["stats", "--by", "model"]);
        assert_eq!(split("recount search 'a b' \"\"").unwrap(), ["search", "a b", ""]);
        assert_eq!(split("list; rm -rf $HOME").unwrap(), ["list;", "rm", "-rf", "$HOME"]);
        assert_eq!(split("list 'a"), None);
    }
}
