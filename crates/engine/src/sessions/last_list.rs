//! The rows of the last list, so that `@3` can name one.

use std::sync::Arc;

use recount_model::{SessionFacts, SessionId};

use crate::{Engine, Error};

const FILE: &str = "last-list";

impl Engine {
    /// Keeps the rows of a list that was shown.
    ///
    /// # Errors
    /// If our data folder cannot be written.
    pub fn remember(&self, sessions: &[Arc<SessionFacts>]) -> Result<(), Error> {
        let Some(data) = &self.folders.data else { return Ok(()) };
        let mut text = String::new();
        for session in sessions {
            // Quoted, as an id may hold anything.
            text.push_str(
                &serde_json::to_string(&(session.source, &session.id)).unwrap_or_default(),
            );
            text.push('\n');
        }
        recount_writer::create_private_folder(data)?;
        Ok(recount_writer::write_private(&data.join(FILE), text.as_bytes())?)
    }

    /// Returns the session in row `number` of the last list, counted from 1.
    pub(crate) fn row(&self, number: &str) -> Option<(Option<String>, SessionId)> {
        let number: usize = number.parse().ok().filter(|&number| number > 0)?;
        let path = self.folders.data.as_ref()?.join(FILE);
        let text = recount_formats::bytes::read_small(&path).ok()?;
        let text = String::from_utf8(text).ok()?;
        let line = text.lines().nth(number - 1)?;
        if let Ok((source, id)) = serde_json::from_str::<(String, String)>(line) {
            return Some((Some(source), SessionId::new(id)));
        }
        // As an older release wrote it.
        let id: String = serde_json::from_str(line).ok()?;
        Some((None, SessionId::new(id)))
    }
}
