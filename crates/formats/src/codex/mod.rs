//! Codex by `OpenAI`, as far as it names the folders it was used in.

mod project;

use std::path::{Path, PathBuf};

use recount_model::RecordedPath;

use crate::witness::Witness;

/// Codex, every release up to 0.166 but the first ones in TypeScript, which wrote no folder down.
#[derive(Debug)]
pub struct Codex;

impl Witness for Codex {
    fn name(&self) -> &'static str {
        "Codex"
    }

    fn below_home(&self) -> &'static str {
        ".codex"
    }

    fn variable(&self) -> &'static str {
        "CODEX_HOME"
    }

    fn paths(&self, root: &Path) -> Vec<(RecordedPath, PathBuf)> {
        project::paths(root)
    }
}
