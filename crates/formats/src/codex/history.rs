//! Prompts on record outside of rollouts: what was typed in the terminal, and how the agent's index says that threads began.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use recount_model::SessionId;

use super::database;
use super::record::{number, string};
use crate::bytes::read_tail;
use crate::named_folders::rows;
use crate::source::{RecordedPrompt, Trace};

/// How much of the history is read, from its end.
const MOST: u64 = 16 * 1024 * 1024;

/// Lists the prompts on record. Of a thread that is only in the index that is the first one.
pub(super) fn prompts(root: &Path) -> Vec<RecordedPrompt> {
    let threads = database::threads(root);
    let folders: BTreeMap<&str, _> =
        threads.iter().map(|thread| (thread.id.as_str(), thread.cwd.clone())).collect();
    let mut found = Vec::new();
    let mut typed = BTreeSet::new();
    let bytes = read_tail(&root.join("history.jsonl"), MOST).unwrap_or_default();
    for line in bytes.split(|byte| *byte == b'\n') {
        let (mut session, mut text, mut time) = (None, None, None);
        rows(line, |scanner, key| {
            let value = Some(scanner.value()?);
            match key.name().as_ref() {
                b"session_id" => session = string(value),
                b"text" => text = string(value),
                b"ts" => time = number(value).and_then(|seconds| i64::try_from(seconds).ok()),
                _ => {}
            }
            Ok(())
        });
        let (Some(session), Some(text)) = (session, text) else { continue };
        let project = folders.get(session.as_str()).cloned().flatten();
        let time = time.map(|seconds| seconds.saturating_mul(1000));
        let trace = Trace { session: SessionId::new(session.as_str()), time, text };
        typed.insert(session);
        found.push(RecordedPrompt { trace, project });
    }
    for thread in &threads {
        let Some(text) = thread.first_prompt.clone().filter(|_| !typed.contains(&thread.id)) else {
            continue;
        };
        let session = SessionId::new(thread.id.as_str());
        let trace = Trace { session, time: thread.began, text };
        found.push(RecordedPrompt { trace, project: thread.cwd.clone() });
    }
    found
}
