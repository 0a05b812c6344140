//! Hooks in `settings.json`: commands that get events on stdin.
//!
//! They only say what a session is doing. No hook is set for tools: it would run before every call.

use std::path::{Path, PathBuf};

use crate::hook::{Hook, HookCommands, HookMoment, Unfit};
use crate::json::JsonTree;
use crate::source::RootShape;

/// What notifications are about when a dialog is open.
const PERMISSION: &[&str] = &["permission_prompt", "elicitation_dialog"];
/// Releases before 2.0.37 do not say what a notification is about, only what they show.
const ASKS: &str = "permission";

const COMMANDS: HookCommands = HookCommands {
    name: None,
    events: &[
        ("SessionStart", HookMoment::Start),
        ("UserPromptSubmit", HookMoment::Prompt),
        ("Notification", HookMoment::Permission),
        ("Stop", HookMoment::TurnEnd),
        ("SessionEnd", HookMoment::End),
    ],
    // Seconds.
    timeout: "5",
};

/// Claude Code's hooks.
#[derive(Debug)]
pub(super) struct Hooks;

impl Hook for Hooks {
    fn file(&self, root: &Path, shape: RootShape) -> Option<PathBuf> {
        (shape == RootShape::Whole).then(|| root.join("settings.json"))
    }

    fn install(&self, text: Option<&[u8]>, command: &str) -> Result<Vec<u8>, Unfit> {
        COMMANDS.install(text, command)
    }

    fn remove(&self, text: &[u8]) -> Result<Option<Vec<u8>>, Unfit> {
        COMMANDS.remove(text)
    }

    fn is_off(&self, text: &[u8]) -> Option<&'static str> {
        let tree = JsonTree::parse(text).ok()?;
        let is_off = matches!(tree.get("disableAllHooks"), Some(JsonTree::Bool(true)));
        is_off.then_some("disableAllHooks is on: the agent runs no hooks")
    }

    fn moment(&self, said: &[u8]) -> Option<(HookMoment, String)> {
        let tree = JsonTree::parse(said).ok()?;
        let (moment, session) = COMMANDS.moment(&tree)?;
        if moment != HookMoment::Permission {
            return Some((moment, session));
        }
        let asks = match tree.text("notification_type") {
            Some(about) => PERMISSION.contains(&about),
            None => tree.text("message").is_some_and(|shown| shown.contains(ASKS)),
        };
        asks.then_some((moment, session))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_notification_that_asks_is_a_permission() {
        let said = |rest: &str| {
            format!(
                r#"{{"session_id":"4aa4","transcript_path":"/p/4aa4.jsonl","cwd":"/c",{rest}}}"#
            )
        };
        for (rest, moment) in [
            (r#""hook_event_name":"UserPromptSubmit","prompt":"go""#, Some(HookMoment::Prompt)),
            (r#""hook_event_name":"Stop","stop_hook_active":false"#, Some(HookMoment::TurnEnd)),
            (
                r#""hook_event_name":"Notification","notification_type":"permission_prompt","message":"x""#,
                Some(HookMoment::Permission),
            ),
            (
                r#""hook_event_name":"Notification","message":"Claude needs your permission to use Bash""#,
                Some(HookMoment::Permission),
            ),
            (
                r#""hook_event_name":"Notification","notification_type":"idle_prompt","message":"permission""#,
                None,
            ),
            (
                r#""hook_event_name":"Notification","message":"Claude is waiting for your input""#,
                None,
            ),
            (r#""hook_event_name":"PreToolUse""#, None),
        ] {
            let found = Hooks.moment(said(rest).as_bytes());
            assert_eq!(found, moment.map(|moment| (moment, "4aa4".to_owned())), "{rest}");
        }
        assert_eq!(Hooks.moment(b"{"), None);
    }

    #[test]
    fn it_comes_once_beside_others_and_goes_without_a_trace() {
        let text = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}]\n  }\n}\n";
        let command = "'/usr/bin/recount' guard --hook run --source claude";
        let with = Hooks.install(Some(text.as_bytes()), command).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&with).unwrap();
        assert_eq!(value["hooks"]["Stop"].as_array().unwrap().len(), 2);
        assert_eq!(value["hooks"]["Notification"][0]["hooks"][0]["command"], command);
        assert_eq!(value["hooks"]["Notification"][0]["hooks"][0]["timeout"], 5);
        assert!(value["hooks"].get("PreToolUse").is_none());
        assert_eq!(Hooks.install(Some(&with), command).unwrap(), with);
        assert_eq!(Hooks.remove(&with).unwrap().as_deref(), Some(text.as_bytes()));
        assert_eq!(Hooks.remove(text.as_bytes()).unwrap(), None);
    }
}
