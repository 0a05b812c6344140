//! Codex by `OpenAI`, as far as it names the folders it was used in.

mod live;
mod project;

use std::path::{Path, PathBuf};

use recount_model::{Grammar, Message, Problem, RecordedPath, SourceName, What};

use crate::bytes::Buffer;
use crate::live::LiveSource;
use crate::outline::Outline;
use crate::source::{DataFolders, Located, MessageRequest, Recognition, RootShape, Source};

/// Codex, every release up to 0.166 but the first ones in TypeScript, which wrote no folder down.
#[derive(Debug)]
pub struct Codex;

impl Source for Codex {
    fn name(&self) -> SourceName {
        SourceName::new("codex")
    }

    fn display_name(&self) -> &'static str {
        "Codex"
    }

    fn folders(&self) -> DataFolders {
        DataFolders {
            below_home: &[".codex"],
            home_variable: None,
            folder_variable: Some("CODEX_HOME"),
            extra_variable: None,
            landmark: "sessions",
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
        Some(&live::CodexLive)
    }
}
