//! Ranges of a file, read through a window so that adjacent ones cost one read.

use std::io::{self, Read as _};
use std::path::Path;

use recount_formats::bytes::Input;
use recount_model::Span;

/// The read size.
const WINDOW: u64 = 256 * 1024;

/// The maximum number of open files; a session may have thousands.
pub(super) const OPEN: usize = 32;

/// The files of a session, opened on demand.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    all: Vec<Option<Window>>,
    /// Those that are open.
    open: Vec<usize>,
}

impl Windows {
    pub(crate) fn new(files: usize) -> Self {
        Self { all: std::iter::repeat_with(|| None).take(files).collect(), open: Vec::new() }
    }

    /// Returns the number of files.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the bytes of a span of one of the files; `None` if they cannot be read.
    pub(crate) fn read(&mut self, file: usize, path: &Path, span: Span) -> Option<&[u8]> {
        if self.all.get(file)?.is_none() {
            if self.open.len() >= OPEN {
                for open in self.open.drain(..) {
                    if let Some(slot) = self.all.get_mut(open) {
                        *slot = None;
                    }
                }
            }
            *self.all.get_mut(file)? = Window::open(path).ok();
            self.open.push(file);
        }
        self.all.get_mut(file)?.as_mut()?.read(span).ok()
    }
}

/// A file that is read in ranges.
#[derive(Debug)]
pub struct Window {
    file: Input,
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: Input::open(path)?, start: 0, bytes: Vec::new() })
    }

    /// Returns the bytes of a span.
    ///
    /// # Errors
    /// If they cannot be read, or the file ends before them.
    pub fn read(&mut self, span: Span) -> io::Result<&[u8]> {
        let end = span.offset + span.bytes;
        if span.offset < self.start || end > self.start + self.bytes.len() as u64 {
            let wanted = span.bytes.max(WINDOW);
            self.bytes.clear();
            if self.bytes.capacity() as u64 > 8 * wanted {
                // One huge message must not keep its memory allocated.
                self.bytes.shrink_to(usize::try_from(wanted).unwrap_or(0));
            }
            self.start = span.offset;
            self.file.seek_to(span.offset)?;
            self.bytes.reserve(usize::try_from(span.bytes).unwrap_or(0));
            (&mut self.file).take(wanted).read_to_end(&mut self.bytes)?;
        }
        let from = usize::try_from(span.offset - self.start).unwrap_or(usize::MAX);
        let to = from.saturating_add(usize::try_from(span.bytes).unwrap_or(usize::MAX));
        self.bytes.get(from..to).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}
