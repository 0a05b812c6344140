//! Prompts on record outside of transcripts: `history.jsonl` outlives what the clean-up takes.

use std::path::Path;

use recount_model::{RecordedPath, SessionId};

use super::project::directory_names;
use super::row::string;
use crate::bytes::read_tail;
use crate::named_folders::rows;
use crate::source::{ProjectFolder, RecordedPrompt, Trace};

/// How much of the history is read, from its end.
const MOST: u64 = 16 * 1024 * 1024;

/// Returns the prompts that were typed in the projects of a directory.
pub(crate) fn traces(folder: &ProjectFolder) -> Vec<Trace> {
    let Some(root) = folder.path.parent().and_then(Path::parent) else { return Vec::new() };
    let is_here = |prompt: &RecordedPrompt| {
        prompt.project.as_ref().is_some_and(|project| {
            let (name, whole) = directory_names(project.as_str());
            folder.name == name || folder.name == whole
        })
    };
    prompts(root).into_iter().filter(is_here).map(|prompt| prompt.trace).collect()
}

/// Returns all prompts that were typed, whether or not anything is left of their projects.
pub(crate) fn prompts(root: &Path) -> Vec<RecordedPrompt> {
    let bytes = read_tail(&root.join("history.jsonl"), MOST).unwrap_or_default();
    let mut found = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let (mut session, mut project, mut text, mut time) = (None, None, None, None);
        rows(line, |scanner, key| {
            match key.name().as_ref() {
                b"sessionId" => session = string(scanner)?.map(|text| text.decode().into_owned()),
                b"project" => project = string(scanner)?.map(|text| text.decode().into_owned()),
                b"display" => text = string(scanner)?.map(|text| text.decode().into_owned()),
                b"timestamp" => {
                    let value = scanner.value()?;
                    time = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                }
                _ => scanner.skip()?,
            }
            Ok(())
        });
        if let (Some(session), Some(text)) = (session, text) {
            let trace = Trace { session: SessionId::new(session), time, text };
            found.push(RecordedPrompt { trace, project: project.map(RecordedPath::new) });
        }
    }
    found
}
