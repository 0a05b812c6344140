//! Private keys in PEM blocks, also with `
//! ` for line breaks, and also when the end is missing.

use memchr::memmem;

use super::Sink;
use super::edge::{piece, run_end};
use crate::kind::SecretKind;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
/// A key of 16384 bits, with its line breaks escaped twice.
const LONGEST: usize = 20_000;

pub(super) fn scan(bytes: &[u8], sink: &mut Sink<'_>) {
    let mut done = 0;
    while let Some(begin) = memmem::find(piece(bytes, done, usize::MAX), BEGIN) {
        let start = done + begin;
        let body = start + BEGIN.len();
        done = body;
        let Some(head) = label(bytes, body) else { continue };
        let stop = end_of(bytes, head);
        let key = piece(bytes, head, stop);
        let longest = key.split(|b| !is_base64(*b)).map(<[u8]>::len).max();
        if longest.unwrap_or(0) >= 16 {
            sink.put_with_prefix(SecretKind::PrivateKey, start..stop, "----");
            done = stop;
        }
    }
}

/// Keys of `PuTTY`: the number of lines of base 64 is given by `Private-Lines`.
pub(super) fn putty(bytes: &[u8], sink: &mut Sink<'_>) {
    for place in memmem::find_iter(bytes, b"Private-Lines: ") {
        let number = place + 15;
        let digits = run_end(bytes, number, 3, |b| b.is_ascii_digit());
        let body = run_end(bytes, digits, LONGEST, |b| {
            is_base64(b) || matches!(b, b'\n' | b'\r' | b'\\' | b' ')
        });
        if digits > number && body > digits + 24 {
            sink.put_with_prefix(SecretKind::PrivateKey, digits..body, "----");
        }
    }
}

/// Returns the end of the label line, if it labels a private key.
fn label(bytes: &[u8], from: usize) -> Option<usize> {
    let line = piece(bytes, from, from + 64);
    let dashes = memmem::find(line, b"-----")?;
    let label_text = line.get(..dashes)?;
    let is_private =
        label_text.ends_with(b"PRIVATE KEY") || label_text.ends_with(b"PRIVATE KEY BLOCK");
    is_private.then_some(from + dashes + 5)
}

/// Returns the end of the block: after its last line, or where it no longer looks like one.
fn end_of(bytes: &[u8], from: usize) -> usize {
    let rest = piece(bytes, from, from + LONGEST);
    // Up to the next block, so that no byte is read for two of them.
    let rest = rest.get(..memmem::find(rest, BEGIN).unwrap_or(rest.len())).unwrap_or_default();
    let body = rest.iter().position(|b| !is_body(*b)).unwrap_or(rest.len());
    let body = rest.get(..body).unwrap_or_default();
    if let Some(end) = memmem::find(body, END)
        && let Some(stop) = label(bytes, from + end + END.len())
    {
        return stop;
    }
    // Only whole lines of the key: other text may follow.
    let mut last = 0;
    let mut word = 0;
    for (at, byte) in body.iter().enumerate() {
        word = if is_base64(*byte) { word + 1 } else { 0 };
        if word >= 16 {
            last = at + 1;
        } else if at > last + 80 {
            break;
        }
    }
    from + last
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Whether a block may contain this byte, including quotes, margins and colors of the surrounding text. Code always has
/// brackets.
fn is_body(byte: u8) -> bool {
    is_base64(byte)
        || byte.is_ascii_whitespace()
        || matches!(
            byte,
            b'\\' | b'"' | b'\'' | b',' | b':' | b'-' | b'.' | b'>' | b'|' | b'*' | b'#' | b'_'
        )
}
