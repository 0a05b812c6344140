//! How a plan looks.

use std::sync::Arc;

use recount_changes::{Plan, Subject, deleted_ids};
use recount_display::number::bytes;
use recount_display::plan::{change, files, size};
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;
use recount_display::words;
use recount_display::wrap::{hang, wrap};

use super::{Button, PlanScreen, Planned, State, button};
use crate::draw::{Painter, columns};
use crate::shared::Shared;
use crate::table::{Align, Column, Layout};

const fn column(heading: &'static str, width: u16, align: Align, rank: u8) -> Column {
    Column { heading, width, align, rank }
}

/// The columns of the files.
const COLUMNS: &[Column] = &[
    column("CHANGE", 8, Align::Left, 0),
    column("WHAT", 20, Align::Left, 1),
    column("BEFORE", 8, Align::Right, 3),
    column("AFTER", 8, Align::Right, 2),
    column("FILE", 0, Align::Path, 0),
];
/// From this width on, each file says what it is.
const WIDE: u16 = 96;
/// The widest that a plan is drawn.
const WIDEST: u16 = 120;
/// Notes stay in view if this number of other lines does.
const LIST: usize = 8;
/// The minimum width of a session's title.
const TITLE: usize = 24;

impl PlanScreen {
    pub(super) fn draw_all(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let width = painter.width().min(WIDEST);
        let room = usize::from(width.saturating_sub(4)).max(1);
        if let State::Ready(planned) = &self.state {
            let planned = Arc::clone(planned);
            self.ready(painter, &planned, width, shared);
            return;
        }
        let line = |text, tone| vec![Line::new([StyledSpan::new(text, tone)])];
        let (lines, button) = match &self.state {
            State::Loading | State::Ready(_) => (line("making the plan…", Tone::Dim), "[ Cancel ]"),
            State::Applying => (line("changing…", Tone::Strong), ""),
            State::Failed(failed) => {
                let what = below_home(&failed.what, shared);
                let mut lines = wrap(&[StyledSpan::new(&what, Tone::Plain)], room);
                if let Some(hint) = &failed.hint {
                    lines.push(Line::default());
                    lines.extend(wrap(&[StyledSpan::new(hint, Tone::Name)], room));
                }
                lines.push(Line::default());
                (lines, "[ Close ]")
            }
        };
        self.words(painter, width, &lines, button);
    }

    /// Draws a few lines and one button.
    fn words(&self, painter: &mut Painter<'_>, width: u16, lines: &[Line], button: &str) {
        let height = columns(lines.len()).saturating_add(3);
        let mut inner = painter.boxed(width, height, &self.planning.title);
        let rows = inner.height().saturating_sub(1);
        for (y, line) in lines.iter().take(usize::from(rows)).enumerate() {
            inner.line(0, columns(y), line);
        }
        let end = inner.text(0, rows, button, Tone::Strong);
        if end > 0 {
            inner.part(0, rows, end, 1).select(0);
        }
    }

    fn ready(&mut self, painter: &mut Painter<'_>, planned: &Planned, width: u16, shared: &Shared) {
        let plan = &planned.offer.plan;
        let room = usize::from(width.saturating_sub(4)).max(1);
        let head = head(planned, room, shared);
        let notes = notes(planned, self.is_changed, room, shared);
        // Heads, the table with its heading, notes, the buttons, an empty line before them, and the frame.
        let needed = head.len() + plan.steps.len() + 1 + notes.len() + 4;
        let height = columns(needed).min(painter.height());
        let (x, y) = ((painter.width() - width) / 2, (painter.height() - height) / 2);
        let mut inner = painter.boxed(width, height, &self.planning.title);
        let all = inner.height().saturating_sub(2);
        // Notes stay in view if there is room for the files, too.
        let fixed = columns(notes.len());
        let wanted = (head.len() + 1 + plan.steps.len()).min(LIST);
        let is_fixed = usize::from(all.saturating_sub(fixed)) >= wanted;
        let list = if is_fixed { all - fixed } else { all };
        let more = if is_fixed { 0 } else { notes.len() };
        self.drawn = (head.len() + 1 + plan.steps.len() + more, usize::from(list));
        self.top = self.top.min(self.drawn.0.saturating_sub(self.drawn.1));
        let mut part = inner.part(0, 0, width, list);
        body(&mut part, (plan, &head, if is_fixed { &[] } else { &notes }), self.top, shared);
        if is_fixed {
            for (at, line) in notes.iter().enumerate() {
                inner.line(0, list + columns(at), line);
            }
        }
        let hidden = self.drawn.0.saturating_sub(self.top + self.drawn.1);
        let foot = inner.height().saturating_sub(2);
        if hidden > 0 {
            inner.text_right(foot, &format!("({hidden} more, j/k)"), Tone::Dim);
        }
        let y_buttons = inner.height().saturating_sub(1);
        self.buttons(&mut inner, y_buttons, plan);
        if width > 70 {
            let words = " dry run, nothing done yet ";
            painter.part(x, y, width.saturating_sub(2), 1).text_right(0, words, Tone::Dim);
        }
    }

    fn buttons(&self, inner: &mut Painter<'_>, y: u16, plan: &Plan) {
        let back = format!("afterwards {} ", self.planning.back);
        if let Some(number) = self.number() {
            let what = button(self.planning.verb, plan);
            let words = format!("type {number} and ↵ to {what}, esc cancels: ");
            let x = inner.text(0, y, &words, Tone::Strong);
            self.field.draw(inner, x, y, true);
            return;
        }
        let label = |is_own: bool, text: &str| {
            if is_own { format!("[ {text} ]") } else { format!("  {text}  ") }
        };
        let cancel = label(self.focus == Button::Cancel, "Cancel");
        let verb = format!("y {}", button(self.planning.verb, plan));
        let accept = label(self.focus == Button::Accept, &verb);
        let end = inner.text(0, y, &cancel, Tone::Strong);
        let start = end + 2;
        let last = inner.text(start, y, &accept, Tone::Strong);
        let (from, to) = match self.focus {
            Button::Cancel => (0, end),
            Button::Accept => (start, last),
        };
        inner.part(from, y, to.saturating_sub(from), 1).select(0);
        let wide = recount_display::width::width(&back);
        if usize::from(last) + wide + 2 <= usize::from(inner.width()) {
            inner.text_right(y, &back, Tone::Dim);
        }
    }
}

/// Shortens paths below the home in a message.
fn below_home(text: &str, shared: &Shared) -> String {
    match shared.folders.home.as_deref().and_then(std::path::Path::to_str) {
        Some(home) if home.len() > 1 => text.replace(&format!("{home}/"), "~/"),
        _ => text.to_owned(),
    }
}

/// Returns what is above the files: what it is about, and the sessions.
fn head(planned: &Planned, room: usize, shared: &Shared) -> Vec<Line> {
    let plan = &planned.offer.plan;
    let mut lines = Vec::new();
    if let Some(about) = &planned.about {
        lines.extend(wrap(&[StyledSpan::new(about, Tone::Strong)], room));
    }
    lines.extend(plan.sessions.iter().map(|session| subject(session, room, shared)));
    let words = match plan.bytes_before() {
        0 => files(plan),
        before => format!("{}, {} before", files(plan), bytes(before)),
    };
    if !plan.sessions.is_empty() {
        lines.push(Line::new([StyledSpan::new(&words, Tone::Dim)]));
    }
    lines
}

fn subject(session: &Subject, room: usize, shared: &Shared) -> Line {
    let short: String = session.id.chars().take(8).collect();
    let title = session.title.as_deref().unwrap_or("(no title)");
    let title = recount_display::sanitize::single_line(title);
    let project = session.project.as_deref().map(|path| shared.folders.tilde(path));
    let id = StyledSpan::new(&format!("{short}  "), Tone::Strong);
    let project = project.map(|path| format!("  {path}")).unwrap_or_default();
    let project = StyledSpan::new(&project, Tone::Dim);
    let left = room.saturating_sub(id.width() + project.width()).max(TITLE);
    let title = recount_display::width::truncate_to(&title, left);
    Line::new([id, StyledSpan::new(&title, Tone::Plain), project])
}

/// Returns what people should know: what has changed, notices, what is left out.
fn notes(planned: &Planned, is_changed: bool, room: usize, shared: &Shared) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |mark: &str, text: &str, tone| {
        let first = Line::new([StyledSpan::new(mark, tone)]);
        let rest = Line::new([StyledSpan::new("  ", Tone::Plain)]);
        let text = wrap(&[StyledSpan::new(text, Tone::Plain)], room.saturating_sub(2).max(1));
        lines.extend(hang(text, &first, &rest));
    };
    if is_changed {
        add("! ", "the plan has changed while it was shown: files are others now", Tone::Warning);
    }
    if planned.is_after_another {
        let words = "an earlier change was interrupted; it is completed or rolled back first";
        add("! ", words, Tone::Warning);
    }
    for notice in &planned.offer.notices {
        let text = below_home(&words::notice(notice, &shared.folders), shared);
        add("· ", &text, Tone::Dim);
    }
    for left_out in &planned.left_out {
        add("✗ ", left_out, Tone::Error);
    }
    lines
}

/// Draws the lines that can be scrolled: sessions, files, and notes if they do not fit.
fn body(
    painter: &mut Painter<'_>,
    (plan, head, notes): (&Plan, &[Line], &[Line]),
    top: usize,
    shared: &Shared,
) {
    let width = painter.width();
    let wanted = |column: &Column| column.heading != "WHAT" || width >= WIDE;
    let layout = Layout::new(COLUMNS, width, wanted);
    let deleted = deleted_ids(plan);
    let height = usize::from(painter.height());
    for line in 0..height {
        let (at, y) = (top + line, columns(line));
        if let Some(line) = head.get(at) {
            painter.line(0, y, line);
            continue;
        }
        let at = at - head.len();
        if at == 0 {
            layout.head(COLUMNS, painter, 0, y);
        } else if let Some(step) = plan.steps.get(at - 1) {
            layout.row(COLUMNS, painter, (0, y), |column| match column {
                0 => change(plan, &deleted, step),
                1 => StyledSpan::new(&step.what, Tone::Dim),
                2 => StyledSpan::new(&size(step.before.as_ref()), Tone::Plain),
                3 => StyledSpan::new(&size(step.after.as_ref()), Tone::Plain),
                _ => StyledSpan::new(
                    &shared.folders.tilde(&step.path.to_string_lossy()),
                    Tone::Plain,
                ),
            });
        } else if let Some(line) = notes.get((at - 1).saturating_sub(plan.steps.len())) {
            painter.line(0, y, line);
        }
    }
}
