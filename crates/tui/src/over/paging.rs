//! Makes the whole transcript of a session, for the pager.

use std::sync::Arc;

use recount_blocks::Level;
use recount_display::canvas::{Canvas, Paint};
use recount_display::theme::Tone;
use recount_display::transcript::{Figures, Transcript};
use recount_engine::{MessageCursor, View};
use recount_model::SessionKey;
use recount_platform::quote;

use crate::draw::Painter;
use crate::effect::{Answer, Effect, Notice};
use crate::keys::{Action, Place};
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::{Slot, Work};

/// A longer transcript ends with the command that prints all of it.
const LONGEST: usize = 32 * 1024 * 1024;
/// Number of messages that are read at once.
const PAGE: usize = 16;

/// Waits for the transcript of a session, gives it to the pager, and goes.
#[derive(Debug)]
pub(crate) struct Paging {
    key: SessionKey,
    level: Level,
    view: View,
    is_asked: bool,
}

/// The transcript, or why there is none.
struct Printed(Result<String, String>);

impl Paging {
    pub(crate) fn new(key: SessionKey, level: Level, view: View) -> Self {
        Self { key, level, view, is_asked: false }
    }
}

fn print(work: &Work, key: &SessionKey, level: Level, view: View, width: usize) -> Printed {
    let engine = work.engine();
    let opened = match engine.open_key(key, work.progress()) {
        Ok(opened) => Arc::new(opened),
        Err(error) => return Printed(Err(error.full_message())),
    };
    let canvas = Canvas::new(width, Paint::On);
    let mut transcript = Transcript::new(canvas, level, false, &opened.facts);
    let figures = if view == View::Strict { Figures::Strict } else { Figures::Full };
    let mut text = transcript.heading(&opened.facts, figures, engine.folders());
    let mut cursor = MessageCursor::new(Arc::clone(&opened), view);
    loop {
        let first = cursor.position();
        let page = cursor.next_page(PAGE);
        if page.is_empty() {
            break;
        }
        for (at, message) in page.into_iter().enumerate() {
            match message {
                Ok(message) => text.push_str(&transcript.message(&message, first + at + 1)),
                Err(problem) => {
                    let words = format!("(cannot be read: {problem})\n");
                    text.push_str(&recount_display::sanitize::sanitize(&words));
                }
            }
        }
        if work.progress().is_cancelled() || text.len() > LONGEST {
            let id = quote(key.id.as_str());
            text.extend(["\n… recount show ", &id, " prints the rest\n"]);
            break;
        }
    }
    Printed(Ok(text))
}

impl Screen for Paging {
    fn place(&self) -> Place {
        Place::Pick
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        if !std::mem::replace(&mut self.is_asked, true) {
            let (key, level, view) = (self.key.clone(), self.level, self.view);
            let width = usize::from(cx.shared.size.0).min(100);
            cx.ask(Slot::Copy, move |work| print(work, &key, level, view, width));
        }
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        if matches!(action, Action::Back | Action::Close) {
            cx.then(Effect::Forget(Slot::Copy));
            cx.pop();
            return true;
        }
        false
    }

    fn answered(&mut self, answer: &mut Answer, cx: &mut Context<'_>) {
        if answer.slot == Slot::Copy
            && let Some(Printed(text)) = answer.take()
        {
            cx.pop();
            match text {
                Ok(text) => cx.then(Effect::Page(text)),
                Err(error) => cx.say(Notice::error(error)),
            }
        }
    }

    fn draw(&mut self, painter: &mut Painter<'_>, _shared: &Shared) {
        let mut inner = painter.boxed(40, 3, "pager");
        inner.text(0, 0, "making the transcript…", Tone::Dim);
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Back]
    }

    fn command(&self, _shared: &Shared) -> String {
        format!("recount show {}", quote(self.key.id.as_str()))
    }

    fn is_full(&self) -> bool {
        false
    }
}
