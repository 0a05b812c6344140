//! The rows of the board in their sections.

use std::path::Path;

use recount_engine::live::LiveRow;
use recount_model::LiveState;

use crate::shared::Shared;

/// A section. Empty ones keep their line, so that nothing jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    NeedsYou,
    Working,
    Idle,
    Ended,
}

impl Section {
    pub(super) const ALL: [Self; 4] = [Self::NeedsYou, Self::Working, Self::Idle, Self::Ended];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::NeedsYou => "NEEDS YOU",
            Self::Working => "WORKING",
            Self::Idle => "IDLE",
            Self::Ended => "ENDED, LAST 10 MIN",
        }
    }

    /// Returns the section of a row.
    pub(super) fn of(row: &LiveRow, shared: &Shared) -> Self {
        if row.has_ended() {
            return Self::Ended;
        }
        match row.state {
            _ if shared.needs_you(row) => Self::NeedsYou,
            LiveState::Working | LiveState::Tool => Self::Working,
            // What was acknowledged is as quiet as what is idle.
            _ => Self::Idle,
        }
    }
}

/// Which rows are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) needs_me: bool,
    pub(super) no_headless: bool,
    /// Only what runs in the current folder.
    pub(super) here: bool,
}

impl Filter {
    pub(super) fn is_narrowed(self) -> bool {
        self.needs_me || self.no_headless || self.here
    }

    fn shows(self, row: &LiveRow, shared: &Shared) -> bool {
        let is_here = || {
            let folder = row.session.folder.as_deref().map(Path::new);
            folder
                .zip(shared.here.as_deref())
                .is_some_and(|(folder, here)| folder.starts_with(here) || here.starts_with(folder))
        };
        (!self.needs_me || shared.needs_you(row))
            && (!self.no_headless || !row.session.headless)
            && (!self.here || is_here())
    }
}

/// A line of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The heading of a section, with the number of its rows.
    Heading(Section, usize),
    /// A row, by its number.
    Row(usize),
    /// A sub-agent, by the number of its row and its own.
    Subagent(usize, usize),
}

/// The lines of the board.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    pub(super) lines: Vec<Line>,
    /// The number of rows that are not shown.
    pub(super) hidden: usize,
}

impl Board {
    pub(super) fn new(shared: &Shared, filter: Filter, has_subagents: bool) -> Self {
        let mut lines = Vec::new();
        let mut shown = 0;
        for section in Section::ALL {
            let is_in = |(_, row): &(usize, &LiveRow)| {
                Section::of(row, shared) == section && filter.shows(row, shared)
            };
            let rows: Vec<(usize, &LiveRow)> =
                shared.live.iter().enumerate().filter(is_in).collect();
            shown += rows.len();
            lines.push(Line::Heading(section, rows.len()));
            for (at, row) in rows {
                lines.push(Line::Row(at));
                let working = row.session.subagents.iter().enumerate();
                let working = working.filter(|(_, one)| one.is_working && has_subagents);
                lines.extend(working.map(|(number, _)| Line::Subagent(at, number)));
            }
        }
        Self { lines, hidden: shared.live.len() - shown }
    }
}
