//! Keys with a more complex structure than a prefix and an alphabet.

use std::ops::Range;

use memchr::memmem;

use super::Sink;
use super::edge::{after_escape, at, before, is_word, piece, run_end, run_start};
use super::guess::{HALF, is_dummy, mix, reads_as_words};
use super::shapes::{Alphabet, Runs};
use super::value::is_placeholder;
use crate::kind::SecretKind;

/// The first bytes of such keys. The first part of a Discord token is a number in base64.
pub(super) const PAIRS: &[[u8; 2]] = &[
    *b"ey",
    *b"SG",
    *b"ho",
    *b"di",
    *b"ou",
    *b"we",
    *b"ma",
    *b"op",
    *b"lo",
    [b'M', b'D'],
    [b'M', b'T'],
    [b'M', b'j'],
    [b'M', b'z'],
    [b'N', b'D'],
    [b'N', b'T'],
    [b'N', b'j'],
    [b'N', b'z'],
    [b'O', b'D'],
    [b'O', b'T'],
];

/// Finds a key of several parts that begins here, and returns its end.
pub(super) fn look(
    bytes: &[u8],
    start: usize,
    end: usize,
    known: &mut Runs,
    sink: &mut Sink<'_>,
) -> Option<usize> {
    let rest = piece(bytes, start, end);
    if rest.starts_with(b"eyJ") {
        return jwt(bytes, start, end, known, sink);
    }
    let mut parts = || parts(bytes, start, end, known);
    if rest.starts_with(b"SG.") {
        let (second, third, stop) = parts()?;
        if third - second == 23 && stop - third == 43 {
            sink.put_with_prefix(SecretKind::ServiceKey, start..stop, "SG.");
            return Some(stop);
        }
    }
    if matches!(rest.first(), Some(b'M' | b'N' | b'O')) {
        let (second, third, stop) = parts()?;
        let lengths = (second - start - 1, third - second - 1, stop - third);
        if (23..=28).contains(&lengths.0)
            && (6..=7).contains(&lengths.1)
            && (27..=40).contains(&lengths.2)
        {
            sink.put(SecretKind::BotToken, start..stop);
            return Some(stop);
        }
    }
    webhook(bytes, start, end, sink)
}

/// Reads a JSON web token: signed, unsigned, or encrypted.
fn jwt(
    bytes: &[u8],
    start: usize,
    end: usize,
    known: &mut Runs,
    sink: &mut Sink<'_>,
) -> Option<usize> {
    let (second, third, stop) = parts(bytes, start, end, known)?;
    let is_object = second - start > 12 && piece(bytes, second, end).starts_with(b"eyJ");
    // It is unsigned: the third part is empty.
    let is_unsigned = stop == third && third - second > 16;
    if is_object && third - second > 8 && (stop - third > 8 || is_unsigned) {
        sink.put_with_prefix(SecretKind::Jwt, start..stop, "eyJ");
        return Some(stop);
    }
    // An encrypted token has five parts; the key, which is the second, may be empty.
    let fourth = (at(bytes, stop) == b'.').then_some(stop + 1)?;
    let dot = known.end(bytes, fourth, end, Alphabet::Url);
    let fifth = (at(bytes, dot) == b'.').then_some(dot + 1)?;
    let last = known.end(bytes, fifth, end, Alphabet::Url);
    let fits = second - start > 16 && fifth - third > 16 && last - fifth >= 16;
    fits.then(|| {
        sink.put_with_prefix(SecretKind::Jwt, start..last, "eyJ");
        last
    })
}

/// Returns where the second and third of three dot-separated parts begin, and where the third ends.
fn parts(
    bytes: &[u8],
    start: usize,
    end: usize,
    known: &mut Runs,
) -> Option<(usize, usize, usize)> {
    let dot = |place: usize| (at(bytes, place) == b'.').then_some(place + 1);
    let second = dot(known.end(bytes, start, end, Alphabet::Url))?;
    let third = dot(known.end(bytes, second, end, Alphabet::Url))?;
    Some((second, third, known.end(bytes, third, end, Alphabet::Url)))
}

/// Reads webhook addresses, which let anyone post: the part after the last slash is the secret.
fn webhook(bytes: &[u8], start: usize, end: usize, sink: &mut Sink<'_>) -> Option<usize> {
    const HOOKS: &[(SecretKind, &[u8])] = &[
        (SecretKind::SlackToken, b"hooks.slack.com/services/"),
        (SecretKind::SlackToken, b"hooks.slack.com/workflows/"),
        (SecretKind::BotToken, b"discord.com/api/webhooks/"),
        (SecretKind::BotToken, b"discordapp.com/api/webhooks/"),
        (SecretKind::ServiceKey, b"outlook.office.com/webhook/"),
        (SecretKind::ServiceKey, b"webhook.office.com/webhookb2/"),
        (SecretKind::ServiceKey, b"hooks.zapier.com/hooks/catch/"),
        (SecretKind::ServiceKey, b"maker.ifttt.com/trigger/"),
        (SecretKind::ServiceKey, b"open.feishu.cn/open-apis/bot/v2/hook/"),
        (SecretKind::ServiceKey, b"open.larksuite.com/open-apis/bot/v2/hook/"),
        (SecretKind::ServiceKey, b"hook.eu1.make.com/"),
        (SecretKind::ServiceKey, b"hook.eu2.make.com/"),
        (SecretKind::ServiceKey, b"hook.us1.make.com/"),
        (SecretKind::ServiceKey, b"hook.us2.make.com/"),
    ];
    let rest = piece(bytes, start, end);
    let (kind, hook) = HOOKS.iter().find(|(_, hook)| rest.starts_with(hook))?;
    let from = start + hook.len();
    let stop = run_end(bytes, from, 256, |b| is_word(b) || matches!(b, b'-' | b'/' | b'@'));
    let tail = piece(bytes, from, stop);
    // A generated secret is not short, and not a path of words.
    let drawn = mix(tail);
    if tail.len() < 12 || drawn.digits < 2 || drawn.changes < 5 || is_dummy(tail) {
        return None;
    }
    sink.put(*kind, from..stop);
    Some(stop)
}

/// Reads `123456789:AA…`: the run is the second half.
pub(super) fn telegram(bytes: &[u8], start: usize, end: usize, sink: &mut Sink<'_>) -> bool {
    if before(bytes, start) != b':' || !piece(bytes, start, end).starts_with(b"AA") {
        return false;
    }
    let stop = run_end(bytes, start, 64, |b| is_word(b) || b == b'-');
    let digits = run_start(bytes, start - 1, 12, |b| b.is_ascii_digit());
    let fits = stop - start == 35 && (8..=10).contains(&(start - 1 - digits));
    if fits {
        sink.put(SecretKind::BotToken, digits..stop);
    }
    fits
}

/// Finds marks in the middle of a text: a secret of an Azure application, a password before `@tcp(`, the seed of a second
/// factor.
pub(super) fn marked(bytes: &[u8], sink: &mut Sink<'_>) {
    let is_azure = |b: u8| is_word(b) || matches!(b, b'-' | b'.' | b'~');
    for mark in memmem::find_iter(bytes, b"Q~") {
        let start = run_start(bytes, mark, 4, is_azure);
        let end = run_end(bytes, mark + 2, 48, is_azure);
        let is_edge = !is_azure(before(bytes, start)) || after_escape(bytes, start) > start;
        let fits = mark - start == 4 && before(bytes, mark).is_ascii_digit();
        if fits && is_edge && (31..=34).contains(&(end - mark - 2)) {
            sink.put(SecretKind::AzureKey, start..end);
        }
    }
    for host in [&b"@tcp("[..], b"@unix("] {
        for sign in memmem::find_iter(bytes, host) {
            let start = run_start(bytes, sign, 128, |b| {
                b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'`' | b'(' | b'=')
            });
            let login = piece(bytes, start, sign);
            let password = login.iter().position(|b| *b == b':').map(|colon| start + colon + 1);
            if let Some(from) = password
                && !is_placeholder(piece(bytes, from, sign))
            {
                sink.put(SecretKind::UrlPassword, from..sign);
            }
        }
    }
    for mark in memmem::find_iter(bytes, b".atlasv1.") {
        let start = run_start(bytes, mark, 14, |b| b.is_ascii_alphanumeric());
        let end = run_end(bytes, mark + 9, 80, |b| is_word(b) || matches!(b, b'-' | b'='));
        if mark - start == 14 && end - mark > 50 {
            sink.put(SecretKind::ServiceKey, start..end);
        }
    }
    for place in memmem::find_iter(bytes, b"otpauth://") {
        let address = piece(bytes, place, place + 512);
        let end = address.iter().position(u8::is_ascii_whitespace).unwrap_or(address.len());
        let Some(secret) = memmem::find(piece(address, 0, end), b"secret=") else { continue };
        let from = place + secret + 7;
        let stop = run_end(bytes, from, 256, |b| b.is_ascii_alphanumeric());
        if stop - from >= 8 {
            sink.put(SecretKind::Secret, from..stop);
        }
    }
}

/// The maximum distance between the id and the secret of an AWS key.
const NEAR: usize = 256;

/// Finds the secret of an AWS key: forty characters near it, on either side.
pub(super) fn aws_secret(bytes: &[u8], id: Range<usize>, sink: &mut Sink<'_>) {
    let holds = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+');
    let mut from = id.start.saturating_sub(NEAR);
    // A word that begins before this is not seen as a whole.
    if from > 0 {
        from = run_end(bytes, from, NEAR, holds);
    }
    while from < id.end + NEAR && from < bytes.len() {
        from = after_escape(bytes, from);
        let stop = run_end(bytes, from, NEAR, holds);
        let word = piece(bytes, from, stop);
        let mixed = mix(word);
        let looks_generated = mixed.upper > 2 && mixed.lower > 2 && mixed.hex < 40;
        if word.len() == 40 && looks_generated && !is_dummy(word) && !reads_as_words(word, HALF) {
            sink.put(SecretKind::AwsSecret, from..stop);
        }
        from = stop + 1;
    }
}
