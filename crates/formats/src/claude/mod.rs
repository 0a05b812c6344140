//! Anthropic's Claude Code, as far as it names the folders it was used in.

mod project;

use std::path::{Path, PathBuf};

use recount_model::RecordedPath;

use crate::witness::Witness;

/// Claude Code, every release up to 2.1.
#[derive(Debug)]
pub struct Claude;

impl Witness for Claude {
    fn name(&self) -> &'static str {
        "Claude Code"
    }

    fn below_home(&self) -> &'static str {
        ".claude"
    }

    fn variable(&self) -> &'static str {
        "CLAUDE_CONFIG_DIR"
    }

    fn paths(&self, root: &Path) -> Vec<(RecordedPath, PathBuf)> {
        project::paths(root)
    }
}
