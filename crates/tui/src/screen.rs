//! What every screen can do: the tabs, and what lies over them.

use std::any::Any;
use std::fmt::Debug;

use ratatui::crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

use crate::draw::Painter;
use crate::effect::{Answer, Effect, Notice};
use crate::keys::{Action, Place};
use crate::shared::Shared;
use crate::work::{Slot, Work};

/// A screen: state, update and view. Update is pure: what it needs comes in [`Context`], what it wants goes out through it.
pub(crate) trait Screen: Debug + Send {
    /// Returns where its keys are in the table.
    fn place(&self) -> Place;

    /// It becomes visible, or what it shows may have changed: the rows, or the size.
    fn refresh(&mut self, _cx: &mut Context<'_>) {}

    /// Does what a key asks for. Returns whether it did something; if not, the app may.
    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool;

    /// Whether a text field has the keys.
    fn is_typing(&self) -> bool {
        false
    }

    /// Takes a key while a field has the keys. Returns whether it was used; if not, the key does what it always does.
    fn typed(&mut self, _key: &KeyEvent, _cx: &mut Context<'_>) -> bool {
        false
    }

    /// Takes pasted text while a field has the keys.
    fn pasted(&mut self, _text: &str, _cx: &mut Context<'_>) {}

    /// Takes the answer to a question. Answers of other screens are left alone.
    fn answered(&mut self, _answer: &mut Answer, _cx: &mut Context<'_>) {}

    /// Whether it changes by the passing of time alone.
    fn has_clock(&self, _shared: &Shared) -> bool {
        false
    }

    /// A second has passed, while it has a clock.
    fn time(&mut self, _cx: &mut Context<'_>) {}

    /// Takes what another screen told it.
    fn told(&mut self, _what: Box<dyn Any + Send>, _cx: &mut Context<'_>) {}

    /// Takes a click or the wheel inside its area. Returns whether it was used.
    fn mouse(&mut self, _event: MouseEvent, _area: Rect, _cx: &mut Context<'_>) -> bool {
        false
    }

    /// Whether clicks mean something here; else the terminal keeps the mouse.
    fn takes_mouse(&self) -> bool {
        false
    }

    /// Draws itself.
    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared);

    /// Returns the most useful actions, for the foot.
    fn hints(&self) -> &'static [Action];

    /// Returns the command line that shows the same.
    fn command(&self, shared: &Shared) -> String;

    /// Whether it covers everything below the tabs; else it is drawn as a box over the screen before it.
    fn is_full(&self) -> bool {
        true
    }
}

/// What a screen may know and ask for.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// What all screens share.
    pub(crate) shared: &'a Shared,
    pub(crate) effects: &'a mut Vec<Effect>,
}

impl Context<'_> {
    /// Asks the engine. The answer comes to [`Screen::answered`]; a newer question of the slot replaces this one.
    pub(crate) fn ask<T: Send + 'static>(
        &mut self,
        slot: Slot,
        question: impl FnOnce(&Work) -> T + Send + 'static,
    ) {
        self.effects.push(Effect::Ask(slot, Box::new(|work| Box::new(question(work))), 0));
    }

    /// Shows a screen over this one.
    pub(crate) fn push(&mut self, screen: impl Screen + 'static) {
        self.effects.push(Effect::Push(Box::new(screen)));
    }

    /// Leaves this screen.
    pub(crate) fn pop(&mut self) {
        self.effects.push(Effect::Pop);
    }

    /// Shows a line at the foot.
    pub(crate) fn say(&mut self, notice: Notice) {
        self.effects.push(Effect::Say(notice));
    }

    /// Does something else.
    pub(crate) fn then(&mut self, effect: Effect) {
        self.effects.push(effect);
    }
}
