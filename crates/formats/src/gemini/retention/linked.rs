//! Session files that the agent finds through links that lead out of its folder. It reads their targets, and deletes what
//! is at their path: the link, or the file in a linked folder.
//!
//! Such files are read only here, to predict what happens to them, and only facts are kept.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::path::Path;
use std::sync::Arc;

use crate::bytes::{Buffer, open_following};
use crate::gemini::grammar::outline;
use crate::gemini::state::{GeminiState, RetentionFacts};
use crate::source::{FileAt, FilePlacement, Linked, ProjectFolder, Stamp, modified};

/// Lists them, each with what is known about it; `None` if the agent cannot read it.
pub(super) fn files(folder: &ProjectFolder) -> Vec<(FileAt, Option<RetentionFacts>)> {
    if folder.linked == Linked::Nothing {
        return Vec::new();
    }
    let mut buffer = Buffer::large();
    let entries = fs::read_dir(folder.path.join("chats")).into_iter().flatten().flatten();
    let known: HashSet<&Path> = folder.files.iter().map(|file| file.path.as_path()).collect();
    let others = entries.filter(|entry| !known.contains(entry.path().as_path()));
    others.filter_map(|entry| file(&entry, &mut buffer)).collect()
}

fn file(entry: &DirEntry, buffer: &mut Buffer) -> Option<(FileAt, Option<RetentionFacts>)> {
    let own = entry.metadata().ok()?;
    // A folder cannot be deleted like a file.
    if own.is_dir() {
        return None;
    }
    let path = entry.path();
    let target = fs::metadata(&path).ok();
    let facts = target.as_ref().and_then(|_| facts(&path, buffer));
    let file = FileAt {
        bytes: own.len(),
        is_link: own.is_symlink(),
        modified: target.as_ref().and_then(modified),
        stamp: Stamp::of(&own),
        path,
        placement: FilePlacement::Main,
        group: String::new(),
    };
    Some((file, facts))
}

fn facts(path: &Path, buffer: &mut Buffer) -> Option<RetentionFacts> {
    let mut input = open_following(path).ok()?;
    let name = Arc::from(path.to_string_lossy());
    let outline = outline(&mut input, &name, buffer).ok()?;
    Some(GeminiState::of(&outline).retention)
}
