//! Projects: the folder an agent was started in, and how it is known.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A path as an agent recorded it, possibly on another machine or system.
///
/// It is compared and hashed exactly as written, never cleaned, and need not exist here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordedPath(String);

impl RecordedPath {
    /// Wraps the text as written.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last component, with either kind of separator.
    pub fn leaf(&self) -> &str {
        let trimmed = self.0.trim_end_matches(['/', '\\']);
        let leaf = trimmed.rsplit(['/', '\\']).next().unwrap_or(trimmed);
        if leaf.is_empty() { &self.0 } else { leaf }
    }
}

impl fmt::Display for RecordedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The SHA-256 of a project's path, in lower-case hex.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProjectHash(Box<str>);

impl ProjectHash {
    /// Accepts exactly 64 lower-case hex digits.
    pub fn new(text: &str) -> Option<Self> {
        let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == 64 && text.bytes().all(hex)).then(|| Self(text.into()))
    }

    /// Returns the hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Whether a project's folder still exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProjectState {
    /// The folder is there.
    Present,
    /// The folder is known and no longer exists.
    Missing,
    /// The folder is not known.
    #[default]
    Unknown,
    /// Not known yet: the search timed out, or the folder's disk did not respond.
    Scanning,
}

impl fmt::Display for ProjectState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Present => "present",
            Self::Missing => "missing",
            Self::Unknown => "unknown",
            Self::Scanning => "scanning",
        })
    }
}

/// Where a path was found that may be a project's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClueKind {
    /// The folder that the session itself records.
    Session,
    /// A marker file that the agent left in the project's directory.
    Marker,
    /// The agent's list of projects.
    Registry,
    /// The hash recorded in the sessions.
    SessionHash,
    /// The agent's list of trusted folders.
    Trusted,
    /// A session's list of workspace folders.
    Workspace,
    /// A path in the text of a session: an argument, a result, an attached file.
    Text,
    /// The folder of a running agent.
    Process,
    /// The folder of a running shell, or one it changed to.
    Shell,
    /// A project of another agent.
    Neighbour,
    /// A worktree of a repository.
    Worktree,
    /// A list of recent folders.
    Recent,
    /// The folder that recount was started in.
    CurrentFolder,
    /// A folder beside a known project.
    Beside,
    /// A search of the disk.
    Scan,
    /// The same repository: remote address or first commit.
    Repository,
    /// Files that the sessions mention.
    Files,
    /// The same name.
    Name,
    /// The order in which folders were used.
    Use,
    /// Evidence that does not fit.
    Note,
}

impl fmt::Display for ClueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Session => "session",
            Self::Marker => "marker",
            Self::Registry => "registry",
            Self::SessionHash => "session hash",
            Self::Trusted => "trusted",
            Self::Workspace => "workspace",
            Self::Text => "text",
            Self::Process => "process",
            Self::Shell => "shell",
            Self::Neighbour => "neighbour",
            Self::Worktree => "worktree",
            Self::Recent => "recent",
            Self::CurrentFolder => "current folder",
            Self::Beside => "beside",
            Self::Scan => "scan",
            Self::Repository => "repository",
            Self::Files => "files",
            Self::Name => "name",
            Self::Use => "use",
            Self::Note => "note",
        })
    }
}

/// One reason to believe that a project is a certain folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Clue {
    /// The kind of clue.
    pub clue: ClueKind,
    /// Where it was found.
    pub detail: String,
    /// Whether it proves the path, rather than suggests it.
    pub proves: bool,
    /// Its weight, up to 100, which is a proof. A note has weight 0.
    pub weight: u8,
    /// The path it names, if that is not the accepted one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<RecordedPath>,
}

/// A project, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Project {
    /// The folder, as the agent wrote it.
    pub path: Option<RecordedPath>,
    /// Whether the folder still exists.
    pub state: ProjectState,
    /// The readable name of its directory, if it has one.
    pub slug: Option<String>,
    /// The hash that names it.
    pub hash: Option<ProjectHash>,
    /// The name that the user gave it, alone or together with other folders.
    pub alias: Option<String>,
    /// The evidence for the path.
    pub evidence: Vec<Clue>,
}

impl Project {
    /// Returns its display name: the one the user gave it, else the folder's, else the slug, else
    /// the start of the hash.
    pub fn name(&self) -> &str {
        if let Some(alias) = &self.alias {
            return alias;
        }
        if let Some(path) = &self.path {
            return path.leaf();
        }
        if let Some(slug) = &self.slug {
            return slug;
        }
        self.hash.as_ref().and_then(|hash| hash.as_str().get(..8)).unwrap_or("?")
    }

    /// Whether its path is certain.
    pub fn is_proven(&self) -> bool {
        self.evidence.iter().any(|clue| clue.proves)
    }

    /// Returns what distinguishes it from other projects: the name given to it, its path, else the
    /// name of its directory.
    pub fn key(&self) -> String {
        let hash = || self.hash.as_ref().map(|hash| hash.as_str().to_owned());
        let path = || self.path.as_ref().map(|path| path.as_str().to_owned());
        let known = self.alias.clone().or_else(path);
        known.or_else(hash).or_else(|| self.slug.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leaf_is_found_in_either_kind_of_path() {
        for (path, leaf) in [
            ("/home/dev/code/shop", "shop"),
            ("/home/dev/code/shop/", "shop"),
            (r"C:\Users\dev\shop", "shop"),
            ("/", "/"),
            ("", ""),
        ] {
            assert_eq!(RecordedPath::new(path).leaf(), leaf, "{path}");
        }
    }

    #[test]
    fn a_hash_is_64_lower_case_hex_digits() {
        assert!(ProjectHash::new(&"0af9".repeat(16)).is_some());
        assert!(ProjectHash::new(&"0AF9".repeat(16)).is_none());
        assert!(ProjectHash::new("0af9").is_none());
    }
}
