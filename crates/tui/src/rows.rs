//! All sessions of the newest snapshot, as lists show them.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use recount_display::project_names::ProjectNames;
use recount_engine::{ListScope, Visibility};
use recount_model::{SessionFacts, SessionKey, SessionKind};

/// All sessions, last used first.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The sessions.
    pub(crate) sessions: Vec<Arc<SessionFacts>>,
    /// The names of their projects.
    pub(crate) names: ProjectNames,
    /// The project of the current folder.
    pub(crate) scope: Option<ListScope>,
    /// For each session what a filter looks at, in lower case.
    haystacks: OnceLock<Vec<String>>,
    places: HashMap<SessionKey, usize>,
    /// Whether they are from memory, and the disk has not been looked at yet.
    pub(crate) is_remembered: bool,
    /// Whether sessions of several agents are among them.
    pub(crate) is_mixed: bool,
}

/// How rows are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    Used,
    Started,
    Cost,
    Tokens,
    Size,
    Prompts,
    Project,
}

impl Order {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Used => "newest",
            Self::Started => "last started",
            Self::Cost => "most expensive",
            Self::Tokens => "most tokens",
            Self::Size => "largest",
            Self::Prompts => "most prompts",
            Self::Project => "by project",
        }
    }
}

/// Which rows a list shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is switched by its own key")]
pub(crate) struct Shown {
    /// The key of the only project.
    pub(crate) project: Option<String>,
    /// Words that all must occur.
    pub(crate) words: Vec<String>,
    /// Only these sessions, if a query was asked.
    pub(crate) only: Option<Vec<SessionKey>>,
    pub(crate) subagents: bool,
    pub(crate) headless: bool,
    pub(crate) empty: bool,
    pub(crate) order: Order,
    pub(crate) reversed: bool,
}

/// The rows that a list shows, and how many it hides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// The places of the sessions in [`Rows`].
    pub(crate) at: Vec<usize>,
    /// The number of sessions in the same scope without words.
    pub(crate) of: usize,
    /// Hidden because another session started them.
    pub(crate) subagents: usize,
    /// Hidden because no human sat before them.
    pub(crate) headless: usize,
    /// Hidden because they have no messages.
    pub(crate) empty: usize,
}

impl Rows {
    pub(crate) fn new(
        sessions: Vec<Arc<SessionFacts>>,
        scope: Option<ListScope>,
        is_remembered: bool,
    ) -> Self {
        let names = ProjectNames::of(sessions.iter().map(|session| &*session.project));
        let places = sessions.iter().enumerate().map(|(at, session)| (session.key(), at)).collect();
        let first = sessions.first().map(|session| session.source);
        let is_mixed = sessions.iter().any(|session| Some(session.source) != first);
        let haystacks = OnceLock::new();
        Self { sessions, names, scope, haystacks, places, is_remembered, is_mixed }
    }

    /// Returns a session.
    pub(crate) fn get(&self, key: &SessionKey) -> Option<&Arc<SessionFacts>> {
        self.sessions.get(*self.places.get(key)?)
    }

    /// Returns the rows that a list shows.
    pub(crate) fn view(&self, shown: &Shown) -> View {
        let visibility = Visibility { subagents: shown.subagents, empty: shown.empty };
        let mut view = View::default();
        let only: Option<HashSet<&SessionKey>> =
            shown.only.as_ref().map(|keys| keys.iter().collect());
        for (at, session) in self.sessions.iter().enumerate() {
            let is_other = |key: &String| session.project.key() != *key;
            if session.is_background || shown.project.as_ref().is_some_and(is_other) {
                continue;
            }
            match visibility.hides(session) {
                Some(recount_engine::Hidden::Subagent) => {
                    view.subagents += 1;
                    continue;
                }
                Some(recount_engine::Hidden::Empty) => {
                    view.empty += 1;
                    continue;
                }
                None => {}
            }
            if !shown.headless && is_headless(session) {
                view.headless += 1;
                continue;
            }
            view.of += 1;
            let has = |word: &String| self.haystack(at).contains(word.as_str());
            let is_match = shown.words.iter().all(has)
                && only.as_ref().is_none_or(|only| only.contains(&session.key()));
            if is_match {
                view.at.push(at);
            }
        }
        self.sort(&mut view.at, shown);
        view
    }

    /// Returns what a filter looks at in a session; made when the first filter is typed.
    fn haystack(&self, at: usize) -> &str {
        let all = self.haystacks.get_or_init(|| {
            self.sessions.iter().map(|session| haystack(session, &self.names)).collect()
        });
        all.get(at).map_or("", String::as_str)
    }

    fn sort(&self, at: &mut [usize], shown: &Shown) {
        let get = |at: &usize| self.sessions.get(*at);
        let number = |at: &usize| {
            let Some(session) = get(at) else { return 0 };
            match shown.order {
                Order::Used | Order::Project => {
                    session.updated.map_or(0, jiff::Timestamp::as_millisecond)
                }
                Order::Started => session.started.map_or(0, jiff::Timestamp::as_millisecond),
                Order::Cost => millionths(session.cost_usd),
                Order::Tokens => signed(session.tokens.total),
                Order::Size => signed(session.bytes()),
                Order::Prompts => signed(session.counts.prompts),
            }
        };
        match shown.order {
            // They come so.
            Order::Used => {}
            Order::Project => at.sort_by_cached_key(|at| {
                let name = get(at).map_or("", |session| self.names.name(&session.project));
                (name.to_lowercase(), std::cmp::Reverse(number(at)))
            }),
            _ => at.sort_by_cached_key(|at| std::cmp::Reverse(number(at))),
        }
        if shown.reversed {
            at.reverse();
        }
    }
}

/// Whether a program ran the session, with no human before it.
pub(crate) fn is_headless(session: &SessionFacts) -> bool {
    use recount_model::Entrypoint;
    session.kind == SessionKind::Headless
        || matches!(session.entrypoint, Some(Entrypoint::Headless | Entrypoint::Sdk))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_possible_truncation, reason = "no session costs a trillion dollars")]
fn millionths(dollars: Option<f64>) -> i64 {
    dollars.map_or(-1, |dollars| (dollars * 1e6) as i64)
}

fn haystack(session: &SessionFacts, names: &ProjectNames) -> String {
    let mut text = String::new();
    let mut add = |part: &str| {
        text.push_str(part);
        text.push('\n');
    };
    add(session.id.as_str());
    add(session.source.as_str());
    add(names.name(&session.project));
    add(session.title.as_deref().unwrap_or_default());
    add(session.first_prompt.as_deref().unwrap_or_default());
    add(session.last_prompt.as_deref().unwrap_or_default());
    add(session.branch.as_deref().unwrap_or_default());
    session.models.iter().for_each(|model| add(model));
    if let Some(labels) = &session.labels {
        labels.tags.iter().for_each(|tag| add(&format!("#{tag}")));
    }
    text.to_lowercase()
}
