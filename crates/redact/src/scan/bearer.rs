//! What stands behind `Authorization:` and `Bearer`.

use memchr::memmem;

use super::Sink;
use super::edge::{after_escape, at, before, is_word, piece, stretch};
use super::guess::{HALF, mix, reads_as_words};
use super::value::is_placeholder;
use crate::kind::SecretKind;

/// The longest credentials.
const LONGEST: usize = 4096;

/// What stands before credentials, in lower case.
const SCHEMES: &[&str] =
    &["basic", "bearer", "token", "apikey", "api-key", "key", "digest", "negotiate"];

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

/// Reads a scheme and what follows it: `Basic …`, `Bearer …`, `token …`.
pub(super) fn credentials(bytes: &[u8], from: usize, sink: &mut Sink<'_>) {
    let from = stretch(bytes, from, 8, |b| matches!(b, b' ' | b'"' | b'\'' | b'\\' | b'`' | b'\t'));
    let from = after_escape(bytes, from);
    let scheme = stretch(bytes, from, 16, |b| is_word(b) || b == b'-');
    let word = piece(bytes, from, scheme);
    let is_scheme = SCHEMES.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()));
    if is_scheme && at(bytes, scheme) == b' ' {
        token(bytes, scheme + 1, sink);
    } else {
        token(bytes, from, sink);
    }
}

fn token(bytes: &[u8], from: usize, sink: &mut Sink<'_>) {
    let holds = |b: u8| is_word(b) || matches!(b, b'-' | b'.' | b'~' | b'+' | b'/');
    let end = stretch(bytes, from, LONGEST, holds);
    let word = piece(bytes, from, end);
    let end = stretch(bytes, end, 2, |b| b == b'=');
    let mix = mix(word);
    let is_mixed = mix.digits > 0 && mix.upper + mix.lower > 0;
    let is_wild = mix.upper > 1 && mix.lower > 1 && mix.changes > 4;
    // What a dot or a bracket follows is code or a place to fill in.
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

/// Whether it is made of words with a digit or two, as in `Bearer oauth2_token`.
fn is_plain(word: &[u8]) -> bool {
    let mix = mix(word);
    (word.len() < 20 && mix.digits < 3 && mix.changes < 4) || reads_as_words(word, HALF)
}
