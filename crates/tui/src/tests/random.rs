//! Random keys, pastes and sizes: no panic, no control character in any cell, and Esc always leads out.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::Driver;
use crate::effect::Event;

/// A small generator of numbers: the same seed gives the same keys everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn key(&mut self) -> KeyEvent {
        const SPECIAL: &[KeyCode] = &[
            KeyCode::Enter,
            KeyCode::Esc,
            KeyCode::Tab,
            KeyCode::BackTab,
            KeyCode::Backspace,
            KeyCode::Delete,
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::Left,
            KeyCode::Right,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::PageUp,
            KeyCode::PageDown,
            KeyCode::F(1),
        ];
        let code = match self.roll(10) {
            0..=2 => SPECIAL[usize::try_from(self.roll(SPECIAL.len() as u64)).unwrap()],
            3 => KeyCode::Char(
                ['日', '🎉', '\u{301}', '\u{202e}', 'é'][usize::try_from(self.roll(5)).unwrap()],
            ),
            _ => KeyCode::Char(char::from(u8::try_from(33 + self.roll(94)).unwrap())),
        };
        let modifiers = match self.roll(12) {
            0 => KeyModifiers::CONTROL,
            1 => KeyModifiers::ALT,
            2 => KeyModifiers::SHIFT,
            _ => KeyModifiers::NONE,
        };
        KeyEvent::new(code, modifiers)
    }
}

/// Fails on a cell that could do something to a terminal.
fn check(buffer: &Buffer) {
    for cell in buffer.content() {
        let is_bad = |letter: char| {
            letter.is_control()
                || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!cell.symbol().chars().any(is_bad), "{:?}", cell.symbol());
    }
}

fn play(app: &mut Driver, seed: u64, steps: u32) {
    let mut dice = Dice(seed);
    for step in 0..steps {
        match dice.roll(40) {
            0 => {
                let (width, height) = (1 + dice.roll(300), 1 + dice.roll(100));
                app.resize(u16::try_from(width).unwrap(), u16::try_from(height).unwrap());
            }
            1 => app.event(Event::Paste("pasted\n\u{1b}[2J text 日本".to_owned())),
            _ => app.event(Event::Key(dice.key())),
        }
        if step % 7 == 0 {
            check(&app.cells());
        }
    }
    app.resize(100, 30);
    for _ in 0..40 {
        app.press("esc");
    }
    assert!(!app.app.is_over(), "Esc does not lead out of {:?}", app.app.top());
    assert!(!app.app.top().is_typing());
}

#[test]
fn random_keys_do_no_harm() {
    let mut app = Driver::demo(100, 30);
    play(&mut app, 7, 3_000);
}

/// 10⁵ steps; run by `cargo xtask soak`.
#[test]
#[ignore = "takes minutes: part of the soak"]
fn a_hundred_thousand_random_keys_do_no_harm() {
    for seed in 0..10 {
        let mut app = Driver::demo(100, 30);
        play(&mut app, seed, 10_000);
    }
}
