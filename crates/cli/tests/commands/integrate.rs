//! `recount integrate`: every file it writes, and nothing else; and every byte as before afterwards.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "test setup must succeed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use recount_testkit::Home;
use serde_json::Value;

use crate::home;

/// A server that answers as `recount mcp` does, and one that does not.
const SERVER: &str = r#"#!/bin/sh
read -r one
read -r two
echo '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}'
echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"},{"name":"b"}]}}'
"#;

/// Everything in the home but recount's own journals and caches.
fn all(home: &Home) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut open = vec![home.path().to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let below = path.strip_prefix(home.path()).unwrap().to_owned();
            let is_ours = below.starts_with(".local")
                && !below.starts_with(".local/share/recount/marketplace")
                && !below.starts_with(".local/share/recount/integrations");
            if path.is_dir() {
                if !is_ours {
                    found.insert(below, None);
                }
                open.push(path);
            } else if !is_ours {
                found.insert(below, Some(fs::read(&path).unwrap()));
            }
        }
    }
    found
}

fn names(home: &Home) -> String {
    let files = all(home).into_iter().filter(|(_, bytes)| bytes.is_some());
    files.map(|(path, _)| path.display().to_string()).collect::<Vec<_>>().join("\n")
}

fn ok(home: &Home, words: &[&str]) {
    let output = home.run(words);
    assert_eq!(output.code, Some(0), "{words:?}: {output}");
}

fn state(home: &Home, agent: &str) -> Value {
    let output = home.run(["integrate", "--json"]);
    let value: Value = serde_json::from_str(&output.stdout).unwrap();
    let all = value["integrations"].as_array().unwrap();
    all.iter().find(|one| one["agent"] == agent).unwrap().clone()
}

#[cfg(unix)]
fn server(home: &Home) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    home.write("bin/server", SERVER);
    let path = home.path().join("bin/server");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

const CONFIG: &str = "# mine\nmodel = \"gpt-5\"  # fast\n\n[mcp_servers.other]\ncommand = \"x\"";
const SETTINGS: &str = "{ \"permissions\": {\"allow\": [\"Read\"]}, \"x\":1 }";

#[test]
fn what_is_written_for_each_agent() {
    let home = home([]);
    ok(&home, &["integrate", "gemini", "--yes", "--allow", "--command", "recount"]);
    ok(&home, &["integrate", "claude", "--yes", "--command", "recount"]);
    ok(&home, &["integrate", "codex", "--yes", "--command", "recount"]);
    let without_ids: Vec<String> = names(&home)
        .lines()
        .map(|line| match line.split_once("integrations/") {
            Some((_, name)) => format!("(ledger) {}", name.split_once('-').unwrap().0),
            None => line.to_owned(),
        })
        .collect();
    insta::assert_snapshot!(without_ids.join("\n"), @r"
    .claude/plugins/installed_plugins.json
    .claude/plugins/known_marketplaces.json
    .claude/settings.json
    .codex/config.toml
    .codex/skills/session-history/SKILL.md
    .gemini/extensions/recount/RECOUNT.md
    .gemini/extensions/recount/commands/recount/recall.toml
    .gemini/extensions/recount/commands/recount/story.toml
    .gemini/extensions/recount/gemini-extension.json
    .gemini/extensions/recount/skills/session-history/SKILL.md
    .gemini/policies/recount.toml
    (ledger) claude
    (ledger) codex
    (ledger) gemini
    .local/share/recount/marketplace/.claude-plugin/marketplace.json
    .local/share/recount/marketplace/plugins/recount/.claude-plugin/plugin.json
    .local/share/recount/marketplace/plugins/recount/.mcp.json
    .local/share/recount/marketplace/plugins/recount/commands/recall.md
    .local/share/recount/marketplace/plugins/recount/commands/story.md
    .local/share/recount/marketplace/plugins/recount/skills/session-history/SKILL.md
    ");
    let text = |path: &str| String::from_utf8(home.read(path)).unwrap();
    insta::assert_snapshot!(text(".gemini/extensions/recount/gemini-extension.json"), @r#"
    {
      "name": "recount",
      "version": "0.1.0",
      "description": "Looks up earlier sessions of coding agents on this machine",
      "contextFileName": "RECOUNT.md",
      "mcpServers": {
        "recount": {
          "command": "recount",
          "args": [
            "mcp",
            "--agent",
            "gemini"
          ],
          "timeout": 60000
        }
      }
    }
    "#);
    insta::assert_snapshot!(text(".codex/config.toml"), @r#"
    [mcp_servers.recount]
    command = "recount"
    args = ["mcp", "--agent", "codex"]
    env_vars = ["RECOUNT_DATA_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"]
    "#);
    // The commands are TOML, and keep the place for what the user types.
    for command in ["recall", "story"] {
        let path = format!(".gemini/extensions/recount/commands/recount/{command}.toml");
        assert!(text(&path).contains("{{args}}\n'''"), "{}", text(&path));
    }
    // Agents limit the skill.
    let skill = text(".codex/skills/session-history/SKILL.md");
    let (head, body) = skill.strip_prefix("---\n").unwrap().split_once("---\n").unwrap();
    assert!(body.lines().count() <= 60, "{}", body.lines().count());
    let description = head.lines().find_map(|line| line.strip_prefix("description: ")).unwrap();
    assert!(description.len() <= 1024 && head.contains("name: session-history\n"), "{head}");
}

#[test]
#[cfg(unix)]
fn undo_and_remove_restore_every_byte() {
    for has_settings in [false, true] {
        let home = home([]);
        let command = server(&home);
        if has_settings {
            home.write(".codex/config.toml", CONFIG);
            home.write(".claude/settings.json", SETTINGS);
            home.write(".gemini/settings.json", "{}");
        }
        // So that journals are there before.
        let before = all(&home);
        for agent in ["gemini", "claude", "codex", "skill"] {
            let add = ["integrate", agent, "--yes", "--allow", "--command", &command];
            ok(&home, &add);
            let with = all(&home);
            assert_ne!(with, before, "{agent}");
            let again = home.run(add);
            assert!(again.to_string().contains("in place already"), "{agent}: {again}");
            assert_eq!(all(&home), with, "{agent}");
            ok(&home, &["undo", "--yes"]);
            assert_eq!(all(&home), before, "{agent}: undo");
            ok(&home, &add);
            ok(&home, &["integrate", agent, "--yes", "--remove"]);
            assert_eq!(all(&home), before, "{agent}: remove");
            ok(&home, &["undo", "--yes"]);
            assert_eq!(all(&home), with, "{agent}: undone removal");
            ok(&home, &["integrate", agent, "--yes", "--remove"]);
            // Options that change what is written replace it, and removing still restores.
            ok(&home, &add);
            ok(&home, &["integrate", agent, "--yes", "--command", "recount"]);
            ok(&home, &["integrate", agent, "--yes", "--remove"]);
            assert_eq!(all(&home), before, "{agent}: remove after a change");
        }
    }
}

#[test]
#[cfg(unix)]
fn what_others_change_since_stays() {
    let home = home([]);
    let command = server(&home);
    home.write(".codex/config.toml", CONFIG);
    for agent in ["claude", "codex", "gemini"] {
        ok(&home, &["integrate", agent, "--yes", "--command", &command]);
        assert_eq!(state(&home, agent)["state"], "wired");
        assert_eq!(state(&home, agent)["tools"], 2);
    }
    // The agents write their settings again, and the user edits a file.
    let text = |path: &str| String::from_utf8(home.read(path)).unwrap();
    home.write(".codex/config.toml", text(".codex/config.toml") + "\n# new\n[new]\nx = 1\n");
    let settings = text(".claude/settings.json").replacen('{', "{\n  \"model\": \"opus\",", 1);
    home.write(".claude/settings.json", settings);
    let context = ".gemini/extensions/recount/RECOUNT.md";
    home.write(context, "my own words");
    assert_eq!(state(&home, "gemini")["state"], "broken");
    assert_eq!(state(&home, "codex")["state"], "wired");
    let refused = home.run(["integrate", "gemini", "--yes", "--command", &command]);
    assert_eq!(refused.code, Some(3), "{refused}");
    for agent in ["claude", "codex", "gemini"] {
        ok(&home, &["integrate", agent, "--yes", "--remove"]);
    }
    assert_eq!(text(".codex/config.toml"), format!("{CONFIG}\n\n# new\n[new]\nx = 1\n"));
    let left: Value = serde_json::from_str(&text(".claude/settings.json")).unwrap();
    assert_eq!(left, serde_json::json!({"model": "opus"}));
    assert_eq!(text(context), "my own words");
    assert!(!home.path().join(".gemini/extensions/recount/gemini-extension.json").exists());
    // Also after it was rewritten with other options.
    home.write(".codex/config.toml", CONFIG);
    ok(&home, &["integrate", "codex", "--yes", "--command", &command]);
    home.write(".codex/config.toml", text(".codex/config.toml") + "[new]\nx = 1\n");
    ok(&home, &["integrate", "codex", "--yes", "--command", "recount"]);
    ok(&home, &["integrate", "codex", "--yes", "--remove"]);
    assert!(!text(".codex/config.toml").contains("recount"), "{}", text(".codex/config.toml"));
    // With --force everything that was written goes.
    ok(&home, &["integrate", "gemini", "--yes", "--force", "--command", &command]);
    assert_eq!(state(&home, "gemini")["state"], "wired");
}

#[test]
fn servers_and_files_of_others_are_replaced_only_by_force() {
    let home = home([]);
    home.write(".codex/config.toml", "[mcp_servers.recount]\ncommand = \"other\"\n");
    home.write(".gemini/extensions/recount/gemini-extension.json", "{\"name\":\"recount\"}");
    let before = all(&home);
    for agent in ["codex", "gemini"] {
        let output = home.run(["integrate", agent, "--yes", "--command", "recount"]);
        assert_eq!(output.code, Some(3), "{output}");
        assert!(output.to_string().contains("--force"), "{output}");
        assert_eq!(all(&home), before);
        ok(&home, &["integrate", agent, "--yes", "--force", "--command", "recount"]);
        ok(&home, &["undo", "--yes"]);
        assert_eq!(all(&home), before);
    }
    // Settings that are not understood are left alone.
    for (text, hint) in [
        ("mcp_servers = { a = { command = \"b\" } }\n", "--print` shows what to add by hand"),
        ("a = [\n", "fix the file first"),
    ] {
        home.write(".codex/config.toml", text);
        let output = home.run(["integrate", "codex", "--yes", "--command", "recount"]);
        assert_eq!(output.code, Some(3), "{output}");
        assert!(output.to_string().contains(hint), "{output}");
        assert_eq!(home.read(".codex/config.toml"), text.as_bytes());
    }
}

#[test]
fn in_a_project_only_its_files_are_written() {
    let home = home([]);
    home.write("code/shop/.mcp.json", "{\"mcpServers\":{}}");
    let run = |words: &[&str]| {
        let folder = home.path().join("code/shop");
        let output = home.run_with(words, |command| {
            command.current_dir(folder);
        });
        assert_eq!(output.code, Some(0), "{words:?}: {output}");
    };
    let before = all(&home);
    for agent in ["gemini", "claude", "codex", "skill"] {
        run(&["integrate", agent, "--project", "--allow", "--yes"]);
        let new: Vec<PathBuf> =
            all(&home).into_keys().filter(|path| !before.contains_key(path)).collect();
        let is_here = |path: &PathBuf| path.starts_with("code/shop") || path.starts_with(".local");
        assert!(!new.is_empty() && new.iter().all(is_here), "{agent}: {new:?}");
        run(&["integrate", agent, "--project", "--remove", "--yes"]);
        assert_eq!(all(&home), before, "{agent}");
    }
}

#[test]
fn a_skill_is_not_written_beside_an_integration_that_brings_it() {
    let home = home([]);
    ok(&home, &["integrate", "claude", "--yes", "--command", "recount"]);
    ok(&home, &["integrate", "skill", "--yes"]);
    assert!(home.path().join(".agents/skills/session-history/SKILL.md").exists());
    assert!(!home.path().join(".claude/skills").exists());
    // And the other way round.
    ok(&home, &["integrate", "codex", "--yes", "--command", "recount"]);
    assert!(!home.path().join(".codex/skills").exists());
}

#[test]
fn all_are_the_agents_that_are_there() {
    let home = home([]);
    let none = home.run(["integrate", "all", "--yes", "--command", "recount"]);
    assert_eq!(none.code, Some(2), "{none}");
    home.write(".codex/config.toml", CONFIG);
    ok(&home, &["integrate", "all", "--yes", "--command", "recount"]);
    assert!(!home.path().join(".claude").exists() && !home.path().join(".gemini").exists());
    assert_eq!(state(&home, "claude")["state"], "no-agent");
}

#[test]
#[cfg(unix)]
fn the_doctor_tells_what_does_not_work() {
    let home = home(["gemini/lines/tools"]);
    let command = server(&home);
    // A table may cut its cells.
    let doctor = || home.run(["doctor", "--json"]).to_string();
    assert!(!doctor().contains("in the agents"), "{}", doctor());
    ok(&home, &["integrate", "gemini", "--yes", "--command", &command]);
    assert!(doctor().contains("Gemini CLI wired"), "{}", doctor());
    home.write("bin/server", "#!/bin/sh\nexit 3\n");
    let told = doctor();
    assert!(told.contains("the server does not answer"), "{told}");
    assert!(told.contains("recount integrate gemini"), "{told}");
    fs::remove_file(home.path().join("bin/server")).unwrap();
    assert!(doctor().contains("cannot be started"), "{}", doctor());
    home.write("bin/server", SERVER);
    let _there = server(&home);
    fs::remove_file(home.path().join(".gemini/extensions/recount/RECOUNT.md")).unwrap();
    assert!(doctor().contains("is gone"), "{}", doctor());
}

#[test]
fn printing_writes_nothing() {
    let home = home([]);
    let before = all(&home);
    let output = home.run(["integrate", "codex", "--print", "--command", "recount"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("==> ~/.codex/config.toml\n[mcp_servers.recount]"), "{output}");
    assert!(output.stdout.contains("to paste into AGENTS.md"), "{output}");
    let dry = home.run(["integrate", "codex", "--dry-run", "--command", "recount"]);
    assert_eq!(dry.code, Some(0), "{dry}");
    assert_eq!(all(&home), before);
}

#[test]
fn settings_that_a_running_agent_would_overwrite_are_not_changed() {
    let home = home([]);
    let process = |home: &str| {
        format!(
            "[{{\"pid\":91,\"ppid\":52,\"comm\":\"claude\",\"argv\":[\"claude\"],\"exe\":\"/usr/bin/claude\",\"cwd\":\"/\",\
             \"start_ms\":1,\"state\":\"S\",\"env\":{{\"HOME\":\"{home}\"}},\"open_files\":[],\"tty\":null}}]"
        )
    };
    let run = |words: &[&str]| {
        home.run_with(words, |command| {
            command.env("RECOUNT_PROCESS_TABLE", home.path().join("processes.json"));
        })
    };
    home.write("processes.json", process(home.path().to_str().unwrap()));
    let add = ["integrate", "claude", "--yes", "--command", "recount"];
    let refused = run(&add);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.to_string().contains("Claude Code is running (process 91)"), "{refused}");
    assert!(!home.path().join(".claude").exists());
    // Its extensions are only read at the start; and another user's agent does not matter.
    assert_eq!(run(&["integrate", "gemini", "--yes", "--command", "recount"]).code, Some(0));
    home.write("processes.json", process("/home/other"));
    assert_eq!(run(&add).code, Some(0));
}

#[test]
fn a_permission_that_is_not_asked_for_again_is_removed() {
    let home = home([]);
    home.write(".claude/settings.json", SETTINGS);
    let add = ["integrate", "claude", "--yes", "--command", "recount"];
    let text = || String::from_utf8(home.read(".claude/settings.json")).unwrap();
    for is_changed_since in [false, true] {
        ok(&home, &[&add[..], &["--allow"]].concat());
        assert!(text().contains("mcp__plugin_recount_recount"), "{}", text());
        if is_changed_since {
            home.write(".claude/settings.json", text().replacen('{', "{\n\"y\": 2,", 1));
        }
        ok(&home, &add);
        assert!(!text().contains("mcp__plugin_recount_recount"), "{}", text());
        assert!(text().contains("recount@recount-local"), "{}", text());
    }
}

#[test]
#[cfg(unix)]
fn an_integration_of_another_release_is_older_and_replaced() {
    let home = home([]);
    let command = server(&home);
    for agent in ["claude", "codex"] {
        ok(&home, &["integrate", agent, "--yes", "--command", &command]);
        let folder = home.path().join(".local/share/recount/integrations");
        let is_its =
            |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(agent);
        let mut ledgers = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let ledger = ledgers.find(is_its).unwrap();
        let text = fs::read_to_string(&ledger).unwrap().replace("\"0.1.0\"", "\"0.0.9\"");
        fs::write(&ledger, text).unwrap();
        assert_eq!(state(&home, agent)["state"], "older");
        ok(&home, &["integrate", agent, "--yes", "--command", &command]);
        assert_eq!(state(&home, agent)["state"], "wired");
    }
}
