//! A record as it is on disk.

use std::sync::Arc;

use recount_display::number::bytes;
use recount_display::plain;
use recount_display::span::Line;
use recount_display::theme::Tone;
use recount_display::width::truncate_start;
use recount_engine::Opened;
use recount_model::RecordLocation;
use recount_platform::quote;

use crate::draw::{Painter, columns};
use crate::effect::{Answer, Effect};
use crate::keys::{Action, Place};
use crate::list::Cursor;
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::Slot;

/// The maximum number of bytes of a record that are shown.
const MOST: u64 = 1024 * 1024;

/// A record as it is on disk, made harmless and wrapped.
pub(super) struct Raw {
    opened: Arc<Opened>,
    place: RecordLocation,
    text: Option<Result<String, &'static str>>,
    /// Its lines at a width.
    laid: Option<(usize, Vec<Line>)>,
    cursor: Cursor,
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Raw({}:{})", self.place.file, self.place.line)
    }
}

/// The bytes of a record.
struct Bytes(Option<Vec<u8>>);

impl Raw {
    pub(super) fn new(opened: Arc<Opened>, place: RecordLocation) -> Self {
        Self { opened, place, text: None, laid: None, cursor: Cursor::default() }
    }

    fn many(&self) -> usize {
        self.laid.as_ref().map_or(0, |(_, lines)| lines.len())
    }
}

impl Screen for Raw {
    fn place(&self) -> Place {
        Place::Info
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        if self.text.is_none() {
            let (opened, place) = (Arc::clone(&self.opened), self.place.clone());
            cx.ask(Slot::Info, move |_| Bytes(opened.record(&place, MOST)));
        }
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        let many = self.many();
        match action {
            Action::Open => cx.pop(),
            Action::CopyId | Action::CopyPath => {
                let place = format!("{}:{}", self.place.file, self.place.line);
                cx.then(Effect::Copy(place, "place"));
            }
            // The first visible line moves, not a cursor.
            Action::Down => self.cursor.top += 1,
            Action::Up => self.cursor.top = self.cursor.top.saturating_sub(1),
            _ => {
                self.cursor.at = self.cursor.top;
                let used = self.cursor.act(action, many);
                if used {
                    self.cursor.top = self.cursor.at;
                }
                return used;
            }
        }
        true
    }

    fn answered(&mut self, answer: &mut Answer, _cx: &mut Context<'_>) {
        if answer.slot == Slot::Info
            && let Some(Bytes(bytes)) = answer.take()
        {
            let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            self.text = Some(text.ok_or("the file can no longer be read"));
            self.laid = None;
        }
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        let file = shared.folders.tilde(&self.place.file);
        let title = format!("{file}:{} · {}", self.place.line, bytes(self.place.bytes));
        let title = truncate_start(&title, usize::from(width.saturating_sub(8)));
        let mut inner = painter.boxed(width, height, &title);
        let wide = usize::from(inner.width()).max(1);
        let text = match &self.text {
            None => return,
            Some(Ok(text)) => text,
            Some(Err(error)) => {
                inner.text(0, 0, error, Tone::Error);
                return;
            }
        };
        if self.laid.as_ref().is_none_or(|(laid, _)| *laid != wide) {
            let mut lines = plain::lines(text, Tone::Plain, wide);
            let whole: u64 =
                self.place.bytes + self.place.pieces.iter().map(|p| p.bytes).sum::<u64>();
            if whole > MOST {
                let words = format!("… {} more", bytes(whole - MOST));
                lines.extend(plain::lines(&words, Tone::Dim, wide));
            }
            self.laid = Some((wide, lines));
        }
        let Some((_, lines)) = &self.laid else { return };
        let shown = usize::from(inner.height());
        self.cursor.height = shown;
        self.cursor.top = self.cursor.top.min(lines.len().saturating_sub(shown));
        for (y, line) in lines.iter().skip(self.cursor.top).take(shown).enumerate() {
            inner.line(0, columns(y), line);
        }
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Back]
    }

    fn command(&self, _shared: &Shared) -> String {
        format!("recount show {} --raw", quote(self.opened.facts.id.as_str()))
    }

    fn is_full(&self) -> bool {
        false
    }
}
