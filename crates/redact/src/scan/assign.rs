//! Values of names that say secret: `password=…`, `"apiKey": "…"`, `export FOO_TOKEN=…`, `<password>…`, and headers.

use memchr::{memchr3_iter, memmem};

use super::Sink;
use super::edge::{after_escape, at, before, is_word, piece, stretch, stretch_back};
use super::name::{LONGEST, Says, is_shouted, says};
use super::value::{is_placeholder, is_secret, read};
use super::{bearer, guess};
use crate::kind::SecretKind;

/// The longest line of cookies.
const COOKIES: usize = 4096;

pub(super) fn scan(bytes: &[u8], sink: &mut Sink<'_>) {
    for sign in memchr3_iter(b'=', b':', b'>', bytes) {
        if let Some((name, from)) = sides(bytes, sign)
            && let Some(says) = says(name)
        {
            let shouted = from == sign + 1 && at(bytes, sign) == b'=' && is_shouted(name);
            judge(bytes, from, says, shouted, sink);
        }
    }
    flags(bytes, sink);
}

/// Returns the name before a sign, and where its value may begin.
fn sides(bytes: &[u8], sign: usize) -> Option<(&[u8], usize)> {
    let next = at(bytes, sign + 1);
    let (mut end, mut from) = (sign, sign + 1);
    match at(bytes, sign) {
        b'=' => {
            if next == b'=' || matches!(before(bytes, sign), b'=' | b'!' | b'<' | b'>' | b'~') {
                return None;
            }
            from += usize::from(next == b'>');
            end -= usize::from(matches!(before(bytes, sign), b':' | b'?' | b'+'));
        }
        b':' if matches!(next, b':' | b'=') || before(bytes, sign) == b':' => return None,
        b'>' if !is_word(before(bytes, sign)) || !is_element(bytes, from) => return None,
        _ => {}
    }
    let end = stretch_back(bytes, end, 16, |b| matches!(b, b' ' | b'\t'));
    let end =
        stretch_back(bytes, end, 4, |b| matches!(b, b'"' | b'\'' | b'`' | b'\\' | b'*' | b']'));
    if !is_word(before(bytes, end)) {
        return None;
    }
    let start = stretch_back(bytes, end, LONGEST, |b| is_word(b) || matches!(b, b'-' | b'.'));
    let start = after_escape(bytes, start).min(end);
    if at(bytes, sign) == b'>' && before(bytes, start) != b'<' {
        return None;
    }
    Some((piece(bytes, start, end), from))
}

/// Whether a value stands between two tags of a markup.
fn is_element(bytes: &[u8], from: usize) -> bool {
    let end = stretch(bytes, from, 256, |b| !b.is_ascii_whitespace() && b != b'<');
    end > from && piece(bytes, end, end + 2) == b"</"
}

fn judge(bytes: &[u8], from: usize, says: Says, shouted: bool, sink: &mut Sink<'_>) {
    match says {
        Says::Authorization => return bearer::credentials(bytes, from, sink),
        Says::Cookie => return cookies(bytes, from, usize::MAX, sink),
        Says::SetCookie => return cookies(bytes, from, 1, sink),
        _ => {}
    }
    let kind = match says {
        Says::Password | Says::MaybePassword => SecretKind::Password,
        Says::Session => SecretKind::Cookie,
        Says::Aws => SecretKind::AwsSecret,
        Says::Azure => SecretKind::AzureKey,
        _ => SecretKind::Secret,
    };
    if !sink.wants(kind) {
        return;
    }
    if let Some(value) = read(bytes, from)
        && is_secret(&value, says, shouted)
    {
        sink.put(kind, value.range);
    }
}

/// `--password …` and `-u name:password`.
fn flags(bytes: &[u8], sink: &mut Sink<'_>) {
    for dashes in memmem::find_iter(bytes, b" --") {
        let start = dashes + 3;
        let end = stretch(bytes, start, LONGEST, |b| b.is_ascii_alphanumeric() || b == b'-');
        if at(bytes, end) == b' '
            && let Some(says @ (Says::Password | Says::Secret)) = says(piece(bytes, start, end))
        {
            judge(bytes, end + 1, says, false, sink);
        }
    }
    for dash in memmem::find_iter(bytes, b" -u ") {
        let start = dash + 4;
        let Some(user) = read(bytes, start) else { continue };
        let Some(colon) = user.bytes.iter().position(|b| *b == b':') else { continue };
        let password = user.bytes.get(colon + 1..).unwrap_or_default();
        let mix = guess::mix(password);
        let is_word =
            password.len() >= 6 && mix.upper + mix.lower > 0 && mix.digits + mix.others > 0;
        if is_word && !is_placeholder(password) {
            sink.put(SecretKind::Password, user.range.start + colon + 1..user.range.end);
        }
    }
}

/// `a=1; b=2`: values that are long enough to be somebody's session.
fn cookies(bytes: &[u8], from: usize, count: usize, sink: &mut Sink<'_>) {
    let mut place = stretch(bytes, from, 8, |b| matches!(b, b' ' | b'"' | b'\'' | b'\\' | b'\t'));
    let limit = from + COOKIES;
    for _ in 0..count {
        let equals = stretch(bytes, place, LONGEST, |b| is_word(b) || matches!(b, b'-' | b'.'));
        if at(bytes, equals) != b'=' || equals == place || place > limit {
            return;
        }
        let start = equals + 1;
        let end = stretch(bytes, start, COOKIES, |b| {
            b.is_ascii_graphic() && !matches!(b, b';' | b'"' | b'\'' | b'\\' | b',' | b'<' | b'`')
        });
        let value = piece(bytes, start, end);
        let mix = guess::mix(value);
        let is_telling =
            value.len() >= 8 && (mix.digits > 1 || value.len() >= 20) && mix.changes > 1;
        if is_telling && !is_placeholder(value) {
            sink.put(SecretKind::Cookie, start..end);
        }
        if at(bytes, end) != b';' {
            return;
        }
        place = stretch(bytes, end + 1, 4, |b| b == b' ');
    }
}
