//! Where a text says what leaves look for: one walk over its tokens for all leaves.
//!
//! It sees the same tokens at the same positions as the index, so both give the same answer.

use std::ops::Range;

use crate::query::{Matcher, TextLeaf, Words};
use crate::token::{Buffers, Scanner, Token};

/// A leaf that was found, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) leaf: usize,
    pub(super) range: Range<usize>,
}

/// Looks for leaves in one text after another.
#[derive(Debug, Default)]
pub(super) struct Spotter {
    buffers: Buffers,
}

/// How far to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Whether each leaf is there at all.
    Once,
    /// Every place, up to a number that fills any snippet.
    Everywhere,
}

/// Places of one leaf that are kept.
const MAX_SPOTS: usize = 256;

impl Spotter {
    /// Returns where the leaves are found, leaf by leaf.
    pub(super) fn spots(&mut self, text: &str, leaves: &[&TextLeaf], reach: Reach) -> Vec<Spot> {
        let limit = if reach == Reach::Once { 1 } else { MAX_SPOTS };
        let mut found = Vec::new();
        let mut watches: Vec<Watch<'_>> = Vec::new();
        for leaf in leaves {
            match &leaf.matcher {
                Matcher::Pattern(pattern) if reach == Reach::Once => {
                    let hit = pattern.is_match(text).then_some(0..0);
                    found.extend(hit.map(|range| Spot { leaf: leaf.number, range }));
                }
                Matcher::Pattern(pattern) => {
                    let ranges = pattern.spans(text).take(limit);
                    found.extend(ranges.map(|range| Spot { leaf: leaf.number, range }));
                }
                Matcher::Words(words) => watches.push(Watch::new(leaf.number, Look::Row(words))),
                Matcher::Fuzzy { word, distance } => {
                    let word = word.chars().collect();
                    watches.push(Watch::new(leaf.number, Look::Like { word, distance: *distance }));
                }
            }
        }
        self.walk(text, &mut watches, limit);
        found.extend(watches.into_iter().flat_map(|watch| watch.finish(limit)));
        found
    }

    fn walk(&mut self, text: &str, watches: &mut [Watch<'_>], limit: usize) {
        let firsts = FirstBytes::of(watches);
        let mut scanner = Scanner::with_buffers(text, std::mem::take(&mut self.buffers));
        let mut waiting = watches.len();
        while waiting > 0
            && let Some(token) = scanner.next()
        {
            if firsts.may_begin(token.text) {
                for watch in watches.iter_mut().filter(|watch| watch.single.len() < limit) {
                    watch.see(&token);
                    waiting -= usize::from(watch.single.len() >= limit);
                }
            }
        }
        self.buffers = scanner.into_buffers();
    }
}

/// The bytes with which the words begin that are looked for: most tokens are none of them.
struct FirstBytes([bool; 256]);

impl FirstBytes {
    fn of(watches: &[Watch<'_>]) -> Self {
        let mut table = [false; 256];
        for watch in watches {
            match &watch.look {
                Look::Like { .. } => return Self([true; 256]),
                Look::Row(words) => {
                    let texts = words.parts.iter().map(|part| &part.text).chain(&words.whole);
                    for byte in texts.filter_map(|text| text.bytes().next()) {
                        if let Some(slot) = table.get_mut(usize::from(byte)) {
                            *slot = true;
                        }
                    }
                }
            }
        }
        Self(table)
    }

    fn may_begin(&self, token: &str) -> bool {
        let first = token.bytes().next();
        first.and_then(|byte| self.0.get(usize::from(byte))).copied().unwrap_or(false)
    }
}

enum Look<'p> {
    Row(&'p Words),
    Like { word: Vec<char>, distance: u8 },
}

/// One leaf on the way through a text.
struct Watch<'p> {
    leaf: usize,
    look: Look<'p>,
    /// Where one token was enough.
    single: Vec<Range<usize>>,
    /// Where each word of a row stands.
    places: Vec<Vec<Place>>,
}

#[derive(Clone, Debug)]
struct Place {
    position: u32,
    range: Range<usize>,
}

impl<'p> Watch<'p> {
    fn new(leaf: usize, look: Look<'p>) -> Self {
        let places = match &look {
            Look::Row(words) if words.parts.len() > 1 => vec![Vec::new(); words.parts.len()],
            _ => Vec::new(),
        };
        Self { leaf, look, single: Vec::new(), places }
    }

    fn see(&mut self, token: &Token<'_>) {
        let range = token.start..token.end;
        match &self.look {
            Look::Like { word, distance } => {
                if is_like(word, token.text, usize::from(*distance)) {
                    self.single.push(range);
                }
            }
            Look::Row(words) => {
                let is_it = |wanted: &str, is_open: bool| {
                    if is_open { token.text.starts_with(wanted) } else { token.text == wanted }
                };
                if words.whole.as_ref().is_some_and(|whole| is_it(whole, words.is_open)) {
                    self.single.push(range.clone());
                }
                let last = words.parts.len() - 1;
                for (index, part) in words.parts.iter().enumerate() {
                    if is_it(&part.text, words.is_open && index == last) {
                        match self.places.get_mut(index) {
                            Some(places) => {
                                places
                                    .push(Place { position: token.position, range: range.clone() });
                            }
                            None => self.single.push(range.clone()),
                        }
                    }
                }
            }
        }
    }

    fn finish(mut self, limit: usize) -> impl Iterator<Item = Spot> {
        if let (Look::Row(words), true) = (&self.look, self.single.len() < limit) {
            rows(words, &mut self.places, limit, &mut self.single);
        }
        let leaf = self.leaf;
        self.single.into_iter().take(limit).map(move |range| Spot { leaf, range })
    }
}

/// Finds where all words of a phrase follow each other.
fn rows(words: &Words, places: &mut [Vec<Place>], limit: usize, found: &mut Vec<Range<usize>>) {
    for one in places.iter_mut() {
        one.sort_by_key(|place| place.position);
    }
    let Some((first, others)) = places.split_first() else { return };
    for place in first {
        let mut end = place.range.end;
        let is_row = words.parts.iter().skip(1).zip(others).all(|(part, places)| {
            let wanted = place.position + part.offset;
            let at = places.binary_search_by_key(&wanted, |place| place.position);
            let next = at.ok().and_then(|at| places.get(at));
            end = next.map_or(end, |next| next.range.end.max(end));
            next.is_some()
        });
        if is_row {
            found.push(place.range.start..end);
            if found.len() >= limit {
                return;
            }
        }
    }
}

/// Whether two words differ by at most `distance` letters; a swap of neighbours counts once.
fn is_like(word: &[char], token: &str, distance: usize) -> bool {
    let token: Vec<char> = token.chars().collect();
    if word.len().abs_diff(token.len()) > distance {
        return false;
    }
    let mut two_back: Vec<usize> = Vec::new();
    let mut back: Vec<usize> = (0..=token.len()).collect();
    for (row, letter) in word.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in token.iter().enumerate() {
            let at =
                |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best = at(&back, column) + usize::from(letter != other);
            best = best.min(at(&back, column + 1) + 1).min(at(&line, column) + 1);
            let is_swap = row > 0
                && column > 0
                && word.get(row - 1) == Some(other)
                && token.get(column - 1) == Some(letter);
            if is_swap {
                best = best.min(at(&two_back, column - 1) + 1);
            }
            line.push(best);
        }
        two_back = std::mem::replace(&mut back, line);
    }
    back.last().is_some_and(|&last| last <= distance)
}
