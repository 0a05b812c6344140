//! Identifies repositories by reading their files. The program `git` is never run: a repository can name programs for it to
//! start.

mod remote;

use std::fs;
use std::path::{Path, PathBuf};

use recount_formats::bytes::read_head;
use serde::{Deserialize, Serialize};

use super::lexical::normal;

/// A pointer to another folder is one line.
const POINTER: u64 = 8 * 1024;

/// The size limit for reading a configuration.
const CONFIG: u64 = 1024 * 1024;

/// The size limit for reading the first line of the log.
const LOG: u64 = 64 * 1024;

/// The maximum number of worktrees per repository.
const MOST_WORKTREES: usize = 500;

/// What distinguishes a clone from others, and is kept when its folder moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitIdentity {
    /// Where it is fetched from, as `host/path`; sorted, never with a user or a secret.
    pub remotes: Vec<String>,
    /// The first commit of this clone, with its time: `<object id>@<seconds>`.
    pub first: Option<String>,
}

impl GitIdentity {
    /// Whether both may be one repository: they have the same first commit at the same time, or a common remote.
    pub fn is_same(&self, other: &Self) -> bool {
        let began_alike = self.first.is_some() && self.first == other.first;
        began_alike || self.remotes.iter().any(|remote| other.remotes.contains(remote))
    }
}

/// Returns the identity of the repository at `folder`; `None` if there is none or nothing distinguishes it from others.
pub(crate) fn identity(folder: &Path) -> Option<GitIdentity> {
    let common = common_folder(folder)?;
    let config = read_head(&common.join("config"), CONFIG).unwrap_or_default();
    let log = read_head(&common.join("logs").join("HEAD"), LOG).unwrap_or_default();
    let remotes = remote::remotes(&String::from_utf8_lossy(&config));
    let identity = GitIdentity { remotes, first: first(&log) };
    (identity != GitIdentity::default()).then_some(identity)
}

/// Lists the folders in which the repository at `folder` is checked out, including deleted ones; sorted, without
/// duplicates.
pub(crate) fn worktrees(folder: &Path) -> Vec<PathBuf> {
    let Some(common) = common_folder(folder) else { return Vec::new() };
    let mut all = vec![folder.to_owned()];
    if common.file_name().is_some_and(|name| name == ".git") {
        all.extend(common.parent().map(Path::to_owned));
    }
    let listed = fs::read_dir(common.join("worktrees")).into_iter().flatten();
    for entry in listed.take(MOST_WORKTREES).flatten() {
        // It names the `.git` of the worktree.
        let pointer = pointer(&entry.path().join("gitdir"), "", &entry.path());
        all.extend(pointer.and_then(|dot_git| Some(dot_git.parent()?.to_owned())));
    }
    all.sort();
    all.dedup();
    all
}

/// Finds the folder that all worktrees of the repository at `folder` share.
fn common_folder(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    if fs::metadata(&dot_git).ok()?.is_dir() {
        return Some(dot_git);
    }
    let own = pointer(&dot_git, "gitdir:", folder)?;
    if let Some(common) = pointer(&own.join("commondir"), "", &own) {
        return Some(common);
    }
    // The location of the repository is useful even if it no longer exists.
    let is_worktree = |above: &&Path| above.file_name().is_some_and(|name| name == "worktrees");
    let common = own.parent().filter(is_worktree).and_then(Path::parent).map(Path::to_owned);
    Some(common.unwrap_or(own))
}

/// Reads a file that holds a path, which may be relative to `base`.
fn pointer(file: &Path, label: &str, base: &Path) -> Option<PathBuf> {
    let bytes = read_head(file, POINTER).ok()?;
    let text = str::from_utf8(&bytes).ok()?.strip_prefix(label)?;
    let path = text.trim_matches([' ', '\t', '\r', '\n']);
    let is_path = !path.is_empty() && !path.contains(char::is_control);
    is_path.then(|| normal(&base.join(path)))
}

/// Reads the first line of a log, if it records the first commit: `<zeros> <id> Name <mail> <seconds> <zone>\t…`.
fn first(log: &[u8]) -> Option<String> {
    let line = log.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let (head, _message) = line.split_once('\t').unwrap_or((&line, ""));
    let (before, rest) = head.split_once(' ')?;
    let (after, author) = rest.split_once(' ')?;
    let (author, _zone) = author.rsplit_once(' ')?;
    let (_name, seconds) = author.rsplit_once(' ')?;
    let is_id = |id: &str| matches!(id.len(), 40 | 64) && id.bytes().all(|b| b.is_ascii_hexdigit());
    let is_none = |id: &str| id.bytes().all(|byte| byte == b'0');
    let is_beginning = is_id(before) && is_none(before) && is_id(after) && !is_none(after);
    seconds.parse::<u64>().ok().filter(|_| is_beginning).map(|seconds| format!("{after}@{seconds}"))
}

#[cfg(test)]
mod tests;
