//! Secrets whose names stand before them without a sign: `password hunter2` in a `.netrc`, `auth_token 0f3a…`, `IDENTIFIED BY '…'`,
//! `define('DB_PASSWORD', '…')`, `setPassword("…")`, and "the password is …".

use memchr::memmem;

use super::edge::{after_escape, at, before, is_word, piece, stretch, stretch_back};
use super::name::{LONGEST, Says, is_shouted, says};
use super::value::{Value, is_drawn, is_placeholder, is_secret, read};
use super::{Sink, guess};
use crate::kind::SecretKind;

/// How names end that are looked at; the first letter may be large or small.
const STEMS: &[&[u8]] = &[
    b"assword",
    b"ASSWORD",
    b"asswd",
    b"assphrase",
    b"oken",
    b"OKEN",
    b"ecret",
    b"ECRET",
    b"_key",
    b"_KEY",
    b"piKey",
    b"equirepass",
    b"asterauth",
];
/// How far before a password the name of the user may stand.
const LOGIN: usize = 160;

pub(super) fn scan(bytes: &[u8], sink: &mut Sink<'_>) {
    for stem in STEMS {
        for place in memmem::find_iter(bytes, stem) {
            let end = place + stem.len();
            if !is_word(at(bytes, end)) {
                named(bytes, end, sink);
            }
        }
    }
    for by in [&b"DENTIFIED BY "[..], b"dentified by "] {
        for place in memmem::find_iter(bytes, by) {
            let mut from = place + by.len();
            for word in [&b"PASSWORD "[..], b"VALUES "] {
                from += if piece(bytes, from, from + word.len()) == word { word.len() } else { 0 };
            }
            let value = read(bytes, from).filter(|value| value.is_quoted);
            put(value.filter(|value| value.bytes.len() >= 4), SecretKind::Password, sink);
        }
    }
}

fn named(bytes: &[u8], end: usize, sink: &mut Sink<'_>) {
    let start = stretch_back(bytes, end, LONGEST, |b| is_word(b) || matches!(b, b'-' | b'.'));
    let start = after_escape(bytes, start).min(end);
    let name = piece(bytes, start, end);
    let closing = stretch(bytes, end, 2, |b| matches!(b, b'"' | b'\'' | b'`'));
    let (says, found) = match at(bytes, closing) {
        b' ' | b'\t' if closing == end => {
            let Some(says) = says(name).or_else(|| directive(name)) else { return };
            (says, spoken(bytes, (start, end), says))
        }
        b',' if closing > end => {
            let Some(says) = says(name) else { return };
            (says, argument(bytes, closing + 1, name, says))
        }
        b'(' if closing == end => {
            let Some(says) = says(name).filter(|_| !asks(name)) else { return };
            (says, argument(bytes, closing + 1, b"", says))
        }
        _ => return,
    };
    let kind = match says {
        Says::Password | Says::MaybePassword => SecretKind::Password,
        Says::Aws => SecretKind::AwsSecret,
        Says::Azure => SecretKind::AzureKey,
        _ => SecretKind::Secret,
    };
    put(found, kind, sink);
}

fn put(found: Option<Value<'_>>, kind: SecretKind, sink: &mut Sink<'_>) {
    if let Some(value) = found
        && !is_placeholder(value.bytes)
        && !value.bytes.contains(&b' ')
    {
        sink.put(kind, value.range);
    }
}

/// Settings of servers that are followed by their value.
fn directive(name: &[u8]) -> Option<Says> {
    matches!(name, b"requirepass" | b"masterauth").then_some(Says::Password)
}

/// `name value`, `name is value`, `name 'value'`.
fn spoken(bytes: &[u8], (start, end): (usize, usize), says: Says) -> Option<Value<'_>> {
    let name = piece(bytes, start, end);
    let from = stretch(bytes, end, 16, |b| matches!(b, b' ' | b'\t'));
    let verb = stretch(bytes, from, 4, |b| b.is_ascii_lowercase());
    let is_said = matches!(piece(bytes, from, verb), b"is" | b"was" | b"to" | b"of")
        && at(bytes, verb) == b' ';
    let value = read(bytes, if is_said { verb } else { from })?;
    let mix = guess::mix(value.bytes);
    let is_mixed =
        value.bytes.len() >= 6 && mix.upper + mix.lower > 0 && mix.digits + mix.others > 0;
    let fits = match says {
        Says::Password if directive(name).is_some() => value.bytes.len() >= 6,
        Says::Password if value.is_quoted => is_secret(&value, says, false),
        Says::Password if is_said => is_mixed && mix.digits > 0 && is_secret(&value, says, false),
        Says::Password => value.bytes.len() >= 4 && follows_login(bytes, start),
        Says::Secret | Says::Aws | Says::Azure => {
            // `auth_token`, `API_KEY`: a word alone is a word of a sentence.
            let is_name = name.iter().any(|b| matches!(b, b'_' | b'-' | b'.')) || is_shouted(name);
            value.bytes.len() >= 16
                && mix.digits > 1
                && (is_name || is_said || value.is_quoted)
                && is_drawn(value.bytes)
        }
        _ => false,
    };
    fits.then_some(value)
}

/// Whether the name of a user stands before, as in a `.netrc`.
fn follows_login(bytes: &[u8], start: usize) -> bool {
    let head = piece(bytes, start.saturating_sub(LOGIN), start);
    let login = [&b"login "[..], b"machine ", b"account "];
    let place =
        login.iter().filter_map(|word| memmem::rfind(head, word).map(|at| at + word.len())).max();
    // A word or two between: the user, or the host and the word for it.
    let between = place.and_then(|place| head.get(place..));
    let words =
        |text: &[u8]| text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    let is_bare = |text: &[u8]| {
        !text.iter().any(|b| matches!(b, b',' | b';' | b'(' | b'{' | b'.') && text.len() < 2)
    };
    between.is_some_and(|text| (1..=3).contains(&words(text)) && is_bare(text))
        && memmem::find(head, b"login ").is_some()
}

/// `'NAME', 'value'` and `name("value")`.
fn argument<'t>(bytes: &'t [u8], from: usize, name: &[u8], says: Says) -> Option<Value<'t>> {
    let value = read(bytes, from).filter(|value| value.is_quoted)?;
    let has_digits = value.bytes.iter().any(u8::is_ascii_digit);
    let shouted = is_shouted(name);
    ((has_digits || shouted) && is_secret(&value, says, shouted)).then_some(value)
}

/// Whether a name asks for something, and does not set it.
fn asks(name: &[u8]) -> bool {
    const VERBS: &[&str] = &[
        "get", "has", "is", "find", "hash", "check", "verify", "match", "assert", "expect", "test",
        "parse", "validate", "ends", "is_",
    ];
    let lower = name.to_ascii_lowercase();
    VERBS.iter().any(|verb| lower.starts_with(verb.as_bytes())) || before(name, name.len()) == b'.'
}
