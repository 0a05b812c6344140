//! Words of a text, each with all of its places.
//!
//! The index engine looks up every word that it is given in a table of all words, which is far too large for the
//! processor's caches. Given the places of one word in a row, it finds the word where it has just been: a text names most
//! of its words several times, so more than half of the waiting is saved.

/// Words that are put together at a time, so that the tables of one batch stay small.
const BATCH: usize = 1 << 15;
/// No slot of the table, or no further place.
const NONE: u32 = u32::MAX;
/// The smallest table.
const LEAST_SLOTS: usize = 64;

/// Some words of a text, handed out word by word, the places of each in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    /// The letters of all words, each word once.
    letters: String,
    words: Vec<Word>,
    places: Vec<Place>,
    /// Where in `words` a word is found by its hash.
    slots: Vec<u32>,
    /// How often a slot was another word's.
    collisions: usize,
    /// The word that is handed out.
    word: usize,
    /// Its next place.
    place: u32,
}

#[derive(Clone, Copy, Debug)]
struct Word {
    hash: u64,
    start: usize,
    end: usize,
    first: u32,
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    position: u32,
    next: u32,
}

impl Batch {
    /// Forgets all words; a text of so many bytes follows.
    pub(super) fn begin(&mut self, bytes: usize) {
        self.letters.clear();
        self.words.clear();
        self.places.clear();
        self.slots.clear();
        let slots = (bytes / 4).next_power_of_two().clamp(LEAST_SLOTS, BATCH);
        self.slots.resize(slots, NONE);
        self.collisions = 0;
        self.word = 0;
        self.place = NONE;
    }

    /// Whether the next words belong into another batch. So it is when words keep falling into the same slots: a text
    /// made up for that must not take longer than others.
    pub(super) fn is_full(&self) -> bool {
        self.places.len() >= BATCH || self.collisions > self.places.len() * 16 + 1024
    }

    /// Adds a word at a position. `hash` must be that of the text.
    #[inline]
    pub(super) fn add(&mut self, text: &str, hash: u64, position: u32) {
        let place = index(self.places.len());
        self.places.push(Place { position, next: NONE });
        match self.find(text, hash) {
            Found::Word(number) => {
                let Some(word) = self.words.get_mut(number) else { return };
                let before = std::mem::replace(&mut word.last, place);
                if let Some(before) = self.places.get_mut(before as usize) {
                    before.next = place;
                }
            }
            Found::Slot(slot) => {
                if let Some(slot) = self.slots.get_mut(slot) {
                    *slot = index(self.words.len());
                }
                let start = self.letters.len();
                self.letters.push_str(text);
                let end = self.letters.len();
                self.words.push(Word { hash, start, end, first: place, last: place });
                if self.words.len() * 2 > self.slots.len() {
                    self.grow();
                }
            }
        }
    }

    #[inline]
    fn find(&mut self, text: &str, hash: u64) -> Found {
        for slot in probes(hash, self.slots.len()) {
            let number = self.slots.get(slot).copied().unwrap_or(NONE) as usize;
            match self.words.get(number) {
                None => return Found::Slot(slot),
                Some(word) if word.hash == hash && self.letters_of(word) == text => {
                    return Found::Word(number);
                }
                Some(_) => self.collisions += 1,
            }
        }
        // Never reached: half of the slots are free.
        Found::Slot(0)
    }

    fn letters_of(&self, word: &Word) -> &str {
        self.letters.get(word.start..word.end).unwrap_or_default()
    }

    fn grow(&mut self) {
        let slots = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(slots, NONE);
        for (number, word) in self.words.iter().enumerate() {
            let free = probes(word.hash, slots)
                .find(|slot| self.slots.get(*slot).is_none_or(|number| *number == NONE));
            if let Some(slot) = free.and_then(|slot| self.slots.get_mut(slot)) {
                *slot = index(number);
            }
        }
    }

    /// Returns the position of the next place, and the word where it is another one than before.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(Option<&str>, u32)> {
        if let Some(place) = self.places.get(self.place as usize) {
            self.place = place.next;
            return Some((None, place.position));
        }
        let word = self.words.get(self.word)?;
        self.word += 1;
        let place = self.places.get(word.first as usize)?;
        self.place = place.next;
        Some((self.letters.get(word.start..word.end), place.position))
    }
}

enum Found {
    Word(usize),
    Slot(usize),
}

/// The slots in which a word may be, in order. Their number is a power of two.
fn probes(hash: u64, slots: usize) -> impl Iterator<Item = usize> {
    let mask = slots.wrapping_sub(1);
    #[expect(clippy::cast_possible_truncation, reason = "the mask leaves less")]
    let first = (hash >> 20) as usize;
    (0..slots).map(move |step| first.wrapping_add(step) & mask)
}

fn index(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All words that are handed out, in order.
    fn handed_out(batch: &mut Batch) -> Vec<(String, u32)> {
        let mut word = String::new();
        let mut all = Vec::new();
        while let Some((text, position)) = batch.next() {
            if let Some(text) = text {
                text.clone_into(&mut word);
            }
            all.push((word.clone(), position));
        }
        all
    }

    #[test]
    fn each_word_comes_with_all_of_its_places() {
        let mut batch = Batch::default();
        batch.begin(0);
        for (position, word) in (0_u32..).zip(["a", "b", "a", "c", "b", "a"]) {
            batch.add(word, crate::neighbours::word_hash(word), position);
        }
        let want = [("a", 0), ("a", 2), ("a", 5), ("b", 1), ("b", 4), ("c", 3)];
        let want: Vec<(String, u32)> = want.map(|(word, at)| (word.to_owned(), at)).into();
        assert_eq!(handed_out(&mut batch), want);
        assert_eq!(batch.next(), None);
    }

    #[test]
    fn more_words_than_slots_and_equal_hashes_are_kept_apart() {
        let mut batch = Batch::default();
        batch.begin(0);
        for number in 0..500_u32 {
            batch.add(&format!("w{}", number % 250), u64::from(number % 2) << 40, number);
        }
        let all = handed_out(&mut batch);
        assert_eq!(all.len(), 500);
        for pair in all.chunks(2) {
            assert_eq!(pair[0].0, pair[1].0);
            assert_eq!(pair[0].1 + 250, pair[1].1);
        }
    }

    #[test]
    fn words_made_to_collide_fill_a_batch_soon() {
        let mut batch = Batch::default();
        batch.begin(1 << 20);
        let fits = (0..10_000_u32)
            .take_while(|number| {
                batch.add(&format!("w{number}"), 0, *number);
                !batch.is_full()
            })
            .count();
        assert!(fits < 200, "{fits}");
    }
}
