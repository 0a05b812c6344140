//! Strings that look random, and how to distinguish them from ids, checksums and names.

use memchr::memchr_iter;

use super::Sink;
use super::edge::{at, before, piece, run_start};
use crate::kind::SecretKind;

/// Shorter strings are too often names; longer ones are data.
const LENGTHS: std::ops::RangeInclusive<usize> = 28..=160;
/// Bits per character, of at most 6. English words have less than 3.5.
const ENTROPY: f64 = 3.9;
/// Percentage of adjacent characters of different classes: 60 if random, less than 30 in names.
const CHANGES: usize = 36;

/// Character statistics of a string.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mix {
    pub(super) upper: usize,
    pub(super) lower: usize,
    pub(super) digits: usize,
    pub(super) others: usize,
    pub(super) hex: usize,
    /// The number of adjacent characters of different classes.
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

/// Returns the Shannon entropy in bits per byte.
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

/// Whether this is a placeholder that somebody wrote: `xxxx…`, `your-key-here`, `…EXAMPLE`.
pub(super) fn is_dummy(word: &[u8]) -> bool {
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
            .any(|hint| contains_word(word, hint))
}

/// Whether a text contains a word, ignoring case.
fn contains_word(text: &[u8], hint: &str) -> bool {
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
        // `name=value` and `a.b` are two words; `=` at the end is only padding.
        let length = rest.iter().position(|b| matches!(b, b'=' | b'.')).unwrap_or(rest.len());
        let word = piece(bytes, from, from + length);
        let padding = rest.iter().skip(length).take(2).take_while(|b| **b == b'=').count();
        if !is_service_id(word) && is_random(word) && !is_sum_or_link(bytes, start, end) {
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
    // Without one of the classes it is a commit, a checksum, a name or a number.
    if mix.upper < 3 || mix.lower < 3 || mix.digits < 3 || mix.others > word.len() / 8 {
        return false;
    }
    mix.changes * 100 >= CHANGES * word.len()
        && !reads_as_words(word, THIRD)
        && entropy(word) >= ENTROPY
}

/// If only its appearance suggests a secret, a third of it in words is enough to reject it.
const THIRD: usize = 3;
/// If the context suggests a secret, half of it must be words to reject it.
pub(super) const HALF: usize = 2;

/// Whether it consists of words, as names do: the given part of it is in runs of at least four lower-case letters, which at
/// random holds for one letter in ten; or it is the name of a constant.
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

/// Whether it is an id that a service gives to a call or message. These give no access.
fn is_service_id(word: &[u8]) -> bool {
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

/// Whether the run is a checksum, a link, a path, or a line of data.
fn is_sum_or_link(bytes: &[u8], start: usize, end: usize) -> bool {
    let run = piece(bytes, start, end);
    let slashes = memchr_iter(b'/', run).count();
    let pluses = memchr_iter(b'+', run).count();
    // Base64 has as many slashes as pluses; paths have words between them.
    if slashes > 2 + 2 * pluses || run.starts_with(b"/") || run.starts_with(b"./") {
        return true;
    }
    // A whole line of base64 is one of many.
    let alone =
        matches!(before(bytes, start), b'\n' | 0) && matches!(at(bytes, end), b'\n' | b'\r' | 0);
    if alone && run.len() >= 60 {
        return true;
    }
    // Only the line up to here, and at most a part of a long one.
    let line = run_start(bytes, start, 160, |b| b != b'\n');
    let head = piece(bytes, line, start + 8);
    // `"call_id": "…"`: an id gives no access.
    let name = run_start(bytes, start, 12, |b| {
        matches!(b, b'"' | b'\'' | b'\\' | b' ' | b':' | b'=' | b'`')
    });
    if name < start && piece(bytes, name.saturating_sub(2), name).eq_ignore_ascii_case(b"id") {
        return true;
    }
    let glued = run_start(bytes, start, 160, |b| !b.is_ascii_whitespace() && b != b'"');
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
    .any(|hint| contains_word(head, hint))
        || contains_word(piece(bytes, glued, start), "://")
}
