//! One key press, or a prefix and a letter, as people write it: `d`, `ctrl-d`, `shift-tab`, `s u`.

use std::fmt;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// One or two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chord {
    /// The key that opens a menu, if there are two.
    pub prefix: Option<char>,
    key: Key,
    modifiers: Modifiers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Char(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Modifiers {
    ctrl: bool,
    alt: bool,
    shift: bool,
}

const NAMED: &[(&str, Key)] = &[
    ("enter", Key::Enter),
    ("esc", Key::Esc),
    ("tab", Key::Tab),
    ("backspace", Key::Backspace),
    ("del", Key::Delete),
    ("up", Key::Up),
    ("down", Key::Down),
    ("left", Key::Left),
    ("right", Key::Right),
    ("home", Key::Home),
    ("end", Key::End),
    ("pgup", Key::PageUp),
    ("pgdn", Key::PageDown),
    ("space", Key::Char(' ')),
];

impl Chord {
    /// Reads a chord. `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ').filter(|word| !word.is_empty());
        let (first, second) = (words.next()?, words.next());
        if words.next().is_some() {
            return None;
        }
        let one = Self::parse_one(first)?;
        let Some(second) = second else { return Some(one) };
        let (Key::Char(prefix), Modifiers { ctrl: false, alt: false, shift: false }) =
            (one.key, one.modifiers)
        else {
            return None;
        };
        Some(Self { prefix: Some(prefix), ..Self::parse_one(second)? })
    }

    fn parse_one(text: &str) -> Option<Self> {
        let mut modifiers = Modifiers::default();
        let mut rest = text;
        loop {
            let lower = rest.to_ascii_lowercase();
            // A dash alone is the key itself.
            let flag = match lower.split_once('-') {
                Some(("ctrl", more)) if !more.is_empty() => &mut modifiers.ctrl,
                Some(("alt", more)) if !more.is_empty() => &mut modifiers.alt,
                Some(("shift", more)) if !more.is_empty() => &mut modifiers.shift,
                _ => break,
            };
            *flag = true;
            rest = rest.split_once('-')?.1;
        }
        let lower = rest.to_ascii_lowercase();
        let named = NAMED.iter().find(|(name, _)| *name == lower).map(|(_, key)| *key);
        let function = lower.strip_prefix('f').and_then(|number| number.parse().ok()).map(Key::F);
        let mut letters = rest.chars();
        let letter = letters.next().filter(|_| letters.next().is_none()).map(Key::Char);
        let mut key = named.or(letter).or(function)?;
        if key == Key::Tab && modifiers.shift {
            (key, modifiers.shift) = (Key::BackTab, false);
        }
        Some(Self { prefix: None, key, modifiers })
    }

    /// Returns what a key event is. `None` for keys that no table has.
    pub fn of(event: &KeyEvent) -> Option<Self> {
        let key = match event.code {
            KeyCode::Char(letter) => Key::Char(letter),
            KeyCode::Enter => Key::Enter,
            KeyCode::Esc => Key::Esc,
            KeyCode::Tab => Key::Tab,
            KeyCode::BackTab => Key::BackTab,
            KeyCode::Backspace => Key::Backspace,
            KeyCode::Delete => Key::Delete,
            KeyCode::Up => Key::Up,
            KeyCode::Down => Key::Down,
            KeyCode::Left => Key::Left,
            KeyCode::Right => Key::Right,
            KeyCode::Home => Key::Home,
            KeyCode::End => Key::End,
            KeyCode::PageUp => Key::PageUp,
            KeyCode::PageDown => Key::PageDown,
            KeyCode::F(number) => Key::F(number),
            _ => return None,
        };
        let has = |one: KeyModifiers| event.modifiers.contains(one);
        // Terminals differ in whether a capital letter comes with shift.
        let shift = has(KeyModifiers::SHIFT) && !matches!(key, Key::Char(_) | Key::BackTab);
        let modifiers =
            Modifiers { ctrl: has(KeyModifiers::CONTROL), alt: has(KeyModifiers::ALT), shift };
        Some(Self { prefix: None, key, modifiers })
    }

    /// Returns this key after a prefix.
    #[must_use]
    pub fn after(self, prefix: char) -> Self {
        Self { prefix: Some(prefix), ..self }
    }

    /// Returns the letter, if the chord is one letter without modifiers.
    pub fn letter(self) -> Option<char> {
        match (self.prefix, self.key, self.modifiers == Modifiers::default()) {
            (None, Key::Char(letter), true) => Some(letter),
            _ => None,
        }
    }

    /// Returns the last key as a letter, whatever comes before it.
    pub fn last_letter(self) -> Option<char> {
        if let Key::Char(letter) = self.key { Some(letter) } else { None }
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(prefix) = self.prefix {
            write!(out, "{prefix} ")?;
        }
        let Modifiers { ctrl, alt, shift } = self.modifiers;
        for (is_held, name) in [(ctrl, "ctrl-"), (alt, "alt-"), (shift, "shift-")] {
            if is_held {
                out.write_str(name)?;
            }
        }
        match self.key {
            Key::BackTab => out.write_str("shift-tab"),
            Key::F(number) => write!(out, "F{number}"),
            key => match NAMED.iter().find(|(_, named)| *named == key) {
                Some((name, _)) => out.write_str(name),
                None if let Key::Char(letter) = key => write!(out, "{letter}"),
                None => Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chords_are_printed_as_they_are_read() {
        for text in [
            "d",
            "D",
            "ctrl-d",
            "shift-tab",
            "s u",
            ", h",
            "pgdn",
            "F1",
            "-",
            "ctrl--",
            "space",
            "] p",
            "alt-1",
        ] {
            let chord = Chord::parse(text).unwrap();
            assert_eq!(chord.to_string(), text);
        }
        for bad in ["", "ctrl-", "a b c", "enter x", "nothing"] {
            assert_eq!(Chord::parse(bad), None, "{bad:?}");
        }
    }
}
