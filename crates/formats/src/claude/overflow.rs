//! Large tool outputs: releases from 2.1.2 write them to a file in the session's folder and record only how they begin.
//!
//! `<persisted-output>\nOutput too large (36.8KB). Full output saved to: …/<session>/tool-results/<name>\n\nPreview (first 2KB):\n…`,
//! and of MCP tools `… Output has been saved to …/tool-results/<name>.`

use std::fs;
use std::path::{Component, Path, PathBuf};

use recount_model::{Message, OutputState, ToolCall, What};

use super::locate::project_folder;
use super::tool::text_of;
use crate::bytes::read_limited;
use crate::folder::leads_inside;
use crate::json::JsonTree;

/// The folder of a session in which its large outputs are.
const FOLDER: &str = "tool-results";

/// What a recorded output says if the rest is in a file.
const SAVED: [&str; 2] = ["Full output saved to: ", "Output has been saved to "];

/// The largest output that is inserted.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Whether the bytes of a record may refer to an output in a file.
pub(crate) fn may_be_cut(record: &[u8]) -> bool {
    memchr::memmem::find(record, FOLDER.as_bytes()).is_some()
}

/// Whether an output is only the start of one that is in a file.
pub(crate) fn is_saved(output: &str) -> bool {
    saved_at(output).is_some()
}

/// Replaces the starts of outputs by whole ones, where their files exist.
pub(crate) fn recover(message: &mut Message, transcript: &Path) {
    let mut is_gone = false;
    for call in &mut message.tool_calls {
        let Some(path) = call.output.as_deref().and_then(saved_at) else { continue };
        match read(path, call, transcript) {
            Some(whole) => {
                call.output = Some(whole);
                call.output_state = OutputState::Recovered;
            }
            None => is_gone = true,
        }
    }
    if is_gone {
        message.problems.push(What::OutputGone);
    }
}

/// Lists the outputs of all sessions of a project directory.
pub(crate) fn files(project: &Path) -> Vec<PathBuf> {
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        names.sort();
        names
    };
    let is_folder = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let sessions = names(project).into_iter().filter(is_folder);
    let folders = sessions.map(|session| session.join(FOLDER)).filter(is_folder);
    let is_file = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    folders.flat_map(|folder| names(&folder)).filter(is_file).collect()
}

/// Finds the path in an output that says where the rest is.
fn saved_at(output: &str) -> Option<&str> {
    // The text is at the start; an output may also quote one further on.
    let end = output.char_indices().nth(LEAD).map_or(output.len(), |(at, _)| at);
    let lead = output.get(..end)?;
    let (_, rest) = SAVED.iter().find_map(|words| lead.split_once(words))?;
    let line = rest.split('\n').next()?;
    line.contains(FOLDER).then(|| line.trim_end_matches(['.', ' ', '\r']))
}

/// How much of an output is searched for the path.
const LEAD: usize = 4096;

/// Reads an output. The recorded path is absolute and may be from another machine or from before a move, so only its end counts: the
/// folder of the session that it names, then that of the transcript itself, by the name in the path or by the id of the call.
fn read(path: &str, call: &ToolCall, transcript: &Path) -> Option<String> {
    let project = project_folder(transcript)?;
    let path = path.replace('\\', "/");
    let mut parts = path.rsplit('/').filter(|part| !part.is_empty());
    let (name, folder, session) = (parts.next()?, parts.next()?, parts.next());
    let is_plain = |name: &str| {
        let mut parts = Path::new(name).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None))
    };
    let stem = transcript.file_stem().and_then(|stem| stem.to_str());
    let own = super::locate::parent_in_path(transcript).map(|id| id.to_string());
    let sessions = [session.map(str::to_owned), own, stem.map(str::to_owned)];
    let recorded = Some(name.to_owned()).filter(|_| folder == FOLDER);
    let by_call = call.id.as_ref().map(|id| format!("{id}.txt"));
    let names: Vec<String> = recorded.into_iter().chain(by_call).filter(|n| is_plain(n)).collect();
    let sessions = sessions.into_iter().flatten().filter(|session| is_plain(session));
    let paths = sessions.flat_map(|session| {
        let folder = project.join(session).join(FOLDER);
        names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>()
    });
    let mut inside = paths.filter(|path| leads_inside(path, &project));
    let read = |path: PathBuf| read_limited(&path, LARGEST).ok().map(|bytes| (path, bytes));
    let (path, bytes) = inside.find_map(read)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    // Results of several blocks are saved as they are.
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    let blocks = is_json.then(|| JsonTree::parse(text.as_bytes()).ok()).flatten();
    let blocks = blocks.filter(|tree| tree.as_array().is_some());
    Some(blocks.as_ref().and_then(text_of).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use recount_model::{Fate, MessageKind, RecordLocation};
    use recount_testkit::Home;

    use super::*;

    const PROJECT: &str = ".claude/projects/-home-dev-code-shop";

    fn saved(session: &str, name: &str) -> String {
        format!(
            "<persisted-output>\nOutput too large (36.8KB). Full output saved to: /elsewhere/projects/-x/{session}/tool-results/{name}\n\nPreview (first 2KB):\nfirst\n...\n</persisted-output>"
        )
    }

    fn recovered(home: &Home, transcript: &str, output: String) -> Message {
        let place =
            RecordLocation { file: "".into(), line: 1, offset: 0, bytes: 0, pieces: Vec::new() };
        let mut message = Message::at(place, MessageKind::Answer, Fate::Kept);
        let id = Some("toolu_1".to_owned());
        message.tool_calls.push(ToolCall { id, output: Some(output), ..ToolCall::named("Bash") });
        recover(&mut message, &home.path().join(PROJECT).join(transcript));
        message
    }

    #[test]
    fn a_large_output_is_read_from_the_folder_of_its_session() {
        let home = Home::empty();
        home.write(&format!("{PROJECT}/s1/tool-results/b1.txt"), "whole");
        home.write(&format!("{PROJECT}/s2/tool-results/toolu_1.txt"), "by its call");
        home.write(
            &format!("{PROJECT}/s1/tool-results/two.json"),
            r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#,
        );
        home.write(".claude/secret.txt", "secret");
        for (transcript, session, name, wanted) in [
            ("s1.jsonl", "s1", "b1.txt", Some("whole")),
            ("s1/subagents/agent-7.jsonl", "s1", "b1.txt", Some("whole")),
            // A fork or a moved session: the recorded folder may be that of another session.
            ("s3.jsonl", "s1", "b1.txt", Some("whole")),
            ("s2.jsonl", "gone", "b9.txt", Some("by its call")),
            ("s1.jsonl", "s1", "two.json", Some("a\n\nb")),
            ("s4.jsonl", "s4", "b1.txt", None),
            ("s4.jsonl", "..", "secret.txt", None),
        ] {
            let message = recovered(&home, transcript, saved(session, name));
            let call = &message.tool_calls[0];
            let is_whole = call.output_state == OutputState::Recovered;
            assert_eq!(call.output.as_deref().filter(|_| is_whole), wanted, "{session}/{name}");
            assert_eq!(message.problems.contains(&What::OutputGone), wanted.is_none());
        }
        let listed = files(&home.path().join(PROJECT));
        assert_eq!(listed.len(), 3, "{listed:?}");
        let message = recovered(&home, "s1.jsonl", "nothing to fill in".to_owned());
        assert_eq!(message.tool_calls[0].output.as_deref(), Some("nothing to fill in"));
        assert!(message.problems.is_empty());
    }

    #[test]
    fn only_the_words_of_the_agent_name_a_file() {
        let saved = "<persisted-output>\nOutput too large (36.8KB). Full output saved to: /home/dev/.claude/projects/-home-dev-code-shop/s/tool-results/toolu_1.txt\n\nPreview (first 2KB):\na";
        assert_eq!(
            saved_at(saved),
            Some("/home/dev/.claude/projects/-home-dev-code-shop/s/tool-results/toolu_1.txt")
        );
        let windows =
            r"Full output saved to: C:\Users\dev\.claude\projects\x\s\tool-results\b1.txt";
        assert!(is_saved(windows));
        let tool = "Error: result (80,000 characters) exceeds maximum allowed tokens. Output has been saved to /a/s/tool-results/mcp-x.txt.";
        assert_eq!(saved_at(tool), Some("/a/s/tool-results/mcp-x.txt"));
        assert!(!is_saved("Full output saved to: /tmp/log.txt"));
        assert!(!is_saved("see tool-results/a.txt"));
    }
}
