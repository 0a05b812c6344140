//! Base64 text that contains a secret: `data:` of a Kubernetes secret, `auth` of a Docker configuration, a key in a
//! variable.

use super::edge::{at, piece, run_end};
use super::{Homes, Sink};
use crate::kind::SecretKind;

/// The shortest text that is decoded.
const SHORTEST: usize = 16;
/// Nested encodings are decoded up to this depth.
const DEEPEST: u8 = 2;

/// Kinds that are ignored if only decoded text has them.
const IGNORED_DECODED: &[SecretKind] = &[
    SecretKind::Random,
    SecretKind::Home,
    SecretKind::User,
    SecretKind::Card,
    SecretKind::Phone,
    SecretKind::IpAddress,
];

/// Decodes base64 in a run, and returns the end of the last text that contains a secret.
pub(super) fn look(bytes: &[u8], start: usize, end: usize, sink: &mut Sink<'_>) -> Option<usize> {
    if sink.depth >= DEEPEST {
        return None;
    }
    let mut found = None;
    let mut from = start;
    while from + SHORTEST <= end {
        let stop = run_end(bytes, from, end - from, is_digit);
        found = text(bytes, from, stop, sink).or(found);
        if found.is_none_or(|found| found < stop) && piece(bytes, from, stop).contains(&b'/') {
            found = below(bytes, from, stop, sink).or(found);
        }
        from = found.map_or(stop, |found| found.max(stop)) + 1;
    }
    found
}

/// Decodes what follows a slash, if the whole is not encoded text: `/v1/secrets/…`.
fn below(bytes: &[u8], start: usize, end: usize, sink: &mut Sink<'_>) -> Option<usize> {
    let mut found = None;
    let mut from = start;
    while from < end {
        let stop = run_end(bytes, from, end - from, |b| b != b'/');
        if from > start {
            found = text(bytes, from, stop, sink).or(found);
        }
        from = stop + 1;
    }
    found
}

/// Decodes one run together with the lines that continue it.
fn text(bytes: &[u8], start: usize, end: usize, sink: &mut Sink<'_>) -> Option<usize> {
    if end - start < SHORTEST || !decode(piece(bytes, start, start + SHORTEST)).is_ascii_text() {
        return None;
    }
    let mut encoded = piece(bytes, start, end).to_vec();
    let mut stop = end;
    // Lines that were joined once are not joined again from the next one on.
    while start >= sink.joined && at(bytes, stop) == b'\n' {
        let next = run_end(bytes, stop + 1, usize::MAX, is_digit);
        let is_line = next > stop + 1 && matches!(at(bytes, next), b'\n' | b'=' | 0);
        if !is_line {
            break;
        }
        encoded.extend_from_slice(piece(bytes, stop + 1, next));
        stop = next;
    }
    sink.joined = sink.joined.max(stop);
    let text = decode(&encoded).0;
    let text = String::from_utf8(text).ok()?;
    let mut inside = Vec::new();
    let on = IGNORED_DECODED.iter().fold(sink.on, |on, kind| on & !kind.bit());
    let mut deeper = Sink { on, found: &mut inside, depth: sink.depth + 1, joined: 0 };
    super::scan(&text, &Homes::new(&[]), &mut deeper);
    let kind = inside.iter().map(|finding| finding.kind).min()?;
    let stop = run_end(bytes, stop, 2, |b| b == b'=');
    sink.put(kind, start..stop);
    Some(stop)
}

/// Whether a value is a user name and a password in base64, as for `Basic` and Docker.
pub(super) fn is_login(value: &[u8]) -> bool {
    let value = value.split(|b| *b == b'=').next().unwrap_or_default();
    let decoded = decode(value);
    let colon = decoded.0.iter().position(|b| *b == b':');
    value.iter().all(|b| is_digit(*b))
        && decoded.is_ascii_text()
        && colon.is_some_and(|colon| colon > 0 && decoded.0.len() > colon + 3)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Decoded base64.
struct Decoded(Vec<u8>);

impl Decoded {
    fn is_ascii_text(&self) -> bool {
        let is_text = |b: &u8| b.is_ascii_graphic() || matches!(b, b' ' | b'\n' | b'\r' | b'\t');
        !self.0.is_empty() && self.0.iter().all(is_text)
    }
}

/// Decodes both alphabets; other characters are skipped.
fn decode(encoded: &[u8]) -> Decoded {
    let mut out = Vec::with_capacity(encoded.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in encoded {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = (bits << 6 | u32::from(value)) & 0x00ff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(bits >> count & 0xff).unwrap_or(0));
        }
    }
    Decoded(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_alphabets_are_decoded() {
        assert_eq!(decode(b"aHVudGVyMg==").0, b"hunter2");
        assert_eq!(decode(b"_-8").0, [0xff, 0xef]);
        assert!(is_login(b"c2hvcDpodW50ZXIy") && is_login(b"c2hvcDpodW50ZXI="));
        assert!(!is_login(b"aHVudGVyMg==") && !is_login(b"basic") && !is_login(b""));
    }
}
