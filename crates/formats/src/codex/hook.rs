//! Hooks in `hooks.json`: commands that get events on stdin. On by default in newer releases, behind the feature
//! `codex_hooks` before; the user has to trust a new hook once, in `/hooks`.
//!
//! They only say what a session is doing. `PermissionRequest` is run before the user is asked; a command that says nothing leaves the
//! question to the user.

use std::path::{Path, PathBuf};

use crate::hook::{Hook, HookCommands, HookMoment, Unfit};
use crate::json::JsonTree;
use crate::source::RootShape;

const COMMANDS: HookCommands = HookCommands {
    name: None,
    events: &[
        ("SessionStart", HookMoment::Start),
        ("UserPromptSubmit", HookMoment::Prompt),
        ("PermissionRequest", HookMoment::Permission),
        ("Stop", HookMoment::TurnEnd),
    ],
    // Seconds.
    timeout: "5",
};

/// Codex's hooks.
#[derive(Debug)]
pub(super) struct Hooks;

impl Hook for Hooks {
    fn file(&self, root: &Path, shape: RootShape) -> Option<PathBuf> {
        (shape == RootShape::Whole).then(|| root.join("hooks.json"))
    }

    fn install(&self, text: Option<&[u8]>, command: &str) -> Result<Vec<u8>, Unfit> {
        COMMANDS.install(text, command)
    }

    fn remove(&self, text: &[u8]) -> Result<Option<Vec<u8>>, Unfit> {
        COMMANDS.remove(text)
    }

    fn is_off(&self, text: &[u8]) -> Option<&'static str> {
        // Whether they are trusted is recorded by hashes of the command that only the agent knows how to make.
        let is_there = COMMANDS.remove(text).ok().flatten().is_some();
        is_there.then_some("Codex runs a new hook once you trust it: see /hooks there")
    }

    fn moment(&self, said: &[u8]) -> Option<(HookMoment, String)> {
        COMMANDS.moment(&JsonTree::parse(said).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_writes_is_found_again() {
        let command = "'/usr/bin/recount' guard --hook run --source codex";
        let with = Hooks.install(None, command).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&with).unwrap();
        assert_eq!(value["hooks"]["PermissionRequest"][0]["hooks"][0]["command"], command);
        assert!(Hooks.is_off(&with).is_some());
        let left = Hooks.remove(&with).unwrap().unwrap();
        assert!(!String::from_utf8(left.clone()).unwrap().contains("recount"));
        assert!(Hooks.is_off(&left).is_none());
        let said = br#"{"session_id":"019a","transcript_path":null,"cwd":"/c","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"rm"},"turn_id":"1","model":"m","permission_mode":"default"}"#;
        assert_eq!(Hooks.moment(said), Some((HookMoment::Permission, "019a".to_owned())));
    }
}
