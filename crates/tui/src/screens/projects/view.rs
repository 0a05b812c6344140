//! How projects look.

use ratatui::layout::Rect;
use recount_display::evidence;
use recount_display::form::Form;
use recount_display::number::{bytes, count, plural, price};
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;
use recount_display::when;
use recount_display::width::width;
use recount_display::wrap::wrap;
use recount_engine::ProjectRow;
use recount_engine::stats::Money;
use recount_model::ProjectState;

use super::{Listed, Projects, state_words};
use crate::draw::{Painter, columns};
use crate::shared::Shared;
use crate::table::{Align, Column, Layout};

const fn column(heading: &'static str, width: u16, align: Align, rank: u8) -> Column {
    Column { heading, width, align, rank }
}

/// The columns; project and state stay longest.
const COLUMNS: &[Column] = &[
    column("PROJECT", 16, Align::Left, 0),
    column("STATE", 8, Align::Left, 9),
    column("SESSIONS", 8, Align::Right, 7),
    column("PROMPTS", 7, Align::Right, 1),
    column("TOKENS", 6, Align::Right, 4),
    column("COST", 8, Align::Right, 5),
    column("SIZE", 8, Align::Right, 3),
    column("USED", 10, Align::Left, 6),
    column("AGENTS", 21, Align::Left, 2),
    column("PATH", 0, Align::Path, 8),
];
/// Lines about the selected row.
const STRIP: u16 = 3;

impl Projects {
    pub(super) fn draw_all(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        self.head(&mut painter.part(0, 0, width, 1));
        let body = height.saturating_sub(1);
        match &self.all {
            None => {
                painter.text(3, 2, "reading projects…", Tone::Dim);
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
            Some(Ok(all)) if all.is_empty() => {
                painter.text(3, 2, "no projects found", Tone::Strong);
                painter.text(3, 3, "1 goes to Sessions, which tells where it looked", Tone::Dim);
                return;
            }
            Some(Ok(_)) => {}
        }
        let strip = if body >= 12 { STRIP + 1 } else { 0 };
        let list = body.saturating_sub(strip);
        self.rows(&mut painter.part(0, 1, width, list), shared);
        if strip > 0 {
            self.strip(&mut painter.part(0, 1 + list, width, strip), shared);
        }
    }

    /// The line above the list: order, filter, and how many folders are there, missing or not known.
    fn head(&self, painter: &mut Painter<'_>) {
        let x = painter.text(1, 0, "Projects", Tone::Strong);
        let order = self.order.name();
        let x = painter.text(
            x + 2,
            0,
            if order == "by project" { "by name" } else { order },
            Tone::Dim,
        );
        let all = self.all();
        let of = |wanted: ProjectState| all.iter().filter(|one| one.row.state == wanted).count();
        let mut counts = vec![match self.shown.len() {
            shown if shown == all.len() => plural(shown as u64, "project"),
            shown => format!("{shown} of {}", all.len()),
        }];
        for state in [
            ProjectState::Present,
            ProjectState::Missing,
            ProjectState::Unknown,
            ProjectState::Scanning,
        ] {
            if of(state) > 0 {
                counts.push(format!("{} {state}", of(state)));
            }
        }
        if all.is_empty() {
            counts.clear();
        }
        let right = format!("{} ", counts.join(" · "));
        let end = if width(&right) + usize::from(x) + 12 <= usize::from(painter.width()) {
            painter.text_right(0, &right, Tone::Dim)
        } else {
            painter.width()
        };
        let mut field = painter.part(x + 2, 0, end.saturating_sub(x + 4), 1);
        let x = field.text(0, 0, "/ ", if self.is_typing { Tone::Strong } else { Tone::Dim });
        if self.field.is_empty() && !self.is_typing {
            field.text(x, 0, "filter", Tone::Dim);
        }
        self.field.draw(&mut field, x, 0, self.is_typing);
    }

    fn rows(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let width = painter.width();
        let all = self.all.as_ref().and_then(|all| all.as_ref().ok());
        let all = all.map(Vec::as_slice).unwrap_or_default();
        let is_costly = all.iter().any(|one| one.row.cost_usd.is_some());
        let wanted = |column: &Column| column.heading != "COST" || is_costly;
        let layout = Layout::new(COLUMNS, width.saturating_sub(4), wanted);
        layout.head(COLUMNS, painter, 3, 0);
        let height = painter.height().saturating_sub(1);
        self.cursor.fit(usize::from(height), self.shown.len());
        let area = painter.area();
        self.list = Rect { y: area.y + 1, height, ..area };
        let shown = self.shown.iter().enumerate().skip(self.cursor.top).take(usize::from(height));
        for (line, (at, row)) in shown.enumerate() {
            let Some(project) = all.get(*row) else { continue };
            let y = columns(line) + 1;
            painter.spans(1, y, &[mark(project.row.state)]);
            layout.row(COLUMNS, painter, (3, y), |column| cell(column, project, shared));
            if at == self.cursor.at {
                painter.part(0, y, width, 1).select(0);
            }
        }
        if self.shown.is_empty() {
            let words = format!("no project matches '{}'; esc clears it", self.field.text().trim());
            painter.text(3, 2, &words, Tone::Dim);
        }
    }

    /// Draws what is known about the folder of the project under the cursor.
    fn strip(&self, painter: &mut Painter<'_>, shared: &Shared) {
        let Some(Listed { row, .. }) = self.project() else { return };
        painter.rule(0, &row.name);
        let mut lines = vec![Line::new([StyledSpan::new(state_words(row.state), Tone::Plain)])];
        match row.state {
            ProjectState::Present => {
                let path = shared.folders.tilde(&path_of(row));
                lines.push(Line::new([StyledSpan::new(&path, Tone::Strong)]));
                let words = "↵ shows its sessions · i the evidence · m its new folder if it moved";
                lines.push(Line::new([StyledSpan::new(words, Tone::Dim)]));
            }
            _ if row.moved_to.is_some() => {
                lines.extend(evidence::new_place(row, false, &shared.folders).into_iter().take(1));
                lines.push(Line::new([StyledSpan::new("a plans to relocate it", Tone::Name)]));
            }
            ProjectState::Missing => {
                lines.push(Line::new([StyledSpan::new("nothing like it was found", Tone::Dim)]));
                let words = "a asks for the new folder; `recount projects --scan` searches for it";
                lines.push(Line::new([StyledSpan::new(words, Tone::Name)]));
            }
            ProjectState::Unknown | ProjectState::Scanning => {
                let words = "i shows the evidence; `recount projects --scan DIR` searches a folder";
                lines.push(Line::new([StyledSpan::new(words, Tone::Name)]));
            }
        }
        for (y, line) in lines.iter().take(usize::from(STRIP)).enumerate() {
            painter.line(1, columns(y) + 1, line);
        }
    }
}

/// Marks what needs attention: known and gone, or not known.
fn mark(state: ProjectState) -> StyledSpan {
    match state {
        ProjectState::Present => StyledSpan::new(" ", Tone::Plain),
        ProjectState::Missing => StyledSpan::new("✗", Tone::Error),
        ProjectState::Unknown | ProjectState::Scanning => StyledSpan::new("?", Tone::Warning),
    }
}

/// Returns the folder, or the hash that stands for it.
fn path_of(row: &ProjectRow) -> String {
    match (&row.path, &row.hash) {
        (Some(path), _) => path.to_string(),
        (None, Some(hash)) => format!("? {hash}"),
        (None, None) => "?".to_owned(),
    }
}

fn cell(at: usize, listed: &Listed, shared: &Shared) -> StyledSpan {
    let Some(column) = COLUMNS.get(at) else { return StyledSpan::new("", Tone::Plain) };
    let row = &listed.row;
    let dim = |text: &str| StyledSpan::new(text, Tone::Dim);
    let plain = |text: &str| StyledSpan::new(text, Tone::Plain);
    match column.heading {
        "PROJECT" => StyledSpan::new(&row.name, Tone::Strong),
        "STATE" => match row.state {
            ProjectState::Present => dim("present"),
            state => StyledSpan::new(&state.to_string(), Tone::Warning),
        },
        "SESSIONS" => plain(&count(row.sessions)),
        "PROMPTS" => plain(&count(row.prompts)),
        "TOKENS" => plain(&Form::Short.tokens(row.known_tokens())),
        "COST" => plain(&price(row.cost_usd.map(Money::dollars), row.cost_is_lower_bound)),
        "SIZE" => dim(&bytes(row.bytes)),
        "USED" => dim(&row.last_used.map(|then| when::age(then, shared.now)).unwrap_or_default()),
        "AGENTS" => {
            let agents: Vec<&str> = row.sources.iter().map(|source| source.as_str()).collect();
            dim(&agents.join(", "))
        }
        _ => {
            let mut folders: Vec<&str> =
                row.parts.iter().filter_map(|part| Some(part.path.as_ref()?.as_str())).collect();
            folders.sort_unstable();
            folders.dedup();
            let path = shared.folders.tilde(&path_of(row));
            match folders.len() {
                0 | 1 => plain(&path),
                many => plain(&format!("{path} and {} more", many - 1)),
            }
        }
    }
}
