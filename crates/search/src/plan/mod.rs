//! A query resolved to sessions and times: on the index (`compile`), on texts (`occurrence`, `holds`), on the bytes of files
//! (`prefilter`), and its snippet (`snippet`).

mod adjacency;
mod closeness;
mod compile;
mod forward_only;
mod holds;
mod occurrence;
mod prefilter;
mod relax;
mod rows;
mod snippet;
#[cfg(test)]
mod tests;
mod words_containing;

pub(crate) use compile::{Bound, compiled_conditions, compiled_word};
pub use prefilter::Prefilter;
pub use relax::Relaxation;
pub(crate) use relax::RelaxedParts;
pub use rows::Rows;
pub use snippet::Snippet;

use jiff::Zoned;
use recount_model::{Fate, MessageKind};

use crate::SessionLeaf;
use crate::query::{Filter, Matcher, Node, TextLeaf};

/// A query that can be run: by a [`Searcher`](crate::Searcher), or message by message.
#[derive(Clone, Debug)]
pub struct QueryPlan {
    root: Node<Check>,
    leaves: usize,
    /// Whether every word counts as it is written.
    is_strict: bool,
    /// What it looks for instead of the words of the query, if it is relaxed.
    relaxation: Option<Relaxation>,
}

/// A resolved condition on a message.
#[derive(Clone, Debug)]
pub(crate) enum Check {
    Kind(Vec<MessageKind>),
    Fate(Vec<Fate>),
    Error,
    /// Earlier than this, in milliseconds.
    Before(i64),
    /// At this time or later.
    After(i64),
    /// In one of these sessions, sorted.
    Sessions(Vec<u64>),
}

impl QueryPlan {
    pub(crate) fn of(
        root: &Node<Filter>,
        is_strict: bool,
        now: &Zoned,
        resolve: &mut dyn FnMut(&SessionLeaf) -> Vec<u64>,
    ) -> Self {
        let mut leaves = 0;
        let root = resolved(root, &mut leaves, &mut |filter| match filter {
            Filter::Kind(kinds) => Check::Kind(kinds.clone()),
            Filter::Fate(fates) => Check::Fate(fates.clone()),
            Filter::Error => Check::Error,
            Filter::Before(when) => Check::Before(when.resolve(now)),
            Filter::After(when) => Check::After(when.resolve(now)),
            Filter::Session(leaf) => {
                let mut sessions = resolve(leaf);
                sessions.sort_unstable();
                sessions.dedup();
                Check::Sessions(sessions)
            }
        });
        Self { root, leaves, is_strict, relaxation: None }
    }

    /// Whether the index alone is sufficient: no phrase in fields without positions, no regex.
    pub fn is_exact(&self) -> bool {
        self.text_leaves().iter().all(|(leaf, _)| leaf.is_exact())
    }

    /// Returns every leaf on text, and whether it is positive.
    pub(crate) fn text_leaves(&self) -> Vec<(&TextLeaf, bool)> {
        let mut found = Vec::with_capacity(self.leaves);
        collect(&self.root, true, &mut found);
        found
    }
}

impl TextLeaf {
    fn is_exact(&self) -> bool {
        match &self.matcher {
            Matcher::Words(words) => {
                words.parts.len() == 1
                    || !words.is_open && self.fields.iter().all(crate::Field::has_positions)
            }
            Matcher::Fuzzy { .. } | Matcher::Forms(_) => true,
            Matcher::Pattern(_) => false,
        }
    }
}

/// Copies the tree, with filters replaced and text leaves numbered.
fn resolved(
    node: &Node<Filter>,
    leaves: &mut usize,
    check: &mut dyn FnMut(&Filter) -> Check,
) -> Node<Check> {
    let mut each = |children: &[Node<Filter>]| {
        children.iter().map(|child| resolved(child, leaves, check)).collect()
    };
    match node {
        Node::All(children) => Node::All(each(children)),
        Node::Any(children) => Node::Any(each(children)),
        Node::Most(children) => Node::Most(each(children)),
        Node::Not(child) => Node::Not(Box::new(resolved(child, leaves, check))),
        Node::Text(leaf) => {
            let number = *leaves;
            *leaves += 1;
            Node::Text(TextLeaf { number, ..leaf.clone() })
        }
        Node::Filter(filter) => Node::Filter(check(filter)),
    }
}

fn collect<'p>(node: &'p Node<Check>, speaks_for: bool, found: &mut Vec<(&'p TextLeaf, bool)>) {
    match node {
        Node::All(children) | Node::Any(children) | Node::Most(children) => {
            for child in children {
                collect(child, speaks_for, found);
            }
        }
        Node::Not(child) => collect(child, !speaks_for, found),
        Node::Text(leaf) => found.push((leaf, speaks_for)),
        Node::Filter(_) => {}
    }
}
