//! What belongs to a session beside its own files.

use std::path::PathBuf;

/// Artifacts of a session beside its own files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Artifacts {
    /// Files.
    pub files: Vec<Artifact>,
    /// Folders that contain nothing else.
    pub folders: Vec<PathBuf>,
}

/// A file that belongs to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Its path.
    pub path: PathBuf,
    /// Its kind.
    pub kind: ArtifactKind,
}

impl Artifact {
    /// Whether it is a tool output, which the text refers to by path.
    pub fn is_output(&self) -> bool {
        self.kind == ArtifactKind::ToolOutput
    }
}

/// The kind of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArtifactKind {
    /// A sub-agent's.
    Subagent,
    /// A tool output.
    ToolOutput,
    /// An activity log of the agent.
    ActivityLog,
    /// Plans and tasks.
    Plans,
    /// Any file of a project directory.
    File,
}

impl ArtifactKind {
    /// Returns its name in plans and journals.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Subagent => "sub-agent",
            Self::ToolOutput => "tool output",
            Self::ActivityLog => "activity log",
            Self::Plans => "plans and tasks",
            Self::File => "file",
        }
    }
}
