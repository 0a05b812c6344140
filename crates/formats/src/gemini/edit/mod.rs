//! How the agent's own files change when a session is renamed or moved to another project.

#[cfg(any(test, feature = "fuzzing"))]
mod amended;
mod names;
mod place;
mod prompts;
mod register;
mod relocate;
mod session;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use amended::amended;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{Grammar, RecordedPath, SessionId};

use super::place::SESSIONS;
use super::{artifacts, grammar, listing, locate, orphans};
use crate::bytes::{self, Buffer};
use crate::edit::{Amendment, Editor, Meeting, Patch, ProjectDirectory, Relocation};
use crate::source::{Artifacts, ProjectFolder, RootShape};

/// Files of every release up to 0.61.
#[derive(Debug)]
pub(crate) struct Edits;

impl Editor for Edits {
    fn title(&self, text: &str) -> String {
        listing::visible(text)
    }

    fn amend(
        &self,
        file: &Path,
        grammar: Grammar,
        said: Amendment<'_>,
        buffer: &mut Buffer,
    ) -> io::Result<Option<Vec<Patch>>> {
        match grammar {
            Grammar::Jsonl => {
                let size = bytes::open(file)?.metadata()?.len();
                let last = bytes::read_tail(file, 1)?;
                Ok(Some(session::in_log(size, last.first().copied(), said)))
            }
            Grammar::Json => {
                let name = Arc::from(file.to_string_lossy());
                let fields = grammar::fields(&mut bytes::open(file)?, &name, buffer)?;
                Ok(session::in_document(&fields, said))
            }
        }
    }

    fn place(
        &self,
        root: &Path,
        shape: RootShape,
        path: &RecordedPath,
    ) -> Result<ProjectDirectory, String> {
        place::place(root, shape, path)
    }

    fn relocation(
        &self,
        root: &Path,
        shape: RootShape,
        old: &RecordedPath,
        new: &RecordedPath,
    ) -> Result<Option<Relocation>, String> {
        relocate::relocation(root, shape, old, new)
    }

    fn contents(&self, folder: &Path) -> Artifacts {
        artifacts::contents(folder)
    }

    fn meet(&self, name: &Path, here: &Path, there: &Path) -> Meeting {
        if name == Path::new(place::MARKER) {
            return Meeting::Dropped;
        }
        let united =
            |()| prompts::united(&bytes::read_small(here).ok()?, &bytes::read_small(there).ok()?);
        let is_prompts = (name == Path::new("logs.json")).then_some(());
        is_prompts.and_then(united).map_or(Meeting::Apart, Meeting::United)
    }

    fn is_sessions_folder(&self, folder: &Path) -> bool {
        folder.ends_with(SESSIONS)
    }

    fn group<'a>(&self, name: &'a str) -> &'a str {
        locate::short_id(name)
    }

    fn names_apart(&self, name: &str, id: &SessionId, attempt: usize) -> String {
        names::apart(name, id, attempt)
    }

    fn names_beside(&self, name: &str, attempt: usize) -> String {
        names::beside(name, attempt)
    }

    fn orphans(
        &self,
        folder: &ProjectFolder,
        is_there: &dyn Fn(&str) -> bool,
        sessions: &[PathBuf],
    ) -> Artifacts {
        orphans::orphans(folder, is_there, sessions)
    }
}
