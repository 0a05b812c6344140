//! Checks that must hold for any bytes: run by a fuzz target, and on damaged fixtures by a test.
//!
//! They panic where an invariant is broken, so they are compiled for tests and with the feature `fuzzing` only.

use std::sync::Arc;

use recount_model::Span;

use crate::outline::Outline;
use crate::source::{Detail, MessageRequest, OtherVersions, PieceBytes, Source as _};

use super::{Codex, reading};

#[derive(Debug)]
struct NoOthers;

impl OtherVersions for NoOthers {
    fn each(&self, _visit: &mut dyn FnMut(&[u8]) -> bool) {}
}

/// Reads `data` as a rollout, at once and in pieces, and every message of it.
///
/// # Panics
/// If an invariant does not hold.
pub fn rollout(data: &[u8]) {
    let whole = read(data, data.len().max(1));
    let pieces = read(data, 1 + data.len() / 7);
    assert_eq!(format!("{pieces:?}"), format!("{whole:?}"), "in pieces it is something else");
    let file: Arc<str> = Arc::from("fuzz");
    for entry in &whole.entries {
        let best = whole.versions.get(entry.best as usize).map(|version| version.span);
        assert!(best.is_some(), "a message without a record");
        let span = best.unwrap_or(Span { line: 0, offset: 0, bytes: 0 });
        let pieces: Vec<PieceBytes<'_>> = whole
            .pieces_of(entry)
            .map(|version| PieceBytes { bytes: slice(data, version.span), span: version.span })
            .collect();
        let request = MessageRequest {
            bytes: slice(data, span),
            pieces: &pieces,
            file: &file,
            span,
            fate: entry.fate,
            entry: Some(entry),
            model: None,
            others: &NoOthers,
            folder: None,
            detail: Detail::Whole,
        };
        let message = Codex.message(&request);
        assert!(message.is_ok(), "a message that cannot be read again");
        let calls = message.map_or(0, |message| message.tool_calls.len());
        assert!(calls <= pieces.len() + 1, "calls from nowhere");
    }
    let is_there = |entry: u32| (entry as usize) < whole.entries.len();
    assert!(whole.strict.iter().all(|shown| is_there(shown.entry)), "shown, and not there");
}

fn read(data: &[u8], piece: usize) -> Outline {
    let mut reader = reading::reader(data, &Arc::from("fuzz"));
    let (mut from, mut to) = (0, 0);
    while to < data.len() {
        to = (to + piece).min(data.len());
        from += reader.feed(data.get(from..to).unwrap_or_default());
    }
    reader.finish(data.get(from..).unwrap_or_default());
    reader.into_outline()
}

fn slice(data: &[u8], span: Span) -> &[u8] {
    let start = usize::try_from(span.offset).unwrap_or(usize::MAX);
    let end = start.saturating_add(usize::try_from(span.bytes).unwrap_or(usize::MAX));
    let bytes = data.get(start..end);
    assert!(bytes.is_some(), "a span that is not in the file");
    bytes.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use recount_testkit::{fixture, fixtures_of};

    use super::*;
    use crate::bytes::read_small;
    use crate::source::RootShape;

    /// Numbers that are the same in every run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).unwrap() % end.max(1)
        }
    }

    fn damaged(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(lines.len());
            match numbers.below(6) {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, lines[at].clone()),
                2 => {
                    let end = numbers.below(lines[at].len());
                    lines[at].truncate(end);
                }
                3 => {
                    let other = numbers.below(lines.len());
                    lines.swap(at, other);
                }
                4 => {
                    let place = numbers.below(lines[at].len());
                    if let Some(byte) = lines[at].get_mut(place) {
                        *byte = u8::try_from(numbers.below(256)).unwrap();
                    }
                }
                _ => lines.truncate(at + 1),
            }
            if lines.is_empty() {
                break;
            }
        }
        lines.concat()
    }

    #[test]
    fn damaged_files_are_read_the_same_in_pieces() {
        let mut numbers = Numbers(7);
        for case in fixtures_of("codex") {
            let root = fixture(&case.name).join("home/.codex");
            for file in Codex
                .locate(&root, RootShape::Whole)
                .folders
                .iter()
                .flat_map(|folder| &folder.files)
            {
                let bytes = read_small(&file.path).unwrap();
                rollout(&bytes);
                for _ in 0..20 {
                    rollout(&damaged(&bytes, &mut numbers));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            rollout(&bytes);
        }
    }
}
