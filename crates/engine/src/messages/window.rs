//! Ranges of a file, read through a window so that adjacent ones cost one read.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

use recount_formats::bytes::{Input, LineCounter};
use recount_model::Span;

/// The read size.
const WINDOW: u64 = 256 * 1024;

/// The maximum number of open files; a session may have thousands.
const OPEN: usize = 32;

/// The files of a session, opened on demand. Empty, it costs nothing, however many files there are.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles(Vec<(usize, OpenFile)>);

#[derive(Debug)]
struct OpenFile {
    /// The path, as messages name it.
    name: Arc<str>,
    window: Option<Window>,
    lines: Option<LineCounter>,
}

impl OpenFiles {
    /// Returns the bytes of a span of one of the files; `None` if they cannot be read.
    pub(crate) fn read(&mut self, file: usize, path: &Path, span: Span) -> Option<&[u8]> {
        let window = &mut self.open(file, path)?.window;
        if window.is_none() {
            *window = Window::open(path).ok();
        }
        window.as_mut()?.read(span).ok()
    }

    /// Returns the line of one of the files at a byte; `None` if it cannot be read.
    pub(crate) fn line(&mut self, file: usize, path: &Path, offset: u64) -> Option<u32> {
        let lines = &mut self.open(file, path)?.lines;
        if lines.is_none() {
            *lines = LineCounter::open(path).ok();
        }
        lines.as_mut()?.line(offset).ok()
    }

    /// Returns the path of one of the files, as messages name it.
    pub(crate) fn name(&mut self, file: usize, path: &Path) -> Option<Arc<str>> {
        self.open(file, path).map(|open| Arc::clone(&open.name))
    }

    fn open(&mut self, file: usize, path: &Path) -> Option<&mut OpenFile> {
        let at = self.0.iter().position(|(number, _)| *number == file);
        let at = at.unwrap_or_else(|| {
            if self.0.len() >= OPEN {
                self.0.clear();
            }
            let name = Arc::from(path.to_string_lossy());
            self.0.push((file, OpenFile { name, window: None, lines: None }));
            self.0.len() - 1
        });
        self.0.get_mut(at).map(|(_, open)| open)
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
