//! A group in brackets: terms, the operators between them, and the searched fields.

use std::ops::Range;

use super::scope::{self, Scope};
use super::{Filter, Node, QueryError};
use crate::document::FieldSet;

/// One term of a group.
pub(super) enum Item {
    Node(Node<Filter>),
    In(FieldSet),
    NotIn(FieldSet),
    /// Symbols: not part of any word, so not a condition.
    Nothing,
}

/// A group while it is parsed.
#[derive(Default)]
pub(super) struct Group {
    /// The alternatives of `OR`; the last one is being parsed.
    alternatives: Vec<Node<Filter>>,
    current: Vec<Node<Filter>>,
    scope: Scope,
    scope_at: Option<Range<usize>>,
    /// The operator that still needs an operand after it.
    operator: Option<Range<usize>>,
    /// Whether there is an operand before the next operator.
    has_operand: bool,
}

impl Group {
    /// Adds `AND` or `OR`.
    pub(super) fn operate(&mut self, operator: &str, at: Range<usize>) -> Result<(), QueryError> {
        if let Some(before) = self.operator.take() {
            return Err(missing_after(before));
        }
        if !self.has_operand {
            let what = format!("{operator} needs a word before it");
            return Err(QueryError::new(at, what, "cart OR basket"));
        }
        if operator == "OR" {
            self.close_alternative();
        }
        self.operator = Some(at);
        self.has_operand = false;
        Ok(())
    }

    /// Adds a term.
    pub(super) fn take(&mut self, item: Item, at: Range<usize>) {
        match item {
            Item::Node(node) => self.current.push(node),
            Item::In(fields) => {
                self.scope.add(fields);
                self.scope_at = Some(at);
                return;
            }
            Item::NotIn(fields) => {
                self.scope.leave_out(fields);
                self.scope_at = Some(at);
                return;
            }
            Item::Nothing => {}
        }
        self.operator = None;
        self.has_operand = true;
    }

    fn close_alternative(&mut self) {
        self.alternatives.extend(joined(std::mem::take(&mut self.current), Node::All));
    }

    /// Ends the group; `None` if it has no condition.
    pub(super) fn finish(mut self) -> Result<Option<Node<Filter>>, QueryError> {
        if let Some(operator) = self.operator {
            return Err(missing_after(operator));
        }
        self.close_alternative();
        let mut node = joined(self.alternatives, Node::Any);
        let (Some(fields), Some(at)) = (self.scope.fields(), self.scope_at) else {
            return Ok(node);
        };
        let has_text = node.as_mut().is_some_and(|node| scope::apply(node, fields));
        if fields == FieldSet::NONE {
            Err(QueryError::new(at, "no field is left to look at", "in:prompt,answer retry"))
        } else if has_text {
            Ok(node)
        } else {
            let what = "`in:` says where to look; words to look for are missing";
            Err(QueryError::new(at, what, "in:prompt,answer retry"))
        }
    }
}

fn missing_after(operator: Range<usize>) -> QueryError {
    let name = if operator.len() == 2 { "OR" } else { "AND" };
    QueryError::new(operator, format!("{name} needs a word after it"), "cart OR basket")
}

/// Returns one node for several, one or no nodes.
fn joined(
    mut nodes: Vec<Node<Filter>>,
    join: fn(Vec<Node<Filter>>) -> Node<Filter>,
) -> Option<Node<Filter>> {
    if nodes.len() < 2 { nodes.pop() } else { Some(join(nodes)) }
}
