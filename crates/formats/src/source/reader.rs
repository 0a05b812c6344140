//! Readers: bytes to an outline, at once or incrementally.

use std::fmt::Debug;

use crate::outline::Outline;

/// The outline of a file, with the reader.
#[derive(Clone, Debug)]
pub struct ReadResult {
    /// The outline.
    pub outline: Outline,
    /// The state of the reader before the end of the file, which may be in the middle of a line.
    pub saved: Option<ReaderState>,
}

/// A saved reader, to continue later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderState {
    /// How much of the file it has read.
    pub offset: u64,
    /// The encoded state.
    pub state: Vec<u8>,
}

/// Turns the bytes of one file into an [`Outline`], at once or incrementally.
pub trait Reader: Debug + Send {
    /// Reads every complete record in `bytes` and returns the number of bytes used.
    ///
    /// The caller passes the rest again with what follows it.
    fn feed(&mut self, bytes: &[u8]) -> usize;

    /// Tells whether a core has nothing else to do: then what is fed next may be parsed on two.
    fn may_share(&mut self, _is_core_idle: bool) {}

    /// Marks the end: nothing follows `rest`, which the last `feed` left over.
    fn finish(&mut self, rest: &[u8]);

    /// Returns the current outline, with every problem so far.
    fn outline(&self) -> Outline;

    /// Returns the state to continue later, when more has been appended; `None` if that is not possible.
    fn save(&self) -> Option<ReaderState> {
        None
    }

    /// Returns the final outline, without a copy.
    fn into_outline(self: Box<Self>) -> Outline;
}
