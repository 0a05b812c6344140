//! Lines to read: evidence, details, files of a change.

use recount_display::span::Line;
use recount_display::wrap::wrap;

use crate::draw::{Painter, columns};
use crate::effect::Effect;
use crate::keys::{Action, Place};
use crate::screen::{Context, Screen};
use crate::shared::Shared;

/// The widest that lines are drawn.
const WIDEST: u16 = 116;

/// Lines to read, in a box.
#[derive(Debug)]
pub(crate) struct Sheet {
    title: String,
    lines: Vec<Line>,
    /// The command line that shows the same.
    command: String,
    /// What `y p` copies.
    path: Option<String>,
    top: usize,
    /// As last drawn: the number of lines, and of those that fit.
    drawn: (usize, usize),
}

impl Sheet {
    pub(crate) fn new(title: impl Into<String>, lines: Vec<Line>, command: String) -> Self {
        Self { title: title.into(), lines, command, path: None, top: 0, drawn: (0, 0) }
    }

    /// Adds the path that it is about, to be copied.
    pub(crate) fn about(self, path: Option<String>) -> Self {
        Self { path, ..self }
    }

    fn scroll(&mut self, action: Action) -> bool {
        let (many, height) = self.drawn;
        let last = many.saturating_sub(height);
        let half = (height / 2).max(1);
        self.top = match action {
            Action::Down => self.top + 1,
            Action::Up => self.top.saturating_sub(1),
            Action::HalfDown => self.top + half,
            Action::HalfUp => self.top.saturating_sub(half),
            Action::PageDown | Action::PageForward => self.top + height,
            Action::PageUp | Action::PageBackward => self.top.saturating_sub(height),
            Action::First => 0,
            Action::Last => last,
            _ => return false,
        }
        .min(last);
        true
    }
}

impl Screen for Sheet {
    fn place(&self) -> Place {
        Place::Info
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        match action {
            Action::Open => cx.pop(),
            Action::CopyPath if self.path.is_some() => {
                cx.then(Effect::Copy(self.path.clone().unwrap_or_default(), "path"));
            }
            _ => return self.scroll(action),
        }
        true
    }

    fn draw(&mut self, painter: &mut Painter<'_>, _shared: &Shared) {
        let width = painter.width().min(WIDEST);
        let room = usize::from(width.saturating_sub(4)).max(1);
        let lines: Vec<Line> = self.lines.iter().flat_map(|line| wrapped(line, room)).collect();
        let height = columns(lines.len()).saturating_add(2);
        let mut inner = painter.boxed(width, height, &self.title);
        self.drawn = (lines.len(), usize::from(inner.height()));
        self.top = self.top.min(lines.len().saturating_sub(self.drawn.1));
        for (y, line) in lines.iter().skip(self.top).take(self.drawn.1).enumerate() {
            inner.line(0, columns(y), line);
        }
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Back, Action::CopyId]
    }

    fn command(&self, _shared: &Shared) -> String {
        self.command.clone()
    }

    fn is_full(&self) -> bool {
        false
    }
}

/// Wraps a line; an empty one stays a line.
pub(crate) fn wrapped(line: &Line, room: usize) -> Vec<Line> {
    if line.width() <= room { vec![line.clone()] } else { wrap(line.spans(), room) }
}
