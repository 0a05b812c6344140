//! Rewrites session files: logs without repetitions, documents as logs and back, repaired damage.

mod compact;
mod damage;
mod events;
mod layout;
mod pairs;
mod simulate;

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::Grammar;

use super::document::Document;
use super::lines::Lines;
use super::retention::Release;
use super::state::GeminiState;
use super::{full_output, native};
use crate::native::Fields;
use crate::outline::Outline;
use crate::rewrite::{
    CompactMode, Exchange, Flaw, Frame, KnownMetadata, Piece, Rewrite, Rewriter, Shape,
};
use crate::source::Reader;

/// The first release with lines that replace the whole list.
const FIRST_LISTS: &str = "0.44";

/// Rewrites files of every release.
#[derive(Debug)]
pub(crate) struct Files;

impl Rewriter for Files {
    fn reader(&self, grammar: Grammar, file: &Arc<str>) -> Box<dyn Reader> {
        match grammar {
            Grammar::Json => Box::new(Document::new(Arc::clone(file)).keeping_fields()),
            Grammar::Jsonl => Box::new(Lines::new(Arc::clone(file)).keeping_fields()),
        }
    }

    fn shape(&self, record: &[u8], shape: &Shape) -> Option<Vec<u8>> {
        match shape {
            Shape::Line(id) => native::record(record, id.as_deref()),
            Shape::Element(id) => layout::element(record, id.as_deref()),
        }
    }

    fn compacted(&self, path: &Path, mode: CompactMode) -> io::Result<Option<Vec<Piece>>> {
        compact::compacted(path, mode)
    }

    fn document(&self, fields: &Fields) -> Frame {
        layout::frame(fields)
    }

    fn repaired(
        &self,
        path: &Path,
        outline: &Outline,
        known: &KnownMetadata<'_>,
    ) -> io::Result<(Vec<Flaw>, Vec<Piece>)> {
        damage::repaired(path, outline, known)
    }

    fn exchange(&self, record: &[u8]) -> Option<Exchange> {
        pairs::exchange(record)
    }

    fn rewritten(&self, record: &[u8], rewrite: &Rewrite) -> Option<Vec<u8>> {
        pairs::rewritten(record, rewrite)
    }

    fn list(&self) -> Frame {
        let (open, close) = (b"{\"$set\":{\"messages\":[".to_vec(), b"]}}\n".to_vec());
        let empty = [open.as_slice(), close.as_slice()].concat();
        Frame { open, between: b",".to_vec(), close, empty }
    }

    fn rewind(&self, id: &str) -> Vec<u8> {
        let mut record = native::Object::default();
        record.text("$rewindTo", id);
        [record.end().as_slice(), b"\n"].concat()
    }

    fn complete(&self, fields: &mut Fields, outline: &Outline, known: &KnownMetadata<'_>) -> bool {
        let is_missing = outline.head.session_id.is_none();
        for (key, value) in damage::usual(outline, known) {
            let is_told = key != "sessionId" && fields.get(key).is_some();
            if !is_told {
                fields.set(key, native::quoted(&value).as_bytes());
            }
        }
        is_missing
    }

    fn is_meaningful(&self, key: &str) -> bool {
        !native::LEAKED.contains(&key)
    }

    fn place_of(&self, aside: &Path) -> Option<PathBuf> {
        let name = aside.file_name()?.to_str()?;
        let (stem, _) = name.split_once(".jsonl.")?;
        Some(aside.with_file_name(format!("{stem}.jsonl")))
    }

    fn knows_lists(&self, release: Option<&str>) -> bool {
        let first = Release::parse(FIRST_LISTS);
        release.and_then(Release::parse).is_none_or(|own| first.is_none_or(|first| own >= first))
    }

    fn list_titles(&self, outline: &Outline) -> Vec<Option<String>> {
        let listing = GeminiState::of(outline).listing;
        vec![listing.first_user, listing.first_any, listing.first_flat]
    }

    fn is_document_on_one_line(&self, outline: &Outline) -> bool {
        let facts = GeminiState::of(outline).retention;
        outline.grammar == Grammar::Jsonl && facts.is_document && facts.has_messages
    }

    fn may_be_cut(&self, record: &[u8]) -> bool {
        full_output::may_be_cut(record)
    }
}
