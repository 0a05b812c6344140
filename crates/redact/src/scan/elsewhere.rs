//! Values whose own name says nothing, as what they are is said before: `name: DB_PASSWORD` and `value: …` of a container,
//! `variable "db_password"` and its `default`, `"db_password": {"value": …}` of a state.

use memchr::{memmem, memrchr};

use super::edge::{is_word, piece, stretch, stretch_back};
use super::name::{LONGEST, Says, says};

/// How far before its value a name may stand.
const NEAR: usize = 320;

/// Returns what is said of the value whose own name begins here.
pub(super) fn said(bytes: &[u8], own: usize) -> Option<Says> {
    let from = own.saturating_sub(NEAR);
    let head = piece(bytes, from, own);
    // What stands before the last closing brace belongs to something else.
    let head = memrchr(b'}', head).map_or(head, |brace| head.get(brace..).unwrap_or_default());
    if let Some(place) = memmem::rfind(head, b"variable \"") {
        return named(head, place + 10);
    }
    if let Some(name) = listed(head) {
        return Some(name);
    }
    let brace = memrchr(b'{', head)?;
    let end = stretch_back(head, brace, 12, |b| {
        matches!(b, b' ' | b':' | b'=' | b'"' | b'\'' | b'\\' | b'>')
    });
    let start = stretch_back(head, end, LONGEST, is_name);
    certain(piece(head, start, end))
}

/// `name: X`, `"name": "X"`, `key="X"`: the last of them, unless another value stands between.
fn listed(head: &[u8]) -> Option<Says> {
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

fn named(head: &[u8], start: usize) -> Option<Says> {
    certain(piece(head, start, stretch(head, start, LONGEST, is_name)))
}

/// Only names that leave no doubt.
fn certain(name: &[u8]) -> Option<Says> {
    says(name)
        .filter(|says| matches!(says, Says::Password | Says::Secret | Says::Aws | Says::Azure))
}

fn is_name(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'-' | b'.')
}
