//! Checks a plan on a message itself: exact, whatever the index knows.

use super::occurrence::{Extent, OccurrenceFinder};
use super::{Check, QueryPlan};
use crate::document::{Document, Field};
use crate::query::{Node, TextLeaf};

impl QueryPlan {
    /// Whether a message matches. For hits that must be checked, and for a scan without an index.
    pub fn holds(&self, document: &Document<'_>) -> bool {
        self.measure(document).is_some()
    }

    /// Returns how many of the optional words a message has, or `None` if it does not match.
    pub fn measure(&self, document: &Document<'_>) -> Option<usize> {
        if !may_hold(&self.root, document) {
            return None;
        }
        let mut truths = vec![false; self.leaves];
        let mut finder = OccurrenceFinder::default();
        let leaves = self.text_leaves();
        for field in Field::ALL {
            for value in document.values(field) {
                let open: Vec<&TextLeaf> = leaves
                    .iter()
                    .map(|(leaf, _)| *leaf)
                    .filter(|leaf| leaf.fields.contains(field))
                    .filter(|leaf| !truths.get(leaf.number).copied().unwrap_or(true))
                    .collect();
                if open.is_empty() {
                    break;
                }
                for spot in finder.spots(value, &open, Extent::Once) {
                    if let Some(truth) = truths.get_mut(spot.leaf) {
                        *truth = true;
                    }
                }
            }
        }
        is_true(&self.root, document, &truths).then(|| words(&self.root, document, &truths))
    }
}

/// Counts the optional words that a message has.
fn words(root: &Node<Check>, document: &Document<'_>, truths: &[bool]) -> usize {
    match root {
        Node::All(children) => children.iter().map(|child| words(child, document, truths)).sum(),
        Node::Most(children) => {
            children.iter().filter(|child| is_true(child, document, truths)).count()
        }
        Node::Any(_) | Node::Not(_) | Node::Text(_) | Node::Filter(_) => 0,
    }
}

/// Whether a message passes the filters alone: they are cheap, texts are not.
fn may_hold(root: &Node<Check>, document: &Document<'_>) -> bool {
    let passes = |node: &Node<Check>| match node {
        Node::Filter(check) => check.passes(document),
        _ => true,
    };
    match root {
        Node::All(children) => children.iter().all(passes),
        _ => passes(root),
    }
}

fn is_true(node: &Node<Check>, document: &Document<'_>, truths: &[bool]) -> bool {
    let is_child_true = |child: &Node<Check>| is_true(child, document, truths);
    match node {
        Node::All(children) => children.iter().all(is_child_true),
        Node::Any(children) | Node::Most(children) => children.iter().any(is_child_true),
        Node::Not(child) => !is_child_true(child),
        Node::Text(leaf) => truths.get(leaf.number).copied().unwrap_or(false),
        Node::Filter(check) => check.passes(document),
    }
}

impl Check {
    fn passes(&self, document: &Document<'_>) -> bool {
        match self {
            Self::Kind(kinds) => kinds.contains(&document.kind),
            Self::Fate(fates) => fates.contains(&document.fate),
            Self::Error => document.is_error,
            Self::Before(time) => document.time.is_some_and(|at| at < *time),
            Self::After(time) => document.time.is_some_and(|at| at >= *time),
            Self::Sessions(sessions) => sessions.binary_search(&document.session).is_ok(),
        }
    }
}
