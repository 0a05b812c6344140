//! Tool output that was cut or masked: the full text is in an earlier version of the message or in a file.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use recount_model::{Message, OutputState, ToolCall, What};

use super::tool::{calls, cut_state, response_text};
use crate::bytes::read_limited;
use crate::folder::leads_inside;
use crate::json::{JsonTree, Scanner};
use crate::source::{Detail, OtherVersions};

/// The largest output that is inserted.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Replaces cut outputs by full ones where they can be found.
pub(crate) fn recover(message: &mut Message, others: &dyn OtherVersions, folder: Option<&Path>) {
    let is_not_whole = |call: &ToolCall| call.output_state != OutputState::Whole;
    if !message.tool_calls.iter().any(is_not_whole) {
        return;
    }
    let mut found = from_versions(&message.tool_calls, others);
    for call in message.tool_calls.iter_mut().filter(|call| is_not_whole(call)) {
        let full = call.id.as_ref().and_then(|id| found.remove(id).flatten());
        if let Some(full) = full.or_else(|| from_file(call, folder?)) {
            call.output = Some(full);
            call.output_state = OutputState::Recovered;
        }
    }
    let is_cut =
        |call: &ToolCall| matches!(call.output_state, OutputState::Truncated | OutputState::Masked);
    if message.tool_calls.iter().any(is_cut) {
        message.problems.push(What::OutputGone);
    }
}

/// Whether the bytes of a record may contain a cut output: a quick search for the words that replace it, without brackets,
/// which may be escaped.
pub(crate) fn may_be_cut(record: &[u8]) -> bool {
    let words: [&[u8]; 3] = [b"tool_output_masked", b"too large", b"CONTENT TRUNCATED"];
    words.iter().any(|words| memchr::memmem::find(record, words).is_some())
}

/// Masking rewrites the message; in a log the original is still in an earlier line. Each version is read once for all
/// calls.
fn from_versions(cut: &[ToolCall], others: &dyn OtherVersions) -> HashMap<String, Option<String>> {
    let is_cut = |call: &&ToolCall| call.output_state != OutputState::Whole;
    let ids = cut.iter().filter(is_cut).filter_map(|call| call.id.clone());
    let mut found: HashMap<String, Option<String>> = ids.map(|id| (id, None)).collect();
    let mut missing = found.len();
    others.each(&mut |bytes| {
        let mut all = Vec::new();
        let scanned = Scanner::new(bytes).object(|scanner, key| {
            if key.is("toolCalls") {
                all = calls(scanner, Detail::Whole)?;
                return Ok(());
            }
            scanner.skip()
        });
        for other in all {
            let slot = other.id.as_ref().and_then(|id| found.get_mut(id));
            let Some(slot) = slot.filter(|slot| slot.is_none()) else { continue };
            *slot = other.output.filter(|output| cut_state(output) == OutputState::Whole);
            missing -= usize::from(slot.is_some());
        }
        scanned.is_ok() && missing > 0
    });
    found
}

/// The remaining text names a file. The path is absolute and possibly from another machine, so only its end is used, and
/// only below the project's own directory; or, if the session comes from another project, below the directory of the name
/// in the path, beside ours.
fn from_file(call: &ToolCall, folder: &Path) -> Option<String> {
    let text = call.output.as_deref()?;
    let lines =
        || text.split(['\n', '"', '\'', '`', '<', '>']).filter(|line| line.contains(['/', '\\']));
    let inside = |folder: &Path, name: PathBuf| {
        Some(folder.join(name)).filter(|path| leads_inside(path, folder))
    };
    let here = lines().filter_map(relative).take(8).filter_map(|name| inside(folder, name));
    let beside = lines().filter_map(|line| {
        let (owner, name) = owner(line)?;
        inside(&folder.parent()?.join(owner), name)
    });
    let text = here.chain(beside.take(8)).find_map(|path| read_limited(&path, LARGEST).ok())?;
    let text = String::from_utf8_lossy(&text).into_owned();
    // A masked output is stored as its whole response object.
    let response = JsonTree::parse(text.as_bytes()).ok();
    let object = response.as_ref().filter(|tree| tree.as_object().is_some());
    Some(object.and_then(response_text).unwrap_or(text))
}

/// Finds the name of the project's directory in a path, and what follows it.
fn owner(line: &str) -> Option<(String, PathBuf)> {
    let name = relative(line)?;
    let line = line.replace('\\', "/");
    let before = line.get(..line.rfind(name.to_str()?)?)?.strip_suffix('/')?;
    let owner = before.rsplit('/').next()?;
    let is_plain = Path::new(owner).components().all(|part| matches!(part, Component::Normal(_)));
    (!owner.is_empty() && is_plain).then(|| (owner.to_owned(), name))
}

/// Finds the part of a path below the project's directory.
fn relative(line: &str) -> Option<PathBuf> {
    let line = line.trim_end_matches(['.', ',', ')', ' ', '\r']).replace('\\', "/");
    let end = |marker: &str| line.rfind(marker).and_then(|at| line.get(at..));
    let tail = end("tool-outputs/").or_else(|| end("tool_output/")).or_else(|| {
        let is_output = [".output", ".txt"].iter().any(|ending| line.ends_with(ending));
        line.rsplit('/').next().filter(|_| is_output && line.contains('/'))
    })?;
    let path = PathBuf::from(tail);
    path.components().all(|part| matches!(part, Component::Normal(_))).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_below_the_project_are_followed() {
        for (line, expected) in [
            (
                "Output too large. For full output see: /home/dev/.gemini/tmp/shop/tool-outputs/session-1/a.txt",
                Some("tool-outputs/session-1/a.txt"),
            ),
            ("see /home/dev/.gemini/tmp/4e/run-1.output", Some("run-1.output")),
            ("/x/tool-outputs/../../../etc/passwd.txt", None),
            ("no path here", None),
        ] {
            assert_eq!(relative(line), expected.map(PathBuf::from), "{line}");
        }
        let line = "see /home/dev/.gemini/tmp/shop/tool-outputs/session-1/a.txt.";
        let expected = ("shop".to_owned(), PathBuf::from("tool-outputs/session-1/a.txt"));
        assert_eq!(owner(line), Some(expected));
        assert_eq!(owner("see /tmp/../a.txt"), None);
    }
}
