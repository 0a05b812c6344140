//! Finds leaves in a text: one pass over its tokens for all leaves.
//!
//! It uses the same tokens at the same positions as the index, so both give the same result.

use std::ops::Range;

use crate::query::{Matcher, TextLeaf, Words};
use crate::question::Forms;
use crate::token::{Buffers, Scanner, Token};

/// A found leaf, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Occurrence {
    pub(super) leaf: usize,
    pub(super) range: Range<usize>,
}

/// Finds leaves in one text after another.
#[derive(Debug, Default)]
pub(super) struct OccurrenceFinder {
    buffers: Buffers,
}

/// How much to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Whether each leaf occurs at all.
    Once,
    /// Every occurrence, up to a number that fills any snippet.
    Everywhere,
}

/// The maximum number of occurrences of one leaf.
const MAX_SPOTS: usize = 256;

impl OccurrenceFinder {
    /// Returns the occurrences, leaf by leaf.
    pub(super) fn spots(
        &mut self,
        text: &str,
        leaves: &[&TextLeaf],
        reach: Extent,
    ) -> Vec<Occurrence> {
        let limit = if reach == Extent::Once { 1 } else { MAX_SPOTS };
        let mut found = Vec::new();
        let mut states: Vec<LeafState<'_>> = Vec::new();
        for leaf in leaves {
            match &leaf.matcher {
                Matcher::Pattern(pattern) if reach == Extent::Once => {
                    let hit = pattern.is_match(text).then_some(0..0);
                    found.extend(hit.map(|range| Occurrence { leaf: leaf.number, range }));
                }
                Matcher::Pattern(pattern) => {
                    let ranges = pattern.spans(text).take(limit);
                    found.extend(ranges.map(|range| Occurrence { leaf: leaf.number, range }));
                }
                Matcher::Words(words) => {
                    states.push(LeafState::new(leaf.number, LeafMatcher::Row(words)));
                }
                Matcher::Forms(forms) => {
                    states.push(LeafState::new(leaf.number, LeafMatcher::Form(forms)));
                }
                Matcher::Fuzzy { word, distance } => {
                    let word = word.chars().collect();
                    states.push(LeafState::new(
                        leaf.number,
                        LeafMatcher::Like { word, distance: *distance },
                    ));
                }
            }
        }
        self.walk(text, &mut states, limit);
        found.extend(states.into_iter().flat_map(|watch| watch.finish(limit)));
        found
    }

    fn walk(&mut self, text: &str, states: &mut [LeafState<'_>], limit: usize) {
        let firsts = FirstBytes::of(states);
        let mut scanner = Scanner::with_buffers(text, std::mem::take(&mut self.buffers));
        let mut waiting = states.len();
        while waiting > 0
            && let Some(token) = scanner.next()
        {
            if firsts.may_begin(token.text) {
                for watch in states.iter_mut().filter(|watch| watch.single.len() < limit) {
                    watch.see(&token);
                    waiting -= usize::from(watch.single.len() >= limit);
                }
            }
        }
        self.buffers = scanner.into_buffers();
    }
}

/// The first bytes of the searched words: most tokens have another.
struct FirstBytes([bool; 256]);

impl FirstBytes {
    fn of(states: &[LeafState<'_>]) -> Self {
        let mut table = [false; 256];
        let mut add = |texts: &mut dyn Iterator<Item = &str>| {
            for byte in texts.filter_map(|text| text.bytes().next()) {
                if let Some(slot) = table.get_mut(usize::from(byte)) {
                    *slot = true;
                }
            }
        };
        for watch in states {
            match &watch.matcher {
                LeafMatcher::Like { .. } => return Self([true; 256]),
                LeafMatcher::Row(words) => {
                    let texts = words.parts.iter().map(|part| &part.text).chain(&words.whole);
                    add(&mut texts.map(String::as_str));
                }
                LeafMatcher::Form(forms) => add(&mut forms.all()),
            }
        }
        Self(table)
    }

    fn may_begin(&self, token: &str) -> bool {
        let first = token.bytes().next();
        first.and_then(|byte| self.0.get(usize::from(byte))).copied().unwrap_or(false)
    }
}

enum LeafMatcher<'p> {
    Row(&'p Words),
    Form(&'p Forms),
    Like { word: Vec<char>, distance: u8 },
}

/// The state of one leaf during a pass.
struct LeafState<'p> {
    leaf: usize,
    matcher: LeafMatcher<'p>,
    /// Matches of single tokens.
    single: Vec<Range<usize>>,
    /// The positions of each word of a phrase.
    places: Vec<Vec<Place>>,
}

#[derive(Clone, Debug)]
struct Place {
    position: u32,
    range: Range<usize>,
}

impl<'p> LeafState<'p> {
    fn new(leaf: usize, matcher: LeafMatcher<'p>) -> Self {
        let places = match &matcher {
            LeafMatcher::Row(words) if words.parts.len() > 1 => vec![Vec::new(); words.parts.len()],
            _ => Vec::new(),
        };
        Self { leaf, matcher, single: Vec::new(), places }
    }

    fn see(&mut self, token: &Token<'_>) {
        let range = token.start..token.end;
        match &self.matcher {
            LeafMatcher::Like { word, distance } => {
                if is_like(word, token.text, usize::from(*distance)) {
                    self.single.push(range);
                }
            }
            LeafMatcher::Form(forms) => {
                if forms.contains(token.text) {
                    self.single.push(range);
                }
            }
            LeafMatcher::Row(words) => {
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

    fn finish(mut self, limit: usize) -> impl Iterator<Item = Occurrence> {
        if let (LeafMatcher::Row(words), true) = (&self.matcher, self.single.len() < limit) {
            rows(words, &mut self.places, limit, &mut self.single);
        }
        let leaf = self.leaf;
        self.single.into_iter().take(limit).map(move |range| Occurrence { leaf, range })
    }
}

/// Finds where all words of a phrase are adjacent.
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

/// Whether two words differ by at most `distance` letters; a swap of adjacent letters counts once.
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
