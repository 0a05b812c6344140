//! `in:` and what it reaches: every word of the group it is in that no nearer `in:` has taken.

use super::{Filter, Node};
use crate::document::FieldSet;

/// Which fields a group looks at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scope {
    named: Option<FieldSet>,
    without: Option<FieldSet>,
}

impl Scope {
    /// `in:` adds fields.
    pub(super) fn add(&mut self, fields: FieldSet) {
        self.named = Some(self.named.unwrap_or(FieldSet::NONE).or(fields));
    }

    /// `-in:` leaves fields out.
    pub(super) fn leave_out(&mut self, fields: FieldSet) {
        self.without = Some(self.without.unwrap_or(FieldSet::NONE).or(fields));
    }

    /// Returns the fields, when the group says which.
    pub(super) fn fields(self) -> Option<FieldSet> {
        match (self.named, self.without) {
            (None, None) => None,
            (named, without) => {
                Some(named.unwrap_or(FieldSet::TEXTS).and(without.unwrap_or(FieldSet::NONE).rest()))
            }
        }
    }
}

/// Gives fields to every leaf below that has none yet; returns whether there was any text at all.
pub(super) fn apply(node: &mut Node<Filter>, fields: FieldSet) -> bool {
    match node {
        Node::All(children) | Node::Any(children) | Node::Most(children) => {
            children.iter_mut().fold(false, |any, child| apply(child, fields) | any)
        }
        Node::Not(child) => apply(child, fields),
        Node::Text(leaf) => {
            if leaf.fields == FieldSet::NONE {
                leaf.fields = fields;
            }
            true
        }
        Node::Filter(_) => false,
    }
}
