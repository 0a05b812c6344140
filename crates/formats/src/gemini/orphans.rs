//! Orphaned files of sessions that are gone. The agent itself never collects them.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::artifacts::{gather, is_drawn, is_plain};
use crate::bytes;
use crate::source::{Artifact, Artifacts, BelongingKind, ProjectFolder};

/// What stands before the id in names of outputs and logs.
const BEFORE: &str = "session-";
/// What is read at a time.
const PIECE: usize = 256 * 1024;

/// Lists what lies in a project directory for sessions that are gone: their sub-agents, outputs of tools, logs, plans.
///
/// `is_there` knows the sessions that are not gone, which lie in `sessions`. An output that one of these still names is not lost to
/// it: a fork has them from the session that it comes from.
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
        // Only a random id is surely a session's; a folder of another name may be anything.
        if is_drawn(&name) && is_gone(&name.as_str()) {
            gather(&chats.join(&name), BelongingKind::Subagent, &mut found);
        }
    }
    let outputs = folder.path.join("tool-outputs");
    let names_of_gone = names(&outputs)
        .into_iter()
        .filter_map(|name| name.strip_prefix(BEFORE).filter(is_gone).map(str::to_owned));
    let gone: BTreeSet<String> = names_of_gone.collect();
    let spoken = if gone.is_empty() { BTreeSet::new() } else { spoken_of(sessions, &gone) };
    for id in gone.difference(&spoken) {
        gather(&outputs.join(format!("{BEFORE}{id}")), BelongingKind::ToolOutput, &mut found);
    }
    let logs = folder.path.join("logs");
    for name in names(&logs) {
        let id = name.strip_prefix(BEFORE).and_then(|name| name.strip_suffix(".jsonl"));
        if id.as_ref().is_some_and(is_gone) {
            found.files.push(Artifact { path: logs.join(&name), kind: BelongingKind::ActivityLog });
        }
    }
    for name in names(&folder.path) {
        if is_drawn(&name) && is_gone(&name.as_str()) {
            gather(&folder.path.join(&name), BelongingKind::Plans, &mut found);
        }
    }
    found
}

/// Returns those of `ids` for whose outputs a path stands in one of the files.
fn spoken_of(files: &[PathBuf], ids: &BTreeSet<String>) -> BTreeSet<String> {
    let mut spoken = BTreeSet::new();
    let longest = ids.iter().map(String::len).max().unwrap_or_default();
    for file in files {
        // What cannot be read says nothing; its session is there all the same.
        let Ok(mut input) = bytes::open_bounded(file) else { continue };
        let mut piece = Vec::with_capacity(PIECE + BEFORE.len() + longest);
        loop {
            // An id may stand across two pieces.
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
            let spoken = spoken_of(&[home.path().join("a.jsonl")], &ids);
            assert_eq!(spoken.into_iter().collect::<Vec<_>>(), ["3d2f9a10-5c1b"], "{lead}");
        }
    }
}
