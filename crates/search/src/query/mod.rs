//! What may be asked: words, phrases, operators, fields; text in, a tree out.

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

/// A question, understood but not yet tied to a moment or to sessions.
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
}

/// What only the caller can answer: the sessions it means.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionLeaf {
    /// `project:` and what was typed behind it.
    Project(String),
    /// `source:` and what was typed behind it.
    Source(String),
    /// `is:live`
    Live,
}

impl SearchQuery {
    /// Understands a query, or says where it went wrong. No text makes it panic.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        parse::parse(text).map(|root| Self { root })
    }

    /// Whether only the caller can tell which sessions it means.
    pub fn names_sessions(&self) -> bool {
        self.root.any_filter(&|filter| matches!(filter, Filter::Session(_)))
    }

    /// Ties the query to a moment and a time zone, for dates, and to the sessions that `resolve` tells.
    pub fn plan(
        &self,
        now: &Zoned,
        resolve: &mut dyn FnMut(&SessionLeaf) -> Vec<u64>,
    ) -> QueryPlan {
        QueryPlan::of(&self.root, now, resolve)
    }
}

/// A tree of conditions; `F` is what a filter looks like at this stage.
#[derive(Clone, Debug)]
pub(crate) enum Node<F> {
    /// All of them hold.
    All(Vec<Self>),
    /// At least one holds.
    Any(Vec<Self>),
    /// At least one holds, and a message is the better the more do.
    Most(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// The text says so.
    Text(TextLeaf),
    /// The message is such a one.
    Filter(F),
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

/// Something to look for in texts.
#[derive(Clone, Debug)]
pub(crate) struct TextLeaf {
    /// Which leaf of the plan it is.
    pub(crate) number: usize,
    /// What to look for.
    pub(crate) matcher: Matcher,
    /// Where to look.
    pub(crate) fields: FieldSet,
}

/// What to look for in a text.
#[derive(Clone, Debug)]
pub(crate) enum Matcher {
    /// Words in a row.
    Words(Words),
    /// A word like this one, with up to this number of typos.
    Fuzzy {
        /// The word, folded.
        word: String,
        /// How many letters may be wrong, missing, too many or swapped.
        distance: u8,
    },
    /// A regular expression.
    Pattern(Pattern),
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
