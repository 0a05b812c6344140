//! The keys of a screen, searchable.

use ratatui::crossterm::event::{KeyCode, KeyEvent};
use recount_display::theme::Tone;

use crate::draw::{Painter, columns};
use crate::field::Field;
use crate::keys::{Action, Binding, Place};
use crate::list::Cursor;
use crate::screen::{Context, Screen};
use crate::shared::Shared;

/// The keys of a screen.
#[derive(Debug)]
pub(crate) struct Help {
    about: Place,
    cursor: Cursor,
    field: Field,
    is_typing: bool,
    many: usize,
}

impl Help {
    pub(crate) fn new(about: Place) -> Self {
        Self {
            about,
            cursor: Cursor::default(),
            field: Field::default(),
            is_typing: false,
            many: 0,
        }
    }

    fn rows(&self, shared: &Shared) -> Vec<(String, &'static Binding)> {
        let wanted = self.field.text().to_lowercase();
        let all = shared.settings.keymap.at(self.about);
        all.filter(|(keys, binding)| {
            wanted.is_empty()
                || keys.contains(&wanted)
                || binding.help.to_lowercase().contains(&wanted)
        })
        .collect()
    }
}

impl Screen for Help {
    fn place(&self) -> Place {
        Place::Help
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        self.many = self.rows(cx.shared).len();
        match action {
            Action::Filter => self.is_typing = true,
            Action::Back if !self.field.is_empty() => self.field.set(""),
            Action::Help | Action::Open => cx.pop(),
            _ => return self.cursor.act(action, self.many),
        }
        true
    }

    fn is_typing(&self) -> bool {
        self.is_typing
    }

    fn typed(&mut self, key: &KeyEvent, _cx: &mut Context<'_>) -> bool {
        match key.code {
            KeyCode::Enter | KeyCode::Esc => self.is_typing = false,
            _ => return self.field.key(key),
        }
        true
    }

    fn pasted(&mut self, text: &str, _cx: &mut Context<'_>) {
        self.field.insert(text);
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let rows = self.rows(shared);
        self.many = rows.len();
        let height = columns(rows.len()).saturating_add(4);
        let title = format!("keys of {}", self.about.name());
        let mut inner = painter.boxed(76, height, &title);
        let list = inner.height().saturating_sub(1);
        self.cursor.fit(usize::from(list), rows.len());
        let shown = rows.iter().enumerate().skip(self.cursor.top).take(usize::from(list));
        for (line, (at, (keys, binding))) in shown.enumerate() {
            let y = columns(line);
            inner.part(0, y, 20, 1).text(0, 0, keys, Tone::Strong);
            inner.text(22, y, binding.help, Tone::Plain);
            if at == self.cursor.at {
                inner.select(y);
            }
        }
        let x = inner.text(0, list, "/ ", Tone::Dim);
        self.field.draw(&mut inner, x, list, self.is_typing);
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Back, Action::Filter]
    }

    fn command(&self, _shared: &Shared) -> String {
        "recount --help".to_owned()
    }

    fn is_full(&self) -> bool {
        false
    }
}
