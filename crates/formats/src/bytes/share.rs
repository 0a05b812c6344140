//! One large file is parsed on two cores: parts of what was read are parsed in any order, and applied one after the other.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

use memchr::memchr;

/// What is smaller is parsed by one thread: another one would start too late.
pub(crate) const WORTH_SHARING: usize = 1024 * 1024;

/// The approximate size of a part. What was made of it stays in the processor's cache until it is applied.
pub(crate) const PART: usize = 128 * 1024;

/// The maximum number of parsed parts that wait, for each thread.
const AHEAD: usize = 2;

/// A record of a usual file has at least this number of bytes. Once parsed, it takes hundreds of bytes however short it is.
pub(crate) const RECORD: usize = 32;

/// The maximum number of lines or records of a part that are parsed ahead.
pub(crate) const RECORDS: usize = PART / RECORD;

/// Gives each part of `bytes` to `apply`, in order, with what `parse` returns for it: its first lines, parsed ahead. Without a second
/// core, and if there is too little to share, all bytes are one part of which nothing is parsed ahead.
pub(crate) fn feed_lines<'a, T: Default + Send>(
    bytes: &'a [u8],
    may_share: bool,
    parse: &(dyn Fn(&'a [u8]) -> T + Sync),
    mut apply: impl FnMut(&'a [u8], T),
) {
    let parts = if may_share { line_parts(bytes) } else { Vec::new() };
    if parts.len() < 2 {
        apply(bytes, T::default());
        return;
    }
    let part = |number: usize| parts.get(number).copied().unwrap_or_default();
    in_order(parts.len(), &|number| parse(part(number)), |number, parsed| {
        apply(part(number), parsed);
    });
}

/// Splits bytes after line feeds into parts. One part if they are not worth a second thread.
fn line_parts(bytes: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while bytes.len() >= WORTH_SHARING
        && let Some(end) = rest.get(PART..).and_then(|tail| memchr(b'\n', tail))
        && let Some((part, after)) = rest.split_at_checked(PART + end + 1)
    {
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// Gives the numbers below `count` to `parse` on two cores, and what it returns to `apply`, in order, on this one.
///
/// Whoever is free takes the next number, so that it does not matter how long it takes to apply something.
pub(crate) fn in_order<T: Send>(
    count: usize,
    parse: &(dyn Fn(usize) -> T + Sync),
    mut apply: impl FnMut(usize, T),
) {
    if count < 2 {
        (0..count).for_each(|number| apply(number, parse(number)));
        return;
    }
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < count);
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(AHEAD);
        let second = scope.spawn(move || {
            while let Some(number) = take() {
                if sender.send((number, parse(number))).is_err() {
                    return;
                }
            }
        });
        // Both are in order, as numbers are taken in order.
        let mut own = VecDeque::with_capacity(AHEAD);
        let mut theirs = None;
        for wanted in 0..count {
            let parsed = loop {
                theirs = theirs.or_else(|| receiver.try_recv().ok());
                if let Some((_, parsed)) = theirs.take_if(|(number, _)| *number == wanted) {
                    break parsed;
                }
                if own.front().is_some_and(|(number, _)| *number == wanted)
                    && let Some((_, parsed)) = own.pop_front()
                {
                    break parsed;
                }
                if own.len() < AHEAD
                    && let Some(number) = take()
                {
                    own.push_back((number, parse(number)));
                } else if theirs.is_none() {
                    // A thread that panicked has printed the reason: its part is parsed again here, where the failure is seen.
                    theirs = Some(receiver.recv().unwrap_or_else(|_| (wanted, parse(wanted))));
                }
            };
            apply(wanted, parsed);
        }
        // Nothing is left to do, whether it ended or panicked.
        let _ended = second.join();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_applied_once_and_in_order() {
        for count in [0, 1, 2, 3, 500] {
            let mut applied = Vec::new();
            in_order(count, &|number| number * 2, |number, twice| applied.push((number, twice)));
            assert_eq!(applied, (0..count).map(|number| (number, number * 2)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn whoever_is_slow_does_not_change_the_order() {
        let slow = |is_slow: bool| {
            if is_slow {
                std::thread::yield_now();
            }
        };
        let mut applied = Vec::new();
        let main = std::thread::current().id();
        let parse = |number: usize| {
            slow(number.is_multiple_of(3) == (std::thread::current().id() == main));
            number
        };
        in_order(300, &parse, |number, parsed| {
            slow(number.is_multiple_of(2));
            applied.push((number, parsed));
        });
        assert!(applied.into_iter().eq((0..300).map(|number| (number, number))));
    }

    #[test]
    fn parts_are_whole_lines_and_everything() {
        let line = [b"x".repeat(1000), b"\r\n".to_vec()].concat();
        let mut bytes = line.repeat(2 * WORTH_SHARING / line.len());
        bytes.extend_from_slice(b"without an end");
        let parts = line_parts(&bytes);
        assert!(parts.len() > 10 && parts.concat() == bytes);
        let (_, whole) = parts.split_last().unwrap();
        assert!(whole.iter().all(|part| part.ends_with(b"\n") && part.len() < PART + 2000));
        assert_eq!(line_parts(&b"x".repeat(2 * WORTH_SHARING)).len(), 1);
        assert_eq!(line_parts(&line), [&line[..]]);
        assert_eq!(line_parts(b""), [b""]);
    }
}
