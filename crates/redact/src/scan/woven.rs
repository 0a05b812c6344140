//! Keys that are more than a prefix and an alphabet.

use std::ops::Range;

use super::Sink;
use super::edge::{after_escape, at, before, is_word, piece, stretch, stretch_back};
use super::guess::{HALF, is_made_up, mix, reads_as_words};
use super::shapes::{Alphabet, Stretches};
use crate::kind::SecretKind;

/// What such keys begin with. The first part of a Discord token is a number in base 64.
pub(super) const PAIRS: &[[u8; 2]] = &[
    *b"ey",
    *b"SG",
    *b"ho",
    *b"di",
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

/// Looks for a key of several parts that begins here, and returns where it ends.
pub(super) fn look(
    bytes: &[u8],
    start: usize,
    end: usize,
    known: &mut Stretches,
    sink: &mut Sink<'_>,
) -> Option<usize> {
    let rest = piece(bytes, start, end);
    let mut parts = || parts(bytes, start, end, known);
    if rest.starts_with(b"eyJ") {
        let (second, third, stop) = parts()?;
        // The second part is an object as well; an encrypted token has five parts, of which the rest is opaque.
        let is_jwt = second - start > 12 && third - second > 8 && stop - third > 8;
        if is_jwt && piece(bytes, second, end).starts_with(b"eyJ") {
            sink.put_shown(SecretKind::Jwt, start..stop, "eyJ");
            return Some(stop);
        }
    }
    if rest.starts_with(b"SG.") {
        let (second, third, stop) = parts()?;
        if third - second == 23 && stop - third == 43 {
            sink.put_shown(SecretKind::ServiceKey, start..stop, "SG.");
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

/// Returns where the second and third of three parts begin that dots divide, and where the third ends.
fn parts(
    bytes: &[u8],
    start: usize,
    end: usize,
    known: &mut Stretches,
) -> Option<(usize, usize, usize)> {
    let dot = |place: usize| (at(bytes, place) == b'.').then_some(place + 1);
    let second = dot(known.end(bytes, start, end, Alphabet::Url))?;
    let third = dot(known.end(bytes, second, end, Alphabet::Url))?;
    Some((second, third, known.end(bytes, third, end, Alphabet::Url)))
}

/// Addresses that let anyone post: what stands behind the last slash is the secret.
fn webhook(bytes: &[u8], start: usize, end: usize, sink: &mut Sink<'_>) -> Option<usize> {
    const HOOKS: &[(SecretKind, &[u8])] = &[
        (SecretKind::SlackToken, b"hooks.slack.com/services/"),
        (SecretKind::SlackToken, b"hooks.slack.com/workflows/"),
        (SecretKind::BotToken, b"discord.com/api/webhooks/"),
        (SecretKind::BotToken, b"discordapp.com/api/webhooks/"),
    ];
    let rest = piece(bytes, start, end);
    let (kind, hook) = HOOKS.iter().find(|(_, hook)| rest.starts_with(hook))?;
    let from = start + hook.len();
    let stop = stretch(bytes, from, 256, |b| is_word(b) || matches!(b, b'-' | b'/'));
    let tail = piece(bytes, from, stop);
    if tail.len() < 24 || !tail.contains(&b'/') || is_made_up(tail) {
        return None;
    }
    sink.put(*kind, from..stop);
    Some(stop)
}

/// `123456789:AA…`: the run is the second half.
pub(super) fn telegram(bytes: &[u8], start: usize, end: usize, sink: &mut Sink<'_>) -> bool {
    if before(bytes, start) != b':' || !piece(bytes, start, end).starts_with(b"AA") {
        return false;
    }
    let stop = stretch(bytes, start, 64, |b| is_word(b) || b == b'-');
    let digits = stretch_back(bytes, start - 1, 12, |b| b.is_ascii_digit());
    let fits = stop - start == 35 && (8..=10).contains(&(start - 1 - digits));
    if fits {
        sink.put(SecretKind::BotToken, digits..stop);
    }
    fits
}

/// How far from its id the secret of an AWS key may stand.
const NEAR: usize = 256;

/// Looks for the secret that belongs to an AWS key: forty characters near it, on either side.
pub(super) fn aws_secret(bytes: &[u8], id: Range<usize>, sink: &mut Sink<'_>) {
    let holds = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+');
    let mut from = id.start.saturating_sub(NEAR);
    // A word that begins before is not seen as a whole.
    if from > 0 {
        from = stretch(bytes, from, NEAR, holds);
    }
    while from < id.end + NEAR && from < bytes.len() {
        from = after_escape(bytes, from);
        let stop = stretch(bytes, from, NEAR, holds);
        let word = piece(bytes, from, stop);
        let mixed = mix(word);
        let is_drawn = mixed.upper > 2 && mixed.lower > 2 && mixed.hex < 40;
        if word.len() == 40 && is_drawn && !is_made_up(word) && !reads_as_words(word, HALF) {
            sink.put(SecretKind::AwsSecret, from..stop);
        }
        from = stop + 1;
    }
}
