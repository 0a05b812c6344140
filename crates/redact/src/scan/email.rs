//! E-mail addresses.

use memchr::memchr_iter;

use super::Sink;
use super::edge::{after_escape, at, before, piece, run_end, run_start};
use crate::kind::SecretKind;

/// The maximum length before the sign, and after it.
const LOCAL: usize = 64;
const DOMAIN: usize = 253;

pub(super) fn scan(bytes: &[u8], sink: &mut Sink<'_>) {
    for sign in memchr_iter(b'@', bytes) {
        let start = run_start(bytes, sign, LOCAL, is_local);
        let mut start = after_escape(bytes, start).min(sign);
        while start < sign && !at(bytes, start).is_ascii_alphanumeric() {
            start += 1;
        }
        let mut stop = run_end(bytes, sign + 1, DOMAIN, |b| {
            b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-')
        });
        while stop > sign && matches!(at(bytes, stop - 1), b'.' | b'-') {
            stop -= 1;
        }
        let (local, domain) = (piece(bytes, start, sign), piece(bytes, sign + 1, stop));
        // `user:password@host` is a URL's; `x@y@z` is no address.
        let is_part = at(bytes, stop) == b'@'
            || (before(bytes, start) == b'/' && before(bytes, start - 1) == b'/');
        if !is_part && is_person(local) && is_domain(domain) {
            sink.put(SecretKind::Email, start..stop);
        }
    }
}

fn is_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'%')
}

/// Whether an address can belong to a person.
fn is_person(local: &[u8]) -> bool {
    const NOBODY: &[&[u8]] = &[b"git", b"noreply", b"no-reply", b"donotreply", b"hg", b"svn"];
    !local.is_empty()
        && !local.ends_with(b".")
        && !NOBODY.iter().any(|nobody| local.eq_ignore_ascii_case(nobody))
}

fn is_domain(domain: &[u8]) -> bool {
    let mut labels = domain.rsplit(|b| *b == b'.');
    let top = labels.next().unwrap_or_default();
    let second = labels.next().unwrap_or_default();
    if !(2..=18).contains(&top.len())
        || !top.iter().all(u8::is_ascii_alphabetic)
        || second.is_empty()
    {
        return false;
    }
    // `name@1.2.3-rc.one` is a package.
    let first = domain.split(|b| *b == b'.').next().unwrap_or_default();
    let is_version = first.iter().all(u8::is_ascii_digit)
        && (first.len() < 3 || second.contains(&b'-') || second.is_empty());
    let is_one_of = |word: &[u8], words: &[&str]| {
        words.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
    };
    !is_version
        && !domain.split(|b| *b == b'.').any(<[u8]>::is_empty)
        && !is_one_of(second, &["example"])
        && !is_one_of(top, RESERVED)
        && !is_one_of(top, FILES)
}

/// Domains that belong to nobody.
const RESERVED: &[&str] = &["example", "test", "invalid", "localhost", "local", "internal", "lan"];

/// File extensions: `icon@2x.png`, `module@file.js`.
const FILES: &[&str] = &[
    "png",
    "jpg",
    "jpeg",
    "gif",
    "svg",
    "webp",
    "ico",
    "js",
    "mjs",
    "cjs",
    "jsx",
    "ts",
    "tsx",
    "css",
    "scss",
    "html",
    "json",
    "yaml",
    "yml",
    "toml",
    "lock",
    "md",
    "txt",
    "py",
    "rb",
    "java",
    "kt",
    "php",
    "service",
    "target",
    "socket",
    "timer",
    "xml",
    "tgz",
    "zip",
    "whl",
    "exe",
    "dll",
    "patch",
    "map",
    "vue",
    "svelte",
    "workspace",
    "git",
];
