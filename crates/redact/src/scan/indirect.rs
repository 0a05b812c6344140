//! Values whose own name is generic because another name precedes it: `name: DB_PASSWORD` and `value: …` of a container,
//! `variable "db_password"` and its `default`, `"db_password": {"value": …}` of a state.

use memchr::{memmem, memrchr};

use super::edge::{is_word, piece, run_end, run_start};
use super::name::{LONGEST, NameHint, hint};

/// The maximum distance between such a name and its value.
const NEAR: usize = 320;

/// Returns the hint for the value whose own name begins here.
pub(super) fn preceding_hint(bytes: &[u8], own: usize) -> Option<NameHint> {
    let from = own.saturating_sub(NEAR);
    let head = piece(bytes, from, own);
    // Anything before the last closing brace belongs to something else.
    let head = memrchr(b'}', head).map_or(head, |brace| head.get(brace..).unwrap_or_default());
    if let Some(place) = memmem::rfind(head, b"variable \"") {
        return named(head, place + 10);
    }
    if let Some(name) = listed(head) {
        return Some(name);
    }
    let brace = memrchr(b'{', head)?;
    let end = run_start(head, brace, 12, |b| {
        matches!(b, b' ' | b':' | b'=' | b'"' | b'\'' | b'\\' | b'>')
    });
    let start = run_start(head, end, LONGEST, is_name);
    certain(piece(head, start, end))
}

/// Reads `name: X`, `"name": "X"`, `key="X"`: the last of them, unless there is another value in between.
fn listed(head: &[u8]) -> Option<NameHint> {
    let places = [&b"name"[..], b"Name", b"key", b"Key", b"NAME"];
    let (place, length) = places
        .iter()
        .filter_map(|word| memmem::rfind(head, word).map(|place| (place, word.len())))
        .max()?;
    let rest = head.get(place + length..)?;
    if memmem::find(rest, b"alue").is_some() {
        return None;
    }
    let gap = rest.iter().take(12).position(|b| is_name(*b))?;
    let is_sign = rest.get(..gap)?.iter().any(|b| matches!(b, b':' | b'='));
    if is_sign { named(rest, gap) } else { None }
}

fn named(head: &[u8], start: usize) -> Option<NameHint> {
    certain(piece(head, start, run_end(head, start, LONGEST, is_name)))
}

/// Returns only hints that leave no doubt.
fn certain(name: &[u8]) -> Option<NameHint> {
    hint(name).filter(|hint| {
        matches!(hint, NameHint::Password | NameHint::Secret | NameHint::Aws | NameHint::Azure)
    })
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'-' | b'.')
}
