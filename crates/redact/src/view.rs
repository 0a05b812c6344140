//! Another reading of a text, with the original position of each piece.
//!
//! A secret can be written so that no pass finds it: with colors inside, with escapes for its letters, broken across lines.
//! Such a text is read again without these, and the findings are mapped back.

use std::ops::Range;

/// Another reading of a text.
#[derive(Debug, Default)]
pub(crate) struct View {
    pub(crate) text: String,
    pieces: Vec<Piece>,
}

/// A range of the other reading.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Where it begins in the other reading.
    here: usize,
    /// Where it begins in the text.
    from: usize,
    /// Its length in the text, if it is an escape for one character.
    escape: Option<usize>,
}

impl View {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), pieces: Vec::new() }
    }

    /// Adds a range of the text unchanged.
    pub(crate) fn copy(&mut self, text: &str, range: Range<usize>) {
        let from = range.start;
        if let Some(piece) = text.get(range).filter(|piece| !piece.is_empty()) {
            self.pieces.push(Piece { here: self.text.len(), from, escape: None });
            self.text.push_str(piece);
        }
    }

    /// Adds a character that is written as an escape.
    pub(crate) fn decoded(&mut self, character: char, range: Range<usize>) {
        let (here, escape) = (self.text.len(), Some(range.len()));
        self.pieces.push(Piece { here, from: range.start, escape });
        self.text.push(character);
    }

    /// Returns the position in the text of a range of this reading.
    pub(crate) fn original(&self, range: Range<usize>) -> Range<usize> {
        let Some(last) = range.end.checked_sub(1).filter(|last| *last >= range.start) else {
            return range;
        };
        let (start, end) = (self.piece(range.start), self.piece(last));
        let from = start.map_or(range.start, |piece| match piece.escape {
            Some(_) => piece.from,
            None => piece.from + (range.start - piece.here),
        });
        let to = end.map_or(range.end, |piece| match piece.escape {
            Some(length) => piece.from + length,
            None => piece.from + (range.end - piece.here),
        });
        from..to
    }

    /// Whether a range of this reading is contiguous and unchanged in the text: then it was already scanned there.
    pub(crate) fn is_whole(&self, range: &Range<usize>) -> bool {
        let last = range.end.saturating_sub(1).max(range.start);
        let (start, end) = (self.piece(range.start), self.piece(last));
        match (start, end) {
            (Some(start), Some(end)) => start.here == end.here && start.escape.is_none(),
            _ => true,
        }
    }

    fn piece(&self, at: usize) -> Option<Piece> {
        let next = self.pieces.partition_point(|piece| piece.here <= at);
        self.pieces.get(next.checked_sub(1)?).copied()
    }
}
