//! Anthropic's Claude Code, as far as it names the folders it was used in.

mod live;
mod project;

use std::path::{Path, PathBuf};

use recount_model::{Grammar, Message, Problem, RecordedPath, SourceName, What};

use crate::bytes::Buffer;
use crate::live::LiveSource;
use crate::outline::Outline;
use crate::source::{DataFolders, Located, MessageRequest, Recognition, RootShape, Source};

/// Claude Code, every release up to 2.1.
#[derive(Debug)]
pub struct Claude;

impl Source for Claude {
    fn name(&self) -> SourceName {
        SourceName::new("claude")
    }

    fn display_name(&self) -> &'static str {
        "Claude Code"
    }

    fn folders(&self) -> DataFolders {
        DataFolders {
            below_home: &[".claude"],
            home_variable: None,
            folder_variable: Some("CLAUDE_CONFIG_DIR"),
            extra_variable: None,
            landmark: "projects",
        }
    }

    fn reads_sessions(&self) -> bool {
        false
    }

    fn locate(&self, _root: &Path, _shape: RootShape) -> Located {
        Located::default()
    }

    fn sniff(&self, _path: &Path, _head: &[u8]) -> Recognition {
        Recognition::No
    }

    fn outline(&self, _path: &Path, _buffer: &mut Buffer) -> Outline {
        Outline::empty(Grammar::Jsonl)
    }

    fn message(&self, request: &MessageRequest<'_>) -> Result<Message, Problem> {
        Err(request.problem(What::UnknownRecord, "sessions of this agent are not read yet"))
    }

    fn version(&self) -> u32 {
        0
    }

    fn known_folders(&self, root: &Path) -> Vec<(RecordedPath, PathBuf)> {
        project::paths(root)
    }

    fn live(&self) -> Option<&'static dyn LiveSource> {
        Some(&live::ClaudeLive)
    }
}
