//! Hooks in `settings.json`: commands that are told on stdin what happens (0.26 and later, on by default).
//!
//! A start cleans up before any hook runs, so what must not be deleted at the next start is made safe at the end of this one, and
//! already when the first prompt is sent: a program that is killed runs no hook at its end. When `SessionStart` runs after a
//! resume, the program still has the stub open; only with the first prompt (`BeforeAgent`) it is sure to be back in the old file.
//!
//! `Notification` is run when a dialog asks for a permission, which nothing on disk says; `AfterAgent` when a turn is over. No hook is
//! set for tools: it would run before every call.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::locate::short_id;
use super::retention::settings;
use crate::hook::{Hook, HookCall, HookCommands, HookMoment, Unfit};
use crate::json::JsonTree;
use crate::json::comments::strip;
use crate::source::RootShape;

/// What we call ours.
const NAME: &str = "recount-guard";
/// What a notification is about when a dialog is open.
const PERMISSION: &str = "ToolPermission";

const COMMANDS: HookCommands = HookCommands {
    name: Some(NAME),
    events: &[
        ("SessionStart", HookMoment::Start),
        ("BeforeAgent", HookMoment::Prompt),
        ("Notification", HookMoment::Permission),
        ("AfterAgent", HookMoment::TurnEnd),
        ("SessionEnd", HookMoment::End),
    ],
    // Milliseconds.
    timeout: "5000",
};

/// Gemini CLI's hooks.
#[derive(Debug)]
pub(crate) struct Hooks;

impl Hook for Hooks {
    fn file(&self, root: &Path, shape: RootShape) -> Option<PathBuf> {
        (shape == RootShape::Whole).then(|| settings::user_file(root))
    }

    fn install(&self, text: Option<&[u8]>, command: &str) -> Result<Vec<u8>, Unfit> {
        COMMANDS.install(text, command)
    }

    fn remove(&self, text: &[u8]) -> Result<Option<Vec<u8>>, Unfit> {
        COMMANDS.remove(text)
    }

    fn is_off(&self, text: &[u8]) -> Option<&'static str> {
        let tree = JsonTree::parse(&strip(text)).ok()?;
        let is_false = |value: Option<&JsonTree>| matches!(value, Some(JsonTree::Bool(false)));
        if is_false(tree.get("hooksConfig").and_then(|config| config.get("enabled"))) {
            return Some("hooksConfig.enabled is off: the agent runs no hooks");
        }
        let disabled = tree.get("hooksConfig").and_then(|config| config.get("disabled"));
        let Some(JsonTree::Array(names)) = disabled else { return None };
        let is_named = names.iter().any(|name| name.as_str() == Some(NAME));
        is_named.then_some("hooksConfig.disabled names it: the agent does not run it")
    }

    fn moment(&self, said: &[u8]) -> Option<(HookMoment, String)> {
        let tree = JsonTree::parse(said).ok()?;
        let (moment, session) = COMMANDS.moment(&tree)?;
        let is_other = moment == HookMoment::Permission
            && tree.text("notification_type").is_some_and(|about| about != PERMISSION);
        (!is_other).then_some((moment, session))
    }

    fn call(&self, said: &[u8]) -> Option<HookCall> {
        let tree = JsonTree::parse(said).ok()?;
        let (moment, session) = COMMANDS.moment(&tree)?;
        let file = PathBuf::from(tree.text("transcript_path")?);
        let chats =
            file.parent().filter(|chats| chats.file_name().is_some_and(|n| n == "chats"))?;
        let folder = chats.parent()?.to_owned();
        Some(HookCall { moment, session, file, folder })
    }

    fn may_trap(&self, folder: &Path) -> bool {
        let mut seen = BTreeSet::new();
        let entries = fs::read_dir(folder.join("chats")).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.starts_with("session-")).any(|name| {
            // Names end alike if nothing else tells them apart.
            !seen.insert(short_id(&name).to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_once_and_goes_without_a_trace() {
        let text = "{\n  // mine\n  \"hooks\": {\n    \"SessionEnd\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"mine\" }] }\n    ]\n  }\n}\n";
        let with = Hooks.install(Some(text.as_bytes()), "recount guard --hook run").unwrap();
        insta::assert_snapshot!(String::from_utf8(with.clone()).unwrap(), @r#"
        {
          // mine
          "hooks": {
            "SessionEnd": [
              { "hooks": [{ "type": "command", "command": "mine" }] },
              {
                "hooks": [
                  {
                    "name": "recount-guard",
                    "type": "command",
                    "command": "recount guard --hook run",
                    "timeout": 5000
                  }
                ]
              }
            ],
            "SessionStart": [
              {
                "hooks": [
                  {
                    "name": "recount-guard",
                    "type": "command",
                    "command": "recount guard --hook run",
                    "timeout": 5000
                  }
                ]
              }
            ],
            "BeforeAgent": [
              {
                "hooks": [
                  {
                    "name": "recount-guard",
                    "type": "command",
                    "command": "recount guard --hook run",
                    "timeout": 5000
                  }
                ]
              }
            ],
            "Notification": [
              {
                "hooks": [
                  {
                    "name": "recount-guard",
                    "type": "command",
                    "command": "recount guard --hook run",
                    "timeout": 5000
                  }
                ]
              }
            ],
            "AfterAgent": [
              {
                "hooks": [
                  {
                    "name": "recount-guard",
                    "type": "command",
                    "command": "recount guard --hook run",
                    "timeout": 5000
                  }
                ]
              }
            ]
          }
        }
        "#);
        assert_eq!(Hooks.install(Some(&with), "recount guard --hook run").unwrap(), with);
        let moved = Hooks.install(Some(&with), "elsewhere").unwrap();
        assert!(!String::from_utf8(moved.clone()).unwrap().contains("recount guard"));
        for installed in [with, moved] {
            let without = Hooks.remove(&installed).unwrap().unwrap();
            assert_eq!(String::from_utf8(without).unwrap(), text);
        }
        assert_eq!(Hooks.remove(text.as_bytes()).unwrap(), None);
        assert!(Hooks.install(Some(b"{\"hooks\": []}"), "x").is_err());
    }

    #[test]
    fn what_the_agent_tells_is_understood() {
        let told = br#"{"session_id":"3d2f","transcript_path":"/home/dev/.gemini/tmp/shop/chats/session-x-3d2f.jsonl","cwd":"/home/dev/code/shop","hook_event_name":"SessionEnd","timestamp":"2026-11-16T08:00:00.000Z","reason":"exit"}"#;
        let call = Hooks.call(told).unwrap();
        assert_eq!((call.moment, call.session.as_str()), (HookMoment::End, "3d2f"));
        assert_eq!(call.folder, Path::new("/home/dev/.gemini/tmp/shop"));
        for wrong in [
            &b"{}"[..],
            b"",
            br#"{"session_id":"a","transcript_path":"","hook_event_name":"SessionEnd"}"#,
        ] {
            assert_eq!(Hooks.call(wrong), None);
        }
    }

    #[test]
    fn a_file_that_the_agent_refuses_is_not_changed() {
        let install = |text: &str| Hooks.install(Some(text.as_bytes()), "recount guard --hook run");
        for (text, told) in [
            ("{\n  \"ui\": {\"a\": 1,},\n}", "line 2: a comma after the last item"),
            ("{\n  \"ui\": {},\n}", "line 2: a comma after the last item"),
            ("{\"list\": [1, 2, /* three */]}", "line 1: a comma after the last item"),
            ("\u{feff}{}", "line 1: a byte order mark"),
            ("{// a\r\"ui\": 1}", "line 1: it ends too early"),
            ("[]", "the whole is not an object"),
            ("{\"a\": 01}", "line 1: a comma or an end is missing"),
            ("", "line 1: it ends too early"),
        ] {
            let why = install(text).unwrap_err().to_string();
            assert!(why.starts_with(told), "{text:?}: {why}");
        }
        assert!(install("{\"a\": \",}\" /* , */} // end").is_ok());
    }

    #[test]
    fn it_is_found_in_whatever_form_it_is() {
        let text = Hooks.install(None, "recount guard --hook run").unwrap();
        let text = String::from_utf8(text).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mine = serde_json::json!({"type": "command", "command": "mine"});
        let mut beside = value.clone();
        beside["hooks"]["SessionEnd"][0]["hooks"].as_array_mut().unwrap().push(mine);
        let mut unnamed = value.clone();
        unnamed["hooks"]["BeforeAgent"][0]["hooks"][0]["name"].take();
        let mut elsewhere = value.clone();
        elsewhere["hooks"]["SomeOther"] = value["hooks"]["SessionEnd"].clone();
        for form in [
            value.to_string(),
            text.replace("\n}", ",\n}"),
            format!("\u{feff}{text}"),
            text.replace('\n', "\r\n"),
            beside.to_string(),
            unnamed.to_string(),
            elsewhere.to_string(),
        ] {
            let left = Hooks.remove(form.as_bytes()).unwrap().unwrap();
            let left = String::from_utf8(left).unwrap();
            assert!(!left.contains("recount"), "{left}");
            assert_eq!(left.contains("mine"), form.contains("mine"), "{left}");
        }
        assert_eq!(Hooks.remove(b"{\"hooks\": {\"SessionEnd\": 5}}").unwrap(), None);
        assert_eq!(Hooks.remove(b"{\"hooks\": 5}").unwrap(), None);
    }
}
