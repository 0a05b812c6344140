//! The metadata file beside the transcript of a sub-agent: its type, its description, and the call that ran it.

use std::path::Path;

use recount_model::AgentNote;

use super::build::WARM_UP;
use super::locate;
use super::log::is_agent_file;
use super::state::ClaudeState;
use crate::bytes::read_limited;
use crate::json::JsonTree;
use crate::outline::Outline;

/// The file takes some hundred bytes; a larger one is something else.
const LARGEST: u64 = 64 * 1024;

/// Adds the metadata of a sub-agent. Releases before 2.1.112 wrote none, and later ones may be about to, so a missing or damaged file is
/// no problem.
pub(crate) fn add(outline: &mut Outline, transcript: &Path) {
    if !is_agent_file(&transcript.to_string_lossy()) {
        return;
    }
    if outline.first_prompt.is_none() && outline.has_conversation {
        outline.head.is_background |= is_warmed_up_elsewhere(transcript);
    }
    let Ok(bytes) = read_limited(&transcript.with_extension("meta.json"), LARGEST) else { return };
    let Ok(meta) = JsonTree::parse(&bytes) else { return };
    let said = |key: &str| meta.text(key).map(str::trim).filter(|text| !text.is_empty());
    let (kind, description) = (said("agentType"), said("description"));
    if kind.is_some() || description.is_some() {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let note = AgentNote { kind: owned(kind), name: None, description: owned(description) };
        outline.head.agent = Some(Box::new(note));
    }
    if let Some(call) = said("toolUseId") {
        let mut state = ClaudeState::decode(&outline.state);
        state.caller = Some(call.into());
        outline.state = state.encode();
    }
}

/// Whether the start of a sub-agent without a prompt is below another session, and is a warm-up: one that is begun before the agent has
/// resumed a session goes on in the folder of that one (2.1).
fn is_warmed_up_elsewhere(transcript: &Path) -> bool {
    let (Some(name), Some(session)) = (transcript.file_name(), locate::session_folder(transcript))
    else {
        return false;
    };
    let Some(project) = session.parent() else { return false };
    crate::names::names_in(project).map(|other| project.join(other)).any(|other| {
        let start = other.join(locate::AGENTS).join(name);
        other != session && read_limited(&start, LARGEST).is_ok_and(|bytes| is_warm_up(&bytes))
    })
}

fn is_warm_up(transcript: &[u8]) -> bool {
    let first = transcript.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let row = JsonTree::parse(first).ok();
    row.as_ref().and_then(|row| row.get("message")?.text("content")) == Some(WARM_UP)
}
