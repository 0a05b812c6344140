//! One run of letters and digits: its end, its parts, and whether it is noise.

use super::script::{self, Class};

/// The maximum number of parts: more than any name has.
const MAX_CUTS: usize = 24;
/// From this length on, an irregular run of all three classes is no longer a name.
const RANDOM: usize = 12;
/// From this length on such a run is encoded data.
const BLOB: usize = 32;
/// Above this length, so is any run of all three classes: data has long runs of one letter too.
const LONG_BLOB: usize = 48;
/// A hexadecimal id is one word, though letters and digits alternate.
const HEX_ID: usize = 6;

/// A run of letters and digits.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it is all ASCII.
    pub(super) is_plain: bool,
    /// How often the class changes from one character to the next.
    changes: usize,
    classes: u8,
}

impl Run {
    pub(super) fn has_digits(&self) -> bool {
        self.classes & bit(Class::Digit) != 0
    }

    /// Whether lower-case letters, capitals and digits alternate at random.
    fn is_random(&self) -> bool {
        let length = self.end - self.start;
        self.classes == 0b111 && length >= RANDOM && self.changes * 5 > length * 2
    }

    /// Whether the run is a piece of encoded data.
    pub(super) fn is_blob(&self, text: &str) -> bool {
        let length = self.end - self.start;
        let is_noise = length >= BLOB && self.is_random();
        (is_noise || length > LONG_BLOB && self.classes == 0b111)
            && !(length <= super::scan::MAX_CHARACTERS && is_hex(text, self.start, self.end))
    }
}

fn bit(class: Class) -> u8 {
    match class {
        Class::Lower => 1,
        Class::Upper => 2,
        Class::Digit => 4,
        Class::Other | Class::Mark | Class::Joint | Class::Dense => 0,
    }
}

fn is_hex(text: &str, start: usize, end: usize) -> bool {
    text.get(start..end).is_some_and(|run| run.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns the start of the next word or dense run, and which of the two it is.
pub(super) fn next_start(text: &str, mut at: usize) -> Option<(usize, Class)> {
    let bytes = text.as_bytes();
    loop {
        // Bytes of longer characters have no class here, and are checked as characters below.
        let rest = bytes.get(at..)?;
        at += rest.iter().take_while(|byte| is_ascii_gap(**byte)).count();
        let (class, width) = class_at(text, bytes, at)?;
        match class {
            Class::Other | Class::Mark | Class::Joint => at += width,
            Class::Lower | Class::Upper | Class::Digit | Class::Dense => return Some((at, class)),
        }
    }
}

/// A word that needs no rules: letters of one case, one capital and letters, or digits, all of them ASCII, and not a part
/// of an identifier.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainWord {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether there are no capitals.
    pub(super) is_lower: bool,
}

/// Returns the next word if it is a plain one. Most words are.
#[inline]
pub(super) fn next_plain(text: &str, at: usize) -> Option<PlainWord> {
    let bytes = text.as_bytes();
    let gap = bytes.get(at..)?.iter().take_while(|byte| is_ascii_gap(**byte)).count();
    let start = at + gap;
    let class = script::of_byte(*bytes.get(start)?);
    let length = match class {
        Class::Lower | Class::Digit => same(bytes, start + 1, class),
        Class::Upper => match same(bytes, start + 1, Class::Lower) {
            0 => same(bytes, start + 1, Class::Upper),
            length => length,
        },
        Class::Other | Class::Mark | Class::Joint | Class::Dense => return None,
    };
    let end = start + 1 + length;
    let is_other = |byte: u8| byte < 128 && script::of_byte(byte) == Class::Other;
    let is_alone = match bytes.get(end) {
        None => true,
        // The end of a sentence, or a dash: nothing is joined.
        Some(b'.' | b'-') => bytes.get(end + 1).is_none_or(|byte| is_other(*byte)),
        Some(byte) => is_other(*byte),
    };
    let is_plain = is_alone && end - start <= super::scan::MAX_CHARACTERS;
    is_plain.then_some(PlainWord { start, end, is_lower: class != Class::Upper })
}

/// Whether a byte is a character that is never part of a word.
#[inline]
fn is_ascii_gap(byte: u8) -> bool {
    byte < 128 && matches!(script::of_byte(byte), Class::Other | Class::Joint)
}

#[inline]
fn class_at(text: &str, bytes: &[u8], at: usize) -> Option<(Class, usize)> {
    let byte = *bytes.get(at)?;
    if byte < 128 {
        return Some((script::of_byte(byte), 1));
    }
    let character = text.get(at..)?.chars().next()?;
    Some((script::of(character), character.len_utf8()))
}

/// Counts the bytes from `at` on that have one class.
#[inline]
fn same(bytes: &[u8], at: usize, class: Class) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take_while(|byte| script::of_byte(**byte) == class).count()
}

/// Reads a run from its first character; `cuts` receives the starts of its second and later parts.
pub(super) fn read(text: &str, start: usize, cuts: &mut Vec<usize>) -> Run {
    cuts.clear();
    let bytes = text.as_bytes();
    let mut walk = Walk::new(start);
    let mut at = start;
    while let Some((class, width)) = class_at(text, bytes, at) {
        match class {
            Class::Lower | Class::Upper | Class::Digit => {
                if walk.before == Class::Digit && is_date_joint(bytes, at) {
                    break;
                }
                walk.step(text, class, at, cuts);
                if width == 1 {
                    // More of the same class changes only the position.
                    at += same(bytes, at + 1, class);
                    walk.before_at = at;
                }
            }
            Class::Mark => {}
            Class::Other | Class::Joint | Class::Dense => break,
        }
        walk.is_plain &= width == 1;
        at += width;
    }
    walk.close(text, at, cuts);
    let Walk { changes, classes, is_plain, .. } = walk;
    let run = Run { start, end: at, is_plain, changes, classes };
    if cuts.len() > MAX_CUTS || run.is_random() {
        cuts.clear();
    }
    run
}

/// Whether there is a `T` between two digits, as in `2026-09-02T08`. The digit before is known.
fn is_date_joint(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'T') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
}

/// Returns the start of the run directly after a separator, if there is one.
pub(super) fn joined(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut next = at;
    match bytes.get(at)? {
        b'_' => {
            while bytes.get(next) == Some(&b'_') {
                next += 1;
            }
        }
        b'-' | b'.' => next += 1,
        b'T' if is_date_joint(bytes, at) => next += 1,
        _ => return None,
    }
    let (class, _) = class_at(text, bytes, next)?;
    matches!(class, Class::Lower | Class::Upper | Class::Digit).then_some(next)
}

/// Returns the end of encoded data that begins before `at`.
pub(super) fn skip_blob(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    let is_data = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(byte);
    at + rest.iter().take_while(|byte| is_data(byte)).count()
}

/// The state of reading a run.
struct Walk {
    before: Class,
    before_at: usize,
    part: usize,
    first_digit: Option<usize>,
    /// Whether a letter came after a digit in this part.
    is_mixed: bool,
    is_plain: bool,
    changes: usize,
    classes: u8,
}

impl Walk {
    fn new(start: usize) -> Self {
        Self {
            before: Class::Other,
            before_at: start,
            part: start,
            first_digit: None,
            is_mixed: false,
            is_plain: true,
            changes: 0,
            classes: 0,
        }
    }

    #[inline]
    fn step(&mut self, text: &str, class: Class, at: usize, cuts: &mut Vec<usize>) {
        if class != self.before {
            self.changes += usize::from(self.before != Class::Other);
            self.classes |= bit(class);
            match (self.before, class) {
                (Class::Lower, Class::Upper) => self.cut(text, at, cuts),
                // `HTTPServer`: the last capital belongs to the word that follows.
                (Class::Upper, Class::Lower) if self.before_at > self.part => {
                    self.cut(text, self.before_at, cuts);
                }
                _ => {}
            }
            if class == Class::Digit {
                self.first_digit.get_or_insert(at);
            }
        }
        self.is_mixed |= class != Class::Digit && self.first_digit.is_some();
        self.before = class;
        self.before_at = at;
    }

    fn cut(&mut self, text: &str, at: usize, cuts: &mut Vec<usize>) {
        self.close(text, at, cuts);
        cuts.push(at);
        self.part = at;
        self.first_digit = None;
        self.is_mixed = false;
    }

    /// Ends a part: `server2` is `server` and `2`, but `v2`, `2fa` and `abc123` (an id) are one word.
    fn close(&mut self, text: &str, end: usize, cuts: &mut Vec<usize>) {
        let Some(digit) = self.first_digit.filter(|&digit| digit > self.part + 1) else { return };
        let is_id = end - self.part >= HEX_ID && is_hex(text, self.part, end);
        if !self.is_mixed && !is_id {
            cuts.push(digit);
        }
    }
}
