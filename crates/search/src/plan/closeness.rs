//! How close to each other the words of a relaxed plan are in a message.

use super::QueryPlan;
use super::occurrence::{Extent, Occurrence, OccurrenceFinder};
use crate::document::{Document, FieldSet};
use crate::query::TextLeaf;

/// The length of a passage in bytes: two or three sentences.
const PASSAGE: usize = 320;

impl QueryPlan {
    /// Returns the largest share of the words, by how much each counts, that one passage of a message has. `worth` is by word,
    /// as in the result of a search.
    pub fn closeness(&self, document: &Document<'_>, worth: &[f32]) -> f32 {
        let total: f32 = worth.iter().sum();
        if total <= 0.0 {
            return 0.0;
        }
        let leaves = self.text_leaves();
        let mut finder = OccurrenceFinder::default();
        let mut best = 0.0_f32;
        for field in FieldSet::TEXTS.iter() {
            let wanted: Vec<&TextLeaf> = leaves
                .iter()
                .map(|(leaf, _)| *leaf)
                .filter(|leaf| leaf.number < worth.len() && leaf.fields.contains(field))
                .collect();
            for text in document.values(field).filter(|_| !wanted.is_empty()) {
                let mut spots = finder.spots(text, &wanted, Extent::Everywhere);
                spots.sort_by_key(|spot| spot.range.start);
                best = best.max(best_passage(&spots, worth));
            }
        }
        best / total
    }
}

/// Returns what the best passage is worth: two ends move over the occurrences.
fn best_passage(spots: &[Occurrence], worth: &[f32]) -> f32 {
    let mut counts = vec![0_usize; worth.len()];
    let value = |leaf: usize| worth.get(leaf).copied().unwrap_or(0.0);
    let (mut sum, mut best) = (0.0_f32, 0.0_f32);
    let mut first = spots.iter().peekable();
    for spot in spots {
        if let Some(count) = counts.get_mut(spot.leaf) {
            *count += 1;
            if *count == 1 {
                sum += value(spot.leaf);
            }
        }
        while let Some(old) = first.next_if(|old| old.range.start + PASSAGE < spot.range.end) {
            if let Some(count) = counts.get_mut(old.leaf) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    sum -= value(old.leaf);
                }
            }
        }
        best = best.max(sum);
    }
    best
}
