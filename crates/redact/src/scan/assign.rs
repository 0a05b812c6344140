//! Values of names that indicate a secret: `password=…`, `"apiKey": "…"`, `export FOO_TOKEN=…`, `<password>…`, and headers.

use memchr::{memchr3_iter, memmem};

use super::Sink;
use super::command::login;
use super::edge::{after_escape, at, before, is_word, piece, run_end, run_start};
use super::name::{LONGEST, NameHint, hint, is_env_style};
use super::value::{Reader, is_bare_word, is_placeholder, is_secret, read};
use super::{bearer, encoded, guess, indirect};
use crate::kind::SecretKind;

/// The longest line of cookies.
const COOKIES: usize = 4096;

pub(super) fn scan(bytes: &[u8], sink: &mut Sink<'_>) {
    let mut values = Reader::default();
    for sign in memchr3_iter(b'=', b':', b'>', bytes) {
        if at(bytes, sign) == b':' && matches!(at(bytes, sign + 1), b'0'..=b'9' | b'*') {
            fields(bytes, sign, sink);
        }
        if at(bytes, sign) == b'=' && at(bytes, sign + 1) == b'{' {
            braced(bytes, sign, sink);
        }
        if let Some((start, end, from)) = sides(bytes, sign)
            && let name = piece(bytes, start, end)
            && let Some(hint) = hint(name)
        {
            let is_env_name = from == sign + 1 && at(bytes, sign) == b'=' && is_env_style(name);
            let hint = if hint == NameHint::Indirect {
                indirect::preceding_hint(bytes, start)
            } else {
                Some(hint)
            };
            if let Some(hint) = hint {
                judge(bytes, from, hint, is_env_name, &mut values, sink);
            }
        }
    }
    flags(bytes, sink);
}

/// Reads `host:port:database:user:password`, as in `.pgpass`. `sign` is the first of the four colons.
fn fields(bytes: &[u8], sign: usize, sink: &mut Sink<'_>) {
    let port_end = run_end(bytes, sign + 1, 6, |b| b.is_ascii_digit() || b == b'*');
    let port = piece(bytes, sign + 1, port_end);
    let is_known =
        matches!(port, b"*" | b"5432" | b"5433" | b"5434" | b"6432" | b"6543" | b"26257");
    if !(is_known || port.len() >= 4) || at(bytes, port_end) != b':' {
        return;
    }
    let host = run_start(bytes, sign, 64, |b| is_word(b) || matches!(b, b'-' | b'.' | b'*'));
    let is_alone =
        host < sign && matches!(before(bytes, host), 0 | b'\n' | b'"' | b'\'' | b' ' | b'>' | b'n');
    let is_field = |b: u8| is_word(b) || matches!(b, b'-' | b'.' | b'*' | b'@');
    let database = run_end(bytes, port_end + 1, 64, is_field);
    let user = run_end(bytes, database + 1, 64, is_field);
    let is_name = |from: usize, to: usize| {
        let name = piece(bytes, from, to);
        name == b"*" || name.iter().any(u8::is_ascii_alphabetic)
    };
    let are_fields = at(bytes, database) == b':'
        && at(bytes, user) == b':'
        && is_name(port_end + 1, database)
        && is_name(database + 1, user);
    if !is_alone || !are_fields {
        return;
    }
    let Some(password) = read(bytes, user + 1).filter(|value| value.range.start == user + 1) else {
        return;
    };
    let mix = guess::mix(password.bytes);
    let is_mixed = password.bytes.len() >= 6 && mix.digits > 0 && mix.upper + mix.lower > 0;
    if (is_known && password.bytes.len() >= 4 || is_mixed) && !is_placeholder(password.bytes) {
        sink.put(SecretKind::Password, password.range);
    }
}

/// Reads `PWD={…};`, as in a connection string: braces allow any character.
fn braced(bytes: &[u8], sign: usize, sink: &mut Sink<'_>) {
    let start = run_start(bytes, sign, 16, |b| b.is_ascii_alphabetic());
    let name = piece(bytes, start, sign);
    let is_password = name.eq_ignore_ascii_case(b"pwd") || name.eq_ignore_ascii_case(b"password");
    let end = run_end(bytes, sign + 2, 128, |b| !matches!(b, b'}' | b'\n' | b'{'));
    let is_closed = at(bytes, end) == b'}' && matches!(at(bytes, end + 1), 0 | b';' | b'"' | b'\'');
    let value = piece(bytes, sign + 2, end);
    if is_password
        && before(bytes, start) == b';'
        && is_closed
        && value.len() >= 4
        && !is_placeholder(value)
    {
        sink.put(SecretKind::Password, sign + 2..end);
    }
}

/// Returns where the name before a sign begins and ends, and where its value may begin.
fn sides(bytes: &[u8], sign: usize) -> Option<(usize, usize, usize)> {
    let next = at(bytes, sign + 1);
    let (mut end, mut from) = (sign, sign + 1);
    match at(bytes, sign) {
        b'=' => {
            if next == b'=' || matches!(before(bytes, sign), b'=' | b'!' | b'<' | b'>' | b'~') {
                return None;
            }
            from += usize::from(next == b'>');
            // `:=`, `+=`, `?=`, `||=`, `??=`
            end = run_start(bytes, end, 2, |b| matches!(b, b':' | b'?' | b'+' | b'|'));
        }
        b':' if matches!(next, b':' | b'=') || before(bytes, sign) == b':' => return None,
        b'>' if !is_word(before(bytes, sign)) || !is_element(bytes, from) => return None,
        _ => {}
    }
    let end = run_start(bytes, end, 16, |b| matches!(b, b' ' | b'\t'));
    let end = run_start(bytes, end, 4, |b| matches!(b, b'"' | b'\'' | b'`' | b'\\' | b'*' | b']'));
    if !is_word(before(bytes, end)) {
        return None;
    }
    let start = run_start(bytes, end, LONGEST, |b| is_word(b) || matches!(b, b'-' | b'.'));
    let start = after_escape(bytes, start).min(end);
    if at(bytes, sign) == b'>' && before(bytes, start) != b'<' {
        return None;
    }
    Some((start, end, from))
}

/// Whether a value is between two markup tags.
fn is_element(bytes: &[u8], from: usize) -> bool {
    let end = run_end(bytes, from, 256, |b| !b.is_ascii_whitespace() && b != b'<');
    end > from && piece(bytes, end, end + 2) == b"</"
}

fn judge(
    bytes: &[u8],
    from: usize,
    hint: NameHint,
    is_env_name: bool,
    values: &mut Reader,
    sink: &mut Sink<'_>,
) {
    match hint {
        NameHint::Authorization => return bearer::credentials(bytes, from, sink),
        NameHint::Cookie => return cookies(bytes, from, usize::MAX, sink),
        NameHint::SetCookie => return cookies(bytes, from, 1, sink),
        NameHint::Login => {
            let Some(value) = read(bytes, from) else { return };
            if encoded::is_login(value.bytes) {
                sink.put(SecretKind::Authorization, value.range);
            } else if is_secret(&value, NameHint::MaybeKey, is_env_name) {
                sink.put(SecretKind::Secret, value.range);
            }
            return;
        }
        _ => {}
    }
    let kind = match hint {
        NameHint::Password | NameHint::MaybePassword | NameHint::Phrase => SecretKind::Password,
        NameHint::Session => SecretKind::Cookie,
        NameHint::Aws => SecretKind::AwsSecret,
        NameHint::Azure => SecretKind::AzureKey,
        _ => SecretKind::Secret,
    };
    if !sink.wants(kind) {
        return;
    }
    if let Some(value) = values.read(bytes, from)
        && is_secret(&value, hint, is_env_name)
    {
        sink.put(kind, value.range);
    }
}

/// Reads `--password …` and `-u name:password`.
fn flags(bytes: &[u8], sink: &mut Sink<'_>) {
    for dashes in memmem::find_iter(bytes, b" -") {
        let start = run_end(bytes, dashes + 2, 1, |b| b == b'-');
        let end = run_end(bytes, start, LONGEST, |b| b.is_ascii_alphanumeric() || b == b'-');
        // One-letter flags mean something else for every command.
        if at(bytes, end) != b' ' || end < start + 3 {
            continue;
        }
        let flag = piece(bytes, start, end);
        match hint(flag) {
            Some(NameHint::Password) => password_flag(bytes, end + 1, sink),
            Some(hint @ NameHint::Secret) => {
                judge(bytes, end + 1, hint, false, &mut Reader::default(), sink);
            }
            None if LOGINS.contains(&flag) => login(bytes, end + 1, sink),
            _ => {}
        }
    }
    for dash in memmem::find_iter(bytes, b" -u ") {
        login(bytes, dash + 4, sink);
    }
}

/// Flags that are followed by a user name and a password.
const LOGINS: &[&[u8]] =
    &[b"user", b"proxy-user", b"creds", b"src-creds", b"dest-creds", b"userpwd"];

/// Reads `--password secret`: on a command line, any word can be one.
fn password_flag(bytes: &[u8], from: usize, sink: &mut Sink<'_>) {
    let Some(value) = read(bytes, from) else { return };
    // Another flag, or another command, follows: the word is not part of a sentence.
    let follows = piece(bytes, value.range.end, value.range.end + 2);
    let is_between = matches!(follows, b" -" | b" |" | b" ;" | b" &" | b"; ");
    let is_password = is_secret(&value, NameHint::Password, false)
        || is_between && is_bare_word(value.bytes)
        || (value.bytes.len() >= 6
            && value.bytes.iter().all(u8::is_ascii_alphanumeric)
            && value.bytes.iter().any(u8::is_ascii_digit));
    if is_password && !is_placeholder(value.bytes) {
        sink.put(SecretKind::Password, value.range);
    }
}

/// Reads `a=1; b=2`: values that are long enough to be a session cookie.
fn cookies(bytes: &[u8], from: usize, count: usize, sink: &mut Sink<'_>) {
    let mut place = run_end(bytes, from, 8, |b| matches!(b, b' ' | b'"' | b'\'' | b'\\' | b'\t'));
    let limit = from + COOKIES;
    for _ in 0..count {
        let equals = run_end(bytes, place, LONGEST, |b| is_word(b) || matches!(b, b'-' | b'.'));
        if at(bytes, equals) != b'=' || equals == place || place > limit {
            return;
        }
        let start = equals + 1;
        let end = run_end(bytes, start, COOKIES, |b| {
            b.is_ascii_graphic() && !matches!(b, b';' | b'"' | b'\'' | b'\\' | b',' | b'<' | b'`')
        });
        let value = piece(bytes, start, end);
        let mix = guess::mix(value);
        let is_distinctive =
            value.len() >= 8 && (mix.digits > 1 || value.len() >= 20) && mix.changes > 1;
        if is_distinctive && !is_placeholder(value) {
            sink.put(SecretKind::Cookie, start..end);
        }
        if at(bytes, end) != b';' {
            return;
        }
        place = run_end(bytes, end + 1, 4, |b| b == b' ');
    }
}
