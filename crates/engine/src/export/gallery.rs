//! Images and other binary parts of messages: written to separate files, embedded, or dropped.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use recount_export::media;
use recount_model::{Media, MediaData, Message, What};

use crate::cache::refresh::hash;

/// What happens to images and other binary parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Images {
    /// They are only named.
    #[default]
    Named,
    /// Files beside the export.
    Beside,
    /// Part of the export.
    Within,
}

/// The binary parts of one session.
pub(super) struct Gallery {
    images: Images,
    /// The file of the session's first part.
    page: Option<PathBuf>,
    /// Files by their content: the same image is often sent repeatedly.
    names: HashMap<u64, String>,
    /// Files that were written, with their sizes.
    pub(super) written: Vec<(PathBuf, u64)>,
}

impl Gallery {
    pub(super) fn new(images: Images) -> Self {
        Self { images, page: None, names: HashMap::new(), written: Vec::new() }
    }

    /// Sets the file that images are written beside.
    pub(super) fn beside(&mut self, page: PathBuf) {
        self.page.get_or_insert(page);
    }

    /// Stores the binary parts of a message, and with `calls` those of its tool calls.
    pub(super) fn store_media(&mut self, message: &mut Message, calls: bool) -> io::Result<()> {
        let mut broken = false;
        for media in &mut message.media {
            broken |= !self.place(media)?;
        }
        for media in message.tool_calls.iter_mut().flat_map(|call| &mut call.media) {
            if calls {
                broken |= !self.place(media)?;
            } else {
                media.held = MediaData::Elsewhere;
            }
        }
        if broken {
            message.problems.push(What::BrokenMedia);
        }
        Ok(())
    }

    /// Returns whether the data could be used.
    fn place(&mut self, media: &mut Media) -> io::Result<bool> {
        let MediaData::Base64(data) = std::mem::take(&mut media.held) else { return Ok(true) };
        if self.images == Images::Named {
            return Ok(true);
        }
        let Some((bytes, ending)) = media::file(&data, &media.mime) else { return Ok(false) };
        media.held = match self.page.clone().filter(|_| self.images == Images::Beside) {
            Some(page) => MediaData::Beside(self.file(&page, &bytes, ending)?),
            None => MediaData::Base64(data),
        };
        Ok(true)
    }

    /// Returns the name of the file with these bytes.
    fn file(&mut self, page: &Path, bytes: &[u8], ending: &str) -> io::Result<String> {
        let key = hash(&bytes);
        if let Some(known) = self.names.get(&key) {
            return Ok(known.clone());
        }
        let path = numbered(page, self.written.len() + 1, ending);
        let written = recount_writer::write_with(&path, |out| out.write_all(bytes));
        let size = written.map_err(io::Error::other)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.written.push((path, size));
        self.names.insert(key, name.clone());
        Ok(name)
    }
}

/// Returns the name of an image: `shop.md` has `shop.1.png` beside it.
fn numbered(page: &Path, number: usize, ending: &str) -> PathBuf {
    let stem = page.file_stem().unwrap_or_default().to_string_lossy();
    page.with_file_name(format!("{stem}.{number}.{ending}"))
}
