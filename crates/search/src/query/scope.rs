//! `in:` and its scope: every word of its group without a nearer `in:`.

use super::{Filter, Node};
use crate::document::FieldSet;

/// The fields that a group searches.
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

    /// `-in:` excludes fields.
    pub(super) fn leave_out(&mut self, fields: FieldSet) {
        self.without = Some(self.without.unwrap_or(FieldSet::NONE).or(fields));
    }

    /// Returns the fields, if the group specifies them.
    pub(super) fn fields(self) -> Option<FieldSet> {
        match (self.named, self.without) {
            (None, None) => None,
            (named, without) => {
                Some(named.unwrap_or(FieldSet::TEXTS).and(without.unwrap_or(FieldSet::NONE).rest()))
            }
        }
    }
}

/// Sets the fields of every leaf below that has none yet; returns whether there was any text at all.
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
