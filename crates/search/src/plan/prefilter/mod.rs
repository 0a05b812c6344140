//! What a file cannot do without when one of its messages is to hold: a test of its bytes as they are on
//! disk, many times faster than reading them.
//!
//! It may say yes where no message holds, never no where one does. A word is looked for by its rarest letter
//! (`needle`, `sign`); around each such letter the bytes are read as the tokenizer would read them (`spelled`):
//! escapes, accents, joints of identifiers and borders between the parts of a message included.

mod needle;
mod sign;
mod spelled;
#[cfg(test)]
mod tests;

use needle::Needle;

use super::{Check, QueryPlan};
use crate::query::{Matcher, Node, TextLeaf};

/// More conditions hardly keep any more files away.
const MAX_CONDITIONS: usize = 8;

/// Conditions on the bytes of a file: all of them must be met.
#[derive(Clone, Debug)]
pub struct Prefilter {
    conditions: Vec<Condition>,
}

/// Any of these words.
#[derive(Clone, Debug)]
struct Condition(Vec<Needle>);

impl QueryPlan {
    /// Returns what can be tested on the bytes of a file. Nothing when any file may hold.
    pub fn prefilter(&self) -> Option<Prefilter> {
        let mut conditions = conditions(&self.root);
        conditions.sort_by(|a, b| a.frequency().total_cmp(&b.frequency()));
        conditions.truncate(MAX_CONDITIONS);
        (!conditions.is_empty()).then_some(Prefilter { conditions })
    }
}

impl Prefilter {
    /// How many bytes two neighbouring pieces of a file must share, so that what stands on their border is seen.
    pub const OVERLAP: usize = 4096;

    /// Returns how many conditions there are; the first keeps most files away.
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

    /// How often it is about to be met, roughly.
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

/// Each word of a leaf is a condition. An identifier written in one holds its parts as well.
fn words(leaf: &TextLeaf) -> Vec<Condition> {
    let needles: Vec<Needle> = match &leaf.matcher {
        Matcher::Words(words) => {
            words.parts.iter().filter_map(|part| Needle::new(&part.text)).collect()
        }
        Matcher::Pattern(pattern) => {
            pattern.needed().iter().filter_map(|need| Needle::new(&need.letters)).collect()
        }
        Matcher::Fuzzy { .. } => Vec::new(),
    };
    needles.into_iter().map(|needle| Condition(vec![needle])).collect()
}
