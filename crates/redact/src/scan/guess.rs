//! Strings that look random, and how they are distinguished from ids, checksums and names.

use memchr::memchr_iter;

use super::Sink;
use super::edge::{at, before, piece, stretch_back};
use crate::kind::SecretKind;

/// Shorter strings are too often names; longer ones are data.
const LENGTHS: std::ops::RangeInclusive<usize> = 28..=160;
/// Bits per character, of at most 6. English words have less than 3.5.
const ENTROPY: f64 = 3.9;
/// Of 100 neighbours, how many are of another class: 60 if random, fewer than 30 in names.
const CHANGES: usize = 36;

/// What is counted in a string.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mix {
    pub(super) upper: usize,
    pub(super) lower: usize,
    pub(super) digits: usize,
    pub(super) others: usize,
    pub(super) hex: usize,
    /// How often neighbours are of another class.
    pub(super) changes: usize,
}

pub(super) fn mix(word: &[u8]) -> Mix {
    let mut mix = Mix::default();
    let mut last = None;
    for byte in word {
        let class = match byte {
            b'A'..=b'Z' => 0,
            b'a'..=b'z' => 1,
            b'0'..=b'9' => 2,
            _ => 3,
        };
        match class {
            0 => mix.upper += 1,
            1 => mix.lower += 1,
            2 => mix.digits += 1,
            _ => mix.others += 1,
        }
        mix.hex += usize::from(byte.is_ascii_hexdigit());
        mix.changes += usize::from(last.is_some_and(|last| last != class));
        last = Some(class);
    }
    mix
}

/// Shannon's entropy in bits per byte.
pub(super) fn entropy(word: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in word {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let length = f64::from(u32::try_from(word.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / length;
            -share * share.log2()
        })
        .sum()
}

/// Whether somebody wrote this to show where a key goes: `xxxx…`, `your-key-here`, `…EXAMPLE`.
pub(super) fn is_made_up(word: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in word {
        if let Some(seen) = seen.get_mut(usize::from(*byte)) {
            *seen = true;
        }
    }
    let distinct = seen.iter().filter(|seen| **seen).count();
    distinct < 5
        || ["example", "your-", "your_", "xxxxx", "placeholder", "redacted"]
            .iter()
            .any(|hint| says(word, hint))
}

/// Whether a text holds a word, in any case of letters.
fn says(text: &[u8], hint: &str) -> bool {
    text.windows(hint.len()).any(|window| window.eq_ignore_ascii_case(hint.as_bytes()))
}

/// Looks for one random string in a run that contains no known key.
pub(super) fn look(bytes: &[u8], start: usize, end: usize, sink: &mut Sink<'_>) {
    if !(*LENGTHS.start()..=4 * LENGTHS.end()).contains(&(end - start)) {
        return;
    }
    let mut from = start;
    while from < end {
        let rest = piece(bytes, from, end);
        // `name=value` and `a.b` are two words; `=` at the end only fills up.
        let length = rest.iter().position(|b| matches!(b, b'=' | b'.')).unwrap_or(rest.len());
        let word = piece(bytes, from, from + length);
        let padding = rest.iter().skip(length).take(2).take_while(|b| **b == b'=').count();
        if !has_owner(word) && is_random(word) && !is_sum_or_link(bytes, start, end) {
            sink.put(SecretKind::Random, from..from + length + padding);
        }
        from += length.max(1) + padding;
    }
}

fn is_random(word: &[u8]) -> bool {
    if !LENGTHS.contains(&word.len()) || !word.iter().any(u8::is_ascii_digit) {
        return false;
    }
    let mix = mix(word);
    // Without one of the classes it is a commit, a sum, a name or a number.
    if mix.upper < 3 || mix.lower < 3 || mix.digits < 3 || mix.others > word.len() / 8 {
        return false;
    }
    mix.changes * 100 >= CHANGES * word.len()
        && !reads_as_words(word, THIRD)
        && entropy(word) >= ENTROPY
}

/// Where nothing but its look speaks for a secret, a third of it in words is enough against it.
const THIRD: usize = 3;
/// Where something around it speaks for a secret, half of it must be words.
pub(super) const HALF: usize = 2;

/// Whether it is made of words, as names are: that part of it stands in stretches of four lower-case letters or more, at random one
/// letter in ten; or it is the name of a constant.
pub(super) fn reads_as_words(word: &[u8], part: usize) -> bool {
    let is_constant = word.contains(&b'_')
        && word.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    let in_words: usize = word
        .split(|b| !b.is_ascii_lowercase())
        .map(<[u8]>::len)
        .filter(|length| *length >= 4)
        .sum();
    is_constant || in_words * part >= word.len()
}

/// Ids that services give to calls and messages. They open nothing.
fn has_owner(word: &[u8]) -> bool {
    const IDS: &[&[u8]] = &[
        b"call_",
        b"toolu_",
        b"msg_",
        b"req_",
        b"resp_",
        b"run_",
        b"thread_",
        b"chatcmpl-",
        b"rs_",
        b"fc_",
        b"evt_",
        b"AAAAB3NzaC1",
        b"AAAAC3NzaC1",
        b"AAAAE2VjZHNh",
        b"iVBORw0KGgo",
        b"sha",
        b"gAAAAA",
    ];
    IDS.iter().any(|id| word.starts_with(id))
}

/// Whether the run is a sum of a file, a link or path, or a line of data.
fn is_sum_or_link(bytes: &[u8], start: usize, end: usize) -> bool {
    let run = piece(bytes, start, end);
    let slashes = memchr_iter(b'/', run).count();
    let pluses = memchr_iter(b'+', run).count();
    // Base 64 has as many slashes as pluses, paths have words between them.
    if slashes > 2 + 2 * pluses || run.starts_with(b"/") || run.starts_with(b"./") {
        return true;
    }
    // A whole line of base 64 is one of many.
    let alone =
        matches!(before(bytes, start), b'\n' | 0) && matches!(at(bytes, end), b'\n' | b'\r' | 0);
    if alone && run.len() >= 60 {
        return true;
    }
    // Only the line up to here, and not all of a long one.
    let line = stretch_back(bytes, start, 160, |b| b != b'\n');
    let head = piece(bytes, line, start + 8);
    // `"call_id": "…"`: an id names something and opens nothing.
    let name = stretch_back(bytes, start, 12, |b| {
        matches!(b, b'"' | b'\'' | b'\\' | b' ' | b':' | b'=' | b'`')
    });
    if name < start && piece(bytes, name.saturating_sub(2), name).eq_ignore_ascii_case(b"id") {
        return true;
    }
    let glued = stretch_back(bytes, start, 160, |b| !b.is_ascii_whitespace() && b != b'"');
    [
        "sha1",
        "sha2",
        "sha3",
        "sha5",
        "integrity",
        "checksum",
        "hash",
        "digest",
        "h1:",
        "base64",
        "etag",
        "signature",
    ]
    .iter()
    .any(|hint| says(head, hint))
        || says(piece(bytes, glued, start), "://")
}
