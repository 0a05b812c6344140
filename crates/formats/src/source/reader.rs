//! Readers: bytes to an outline, all at once or as they are appended.

use std::fmt::Debug;

use crate::outline::Outline;

/// What was read of a file, with the reader.
#[derive(Clone, Debug)]
pub struct ReadResult {
    /// What is in the file.
    pub outline: Outline,
    /// The reader before the end of the file, which may be in the middle of a line.
    pub saved: Option<ReaderState>,
}

/// A reader, kept to go on later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderState {
    /// How much of the file it has read.
    pub offset: u64,
    /// All it knows.
    pub state: Vec<u8>,
}

/// Turns the bytes of one file into an [`Outline`], all at once or as they are appended.
pub trait Reader: Debug + Send {
    /// Takes every whole record in `bytes` and returns how many bytes it used.
    ///
    /// The caller offers the rest again with what follows it.
    fn feed(&mut self, bytes: &[u8]) -> usize;

    /// Says that nothing follows `rest`, which the last `feed` left over.
    fn finish(&mut self, rest: &[u8]);

    /// Returns the outline as it stands, with every problem met so far.
    fn outline(&self) -> Outline;

    /// Returns what is needed to go on later, when more has been appended; `None` if that cannot be done.
    fn save(&self) -> Option<ReaderState> {
        None
    }

    /// Returns the outline when nothing more will come, without a copy of it.
    fn into_outline(self: Box<Self>) -> Outline;
}
