//! Tests the raw bytes of a file for what a matching message must contain, many times faster than parsing it.
//!
//! It may have false positives, never false negatives. A word is found by its rarest letter (`needle`, `sign`); around each
//! such letter the bytes are read as the tokenizer would read them (`spelled`), including escapes, accents, separators of
//! identifiers and borders between the parts of a message.

mod needle;
mod sign;
mod spelled;
#[cfg(test)]
mod tests;

use needle::Needle;
pub(super) use needle::frequency;
pub(super) use sign::Sign;

use super::{Check, QueryPlan};
use crate::query::{Matcher, Node, TextLeaf};
use crate::question::Forms;

/// More conditions hardly exclude any more files.
const MAX_CONDITIONS: usize = 8;

/// Fewer letters are in almost every file.
const SHORTEST_START: usize = 3;

/// Conditions on the bytes of a file: all of them must be met.
#[derive(Clone, Debug)]
pub struct Prefilter {
    conditions: Vec<Condition>,
}

/// Any of these words.
#[derive(Clone, Debug)]
struct Condition(Vec<Needle>);

impl QueryPlan {
    /// Returns the tests on the bytes of a file. `None` if any file may match.
    pub fn prefilter(&self) -> Option<Prefilter> {
        let mut conditions = conditions(&self.root);
        conditions.sort_by(|a, b| a.frequency().total_cmp(&b.frequency()));
        conditions.truncate(MAX_CONDITIONS);
        (!conditions.is_empty()).then_some(Prefilter { conditions })
    }
}

impl Prefilter {
    /// The overlap in bytes of two adjacent pieces of a file, so that matches on their border are found.
    pub const OVERLAP: usize = 4096;

    /// Returns the number of conditions; the first excludes most files.
    pub fn conditions(&self) -> usize {
        self.conditions.len()
    }

    /// Whether a piece of a file may meet a condition.
    pub fn is_met(&self, condition: usize, piece: &[u8]) -> bool {
        self.conditions.get(condition).is_none_or(|condition| condition.is_met(piece))
    }

    /// Whether these bytes may meet all conditions.
    pub fn may_hold(&self, bytes: &[u8]) -> bool {
        self.conditions.iter().all(|condition| condition.is_met(bytes))
    }
}

impl Condition {
    fn is_met(&self, piece: &[u8]) -> bool {
        self.0.iter().any(|needle| needle.is_in(piece))
    }

    /// Returns a rough estimate of how often it is met.
    fn frequency(&self) -> f32 {
        self.0.iter().map(Needle::frequency).sum()
    }
}

fn conditions(node: &Node<Check>) -> Vec<Condition> {
    match node {
        Node::All(children) => children.iter().flat_map(conditions).collect(),
        Node::Any(children) | Node::Most(children) => {
            let mut either = Vec::new();
            for child in children {
                let best = conditions(child)
                    .into_iter()
                    .min_by(|a, b| a.frequency().total_cmp(&b.frequency()));
                let Some(best) = best else { return Vec::new() };
                either.extend(best.0);
            }
            if either.is_empty() { Vec::new() } else { vec![Condition(either)] }
        }
        Node::Text(leaf) => words(leaf),
        Node::Not(_) | Node::Filter(_) => Vec::new(),
    }
}

/// Returns each word of a leaf as a condition. A whole identifier contains its parts as well.
fn words(leaf: &TextLeaf) -> Vec<Condition> {
    let needles: Vec<Needle> = match &leaf.matcher {
        Matcher::Words(words) => {
            words.parts.iter().filter_map(|part| Needle::new(&part.text)).collect()
        }
        Matcher::Pattern(pattern) => {
            pattern.needed().iter().filter_map(|need| Needle::new(&need.letters)).collect()
        }
        Matcher::Forms(forms) => return any_form(forms).into_iter().collect(),
        Matcher::Fuzzy { .. } => Vec::new(),
    };
    needles.into_iter().map(|needle| Condition(vec![needle])).collect()
}

/// Returns the letters that all forms of a word have in common; of forms that have hardly any, each form.
fn any_form(forms: &Forms) -> Option<Condition> {
    let start = forms.common_start();
    if start.chars().count() >= SHORTEST_START {
        return Some(Condition(vec![Needle::new(start)?]));
    }
    forms.all().map(Needle::new).collect::<Option<Vec<_>>>().map(Condition)
}
