//! Finds the value of a name, and decides whether it is a secret or only mentions one.

use std::ops::Range;

use memchr::memmem;

use super::edge::{at, before, piece, run_end};
use super::guess::{HALF, entropy, is_dummy, mix, reads_as_words};
use super::name::NameHint;
use crate::tags::tag_end;

/// The longest values that are read, without quotes and with.
const BARE: usize = 2048;
const QUOTED: usize = 4096;

/// A value in the text.
#[derive(Debug)]
pub(super) struct Value<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) range: Range<usize>,
    pub(super) is_quoted: bool,
    /// Whether it directly follows `=`.
    is_set: bool,
    /// What ended it.
    next: u8,
}

/// Reads the value that begins here, after spaces and quotes.
pub(super) fn read(bytes: &[u8], from: usize) -> Option<Value<'_>> {
    Reader::default().read(bytes, from)
}

/// Reads values from front to back. No run is read twice.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The last value without quotes.
    bare: Range<usize>,
}

impl Reader {
    fn end(&mut self, bytes: &[u8], from: usize) -> usize {
        if !self.bare.contains(&from) {
            self.bare = from..run_end(bytes, from, usize::MAX, |b| !ends_bare(b));
        }
        self.bare.end.max(from)
    }

    /// Reads the value that begins here, after spaces and quotes.
    pub(super) fn read<'t>(&mut self, bytes: &'t [u8], from: usize) -> Option<Value<'t>> {
        let from = run_end(bytes, from, 16, |b| matches!(b, b' ' | b'\t'));
        // `b'…'`, `r"…"`, `u'…'`
        let is_prefix = matches!(at(bytes, from), b'b' | b'r' | b'u')
            && matches!(at(bytes, from + 1), b'"' | b'\'');
        let from = from + usize::from(is_prefix);
        let slashes = run_end(bytes, from, 8, |b| b == b'\\') - from;
        let quote = at(bytes, from + slashes);
        if matches!(quote, b'"' | b'\'' | b'`') {
            let start = from + slashes + 1;
            let end = close(bytes, start, quote, slashes)?;
            return Some(Value {
                bytes: piece(bytes, start, end),
                range: start..end,
                is_quoted: true,
                is_set: false,
                next: quote,
            });
        }
        let mut end = self.end(bytes, from).min(from + BARE);
        // `</` closes an element; `<` alone opens the parameters of a type.
        let closes = at(bytes, end) == b'<' && at(bytes, end + 1) == b'/';
        let next = if closes { 0 } else { at(bytes, end) };
        while end > from && matches!(before(bytes, end), b'.' | b':' | b'!' | b'?') {
            end -= 1;
        }
        let is_set = before(bytes, from) == b'=' && before(bytes, from.saturating_sub(1)) != b' ';
        let bytes = piece(bytes, from, end);
        Some(Value { bytes, range: from..end, is_quoted: false, is_set, next })
    }
}

/// Returns where the quotes close that were opened with `slashes` backslashes: the end of the quoted text.
fn close(bytes: &[u8], start: usize, quote: u8, slashes: usize) -> Option<usize> {
    let rest = piece(bytes, start, start + QUOTED);
    let mut behind = 0;
    for (length, byte) in rest.iter().enumerate() {
        match *byte {
            b'\\' => behind += 1,
            b'\n' => return None,
            byte if byte == quote => {
                let closes = if slashes == 0 { behind % 2 == 0 } else { behind <= slashes };
                if closes {
                    return Some(start + length - behind.min(slashes));
                }
                behind = 0;
            }
            _ => behind = 0,
        }
    }
    None
}

fn ends_bare(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(
            byte,
            b'"' | b'\''
                | b'`'
                | b','
                | b';'
                | b'&'
                | b'('
                | b')'
                | b'{'
                | b'}'
                | b'['
                | b']'
                | b'<'
                | b'>'
                | b'\\'
                | b'|'
        )
}

/// Whether this is a placeholder for a secret, or code that reads one.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let Some(first) = value.first() else { return true };
    let starts_code = matches!(
        first,
        b'$' | b'<' | b'{' | b'%' | b'*' | b'(' | b'/' | b'~' | b'.' | b'&' | b'=' | b':' | b','
    );
    let lower = value.to_ascii_lowercase();
    let holds = |hint: &str| memmem::find(&lower, hint.as_bytes()).is_some();
    let mut distinct = [false; 256];
    for byte in &lower {
        if let Some(seen) = distinct.get_mut(usize::from(*byte)) {
            *seen = true;
        }
    }
    let is_tag = *first == b'[' && tag_end(value, 0).is_some();
    let letters: Vec<u8> = lower.iter().copied().filter(u8::is_ascii_alphabetic).collect();
    starts_code
        || is_tag
        || distinct.iter().filter(|seen| **seen).count() < 3
        || WORDS.iter().any(|word| letters == word.as_bytes() && letters.len() == lower.len())
        || HINTS.iter().any(|hint| holds(hint))
}

const WORDS: &[&str] = &[
    "password",
    "passwort",
    "passwd",
    "pass",
    "secret",
    "token",
    "null",
    "none",
    "nil",
    "undefined",
    "true",
    "false",
    "string",
    "str",
    "optional",
    "required",
    "user",
    "admin",
    "root",
    "test",
    "dummy",
    "empty",
    "hidden",
    "value",
    "apikey",
    "key",
    "mykey",
    "mysecret",
    "mytoken",
    "mypassword",
    "sensitive",
];

const HINTS: &[&str] = &[
    "changeme",
    "change-me",
    "change_me",
    "your",
    "example",
    "placeholder",
    "redacted",
    "xxxx",
    "****",
    "....",
    "${",
    "{{",
    "}}",
    "$(",
    "<%",
    "process.env",
    "import.meta",
    "os.environ",
    "getenv",
    "env.",
    "secrets.",
    "://",
    "…",
    "todo",
    "my-secret",
    "my_secret",
    "my-token",
    "dummy",
    "insert",
];

/// Whether the value is the secret that its name indicates. `is_env_name`: the name is that of an environment variable and the
/// value directly follows `=`.
pub(super) fn is_secret(value: &Value<'_>, hint: NameHint, is_env_name: bool) -> bool {
    let bytes = value.bytes;
    // Too long, or code; slow checks come last.
    if !value.is_quoted && bytes.len() >= BARE || is_call(value) {
        return false;
    }
    if hint == NameHint::Phrase {
        return is_phrase(bytes, 4);
    }
    if bytes.contains(&b' ') {
        let least = if is_env_name { 2 } else { 4 };
        return hint == NameHint::Password && value.is_quoted && is_phrase(bytes, least);
    }
    // The format of keys in PHP and Laravel.
    let bytes = bytes.strip_prefix(b"base64:").unwrap_or(bytes);
    let value = &Value { bytes, range: value.range.clone(), ..*value };
    looks_secret(value, hint, is_env_name) && !is_reference(bytes) && !is_placeholder(bytes)
}

/// Whether it is a passphrase of this many words or more, and not a sentence.
fn is_phrase(bytes: &[u8], least: usize) -> bool {
    const OF_SENTENCES: &[&[u8]] = &[
        b"the",
        b"a",
        b"an",
        b"is",
        b"are",
        b"to",
        b"of",
        b"for",
        b"in",
        b"on",
        b"and",
        b"or",
        b"not",
        b"your",
        b"must",
        b"be",
        b"with",
        b"this",
        b"that",
        b"it",
        b"no",
        b"at",
        b"if",
        b"from",
        b"by",
        b"as",
        b"can",
        b"was",
        b"has",
        b"have",
        b"will",
        b"should",
        b"enter",
        b"please",
        b"password",
        b"invalid",
        b"required",
        b"words",
        b"word",
    ];
    let mut count = 0;
    for word in bytes.split(|b| *b == b' ') {
        let is_word = (3..=10).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase);
        if !is_word || OF_SENTENCES.contains(&word) {
            return false;
        }
        count += 1;
    }
    count >= least
}

/// Whether it is a word without digits that does not mention passwords.
pub(super) fn is_bare_word(bytes: &[u8]) -> bool {
    (6..=24).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_lowercase) && !is_label(bytes)
}

/// Whether it is a password as Apple and Google make them for one program: four times four letters.
fn is_app_password(bytes: &[u8]) -> bool {
    bytes.len() == 19
        && bytes
            .iter()
            .enumerate()
            .all(|(at, b)| if at % 5 == 4 { *b == b'-' } else { b.is_ascii_lowercase() })
}

fn looks_secret(value: &Value<'_>, hint: NameHint, is_env_name: bool) -> bool {
    let bytes = value.bytes;
    let mix = mix(bytes);
    let letters = mix.upper + mix.lower;
    // In a shell and in a configuration file nothing follows it on its line; in code, something does.
    let is_last = value.is_set && matches!(value.next, 0 | b'\n' | b'\r' | b'&' | b'\\' | b' ');
    let symbols = bytes.iter().filter(|b| b"!@#$%^&*+=?~".contains(b)).count();
    match hint {
        NameHint::Password => {
            let is_pin = letters == 0 && mix.others == 0 && (4..=12).contains(&bytes.len());
            let is_mixed = bytes.len() >= 6 && letters > 0 && (mix.digits > 0 || symbols > 0);
            let is_phrase =
                value.is_quoted && bytes.len() >= 16 && mix.others >= 3 && bytes.contains(&b'-');
            let is_set = is_env_name && bytes.len() >= 6 && mix.upper < bytes.len();
            // A quoted word that does not mention passwords.
            let is_word = value.is_quoted
                && (6..=24).contains(&bytes.len())
                && mix.lower == bytes.len()
                && !is_label(bytes);
            let is_alone = is_last && is_bare_word(bytes);
            is_pin
                || is_set
                || is_phrase
                || is_word
                || is_alone
                || is_app_password(bytes)
                || (is_mixed && !is_algorithm(bytes))
        }
        NameHint::MaybePassword => {
            let is_set = is_env_name && mix.upper < bytes.len() && !is_label(bytes);
            let is_mixed = mix.digits > 0 && !is_algorithm(bytes);
            bytes.len() >= 6
                && letters > 1
                && (is_set || is_mixed || is_last && is_bare_word(bytes))
        }
        // Agents identify their sessions by UUIDs; a cookie contains something else.
        NameHint::Session => looks_generated(bytes) && !is_id(bytes),
        NameHint::Secret => {
            let is_word =
                mix.upper == bytes.len() && (bytes.len() < 16 || reads_as_words(bytes, HALF));
            let is_set = is_env_name && bytes.len() >= 8 && !is_word && !is_name(bytes);
            is_set || looks_generated(bytes)
        }
        NameHint::MaybeKey => {
            bytes.len() >= 20
                && (is_env_name || mix.digits > 2)
                && looks_generated(bytes)
                && entropy(bytes) > 3.0
        }
        NameHint::Aws => bytes.len() >= 30 && !is_dummy(bytes) && !reads_as_words(bytes, HALF),
        NameHint::Azure => {
            bytes.len() >= 24 && mix.digits > 1 && !is_dummy(bytes) && !reads_as_words(bytes, HALF)
        }
        NameHint::Authorization
        | NameHint::Cookie
        | NameHint::SetCookie
        | NameHint::Login
        | NameHint::Phrase
        | NameHint::Indirect => false,
    }
}

/// Whether it looks generated: digits among letters, or only hexadecimal digits.
pub(super) fn looks_generated(bytes: &[u8]) -> bool {
    let mix = mix(bytes);
    let is_hex = mix.hex == bytes.len() && bytes.len() >= 16 && mix.digits > 0;
    let is_wild =
        bytes.len() >= 10 && mix.digits > 1 && mix.upper + mix.lower > 2 && mix.changes > 3;
    // Without digits, upper and lower case must alternate.
    let is_wild = is_wild || (bytes.len() >= 20 && mix.changes * 3 >= bytes.len());
    (is_hex || (is_wild && !reads_as_words(bytes, HALF)))
        && !is_name(bytes)
        && !is_dummy(bytes)
        && !is_algorithm(bytes)
}

/// Whether a word denotes a password in code: a label, a type, a state.
fn is_label(word: &[u8]) -> bool {
    const PARTS: &[&str] = &[
        "pass", "pwd", "secret", "token", "auth", "login", "cred", "requir", "valid", "hidden",
        "string", "text", "input", "field", "confirm", "current", "forgot", "reset", "change",
        "update", "wrong", "missing", "empty", "default", "random", "generat", "encrypt", "hash",
        "plain", "label", "prompt", "ignore", "disable", "enable", "never", "always", "manual",
        "number", "boolean", "object", "varchar", "bcrypt", "keychain", "keyring", "vault",
        "config", "server", "client", "public", "private", "unknown", "expired", "strict", "basic",
        "bearer", "device", "openid", "email", "username", "unlock", "locked",
    ];
    PARTS.iter().any(|part| memmem::find(word, part.as_bytes()).is_some())
}

/// Whether it consists of words: `token_v2`, `config-2024-01`, `my-app-1.2.3`, `key.pem`.
fn is_name(bytes: &[u8]) -> bool {
    if is_id(bytes) {
        return false;
    }
    bytes.split(|b| matches!(b, b'_' | b'-' | b'.' | b'/' | b':' | b'@')).all(|word| {
        let mix = mix(word);
        let is_number = mix.digits == word.len() && word.len() < 9;
        is_number || (mix.digits <= 2 && mix.changes <= 3 && word.len() < 20)
    })
}

/// Whether it has the shape of a UUID, which is not a name although it has separators.
fn is_id(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, b)| {
            if matches!(at, 8 | 13 | 18 | 23) { *b == b'-' } else { b.is_ascii_hexdigit() }
        })
}

/// Whether it is the name of a hash or an encoding, with or without a separator.
fn is_algorithm(bytes: &[u8]) -> bool {
    const ALGORITHMS: &[&str] = &[
        "sha1", "sha2", "sha3", "sha5", "sha-", "md5", "argon2", "bcrypt", "base64", "utf8",
        "utf-8", "oauth", "aes", "ed255", "pbkdf",
    ];
    let lower = bytes.to_ascii_lowercase();
    ALGORITHMS.iter().any(|name| lower.starts_with(name.as_bytes()))
}

/// Whether code follows it: a call, an index, a type with parameters.
fn is_call(value: &Value<'_>) -> bool {
    !value.is_quoted && matches!(value.next, b'(' | b'[' | b'{' | b'<' | b'|')
}

/// Whether it names a variable or a field: `user.password`, `self.token2`, `Some::thing`.
fn is_reference(bytes: &[u8]) -> bool {
    let is_identifier = |word: &[u8]| {
        word.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_')
            && word.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
            && word.iter().filter(|b| b.is_ascii_digit()).count() <= 2
    };
    let mut words = bytes.split(|b| matches!(b, b'.' | b':')).filter(|word| !word.is_empty());
    let is_constant = bytes.contains(&b'_')
        && bytes.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    if is_constant {
        return true;
    }
    let has_joint = bytes.contains(&b'.') || bytes.windows(2).any(|pair| pair == b"::");
    has_joint && words.all(is_identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_with_and_without_quotes() {
        for (text, value) in [
            (" abc ", "abc"),
            ("\"a b\"", "a b"),
            ("\\\"abc\\\",", "abc"),
            ("\"a\\\"b\"", "a\\\"b"),
            ("\\\\\\\"abc\\\\\\\"", "abc"),
            ("'abc'", "abc"),
            ("abc.", "abc"),
        ] {
            let read = read(text.as_bytes(), 0).unwrap();
            assert_eq!(read.bytes, value.as_bytes(), "{text}");
        }
        assert!(read(b"\"open", 0).is_none());
    }
}
