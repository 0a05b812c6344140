//! Orphaned files of deleted sessions. The agent itself never deletes them.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::artifacts::{gather, is_plain, is_random_id};
use crate::bytes;
use crate::source::{Artifact, ArtifactKind, Artifacts, ProjectFolder};

/// The prefix of the id in names of outputs and logs.
const BEFORE: &str = "session-";
/// The read size.
const PIECE: usize = 256 * 1024;

/// Lists the files in a project directory that belong to deleted sessions: their sub-agents, tool outputs, logs, plans.
///
/// `is_there` returns whether a session exists; `sessions` are the files of existing ones. An output that one of these
/// still mentions is not orphaned: a fork uses those of its original.
pub(crate) fn orphans(
    folder: &ProjectFolder,
    is_there: &dyn Fn(&str) -> bool,
    sessions: &[PathBuf],
) -> Artifacts {
    let mut found = Artifacts::default();
    let names = |place: &Path| -> Vec<String> {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    };
    let is_gone = |id: &&str| is_plain(id) && !is_there(id);
    let chats = folder.path.join("chats");
    for name in names(&chats) {
        // Only a random id is certainly a session's; a folder of another name may be anything.
        if is_random_id(&name) && is_gone(&name.as_str()) {
            gather(&chats.join(&name), ArtifactKind::Subagent, &mut found);
        }
    }
    let outputs = folder.path.join("tool-outputs");
    let names_of_gone = names(&outputs)
        .into_iter()
        .filter_map(|name| name.strip_prefix(BEFORE).filter(is_gone).map(str::to_owned));
    let gone: BTreeSet<String> = names_of_gone.collect();
    let spoken = if gone.is_empty() { BTreeSet::new() } else { mentioned_ids(sessions, &gone) };
    for id in gone.difference(&spoken) {
        gather(&outputs.join(format!("{BEFORE}{id}")), ArtifactKind::ToolOutput, &mut found);
    }
    let logs = folder.path.join("logs");
    for name in names(&logs) {
        let id = name.strip_prefix(BEFORE).and_then(|name| name.strip_suffix(".jsonl"));
        if id.as_ref().is_some_and(is_gone) {
            found.files.push(Artifact { path: logs.join(&name), kind: ArtifactKind::ActivityLog });
        }
    }
    for name in names(&folder.path) {
        if is_random_id(&name) && is_gone(&name.as_str()) {
            gather(&folder.path.join(&name), ArtifactKind::Plans, &mut found);
        }
    }
    found
}

/// Returns those of `ids` whose outputs are mentioned by a path in one of the files.
fn mentioned_ids(files: &[PathBuf], ids: &BTreeSet<String>) -> BTreeSet<String> {
    let mut spoken = BTreeSet::new();
    let longest = ids.iter().map(String::len).max().unwrap_or_default();
    for file in files {
        // An unreadable file is skipped; its session still exists.
        let Ok(mut input) = bytes::open_bounded(file) else { continue };
        let mut piece = Vec::with_capacity(PIECE + BEFORE.len() + longest);
        loop {
            // An id may be split across two pieces.
            let keep = piece.len().saturating_sub(BEFORE.len() + longest);
            piece.drain(..keep);
            let kept = piece.len();
            let mut more = Read::by_ref(&mut input).take(PIECE as u64);
            if more.read_to_end(&mut piece).is_err() || piece.len() == kept {
                break;
            }
            look(&piece, ids, &mut spoken);
        }
    }
    spoken
}

fn look(piece: &[u8], ids: &BTreeSet<String>, spoken: &mut BTreeSet<String>) {
    for at in memchr::memmem::find_iter(piece, BEFORE.as_bytes()) {
        let behind = piece.get(at + BEFORE.len()..).unwrap_or_default();
        let is_it = |id: &&String| behind.starts_with(id.as_bytes());
        spoken.extend(ids.iter().filter(is_it).cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_wherever_pieces_end() {
        let home = recount_testkit::Home::empty();
        let ids = BTreeSet::from(["3d2f9a10-5c1b".to_owned(), "other".to_owned()]);
        for lead in (PIECE - 30)..(PIECE + 3) {
            let text = format!("{}tool-outputs/session-3d2f9a10-5c1b/a.txt", "x".repeat(lead));
            home.write("a.jsonl", text);
            let spoken = mentioned_ids(&[home.path().join("a.jsonl")], &ids);
            assert_eq!(spoken.into_iter().collect::<Vec<_>>(), ["3d2f9a10-5c1b"], "{lead}");
        }
    }
}
