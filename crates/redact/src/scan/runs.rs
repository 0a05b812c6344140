//! Long runs of key characters: nearly every key is one, hardly any word is.

use super::Sink;
use super::edge::{after_escape, at, before, is_fresh, piece};
use super::shapes::{Runs, may_begin, shapes_of};
use super::{composite, encoded, guess};
use crate::kind::SecretKind;

/// The shortest run that can contain a key. Each run of this length has a byte at a multiple of it.
const SHORTEST: usize = 20;

const RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0usize;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let character = byte as u8;
        table[byte] = character.is_ascii_alphanumeric()
            || matches!(character, b'_' | b'-' | b'+' | b'/' | b'=' | b'.');
        byte += 1;
    }
    table
};

fn is_run(byte: u8) -> bool {
    RUN.get(usize::from(byte)).copied().unwrap_or(false)
}

/// Finds every long run: only every twentieth byte is read, unless it may be in one.
pub(super) fn scan(bytes: &[u8], sink: &mut Sink<'_>) {
    let mut done = 0;
    while let Some(probe) = bytes.get(done + SHORTEST - 1) {
        let middle = done + SHORTEST - 1;
        if !is_run(*probe) {
            done = middle + 1;
            continue;
        }
        let head = piece(bytes, done, middle);
        let start = middle - head.iter().rev().take_while(|b| is_run(**b)).count();
        let rest = bytes.get(middle..).unwrap_or_default();
        let end = middle + rest.iter().position(|b| !is_run(*b)).unwrap_or(rest.len());
        done = end;
        if end - start >= SHORTEST {
            done = look(bytes, start, end, sink).max(end);
        }
    }
}

/// Looks for keys in one run, and returns the position up to which it looked.
fn look(bytes: &[u8], start: usize, end: usize, sink: &mut Sink<'_>) -> usize {
    let start = after_escape(bytes, start).min(end);
    let mut known = Runs::default();
    let mut place = start;
    let mut is_plain = true;
    while place < end {
        let run = piece(bytes, place, end);
        let pair = run.windows(2).position(|pair| matches!(pair, [a, b] if may_begin(*a, *b)));
        let Some(ahead) = pair else { break };
        place += ahead;
        let mut next = place + 1;
        let fresh = is_fresh(bytes, place);
        for shape in shapes_of(at(bytes, place)) {
            if let Some(found) = shape.matches(bytes, place, end, fresh, &mut known) {
                sink.put_with_prefix(shape.kind, place..found, shape.shown());
                if shape.kind == SecretKind::AwsKey {
                    composite::aws_secret(bytes, place..found, sink);
                }
                is_plain = false;
                next = next.max(found);
            }
        }
        if fresh && let Some(found) = composite::look(bytes, place, end, &mut known, sink) {
            is_plain = false;
            next = next.max(found);
        }
        place = next;
    }
    is_plain &= !composite::telegram(bytes, start, end, sink);
    if is_plain && let Some(stop) = encoded::look(bytes, start, end, sink) {
        return stop;
    }
    if is_plain && sink.wants(SecretKind::Random) && before(bytes, start) != b'@' {
        guess::look(bytes, start, end, sink);
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_found_wherever_it_begins() {
        for shift in 0..50 {
            let text = format!("{} AIza{} tail", "x ".repeat(shift), "Ab3dE".repeat(7));
            let mut found = Vec::new();
            scan(text.as_bytes(), &mut Sink::new(u64::MAX, &mut found));
            let range = found.first().map(|finding| finding.range.clone());
            assert_eq!(range, Some(2 * shift + 1..2 * shift + 40), "{shift}");
        }
    }
}
