//! Personal numbers: IP addresses, telephone numbers, payment cards. All of them are disabled by default.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Sink;
use super::edge::{at, before, is_word, piece, run_end};
use crate::kind::SecretKind;

pub(super) fn scan(bytes: &[u8], sink: &mut Sink<'_>) {
    let wanted =
        [SecretKind::Card, SecretKind::Phone, SecretKind::IpAddress].map(|kind| sink.wants(kind));
    if !wanted.contains(&true) {
        return;
    }
    let mut place = 0;
    while place < bytes.len() {
        let byte = at(bytes, place);
        let begins = byte.is_ascii_hexdigit() || matches!(byte, b'+' | b'(' | b':');
        let last = before(bytes, place);
        if !begins || is_word(last) || matches!(last, b':' | b'.') {
            place += 1;
            continue;
        }
        let found =
            address(bytes, place, sink).or_else(|| digits(bytes, place, sink)).unwrap_or(place + 1);
        place = found.max(place + 1);
    }
}

fn address(bytes: &[u8], start: usize, sink: &mut Sink<'_>) -> Option<usize> {
    let stop = run_end(bytes, start, 46, |b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.'));
    let whole = std::str::from_utf8(piece(bytes, start, stop)).ok()?;
    let text = whole.trim_end_matches(['.', ':']);
    let text = if text.matches(':').count() == 1 { text.split(':').next()? } else { text };
    let stop = start + text.len();
    if is_word(at(bytes, stop)) {
        return None;
    }
    let is_private_to_all = match text.parse::<Ipv4Addr>() {
        Ok(address) => address.is_loopback() || address.is_unspecified() || address.is_broadcast(),
        Err(_) if text.matches(':').count() < 2 || text.len() < 6 => return None,
        Err(_) => {
            let address = text.parse::<Ipv6Addr>().ok()?;
            address.is_loopback() || address.is_unspecified()
        }
    };
    if !is_private_to_all {
        sink.put(SecretKind::IpAddress, start..stop);
    }
    Some(stop)
}

fn digits(bytes: &[u8], start: usize, sink: &mut Sink<'_>) -> Option<usize> {
    let holds = |b: u8| b.is_ascii_digit() || matches!(b, b' ' | b'-' | b'(' | b')' | b'+');
    let mut stop = run_end(bytes, start, 32, holds);
    while stop > start && !at(bytes, stop - 1).is_ascii_digit() {
        stop -= 1;
    }
    if is_word(at(bytes, stop)) || stop == start {
        return None;
    }
    let text = piece(bytes, start, stop);
    let numbers: Vec<u8> = text.iter().filter(|b| b.is_ascii_digit()).map(|b| b - b'0').collect();
    if (13..=19).contains(&numbers.len()) && is_card(&numbers) && text.first() != Some(&b'+') {
        sink.put(SecretKind::Card, start..stop);
        return Some(stop);
    }
    let groups = text.iter().filter(|b| matches!(b, b' ' | b'-' | b')')).count();
    let abroad = text.first() == Some(&b'+') && (8..=15).contains(&numbers.len());
    // A date has four digits first.
    let first = text.split(|b| !b.is_ascii_digit()).find(|group| !group.is_empty());
    let at_home = numbers.len() == 10
        && (2..=4).contains(&groups)
        && first.is_some_and(|first| first.len() == 3);
    if abroad || at_home {
        sink.put(SecretKind::Phone, start..stop);
        return Some(stop);
    }
    None
}

/// Whether the check digit is correct, and the first digit is that of an issuer.
fn is_card(numbers: &[u8]) -> bool {
    let sum: u32 = numbers
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match u32::from(*digit) * if at % 2 == 1 { 2 } else { 1 } {
            double @ 10.. => double - 9,
            single => single,
        })
        .sum();
    let is_varied = numbers.iter().any(|digit| numbers.first() != Some(digit));
    sum.is_multiple_of(10) && is_varied && matches!(numbers.first(), Some(3..=6))
}
