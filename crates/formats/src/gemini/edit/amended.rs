//! A whole file with an amendment applied, in memory: for tests and fuzz targets. The program applies patches to files.

use std::io::Cursor;
use std::sync::Arc;

use recount_model::Grammar;

use super::session::{in_document, in_log};
use crate::bytes::Buffer;
use crate::edit::Amendment;
use crate::gemini::grammar::fields;

/// Returns the bytes of a file with changed session-level fields. `None` if that is not possible.
pub(crate) fn amended(bytes: &[u8], grammar: Grammar, said: Amendment<'_>) -> Option<Vec<u8>> {
    let patches = match grammar {
        Grammar::Jsonl => in_log(bytes.len() as u64, bytes.last().copied(), said),
        Grammar::Json => {
            let (mut input, mut buffer) = (Cursor::new(bytes), Buffer::new());
            in_document(&fields(&mut input, &Arc::from(""), &mut buffer).ok()?, said)?
        }
    };
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    for patch in &patches {
        let place = usize::try_from(patch.at).ok()?;
        out.extend_from_slice(bytes.get(at..place)?);
        out.extend_from_slice(&patch.with);
        at = place + usize::try_from(patch.bytes).ok()?;
    }
    out.extend_from_slice(bytes.get(at..)?);
    Some(out)
}
