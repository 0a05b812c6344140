//! Passwords in URLs: `scheme://user:password@host`.

use memchr::memmem;

use super::Sink;
use super::edge::{before, piece};
use super::value::is_placeholder;
use crate::kind::SecretKind;

/// The longest `user:password@host` that is read.
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
        let (host, sign) = match host.iter().rposition(|b| *b == b'@') {
            Some(sign) => (host, sign),
            None => match slashed(rest, length) {
                Some(found) => found,
                None => continue,
            },
        };
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

/// Reads `user:pass/word@host`: what precedes the slash is not a host and port, and what follows the last `@` is a host.
fn slashed(rest: &[u8], slash: usize) -> Option<(&[u8], usize)> {
    if rest.get(slash) != Some(&b'/') {
        return None;
    }
    let head = rest.get(..slash)?;
    let colon = head.iter().position(|b| *b == b':')?;
    let port = head.get(colon + 1..)?;
    if port.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let end = rest.iter().position(|b| *b != b'/' && ends_host(*b)).unwrap_or(rest.len());
    let whole = rest.get(..end)?;
    let sign = whole.iter().rposition(|b| *b == b'@')?;
    let host = whole.get(sign + 1..)?;
    let name =
        host.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-')).count();
    let is_host = name > 2 && matches!(host.get(name), None | Some(b':' | b'/' | b'?'));
    // The part after the slash must be as short as the rest of a password.
    (is_host && sign - slash <= 64).then_some((whole, sign))
}

/// Reads `https://token@host`: this is too long for a user name.
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
