//! The query language: words, phrases, operators, fields; text in, a tree out.

mod fields;
mod group;
mod mistake;
mod needed;
mod parse;
mod pattern;
mod scope;
#[cfg(test)]
mod tests;
mod when;
mod words;

pub use mistake::QueryError;
pub(crate) use pattern::Pattern;
pub(crate) use words::{Part, Words};

use jiff::Zoned;
use recount_model::{Fate, MessageKind};
use when::When;

use crate::QueryPlan;
use crate::document::FieldSet;
use crate::question::Forms;

/// A parsed query, not yet resolved to a time or to sessions.
///
/// ```
/// use recount_search::SearchQuery;
///
/// let query = SearchQuery::parse("legacy_record OR \"tax table\" -is:undone")?;
/// let mistake = SearchQuery::parse("colour:red").unwrap_err();
/// assert_eq!(mistake.at, 0..7);
/// # Ok::<(), recount_search::QueryError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SearchQuery {
    root: Node<Filter>,
    /// Whether it has quotes, `AND`, `OR`, `+` or a regex: then every word counts as it is written.
    is_strict: bool,
}

/// Conditions that only the caller can resolve to sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionLeaf {
    /// `project:` and its value.
    Project(String),
    /// `source:` and its value.
    Source(String),
    /// `is:live`
    Live,
}

impl SearchQuery {
    /// Parses a query, or returns where it is invalid. No text causes a panic.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        parse::parse(text).map(|(root, is_strict)| Self { root, is_strict })
    }

    /// Whether the caller must resolve sessions.
    pub fn names_sessions(&self) -> bool {
        self.root.any_filter(&|filter| matches!(filter, Filter::Session(_)))
    }

    /// Whether dates in it depend on the time and the time zone.
    pub fn names_times(&self) -> bool {
        self.root.any_filter(&|filter| matches!(filter, Filter::Before(_) | Filter::After(_)))
    }

    /// Resolves the query with a time and a time zone, for dates, and with the sessions that `resolve` returns.
    pub fn plan(
        &self,
        now: &Zoned,
        resolve: &mut dyn FnMut(&SessionLeaf) -> Vec<u64>,
    ) -> QueryPlan {
        QueryPlan::of(&self.root, self.is_strict, now, resolve)
    }
}

/// A tree of conditions; `F` is the type of filters at this stage.
#[derive(Clone, Debug)]
pub(crate) enum Node<F> {
    /// All of them hold.
    All(Vec<Self>),
    /// At least one holds.
    Any(Vec<Self>),
    /// At least one holds; the more, the better the message.
    Most(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// The text matches.
    Text(TextLeaf),
    /// The message passes the filter.
    Filter(F),
}

impl<F: Clone> Node<F> {
    /// Copies the tree with other text conditions.
    pub(crate) fn with_leaves(&self, change: &mut dyn FnMut(&TextLeaf) -> TextLeaf) -> Self {
        let mut each =
            |children: &[Self]| children.iter().map(|child| child.with_leaves(change)).collect();
        match self {
            Self::All(children) => Self::All(each(children)),
            Self::Any(children) => Self::Any(each(children)),
            Self::Most(children) => Self::Most(each(children)),
            Self::Not(child) => Self::Not(Box::new(child.with_leaves(change))),
            Self::Text(leaf) => Self::Text(change(leaf)),
            Self::Filter(filter) => Self::Filter(filter.clone()),
        }
    }
}

impl<F> Node<F> {
    fn any_filter(&self, is_such: &dyn Fn(&F) -> bool) -> bool {
        match self {
            Self::All(children) | Self::Any(children) | Self::Most(children) => {
                children.iter().any(|child| child.any_filter(is_such))
            }
            Self::Not(child) => child.any_filter(is_such),
            Self::Text(_) => false,
            Self::Filter(filter) => is_such(filter),
        }
    }
}

/// A text condition.
#[derive(Clone, Debug)]
pub(crate) struct TextLeaf {
    /// Its number in the plan.
    pub(crate) number: usize,
    /// What to look for.
    pub(crate) matcher: Matcher,
    /// Where to look.
    pub(crate) fields: FieldSet,
    /// How it was typed.
    pub(crate) typed: Typed,
}

/// How a word was typed: what a relaxed search may do with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// As a plain word, which may be left out or inflected.
    Plain(Box<str>),
    /// With `*` or `~`; may be left out.
    Like,
    /// In quotes, with `+`, as a regex or as the value of a field; never changed.
    Exact,
}

/// What to look for in a text.
#[derive(Clone, Debug)]
pub(crate) enum Matcher {
    /// Adjacent words.
    Words(Words),
    /// A similar word, with up to this number of typos.
    Fuzzy {
        /// The word, folded.
        word: String,
        /// The maximum number of wrong, missing, extra or swapped letters.
        distance: u8,
    },
    /// A regular expression.
    Pattern(Pattern),
    /// Any form of a word; only in relaxed searches.
    Forms(Forms),
}

/// A condition on a message, as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    Kind(Vec<MessageKind>),
    Fate(Vec<Fate>),
    Error,
    Before(When),
    After(When),
    Session(SessionLeaf),
}
