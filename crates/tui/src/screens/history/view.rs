//! How changes, trash and vault look.

use ratatui::layout::Rect;
use recount_changes::{Change, ChangeState, Trashed, VaultedSession};
use recount_display::number::{bytes, count, plural};
use recount_display::sanitize::single_line;
use recount_display::span::StyledSpan;
use recount_display::theme::Tone;
use recount_display::wrap::wrap;
use recount_display::{when, words};

use super::{History, Section};
use crate::draw::{Painter, columns};
use crate::shared::Shared;
use crate::table::{Align, Column, Layout};

const fn column(heading: &'static str, width: u16, align: Align, rank: u8) -> Column {
    Column { heading, width, align, rank }
}

const CHANGES: &[Column] = &[
    column("WHEN", 10, Align::Left, 6),
    column("CHANGE", 9, Align::Left, 0),
    column("STATE", 14, Align::Left, 5),
    column("FILES", 5, Align::Right, 3),
    column("SIZE", 8, Align::Right, 2),
    column("RECEIPT", 22, Align::Left, 1),
    column("SESSIONS", 0, Align::Left, 0),
];
const TRASH: &[Column] = &[
    column("DELETED", 10, Align::Left, 0),
    column("ID", 8, Align::Left, 4),
    column("FILES", 5, Align::Right, 2),
    column("SIZE", 8, Align::Right, 3),
    column("PROJECT", 24, Align::Path, 1),
    column("TITLE", 0, Align::Left, 0),
];
const VAULT: &[Column] = &[
    column("KEPT", 10, Align::Left, 0),
    column("ID", 8, Align::Left, 4),
    column("STATE", 5, Align::Left, 5),
    column("FILES", 5, Align::Right, 2),
    column("SIZE", 8, Align::Right, 3),
    column("PROJECT", 24, Align::Path, 1),
    column("TITLE", 0, Align::Left, 0),
];

impl History {
    pub(super) fn draw_all(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        self.head(&mut painter.part(0, 0, width, 1));
        match &self.past {
            None => {
                painter.text(3, 2, "reading…", Tone::Dim);
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
            Some(Ok(_)) => {}
        }
        self.rows(&mut painter.part(0, 1, width, height.saturating_sub(1)), shared);
    }

    /// The line above the list: the sections.
    fn head(&self, painter: &mut Painter<'_>) {
        let mut x = 1;
        for section in Section::ALL {
            let is_own = section == self.section;
            let words = format!("{} {}", section.name(), self.many(section));
            let words = if is_own { format!("[{words}]") } else { format!(" {words} ") };
            x = painter.text(x, 0, &words, if is_own { Tone::Strong } else { Tone::Dim }) + 1;
        }
        let Some(past) = self.past() else { return };
        let mut right = match self.section {
            Section::Changes => {
                let many = past.changes.iter().filter(|change| change.undoable).count();
                format!("{} can be undone", plural(many as u64, "change"))
            }
            Section::Trash => bytes(past.trash.iter().map(|item| item.bytes).sum()),
            Section::Vault => {
                format!("{} on disk", bytes(past.vault.iter().map(|held| held.packed).sum()))
            }
        };
        if past.damaged > 0 {
            let journals = plural(past.damaged as u64, "journal");
            right = format!("{journals} cannot be read · {right}");
        }
        if usize::from(x) + right.len() + 2 < usize::from(painter.width()) {
            painter.text_right(0, &format!("{right} "), Tone::Dim);
        }
    }

    fn rows(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, many) = (painter.width(), self.many(self.section));
        let height = painter.height().saturating_sub(1);
        if many == 0 {
            self.nothing(painter);
            return;
        }
        let all = match self.section {
            Section::Changes => CHANGES,
            Section::Trash => TRASH,
            Section::Vault => VAULT,
        };
        let layout = Layout::new(all, width.saturating_sub(4), |_| true);
        layout.head(all, painter, 3, 0);
        let area = painter.area();
        self.list = Rect { y: area.y + 1, height, ..area };
        let cursor = self.cursor();
        cursor.fit(usize::from(height), many);
        let cursor = *cursor;
        let Some(past) = self.past() else { return };
        let last = many.min(cursor.top + usize::from(height));
        for (line, at) in (cursor.top..last).enumerate() {
            let y = columns(line) + 1;
            let heading = |column: usize| all.get(column).map_or("", |column| column.heading);
            layout.row(all, painter, (3, y), |column| {
                let name = heading(column);
                match self.section {
                    Section::Changes => past.changes.get(at).map(|one| change(name, one, shared)),
                    Section::Trash => past.trash.get(at).map(|one| trashed(name, one, shared)),
                    Section::Vault => past.vault.get(at).map(|one| vaulted(name, one, shared)),
                }
                .unwrap_or_else(|| StyledSpan::new("", Tone::Plain))
            });
            if at == cursor.at {
                painter.part(0, y, width, 1).select(0);
            }
        }
    }

    fn nothing(&self, painter: &mut Painter<'_>) {
        let (what, next) = match self.section {
            Section::Changes => (
                "no changes yet",
                "what is moved, deleted or renamed is listed here, and can be undone",
            ),
            Section::Trash => {
                ("the trash is empty", "deleted sessions stay here until it is emptied")
            }
            Section::Vault => {
                ("the vault is empty", "a copies all sessions, so that none can be lost")
            }
        };
        painter.text(3, 1, what, Tone::Strong);
        painter.text(3, 2, next, Tone::Dim);
    }
}

fn plain(text: &str) -> StyledSpan {
    StyledSpan::new(&single_line(text), Tone::Plain)
}

fn dim(text: &str) -> StyledSpan {
    StyledSpan::new(text, Tone::Dim)
}

fn change(name: &str, change: &Change, shared: &Shared) -> StyledSpan {
    let tone = match change.state {
        ChangeState::Done => Tone::Plain,
        ChangeState::Undone | ChangeState::PartlyUndone => Tone::Dim,
        ChangeState::TakenBack | ChangeState::CutShort => Tone::Warning,
    };
    match name {
        "WHEN" => dim(&when::age(change.time, shared.now)),
        "CHANGE" => StyledSpan::new(&change.command, Tone::Strong),
        "STATE" => match change.state {
            ChangeState::Done if !change.undoable => StyledSpan::new("done, for good", tone),
            state => StyledSpan::new(words::state(state), tone),
        },
        "FILES" => plain(&count(change.files as u64)),
        "SIZE" => dim(&bytes(change.bytes)),
        "RECEIPT" => StyledSpan::new(&change.receipt, Tone::Name),
        _ => plain(&words::subjects(&change.sessions)),
    }
}

fn trashed(name: &str, item: &Trashed, shared: &Shared) -> StyledSpan {
    match name {
        "DELETED" => dim(&when::age(item.time, shared.now)),
        "ID" => StyledSpan::new(&item.session.id.chars().take(8).collect::<String>(), Tone::Name),
        "FILES" => plain(&count(item.files.len() as u64)),
        "SIZE" => dim(&bytes(item.bytes)),
        "PROJECT" => {
            let path = item.session.project.as_deref();
            dim(&path.map(|path| shared.folders.tilde(path)).unwrap_or_default())
        }
        _ => plain(item.session.title.as_deref().unwrap_or("(no title)")),
    }
}

fn vaulted(name: &str, held: &VaultedSession, shared: &Shared) -> StyledSpan {
    match name {
        "KEPT" => dim(&when::age(held.kept, shared.now)),
        "ID" => StyledSpan::new(&held.id.chars().take(8).collect::<String>(), Tone::Name),
        "STATE" if held.gone => StyledSpan::new("gone", Tone::Warning),
        "STATE" => dim("there"),
        "FILES" => plain(&count(held.files)),
        "SIZE" => dim(&bytes(held.bytes)),
        "PROJECT" => {
            let path = held.project.as_deref();
            dim(&path.map(|path| shared.folders.tilde(path)).unwrap_or_default())
        }
        _ => plain(held.title.as_deref().unwrap_or("(no title)")),
    }
}
