//! How far sessions were read. Only apps ask for it: a list on the command line does not.

use std::path::PathBuf;

use recount_model::SessionKey;
use recount_store::ReadMarks;

use crate::config::{utf8, written};
use crate::{Engine, Error};

/// The file.
const FILE: &str = "read.toml";

impl Engine {
    /// Returns how far sessions were read. Marks in a file that cannot be read are not there: they are worth no error.
    pub fn read_marks(&self) -> ReadMarks {
        let text = self.read_marks_file().and_then(|path| written(&path).ok().flatten());
        text.and_then(|text| ReadMarks::parse(&text).ok()).unwrap_or_default()
    }

    /// Notes that the end of a session was shown when it had this number of messages. Returns all marks.
    ///
    /// # Errors
    /// If there is no data folder, or the file cannot be written.
    pub fn mark_read(&self, key: &SessionKey, messages: u64) -> Result<ReadMarks, Error> {
        let path = self.read_marks_file().ok_or(Error::NoDataFolder)?;
        let known = self.read_marks();
        if known.read(key) == Some(messages) {
            return Ok(known);
        }
        if let Some(folder) = path.parent() {
            recount_writer::create_private_folder(folder)?;
        }
        let at = self.clock().now().as_second();
        let mut marks = ReadMarks::default();
        recount_writer::update(&path, |old| {
            // A damaged file is replaced.
            let text = utf8(&path, old.unwrap_or_default()).unwrap_or_default();
            marks = ReadMarks::parse(&text).unwrap_or_default();
            marks.mark(key, messages, at).then(|| marks.to_text().into_bytes())
        })?;
        Ok(marks)
    }

    fn read_marks_file(&self) -> Option<PathBuf> {
        self.folders.data.as_ref().map(|data| data.join(FILE))
    }
}
