//! Prompts on record outside of transcripts: `history.jsonl` outlives what the clean-up takes.

use std::path::Path;

use recount_model::SessionId;

use super::project::directory_names;
use super::row::string;
use crate::bytes::read_tail;
use crate::named_folders::rows;
use crate::source::{ProjectFolder, Trace};

/// How much of the history is read, from its end.
const MOST: u64 = 16 * 1024 * 1024;

/// Returns the prompts that were typed in the projects of a directory.
pub(crate) fn traces(folder: &ProjectFolder) -> Vec<Trace> {
    let root = folder.path.parent().and_then(Path::parent);
    let Some(bytes) = root.and_then(|root| read_tail(&root.join("history.jsonl"), MOST).ok())
    else {
        return Vec::new();
    };
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
        let is_here = |project: &String| {
            let (name, whole) = directory_names(project);
            folder.name == name || folder.name == whole
        };
        if let (Some(session), Some(text), true) =
            (session, text, project.as_ref().is_some_and(is_here))
        {
            found.push(Trace { session: SessionId::new(session), time, text });
        }
    }
    found
}
