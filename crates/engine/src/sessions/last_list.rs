//! The rows of the last list, so that `@3` can refer to one. Each home and each terminal has its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{SessionFacts, SessionId};

use crate::cache::refresh::hash;
use crate::{Engine, Error};

/// The folder in recount's data folder.
const FOLDER: &str = "rows";
/// The maximum number of terminals.
const TERMINALS: usize = 32;

impl Engine {
    /// Stores the rows of a list that was shown.
    ///
    /// # Errors
    /// If recount's data folder cannot be written.
    pub fn remember<'s>(
        &self,
        sessions: impl IntoIterator<Item = &'s Arc<SessionFacts>>,
    ) -> Result<(), Error> {
        let (Some(data), Some(path)) = (&self.folders.data, self.rows_path()) else {
            return Ok(());
        };
        let mut text = String::new();
        for session in sessions {
            // Quoted, as an id may contain anything.
            text.push_str(
                &serde_json::to_string(&(session.source, &session.id)).unwrap_or_default(),
            );
            text.push('\n');
        }
        recount_writer::create_private_folder(data)?;
        if let Some(folder) = path.parent().filter(|_| !path.exists()) {
            recount_writer::create_private_folder(folder)?;
            forget_oldest(folder);
        }
        Ok(recount_writer::write_private(&path, text.as_bytes())?)
    }

    /// Returns the session in row `number` of the last list, counted from 1.
    pub(crate) fn row(&self, number: &str) -> Option<(Option<String>, SessionId)> {
        let number: usize = number.parse().ok().filter(|&number| number > 0)?;
        let text = recount_formats::bytes::read_small(&self.rows_path()?).ok()?;
        let text = String::from_utf8(text).ok()?;
        let line = text.lines().nth(number - 1)?;
        let (source, id) = serde_json::from_str::<(String, String)>(line).ok()?;
        Some((Some(source), SessionId::new(id)))
    }

    /// Returns the file for the rows of this home and this terminal.
    fn rows_path(&self) -> Option<PathBuf> {
        let absolute = |home: &PathBuf| std::path::absolute(home).unwrap_or_else(|_| home.clone());
        let given: Vec<PathBuf> = self.given.iter().map(absolute).collect();
        let home = self.folders.home.as_ref().filter(|_| given.is_empty());
        let terminal = recount_platform::terminal(&self.env);
        let name = format!("{:016x}", hash(&(given, home, terminal)));
        Some(self.folders.data.as_ref()?.join(FOLDER).join(name))
    }
}

/// Makes space for one more terminal.
fn forget_oldest(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut files: Vec<_> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    let many = (files.len() + 1).saturating_sub(TERMINALS);
    for (_, path) in files.iter().take(many) {
        // A file that cannot be removed does no harm.
        let _removed = recount_writer::remove(path);
    }
}
