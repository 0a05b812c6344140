//! How the list of sessions looks.

use ratatui::layout::Rect;
use recount_display::number::plural;
use recount_display::theme::Tone;

use super::columns::{COLUMNS, WIDE, cell, mark};
use super::{Layout, Sessions};
use crate::draw::{Painter, columns};
use crate::shared::Shared;
use crate::table;

/// From this width on, the preview is at the right.
const RIGHT: u16 = 100;
/// From this width on, there are more columns.
const WIDEST: u16 = 160;
/// Below this width, a row is one fact and a title.
const NARROW: u16 = 60;
/// Below this height there is no preview below.
const TALL: u16 = 14;

impl Sessions {
    pub(super) fn draw_all(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        self.head(&mut painter.part(0, 0, width, 1), shared);
        if shared.rows.sessions.is_empty() && shared.reading.is_none() {
            Self::empty(
                &mut painter.part(2, 2, width.saturating_sub(4), height.saturating_sub(2)),
                shared,
            );
            return;
        }
        let layout = match self.layout {
            Layout::Auto if width >= RIGHT => Layout::Right,
            Layout::Auto | Layout::Below if height >= TALL => Layout::Below,
            Layout::Right if width >= NARROW => Layout::Right,
            _ => Layout::Off,
        };
        let (list, preview) = parts(layout, self.share, width, height);
        self.rows(&mut painter.part(list.x, list.y, list.width, list.height), shared);
        let Some(preview) = preview else { return };
        if layout == Layout::Right {
            painter.part(preview.x, preview.y, 1, preview.height).column(0);
        } else {
            let about = self.session(shared).map(|session| {
                let model = session.models.last().map_or("", String::as_str);
                format!("{} · {model}", session.id.short())
            });
            painter.part(0, preview.y, width, 1).rule(0, about.as_deref().unwrap_or_default());
        }
        let inner = if layout == Layout::Right {
            Rect { x: preview.x + 2, width: preview.width.saturating_sub(2), ..preview }
        } else {
            Rect {
                x: 1,
                y: preview.y + 1,
                width: width.saturating_sub(2),
                height: preview.height - 1,
            }
        };
        self.pane_height = usize::from(inner.height);
        if let Some(session) = self.session(shared).cloned() {
            let mut part = painter.part(inner.x, inner.y, inner.width, inner.height);
            self.pane.draw(&mut part, &session, shared);
        }
    }

    /// The line above the list: scope, order, filter, and how many rows there are.
    fn head(&self, painter: &mut Painter<'_>, shared: &Shared) {
        let scope = match &self.shown.project {
            None => "everywhere".to_owned(),
            Some(key) => {
                let mut rows = shared.rows.sessions.iter();
                let own = rows.find(|session| session.project.key() == *key);
                own.map_or_else(
                    || "this project".to_owned(),
                    |session| shared.rows.names.name(&session.project).to_owned(),
                )
            }
        };
        let x = painter.text(1, 0, &scope, Tone::Strong);
        let x = painter.text(x + 2, 0, self.shown.order.name(), Tone::Dim);
        let mut counts = vec![match self.view.at.len() {
            shown if shown == self.view.of => plural(shown as u64, "session"),
            shown => format!("{shown} of {}", self.view.of),
        }];
        if !self.marks.is_empty() {
            counts.insert(0, format!("{} marked", self.marks.len()));
        }
        let key =
            |action| shared.settings.keymap.first(action).unwrap_or_default().replace(' ', "");
        let folded = [
            (self.view.headless, "headless", crate::keys::Action::FoldHeadless),
            (self.view.subagents, "sub-agents", crate::keys::Action::FoldSubagents),
            (self.view.empty, "empty", crate::keys::Action::FoldEmpty),
        ];
        for (many, what, action) in folded.into_iter().filter(|(many, ..)| *many > 0) {
            counts.push(format!("{many} {what} ({})", key(action)));
        }
        if shared.rows.is_remembered {
            // These may be only the newest.
            counts = vec!["reading…".to_owned()];
        }
        let room = painter.width().saturating_sub(x + 24);
        let mut right = counts.join(" · ");
        while recount_display::width::width(&right) > usize::from(room) && counts.len() > 1 {
            counts.pop();
            right = counts.join(" · ");
        }
        let end = painter.text_right(0, &format!("{right} "), Tone::Dim);
        let mut field = painter.part(x + 2, 0, end.saturating_sub(x + 4), 1);
        let x = field.text(0, 0, "/ ", if self.is_typing { Tone::Strong } else { Tone::Dim });
        if self.field.is_empty() && !self.is_typing {
            field.text(x, 0, "filter", Tone::Dim);
        }
        self.field.draw(&mut field, x, 0, self.is_typing);
    }

    fn rows(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let width = painter.width();
        let is_narrow = width < NARROW;
        let wanted = |column: &table::Column| match column.heading {
            "AGENT" => shared.rows.is_mixed,
            "PROJECT" => self.shown.project.is_none(),
            name if WIDE.contains(&name) => shared.size.0 >= WIDEST,
            name if is_narrow => matches!(name, "USED" | "TITLE"),
            _ => true,
        };
        let room = width.saturating_sub(4);
        let layout = table::Layout::new(COLUMNS, room, wanted);
        layout.head(COLUMNS, painter, 3, 0);
        let height = painter.height().saturating_sub(1);
        self.cursor.fit(usize::from(height), self.view.at.len());
        let area = painter.area();
        self.list = Rect { y: area.y + 1, height, ..area };
        let shown = self.view.at.iter().enumerate().skip(self.cursor.top).take(usize::from(height));
        for (line, (at, row)) in shown.enumerate() {
            let Some(session) = shared.rows.sessions.get(*row) else { continue };
            let y = columns(line) + 1;
            painter.spans(1, y, &[mark(session, self.marks.contains(&session.key()), shared)]);
            layout.row(COLUMNS, painter, (3, y), |at| cell(at, session, shared));
            if at == self.cursor.at {
                painter.part(0, y, width, 1).select(0);
            }
        }
        if self.view.at.is_empty() {
            self.no_match(painter, shared);
        }
    }

    /// What would show more, when nothing matches.
    fn no_match(&self, painter: &mut Painter<'_>, shared: &Shared) {
        let mut lines = Vec::new();
        if let Some(wrong) = &self.wrong {
            lines.push(wrong.clone());
        } else if !self.field.is_empty() {
            lines.push(format!("no session matches '{}'", self.field.text().trim()));
            if self.shown.project.is_some() {
                lines.push(". looks in all projects".to_owned());
            }
            lines.push("2 searches what was said; esc clears the filter".to_owned());
        } else if shared.reading.is_some() {
            lines.push("reading sessions…".to_owned());
        } else {
            lines.push("no sessions here; . shows all projects".to_owned());
        }
        for (y, line) in lines.iter().enumerate() {
            painter.text(3, columns(y) + 2, line, Tone::Dim);
        }
    }

    /// What a user without sessions sees.
    fn empty(painter: &mut Painter<'_>, shared: &Shared) {
        painter.text(0, 0, "No sessions found.", Tone::Strong);
        painter.text(0, 1, "recount looked in:", Tone::Dim);
        let mut y = 2;
        for root in &shared.roots {
            painter.text(2, y, &shared.folders.tilde(&root.to_string_lossy()), Tone::Plain);
            y += 1;
        }
        painter.text(
            0,
            y + 1,
            "D shows demo data; recount --home DIR reads another home.",
            Tone::Plain,
        );
    }
}

/// Divides the screen between the list and the preview.
fn parts(layout: Layout, share: u16, width: u16, height: u16) -> (Rect, Option<Rect>) {
    let below = height - 1;
    match layout {
        Layout::Right => {
            let share = if share == 0 { 45 } else { share };
            let right = u32::from(width) * u32::from(share) / 100;
            let right = u16::try_from(right).unwrap_or(width / 2);
            let list = Rect { x: 0, y: 1, width: width - right, height: below };
            (list, Some(Rect { x: width - right, y: 1, width: right, height: below }))
        }
        Layout::Below => {
            let share = if share == 0 { 35 } else { share };
            let strip =
                u16::try_from(u32::from(below) * u32::from(share) / 100).unwrap_or(5).max(4);
            let list = Rect { x: 0, y: 1, width, height: below - strip };
            (list, Some(Rect { x: 0, y: 1 + below - strip, width, height: strip }))
        }
        Layout::Auto | Layout::Off => (Rect { x: 0, y: 1, width, height: below }, None),
    }
}
