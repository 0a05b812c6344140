//! Passwords in URLs: `scheme://user:password@host`.

use memchr::memmem;

use super::Sink;
use super::edge::{before, piece};
use super::value::is_placeholder;
use crate::kind::SecretKind;

/// The longest `user:password@host` that is looked at.
const LONGEST: usize = 512;

pub(super) fn scan(bytes: &[u8], sink: &mut Sink<'_>) {
    for scheme in memmem::find_iter(bytes, b"://") {
        if !before(bytes, scheme).is_ascii_alphanumeric() {
            continue;
        }
        let start = scheme + 3;
        let rest = piece(bytes, start, start + LONGEST);
        let length = rest.iter().position(|b| ends_host(*b)).unwrap_or(rest.len());
        let host = rest.get(..length).unwrap_or_default();
        let Some(sign) = host.iter().rposition(|b| *b == b'@') else { continue };
        let user = host.get(..sign).unwrap_or_default();
        let Some(colon) = user.iter().position(|b| *b == b':') else {
            lone_token(start, user, sink);
            continue;
        };
        let password = user.get(colon + 1..).unwrap_or_default();
        if !password.is_empty() && !is_placeholder(password) && sign + 1 < host.len() {
            sink.put(SecretKind::UrlPassword, start + colon + 1..start + sign);
        }
    }
}

/// `https://token@host`: a user name of that length is none.
fn lone_token(start: usize, user: &[u8], sink: &mut Sink<'_>) {
    let mixed = super::guess::mix(user);
    if user.len() >= 20
        && mixed.digits > 1
        && mixed.upper + mixed.lower > 4
        && !is_placeholder(user)
    {
        sink.put(SecretKind::UrlPassword, start..start + user.len());
    }
}

fn ends_host(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(
            byte,
            b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'(' | b')' | b'{' | b'|'
        )
}
