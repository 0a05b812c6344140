//! Hashed passwords: `$2b$12$…`, `$argon2id$…`, `$6$salt$…`, `pbkdf2_sha256$…`, `{SSHA}…`.
//!
//! A hash can be tested against lists of passwords, so it is a secret, too.

use memchr::{memchr_iter, memmem};

use super::Sink;
use super::edge::{at, before, is_word, piece, run_end, run_start};
use super::guess::{is_dummy, mix};
use crate::kind::SecretKind;

/// The longest hash with its parameters and salt.
const LONGEST: usize = 400;

/// The scheme between the first two dollar signs, and the minimum length after it.
const SCHEMES: &[(&[u8], usize)] = &[
    (b"2a", 56),
    (b"2b", 56),
    (b"2x", 56),
    (b"2y", 56),
    (b"argon2id", 40),
    (b"argon2i", 40),
    (b"argon2d", 40),
    (b"1", 24),
    (b"5", 40),
    (b"6", 80),
    (b"7", 40),
    (b"y", 40),
    (b"gy", 40),
    (b"apr1", 24),
    (b"scrypt", 40),
    (b"s0", 40),
    (b"s1", 40),
    (b"P", 31),
    (b"H", 31),
    (b"S", 52),
    (b"pbkdf2", 30),
    (b"pbkdf2-sha256", 40),
    (b"pbkdf2-sha512", 40),
    (b"sha1", 24),
];

/// Hashes that begin with the name of their algorithm.
const NAMED: &[&[u8]] =
    &[b"pbkdf2_sha", b"pbkdf2:sha", b"scrypt:", b"SCRAM-SHA-", b"bcrypt_sha", b"argon2$"];

pub(super) fn scan(bytes: &[u8], sink: &mut Sink<'_>) {
    let mut done = 0;
    for dollar in memchr_iter(b'$', bytes) {
        if dollar < done {
            continue;
        }
        if let Some(range) = modular(bytes, dollar).or_else(|| named(bytes, dollar)) {
            done = range.end;
            sink.put(SecretKind::PasswordHash, range);
        }
    }
    for brace in memmem::find_iter(bytes, b"SHA") {
        directory(bytes, brace, sink);
    }
}

/// Reads `$scheme$…`.
fn modular(bytes: &[u8], dollar: usize) -> Option<std::ops::Range<usize>> {
    let next = run_end(bytes, dollar + 1, 16, |b| b.is_ascii_alphanumeric() || b == b'-');
    if at(bytes, next) != b'$' || is_word(before(bytes, dollar)) {
        return None;
    }
    let scheme = piece(bytes, dollar + 1, next);
    let (_, least) = SCHEMES.iter().find(|(name, _)| *name == scheme)?;
    let end = run_end(bytes, next + 1, LONGEST, is_hash);
    let hash = piece(bytes, next + 1, end);
    (hash.len() >= *least && mix(hash).changes > 6 && !is_dummy(hash)).then_some(dollar..end)
}

/// Reads `pbkdf2_sha256$600000$salt$hash` and `scrypt:32768:8:1$salt$hash`.
fn named(bytes: &[u8], dollar: usize) -> Option<std::ops::Range<usize>> {
    let start = run_start(bytes, dollar, 32, |b| is_word(b) || matches!(b, b':' | b'-'));
    let name = piece(bytes, start, dollar + 1);
    let known = NAMED.iter().find_map(|known| memmem::find(name, known))?;
    let end = run_end(bytes, dollar + 1, LONGEST, |b| is_hash(b) || b == b':');
    let hash = piece(bytes, dollar + 1, end);
    let fits = hash.len() >= 32 && hash.contains(&b'$') && !is_dummy(hash);
    fits.then_some(start + known..end)
}

/// Reads `{SSHA}…`, as in LDAP directories.
fn directory(bytes: &[u8], name: usize, sink: &mut Sink<'_>) {
    let open = run_start(bytes, name, 2, |b| matches!(b, b'S' | b's'));
    let close = run_end(bytes, name + 3, 3, |b| b.is_ascii_digit());
    if before(bytes, open) != b'{' || at(bytes, close) != b'}' {
        return;
    }
    let end = run_end(bytes, close + 1, LONGEST, is_hash);
    if end - close > 24 && !is_dummy(piece(bytes, close + 1, end)) {
        sink.put(SecretKind::PasswordHash, open - 1..end);
    }
}

fn is_hash(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'$' | b'.' | b'/' | b'+' | b'=' | b',' | b'_' | b'-')
}
