//! A line of text that is edited with the usual keys.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use recount_display::sanitize::single_line;
use recount_display::theme::Tone;
use recount_display::width::width;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::draw::{Painter, columns};

/// A line of text with a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    text: String,
    /// The byte before which text is inserted; always between grapheme clusters.
    at: usize,
    /// What was accepted before, oldest first.
    history: Vec<String>,
    /// The entry of the history that is shown.
    recalled: Option<usize>,
}

impl Field {
    pub(crate) fn new(text: &str) -> Self {
        let text = single_line(text);
        Self { at: text.len(), text, ..Self::default() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before the cursor.
    pub(crate) fn before(&self) -> &str {
        self.text.get(..self.at).unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn set(&mut self, text: &str) {
        let history = std::mem::take(&mut self.history);
        *self = Self { history, ..Self::new(text) };
    }

    /// Notes the text, to be recalled later.
    pub(crate) fn accept(&mut self) {
        if !self.text.is_empty() && self.history.last() != Some(&self.text) {
            self.history.push(self.text.clone());
        }
        self.recalled = None;
    }

    /// Inserts text at the cursor.
    pub(crate) fn insert(&mut self, text: &str) {
        let spaces = |letter: char| if letter.is_control() { ' ' } else { letter };
        let text: String = text.chars().map(spaces).collect();
        self.text.insert_str(self.at, &text);
        self.at += text.len();
        // A combining mark joins the cluster before it.
        self.at = self.boundary(self.at);
    }

    /// Replaces the text from a byte up to the cursor.
    pub(crate) fn replace_from(&mut self, from: usize, text: &str) {
        if from <= self.at && self.text.is_char_boundary(from) {
            self.text.replace_range(from..self.at, "");
            self.at = from;
            self.insert(text);
        }
    }

    fn boundary(&self, at: usize) -> usize {
        let mut ends =
            self.text.grapheme_indices(true).map(|(start, cluster)| start + cluster.len());
        if at == 0 { 0 } else { ends.find(|end| *end >= at).unwrap_or(self.text.len()) }
    }

    fn previous(&self) -> usize {
        self.before().grapheme_indices(true).next_back().map_or(0, |(start, _)| start)
    }

    fn next(&self) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        self.at + rest.graphemes(true).next().map_or(0, str::len)
    }

    fn word_back(&self) -> usize {
        let before = self.before().trim_end();
        before.rfind(char::is_whitespace).map_or(0, |space| {
            space
                + before.get(space..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        })
    }

    fn word_on(&self) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let words = rest.trim_start();
        let skipped = rest.len() - words.len();
        self.at + skipped + words.find(char::is_whitespace).unwrap_or(words.len())
    }

    fn cut(&mut self, from: usize, to: usize) {
        if from <= to && self.text.is_char_boundary(from) && self.text.is_char_boundary(to) {
            self.text.replace_range(from..to, "");
            self.at = from;
        }
    }

    /// Takes a key. Returns whether the field used it.
    pub(crate) fn key(&mut self, key: &KeyEvent) -> bool {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Char('a') if ctrl => self.at = 0,
            KeyCode::Char('e') if ctrl => self.at = self.text.len(),
            KeyCode::Char('b') if ctrl => self.at = self.previous(),
            KeyCode::Char('f') if ctrl => self.at = self.next(),
            KeyCode::Char('w') if ctrl => self.cut(self.word_back(), self.at),
            KeyCode::Char('u') if ctrl => self.cut(0, self.at),
            KeyCode::Char('k') if ctrl => self.text.truncate(self.at),
            KeyCode::Char('h') if ctrl => self.cut(self.previous(), self.at),
            KeyCode::Char('d') if ctrl => self.cut(self.at, self.next()),
            KeyCode::Char('b') if alt => self.at = self.word_back(),
            KeyCode::Char('f') if alt => self.at = self.word_on(),
            KeyCode::Char(letter) if !ctrl && !alt => self.insert(letter.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace if alt || ctrl => self.cut(self.word_back(), self.at),
            KeyCode::Backspace => self.cut(self.previous(), self.at),
            KeyCode::Delete => self.cut(self.at, self.next()),
            KeyCode::Left if ctrl || alt => self.at = self.word_back(),
            KeyCode::Right if ctrl || alt => self.at = self.word_on(),
            KeyCode::Left => self.at = self.previous(),
            KeyCode::Right => self.at = self.next(),
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.text.len(),
            KeyCode::Up => return self.recall(-1),
            KeyCode::Down => return self.recall(1),
            _ => return false,
        }
        true
    }

    /// Shows what was accepted earlier or later. Returns whether there is something.
    fn recall(&mut self, by: isize) -> bool {
        let from = self.recalled.unwrap_or(self.history.len());
        let at = from.saturating_add_signed(by);
        match self.history.get(at) {
            Some(text) if at != from => {
                (self.text, self.at, self.recalled) = (text.clone(), text.len(), Some(at));
                true
            }
            _ => false,
        }
    }

    /// Draws the text, scrolled so that the cursor is visible; with the cursor if the field has the keys.
    pub(crate) fn draw(&self, painter: &mut Painter<'_>, x: u16, y: u16, has_keys: bool) {
        let room = usize::from(painter.width().saturating_sub(x)).saturating_sub(1);
        let mut shown = self.text.as_str();
        let mut before = width(self.before());
        while before > room {
            let Some(first) = shown.graphemes(true).next() else { break };
            before -= width(first).min(before);
            shown = shown.get(first.len()..).unwrap_or_default();
        }
        painter.text(x, y, shown, Tone::Plain);
        if has_keys {
            painter.cursor(x + columns(before), y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(field: &mut Field, code: KeyCode, modifiers: KeyModifiers) -> bool {
        field.key(&KeyEvent::new(code, modifiers))
    }

    #[test]
    fn it_edits_as_a_shell_does() {
        let mut field = Field::new("fix the parser");
        press(&mut field, KeyCode::Char('w'), KeyModifiers::CONTROL);
        assert_eq!(field.text(), "fix the ");
        press(&mut field, KeyCode::Char('a'), KeyModifiers::CONTROL);
        field.insert("再");
        assert_eq!(field.text(), "再fix the ");
        press(&mut field, KeyCode::Backspace, KeyModifiers::NONE);
        press(&mut field, KeyCode::Right, KeyModifiers::ALT);
        press(&mut field, KeyCode::Char('k'), KeyModifiers::CONTROL);
        assert_eq!(field.text(), "fix");
        field.accept();
        field.set("");
        assert!(press(&mut field, KeyCode::Up, KeyModifiers::NONE));
        assert_eq!(field.text(), "fix");
    }

    #[test]
    fn pasted_lines_and_marks_do_no_harm() {
        let mut field = Field::default();
        field.insert("a\nb\u{1b}[2J");
        assert_eq!(field.text(), "a b [2J");
        field.set("e");
        field.insert("\u{301}");
        press(&mut field, KeyCode::Backspace, KeyModifiers::NONE);
        assert_eq!(field.text(), "");
    }
}
