//! The seven tabs.

mod history;
mod live;
pub(crate) mod problems;
mod projects;
mod search;
mod sessions;
mod stats;

pub(crate) use sessions::ShowSessions;

use crate::keys::Action;
use crate::screen::Screen;

/// A tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tab {
    /// The list of sessions.
    #[default]
    Sessions,
    /// Full-text search.
    Search,
    /// The live board.
    Live,
    /// Projects.
    Projects,
    /// Statistics.
    Stats,
    /// Guard and doctor.
    Problems,
    /// Receipts, trash, vault.
    History,
}

impl Tab {
    /// Every tab, from left to right, with the action that goes to it.
    pub(crate) const ALL: [(Self, &'static str, Action); 7] = [
        (Self::Sessions, "Sessions", Action::TabSessions),
        (Self::Search, "Search", Action::TabSearch),
        (Self::Live, "Live", Action::TabLive),
        (Self::Projects, "Projects", Action::TabProjects),
        (Self::Stats, "Stats", Action::TabStats),
        (Self::Problems, "Problems", Action::TabProblems),
        (Self::History, "History", Action::TabHistory),
    ];

    /// Returns the tab that an action goes to.
    pub(crate) fn of(action: Action) -> Option<Self> {
        Self::ALL.iter().find(|(_, _, one)| *one == action).map(|(tab, _, _)| *tab)
    }

    /// Returns the next or previous tab, around the ends.
    pub(crate) fn step(self, by: isize) -> Self {
        let at = Self::ALL.iter().position(|(tab, _, _)| *tab == self).unwrap_or_default();
        let many = Self::ALL.len();
        let next = (at + many).saturating_add_signed(by) % many;
        Self::ALL.get(next).map_or(self, |(tab, _, _)| *tab)
    }
}

/// The screens of all tabs.
#[derive(Debug)]
pub(crate) struct Tabs {
    sessions: sessions::Sessions,
    search: search::Search,
    live: live::Live,
    projects: projects::Projects,
    stats: stats::Stats,
    problems: problems::Problems,
    history: history::History,
}

/// Returns all tabs as they are at the start; Search with a query, if there is one.
pub(crate) fn tabs(query: Option<String>) -> Tabs {
    Tabs {
        sessions: sessions::Sessions::default(),
        search: search::Search::new(query),
        live: live::Live::default(),
        projects: projects::Projects::default(),
        stats: stats::Stats::default(),
        problems: problems::Problems::default(),
        history: history::History::default(),
    }
}

impl Tabs {
    pub(crate) fn get(&self, tab: Tab) -> &dyn Screen {
        match tab {
            Tab::Sessions => &self.sessions,
            Tab::Search => &self.search,
            Tab::Live => &self.live,
            Tab::Projects => &self.projects,
            Tab::Stats => &self.stats,
            Tab::Problems => &self.problems,
            Tab::History => &self.history,
        }
    }

    pub(crate) fn get_mut(&mut self, tab: Tab) -> &mut dyn Screen {
        match tab {
            Tab::Sessions => &mut self.sessions,
            Tab::Search => &mut self.search,
            Tab::Live => &mut self.live,
            Tab::Projects => &mut self.projects,
            Tab::Stats => &mut self.stats,
            Tab::Problems => &mut self.problems,
            Tab::History => &mut self.history,
        }
    }

    pub(crate) fn all(&mut self) -> [&mut dyn Screen; 7] {
        [
            &mut self.sessions,
            &mut self.search,
            &mut self.live,
            &mut self.projects,
            &mut self.stats,
            &mut self.problems,
            &mut self.history,
        ]
    }
}
