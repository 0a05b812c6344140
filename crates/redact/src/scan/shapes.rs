//! Recognizes keys by their shape, and finds the shapes that may begin at a byte.

use super::composite;
use super::edge::{at, is_word, piece, run_end};
use super::guess::{HALF, is_dummy, mix, reads_as_words};
use super::issuers::SHAPES;
use crate::kind::SecretKind;

/// The characters of a key after its prefix.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alphabet {
    /// `0-9 a-f`
    Hex,
    /// `0-9 A-Z`
    Upper,
    /// Letters and digits.
    Plain,
    /// Letters, digits, `-` and `_`.
    Url,
    /// Like [`Alphabet::Url`], with dots.
    Dotted,
}

impl Alphabet {
    fn holds(self, byte: u8) -> bool {
        match self {
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Upper => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Url => is_word(byte) || byte == b'-',
            Self::Dotted => is_word(byte) || matches!(byte, b'-' | b'.'),
        }
    }
}

/// The last run of each alphabet, so that no run is read twice.
#[derive(Debug, Default)]
pub(super) struct Runs([(usize, usize); 5]);

impl Runs {
    /// Returns the end of the run that contains `from`.
    pub(super) fn end(
        &mut self,
        bytes: &[u8],
        from: usize,
        to: usize,
        alphabet: Alphabet,
    ) -> usize {
        let Some(known) = self.0.get_mut(alphabet as usize) else { return from };
        if !(known.0..known.1).contains(&from) {
            let end = run_end(bytes, from, to.saturating_sub(from), |b| alphabet.holds(b));
            *known = (from, end);
        }
        known.1
    }
}

/// The shape of one issuer's keys.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) kind: SecretKind,
    pub(super) prefix: &'static str,
    rest: Alphabet,
    least: usize,
    most: usize,
}

impl Shape {
    /// Returns the end of the key that begins here. `fresh`: no word continues across its beginning.
    pub(super) fn matches(
        &self,
        bytes: &[u8],
        start: usize,
        end: usize,
        fresh: bool,
        known: &mut Runs,
    ) -> Option<usize> {
        // A prefix with a separator in it does not occur by accident.
        let is_distinctive =
            self.prefix.len() > 3 && self.prefix.bytes().any(|b| matches!(b, b'_' | b'-'));
        if !(fresh || is_distinctive)
            || !piece(bytes, start, end).starts_with(self.prefix.as_bytes())
        {
            return None;
        }
        let body = start + self.prefix.len();
        let mut stop = known.end(bytes, body, end, self.rest);
        while stop > body && matches!(at(bytes, stop - 1), b'.' | b'-') {
            stop -= 1;
        }
        let fits = (self.least..=self.most).contains(&(stop - body));
        let closed = !at(bytes, stop).is_ascii_alphanumeric();
        let key = piece(bytes, body, stop);
        (fits && closed && !is_dummy(key) && (self.is_certain() || looks_generated(key)))
            .then_some(stop)
    }

    /// Whether the prefix alone is conclusive. Names can begin with the others, too.
    fn is_certain(&self) -> bool {
        const KNOWN: &[&str] = &["hf_", "r8_", "1//", "cio", "SK", "sk-"];
        self.prefix.len() > 4 || matches!(self.rest, Alphabet::Hex | Alphabet::Upper) || {
            KNOWN.contains(&self.prefix) || self.least >= 36
        }
    }

    /// Returns the part of such a key that may be shown: the same for all of them.
    pub(super) fn shown(&self) -> &'static str {
        self.prefix.get(..4).unwrap_or(self.prefix)
    }
}

pub(super) const fn shape(
    kind: SecretKind,
    prefix: &'static str,
    rest: Alphabet,
    least: usize,
    most: usize,
) -> Shape {
    Shape { kind, prefix, rest, least, most }
}

/// The range of shapes in [`SHAPES`] for each first byte.
const FIRST: [(usize, usize); 256] = {
    let mut table = [(0, 0); 256];
    let mut at = 0;
    while at < SHAPES.len() {
        let byte = SHAPES[at].prefix.as_bytes()[0] as usize;
        table[byte] = (if table[byte].1 == 0 { at } else { table[byte].0 }, at + 1);
        at += 1;
    }
    table
};

/// The byte pairs that a key can begin with, as a bit set: most positions need no closer inspection.
const PAIRS: [u64; 1024] = {
    let mut table = [0; 1024];
    let mut at = 0;
    while at < SHAPES.len() {
        let prefix = SHAPES[at].prefix.as_bytes();
        let pair = (prefix[0] as usize) << 8 | prefix[1] as usize;
        table[pair / 64] |= 1 << (pair % 64);
        at += 1;
    }
    let mut at = 0;
    while at < composite::PAIRS.len() {
        let pair = (composite::PAIRS[at][0] as usize) << 8 | composite::PAIRS[at][1] as usize;
        table[pair / 64] |= 1 << (pair % 64);
        at += 1;
    }
    table
};

/// Whether a key may begin with these two bytes.
pub(super) fn may_begin(first: u8, second: u8) -> bool {
    let pair = usize::from(first) << 8 | usize::from(second);
    PAIRS.get(pair / 64).is_some_and(|bits| bits >> (pair % 64) & 1 == 1)
}

/// Whether what follows a weak prefix looks generated.
fn looks_generated(key: &[u8]) -> bool {
    let mix = mix(key);
    mix.digits > 1 && mix.changes * 4 >= key.len() && !reads_as_words(key, HALF)
}

/// Returns the shapes that may begin with this byte. A few may begin with another: the prefix decides.
pub(super) fn shapes_of(byte: u8) -> &'static [Shape] {
    let (from, to) = FIRST.get(usize::from(byte)).copied().unwrap_or_default();
    SHAPES.get(from..to).unwrap_or_default()
}
