//! Credentials after `Authorization:` and `Bearer`.

use memchr::memmem;

use super::Sink;
use super::edge::{after_escape, at, before, is_word, piece, run_end};
use super::guess::{HALF, mix, reads_as_words};
use super::value::is_placeholder;
use crate::kind::SecretKind;

/// The longest credentials.
const LONGEST: usize = 4096;

pub(super) fn scan(bytes: &[u8], sink: &mut Sink<'_>) {
    if !sink.wants(SecretKind::Authorization) {
        return;
    }
    for start in memmem::find_iter(bytes, b"earer ") {
        if matches!(before(bytes, start), b'B' | b'b') {
            token(bytes, start + 6, sink);
        }
    }
}

/// Reads a scheme and its credentials: `Basic …`, `Bearer …`, `token …`.
pub(super) fn credentials(bytes: &[u8], from: usize, sink: &mut Sink<'_>) {
    let from = run_end(bytes, from, 8, |b| matches!(b, b' ' | b'"' | b'\'' | b'\\' | b'`' | b'\t'));
    let from = after_escape(bytes, from);
    let scheme = run_end(bytes, from, 16, |b| is_word(b) || b == b'-');
    let word = piece(bytes, from, scheme);
    // Any word may be a scheme: `SSWS`, `GenieKey`, `Splunk`.
    let is_scheme = !word.is_empty() && word.iter().all(|b| b.is_ascii_alphabetic() || *b == b'-');
    if is_scheme && at(bytes, scheme) == b' ' {
        token(bytes, scheme + 1, sink);
    } else {
        token(bytes, from, sink);
    }
}

fn token(bytes: &[u8], from: usize, sink: &mut Sink<'_>) {
    let holds = |b: u8| is_word(b) || matches!(b, b'-' | b'.' | b'~' | b'+' | b'/');
    let end = run_end(bytes, from, LONGEST, holds);
    let word = piece(bytes, from, end);
    let end = run_end(bytes, end, 2, |b| b == b'=');
    let mix = mix(word);
    let is_mixed = mix.digits > 0 && mix.upper + mix.lower > 0;
    let is_wild = mix.upper > 1 && mix.lower > 1 && mix.changes > 4;
    // A word followed by a dot or a bracket is code or a placeholder.
    let is_code = matches!(at(bytes, end), b'(' | b'[' | b'{' | b'<');
    if word.len() >= 8
        && (is_mixed || is_wild)
        && !is_code
        && !is_placeholder(word)
        && !is_plain(word)
    {
        sink.put(SecretKind::Authorization, from..end);
    }
}

/// Whether it consists of words with a digit or two, as in `Bearer oauth2_token`.
fn is_plain(word: &[u8]) -> bool {
    let mix = mix(word);
    (word.len() < 20 && mix.digits < 3 && mix.changes < 4) || reads_as_words(word, HALF)
}
