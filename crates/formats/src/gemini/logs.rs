//! `logs.json`: everything typed in the interactive program, and often the only trace of a deleted session.

use std::path::Path;

use recount_model::{SessionId, parse_millis};

use crate::bytes::read_small;
use crate::json::JsonTree;
use crate::source::Trace;

/// Reads the recorded prompts of a project directory. Entries that lack a field are skipped, as by the agent.
pub(crate) fn traces(folder: &Path) -> Vec<Trace> {
    let Ok(bytes) = read_small(&folder.join("logs.json")) else { return Vec::new() };
    let Ok(tree) = JsonTree::parse(&bytes) else { return Vec::new() };
    let entry = |entry: &JsonTree| {
        Some(Trace {
            session: SessionId::new(entry.text("sessionId")?),
            time: parse_millis(entry.text("timestamp")?.as_bytes()),
            text: entry
                .get("messageId")
                .and(entry.text("type"))
                .and(entry.text("message"))?
                .to_owned(),
        })
    };
    tree.as_array().unwrap_or_default().iter().filter_map(entry).collect()
}
