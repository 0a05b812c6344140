//! Secrets that follow their names without a sign: `password hunter2` in a `.netrc`, `auth_token 0f3a…`, `IDENTIFIED BY
//! '…'`, `define('DB_PASSWORD', '…')`, `setPassword("…")`, and "the password is …".

use memchr::memmem;

use super::edge::{after_escape, at, before, is_word, piece, run_end, run_start};
use super::name::{LONGEST, NameHint, hint, is_env_style};
use super::value::{Value, is_placeholder, is_secret, looks_generated, read};
use super::{Sink, guess};
use crate::kind::SecretKind;

/// Name endings to search for; the first letter may be in either case.
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
/// Calls whose arguments are keys, by the end of their names.
const CLIENTS: &[&[u8]] = &[
    b"algoliasearch(",
    b"wilio(",
    b"Wallet(",
    b"rivateKeyToAccount(",
    b"romSecretKey(",
    b"jwt.sign(",
    b"jwt.verify(",
];
/// The maximum length of such arguments.
const ARGUMENTS: usize = 200;
/// The maximum distance between a user name and its password.
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
    for call in CLIENTS {
        for place in memmem::find_iter(bytes, call) {
            arguments(bytes, place + call.len(), sink);
        }
    }
    for by in [&b"DENTIFIED BY "[..], b"dentified by "] {
        for place in memmem::find_iter(bytes, by) {
            let mut from = place + by.len();
            for word in [&b"PASSWORD "[..], b"VALUES "] {
                from += if piece(bytes, from, from + word.len()) == word { word.len() } else { 0 };
            }
            // A backtick quotes a name in prose: "identified by `name`".
            let is_text = |value: &Value<'_>| {
                value.is_quoted
                    && before(bytes, value.range.start) != b'`'
                    && value.bytes.len() >= 4
            };
            put(read(bytes, from).filter(is_text), SecretKind::Password, sink);
        }
    }
}

fn named(bytes: &[u8], end: usize, sink: &mut Sink<'_>) {
    let start = run_start(bytes, end, LONGEST, |b| is_word(b) || matches!(b, b'-' | b'.'));
    let start = after_escape(bytes, start).min(end);
    let name = piece(bytes, start, end);
    let closing = run_end(bytes, end, 2, |b| matches!(b, b'"' | b'\'' | b'`'));
    let (hint, found) = match at(bytes, closing) {
        b' ' | b'\t' if closing == end => {
            let Some(hint) = hint(name).or_else(|| directive(name)) else { return };
            (hint, prose(bytes, (start, end), hint))
        }
        b',' if closing > end => {
            let Some(hint) = hint(name) else { return };
            (hint, argument(bytes, closing + 1, name, hint))
        }
        b'(' if closing == end => {
            let Some(hint) = hint(name).filter(|_| !asks(name)) else { return };
            (hint, argument(bytes, closing + 1, b"", hint))
        }
        _ => return,
    };
    let kind = match hint {
        NameHint::Password | NameHint::MaybePassword => SecretKind::Password,
        NameHint::Aws => SecretKind::AwsSecret,
        NameHint::Azure => SecretKind::AzureKey,
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

/// Returns the hint for a server setting that is followed by its value.
fn directive(name: &[u8]) -> Option<NameHint> {
    matches!(name, b"requirepass" | b"masterauth").then_some(NameHint::Password)
}

/// Reads `name value`, `name is value`, `name 'value'`.
fn prose(bytes: &[u8], (start, end): (usize, usize), hint: NameHint) -> Option<Value<'_>> {
    let name = piece(bytes, start, end);
    let from = run_end(bytes, end, 16, |b| matches!(b, b' ' | b'\t'));
    let verb = run_end(bytes, from, 4, |b| b.is_ascii_lowercase());
    let is_said = matches!(piece(bytes, from, verb), b"is" | b"was" | b"to" | b"of")
        && at(bytes, verb) == b' ';
    let value = read(bytes, if is_said { verb } else { from })?;
    let mix = guess::mix(value.bytes);
    let is_mixed =
        value.bytes.len() >= 6 && mix.upper + mix.lower > 0 && mix.digits + mix.others > 0;
    let fits = match hint {
        NameHint::Password if directive(name).is_some() => value.bytes.len() >= 6,
        NameHint::Password if value.is_quoted => is_secret(&value, hint, false),
        NameHint::Password if is_said => {
            is_mixed && mix.digits > 0 && is_secret(&value, hint, false)
        }
        NameHint::Password => value.bytes.len() >= 4 && follows_login(bytes, start),
        NameHint::Secret | NameHint::Aws | NameHint::Azure => {
            // `auth_token`, `API_KEY`: a plain word is part of a sentence.
            let is_name = name.iter().any(|b| matches!(b, b'_' | b'-' | b'.'))
                || is_env_style(name)
                || follows_kind(bytes, start);
            value.bytes.len() >= 16
                && mix.digits > 1
                && (is_name || is_said || value.is_quoted)
                && looks_generated(value.bytes)
        }
        _ => false,
    };
    fits.then_some(value)
}

/// Whether it is an `api token`, an `access key`, and the like.
fn follows_kind(bytes: &[u8], start: usize) -> bool {
    const KINDS: &[&[u8]] = &[
        b"api ",
        b"API ",
        b"access ",
        b"auth ",
        b"bearer ",
        b"bot ",
        b"deploy ",
        b"personal ",
        b"refresh ",
        b"secret ",
        b"session ",
    ];
    let head = piece(bytes, start.saturating_sub(10), start);
    KINDS.iter().any(|kind| head.ends_with(kind))
}

/// Whether a user name precedes it, as in a `.netrc`.
fn follows_login(bytes: &[u8], start: usize) -> bool {
    let head = piece(bytes, start.saturating_sub(LOGIN), start);
    let login = [&b"login "[..], b"machine ", b"account "];
    let place =
        login.iter().filter_map(|word| memmem::rfind(head, word).map(|at| at + word.len())).max();
    // One or two words in between: the user, or the host and its keyword.
    let between = place.and_then(|place| head.get(place..));
    let words =
        |text: &[u8]| text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
    let is_bare = |text: &[u8]| {
        !text.iter().any(|b| matches!(b, b',' | b';' | b'(' | b'{' | b'.') && text.len() < 2)
    };
    between.is_some_and(|text| (1..=3).contains(&words(text)) && is_bare(text))
        && memmem::find(head, b"login ").is_some()
}

/// Reads `'NAME', 'value'` and `name("value")`.
fn argument<'t>(bytes: &'t [u8], from: usize, name: &[u8], hint: NameHint) -> Option<Value<'t>> {
    let value = read(bytes, from).filter(|value| value.is_quoted)?;
    let has_digits = value.bytes.iter().any(u8::is_ascii_digit);
    let is_env_name = is_env_style(name);
    ((has_digits || is_env_name) && is_secret(&value, hint, is_env_name)).then_some(value)
}

/// Reads the quoted arguments of a call up to its end.
fn arguments(bytes: &[u8], from: usize, sink: &mut Sink<'_>) {
    let end = run_end(bytes, from, ARGUMENTS, |b| !matches!(b, b')' | b'\n' | b'('));
    let mut next = from;
    while next < end {
        let quote = run_end(bytes, next, end - next, |b| !matches!(b, b'"' | b'\'' | b'`'));
        let value = read(bytes, quote).filter(|value| value.is_quoted && value.range.end <= end);
        let Some(value) = value else { return };
        next = value.range.end + 1;
        let key = value.bytes.strip_prefix(b"0x").unwrap_or(value.bytes);
        if key.len() >= 20 && looks_generated(key) {
            put(Some(value), SecretKind::Secret, sink);
        }
    }
}

/// Whether a name reads something rather than sets it.
fn asks(name: &[u8]) -> bool {
    const VERBS: &[&str] = &[
        "get", "has", "is", "find", "hash", "check", "verify", "match", "assert", "expect", "test",
        "parse", "validate", "ends", "is_",
    ];
    let lower = name.to_ascii_lowercase();
    VERBS.iter().any(|verb| lower.starts_with(verb.as_bytes())) || before(name, name.len()) == b'.'
}
