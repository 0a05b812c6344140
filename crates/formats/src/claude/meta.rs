//! The metadata file beside the transcript of a sub-agent: its type, its description, and the call that ran it.

use std::path::Path;

use recount_model::AgentNote;

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
