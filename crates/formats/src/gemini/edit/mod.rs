//! How the agent's own files change when a session is renamed or goes to another project.

mod session;

use std::io;
use std::path::Path;
use std::sync::Arc;

use recount_model::Grammar;

use super::{grammar, listing};
use crate::bytes::{self, Buffer};
use crate::edit::{Amendment, Editor, Patch};

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
}
