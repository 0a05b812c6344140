//! How problems look.

use ratatui::layout::Rect;
use recount_changes::Severity;
use recount_display::number::plural;
use recount_display::span::StyledSpan;
use recount_display::theme::Tone;
use recount_display::wrap::wrap;

use super::found::Found;
use super::{Entry, Problems};
use crate::draw::{Painter, columns};
use crate::shared::Shared;
use crate::table::{Align, Column, Layout};

const fn column(heading: &'static str, width: u16, align: Align, rank: u8) -> Column {
    Column { heading, width, align, rank }
}

const COLUMNS: &[Column] = &[
    column("WHERE", 14, Align::Path, 3),
    column("WHAT", 0, Align::Left, 0),
    column("TITLE", 34, Align::Left, 1),
];
/// From this width on, sessions have their titles.
const WIDE: u16 = 120;
/// Lines about the selected row.
const STRIP: u16 = 4;

impl Problems {
    pub(super) fn draw_all(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        self.head(&mut painter.part(0, 0, width, 1));
        let body = height.saturating_sub(1);
        match &self.found {
            None => {
                painter.text(3, 2, "looking for problems…", Tone::Dim);
                return;
            }
            Some(Err(error)) => {
                let room = usize::from(width.saturating_sub(6)).max(1);
                for (y, line) in
                    wrap(&[StyledSpan::new(error, Tone::Error)], room).iter().enumerate()
                {
                    painter.line(3, columns(y) + 2, line);
                }
                return;
            }
            Some(Ok(found)) if found.is_empty() => {
                painter.text(3, 2, "no problems found", Tone::Strong);
                let words = "every session can be loaded, and none is deleted at the next start";
                painter.text(3, 3, words, Tone::Dim);
                return;
            }
            Some(Ok(_)) => {}
        }
        let strip = if body >= 12 { STRIP + 1 } else { 0 };
        let list = body.saturating_sub(strip);
        self.rows(&mut painter.part(0, 1, width, list));
        if strip > 0 {
            self.strip(&mut painter.part(0, 1 + list, width, strip), shared);
        }
    }

    fn head(&self, painter: &mut Painter<'_>) {
        painter.text(1, 0, "Problems", Tone::Strong);
        let Some(Ok(found)) = &self.found else { return };
        let of = |severity| found.iter().filter(|one| one.severity == severity).count() as u64;
        let counts =
            [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
        let counts = counts.into_iter().map(|(severity, word)| (of(severity), word));
        let mut counts: Vec<String> =
            counts.filter(|(many, _)| *many > 0).map(|(many, word)| plural(many, word)).collect();
        if self.is_looking {
            counts.push("looking…".to_owned());
        }
        let room = usize::from(painter.width()).saturating_sub(11);
        while recount_display::width::width(&counts.join(" · ")) > room && counts.len() > 1 {
            counts.pop();
        }
        painter.text_right(0, &format!("{} ", counts.join(" · ")), Tone::Dim);
    }

    fn rows(&mut self, painter: &mut Painter<'_>) {
        let (width, height) = (painter.width(), painter.height());
        let area = painter.area();
        self.list = Rect { height, ..area };
        self.cursor.fit(usize::from(height), self.entries.len());
        let Some(Ok(found)) = &self.found else { return };
        let wanted = |column: &Column| column.heading != "TITLE" || width >= WIDE;
        let layout = Layout::new(COLUMNS, width.saturating_sub(6), wanted);
        let shown = self.entries.iter().enumerate().skip(self.cursor.top).take(usize::from(height));
        for (line, (at, entry)) in shown.enumerate() {
            let y = columns(line);
            match entry {
                Entry::Head(group, many) => {
                    let x = painter.text(1, y, group.name(), Tone::Heading);
                    painter.text(x + 1, y, &many.to_string(), Tone::Dim);
                }
                Entry::Row(row) => {
                    let Some(found) = found.get(*row) else { continue };
                    painter.spans(3, y, &[mark(found)]);
                    layout.row(COLUMNS, painter, (5, y), |column| cell(column, found));
                }
            }
            if at == self.cursor.at {
                painter.part(0, y, width, 1).select(0);
            }
        }
    }

    /// Draws the whole problem under the cursor, and what `a` does.
    fn strip(&self, painter: &mut Painter<'_>, shared: &Shared) {
        let Some(found) = self.selected() else { return };
        painter.rule(0, found.severity_word());
        let room = usize::from(painter.width().saturating_sub(2)).max(1);
        let tilde = |path: &String| shared.folders.tilde(path);
        let place = match &found.session {
            Some(key) => format!("{}  {}", key.id.short(), found.title),
            None => found.path.as_ref().map(tilde).unwrap_or_default(),
        };
        let mut lines = wrap(&[StyledSpan::new(&place, Tone::Strong)], room);
        lines.truncate(1);
        lines.extend(wrap(&[StyledSpan::new(&found.what, Tone::Plain)], room).into_iter().take(2));
        lines.extend(wrap(&[StyledSpan::new(&found.does(), Tone::Name)], room));
        for (y, line) in lines.iter().take(usize::from(STRIP)).enumerate() {
            painter.line(1, columns(y) + 1, line);
        }
    }
}

fn mark(found: &Found) -> StyledSpan {
    match found.severity {
        Severity::Error => StyledSpan::new("✗", Tone::Error),
        Severity::Warning => StyledSpan::new("!", Tone::Warning),
        Severity::Note => StyledSpan::new("·", Tone::Dim),
    }
}

fn cell(column: usize, found: &Found) -> StyledSpan {
    match column {
        0 => StyledSpan::new(&found.place, Tone::Name),
        1 => StyledSpan::new(&found.short, Tone::Plain),
        _ => StyledSpan::new(&recount_display::sanitize::single_line(&found.title), Tone::Dim),
    }
}
