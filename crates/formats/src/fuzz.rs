//! What must hold for any bytes at all: called by the fuzz targets, and on stable by property tests.

use std::io::Cursor;
use std::sync::Arc;

use crate::bytes::Buffer;
use crate::gemini;
use crate::json::{Scanner, Tree, compact};
use crate::outline::Outline;
use crate::source::{Detail, MessageRequest, Others, Source as _};

/// Reads `data` as a session file and every message of it, and checks that the views agree.
///
/// # Panics
/// If an invariant does not hold.
pub fn session(data: &[u8]) {
    let file: Arc<str> = Arc::from("fuzz");
    let mut buffer = Buffer::new();
    let outline = gemini::outline(&mut Cursor::new(data), &file, &mut buffer);
    #[expect(clippy::expect_used, reason = "a cursor over bytes cannot fail")]
    let outline = outline.expect("reading from memory");
    assert!(
        strict_is_part_of_full(&outline),
        "the strict view has a message that the full view lacks"
    );
    for entry in &outline.entries {
        for version in outline.versions_of(entry) {
            let start = usize::try_from(version.span.offset).unwrap_or(usize::MAX);
            let end =
                start.saturating_add(usize::try_from(version.span.bytes).unwrap_or(usize::MAX));
            let bytes = data.get(start..end);
            assert!(bytes.is_some(), "a span that is not in the file");
            let request = MessageRequest {
                bytes: bytes.unwrap_or_default(),
                file: &file,
                span: version.span,
                fate: entry.fate,
                others: &NoOthers,
                folder: None,
                detail: Detail::Whole,
            };
            assert!(
                gemini::Gemini.message(&request).is_ok(),
                "a message that cannot be read again"
            );
        }
    }
    let _saved = gemini::Gemini.foreign(data, &file);
}

/// Scans `data` as JSON and checks that what is accepted can be built and compacted.
///
/// # Panics
/// If an invariant does not hold.
pub fn json(data: &[u8]) {
    let mut scanner = Scanner::new(data);
    let accepted = scanner.skip().and_then(|()| scanner.end()).is_ok();
    assert_eq!(Tree::parse(data).is_ok(), accepted, "scanner and tree disagree");
    if accepted {
        let compacted = compact(data);
        assert!(Tree::parse(compacted.as_bytes()).is_ok(), "compacting broke it");
    }
}

fn strict_is_part_of_full(outline: &Outline) -> bool {
    outline.strict.iter().all(|shown| {
        (shown.entry as usize) < outline.entries.len()
            && (shown.version as usize) < outline.versions.len()
    })
}

#[derive(Debug)]
struct NoOthers;

impl Others for NoOthers {
    fn each(&self, _visit: &mut dyn FnMut(&[u8]) -> bool) {}
}
