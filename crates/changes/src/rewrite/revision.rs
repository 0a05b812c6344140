//! A file rewritten from ranges of existing files, read when it is written.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_engine::disk::Window;
use recount_formats::Rewriter;
use recount_formats::rewrite::Piece;
use recount_model::Span;
use recount_writer::change::{Make, NewContent};

/// How much of a range is copied at a time.
const BLOCK: u64 = 256 * 1024;

/// The new content of a file.
#[derive(Clone, Debug)]
pub(crate) struct Revision {
    rewriter: &'static dyn Rewriter,
    /// The source files; pieces refer to them by index.
    files: Vec<PathBuf>,
    pieces: Vec<Piece>,
}

impl Revision {
    pub(crate) fn new(
        rewriter: &'static dyn Rewriter,
        files: Vec<PathBuf>,
        pieces: Vec<Piece>,
    ) -> Self {
        Self { rewriter, files, pieces }
    }

    /// Returns a file unchanged.
    pub(crate) fn as_it_is(rewriter: &'static dyn Rewriter, path: &Path) -> io::Result<Self> {
        let bytes = std::fs::metadata(path)?.len();
        Ok(Self::new(rewriter, vec![path.to_owned()], vec![Piece::kept(0, bytes)]))
    }

    /// Returns the origin of a range, if it is copied unchanged from a file.
    pub(crate) fn origin(&self, span: Span) -> Option<(usize, Span)> {
        let mut at = 0;
        for piece in &self.pieces {
            let length = match piece {
                Piece::New(bytes) => bytes.len() as u64,
                Piece::Kept { bytes, .. } => *bytes,
                Piece::Record { .. } => return None,
            };
            if span.offset >= at && span.offset + span.bytes <= at + length {
                let &Piece::Kept { file, offset, .. } = piece else { return None };
                return Some((file, Span { offset: offset + (span.offset - at), ..span }));
            }
            at += length;
        }
        None
    }

    /// Returns it as the content of a step.
    pub(crate) fn content(&self) -> NewContent {
        NewContent::of_maker(Arc::new(self.clone()))
    }
}

impl Make for Revision {
    fn make(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut windows: Vec<Option<Window>> = self.files.iter().map(|_| None).collect();
        for piece in &self.pieces {
            match piece {
                Piece::New(bytes) => out.write_all(bytes)?,
                &Piece::Kept { file, offset, bytes } => {
                    let window = self.window(&mut windows, file)?;
                    let (mut offset, end) = (offset, offset + bytes);
                    while offset < end {
                        let span = Span { line: 0, offset, bytes: BLOCK.min(end - offset) };
                        out.write_all(window.read(span)?)?;
                        offset += span.bytes;
                    }
                }
                Piece::Record { file, span, shape } => {
                    let bytes = self.window(&mut windows, *file)?.read(*span)?;
                    // Records that are not messages were already reported when the records were chosen.
                    let unfit = || io::Error::from(io::ErrorKind::InvalidData);
                    out.write_all(&self.rewriter.shape(bytes, shape).ok_or_else(unfit)?)?;
                }
            }
        }
        Ok(())
    }
}

impl Revision {
    fn window<'a>(
        &self,
        windows: &'a mut [Option<Window>],
        file: usize,
    ) -> io::Result<&'a mut Window> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let path = self.files.get(file).ok_or_else(gone)?;
        match windows.get_mut(file).ok_or_else(gone)? {
            Some(window) => Ok(window),
            slot => Ok(slot.insert(Window::open(path)?)),
        }
    }
}
