//! `recount export --redact`

#![expect(clippy::unwrap_used, reason = "a test may fail by panic")]

use recount_testkit::Home;
use serde_json::{Value, json};

use crate::home;

/// Returns synthetic secrets, composed here so that nobody mistakes them for real ones.
fn secrets() -> Vec<String> {
    vec![
        format!("AIza{}", "SyD3mo9f8Kq2Lx7Vb1Nw5Rt6Yp4Zs0Ac3Qd"),
        format!("ghp_{}", "q8W2e4R6t1Y3u5I7o9P0aS2dF4gH6jK8lZ1x"),
        "ada.lovelace@analytical-engines.org".to_owned(),
        format!("postgres://shop:{}@db.internal/shop", "s3cr3tP4ss"),
    ]
}

/// Returns a session with a secret in every text field.
fn planted() -> Home {
    let home = home(["gemini/lines/plain"]);
    let [google, github, email, url] = secrets().try_into().unwrap();
    let head = json!({"sessionId": "feedbeef-0000-4000-8000-000000000001", "projectHash": "0".repeat(64),
        "startTime": "2026-11-15T08:00:00.000Z", "lastUpdated": "2026-11-15T08:00:09.000Z", "kind": "main",
        "summary": format!("Key {google}")});
    let prompt = json!({"id": "p1", "timestamp": "2026-11-15T08:00:01.000Z", "type": "user",
        "content": [{"text": format!("Use {google} and write to {email}")}]});
    let answer = json!({"id": "a1", "timestamp": "2026-11-15T08:00:02.000Z", "type": "gemini", "model": "gemini-2.5-pro",
        "content": format!("I connect to {url} then."), "thoughts": [{"subject": "Token", "description": github,
        "timestamp": "2026-11-15T08:00:02.000Z"}], "tokens": {"input": 1, "output": 1, "cached": 0, "thoughts": 0,
        "tool": 0, "total": 2}, "toolCalls": [{"id": "c1", "name": "run_shell_command", "args":
        {"command": format!("curl -H 'Authorization: Bearer {github}' x")}, "result": [{"functionResponse":
        {"id": "c1", "name": "run_shell_command", "response": {"output": format!("GITHUB_TOKEN={github}\n")}}}],
        "status": "success", "timestamp": "2026-11-15T08:00:03.000Z", "resultDisplay": format!("sent to {email}")}]});
    let text = format!("{head}\n{prompt}\n{answer}\n");
    home.write(".gemini/tmp/shop/chats/session-2026-11-15T08-00-feedbeef.jsonl", text);
    home
}

#[track_caller]
fn is_clean(text: &str, what: &str) {
    for secret in secrets() {
        assert!(!text.contains(&secret), "{what} holds {secret}");
    }
    for part in ["s3cr3tP4ss", "ada.lovelace", "SyD3mo9f8Kq2"] {
        assert!(!text.contains(part), "{what} holds {part}");
    }
}

#[test]
fn secrets_are_gone_from_every_format() {
    let home = planted();
    for format in ["md", "html", "txt", "json", "jsonl", "gemini"] {
        let all =
            home.run(["export", "feedbeef", "--format", format, "--level", "trace", "--thoughts"]);
        assert!(all.stdout.contains("ada.lovelace"), "{format} has them without --redact");
        let clean = home.run([
            "export",
            "feedbeef",
            "--format",
            format,
            "--level",
            "trace",
            "--thoughts",
            "--redact",
        ]);
        assert_eq!(clean.code, Some(0));
        is_clean(&clean.stdout, format);
        is_clean(&clean.stderr, format);
        assert!(clean.stdout.contains("[EMAIL-"), "{format}: {}", clean.stdout);
        if format == "json" {
            let document: Value = serde_json::from_str(&clean.stdout).unwrap();
            assert_eq!(document["messages"].as_array().unwrap().len(), 2);
        }
    }
    let folder = ["export", "feedbeef", "--format", "parquet", "-o", "t"];
    assert_eq!(home.run(folder).code, Some(0));
    let all = |table| format!("{:?}", super::export_parquet::rows(&home, "t", table));
    assert!(all("messages").contains("ada.lovelace"), "tables have them without --redact");
    let exported = home.run(folder.iter().chain(&["--redact"]));
    assert_eq!(exported.code, Some(0), "{exported}");
    for table in ["sessions", "messages", "tool_calls", "requests", "files_touched"] {
        is_clean(&all(table), table);
    }
    assert!(all("messages").contains("[EMAIL-"));
    for table in ["sessions", "requests", "tool_calls"] {
        let args = ["export", "feedbeef", "--format", "csv", "--table", table, "--redact"];
        is_clean(&home.run(args).stdout, table);
    }
}

#[test]
fn the_branch_of_a_session_is_cleaned() {
    let home = home(["gemini/lines/plain"]);
    let id = "feedbeef-0000-4000-8000-000000000002";
    let prompt = json!({"type": "user", "uuid": "11111111-0000-4000-8000-000000000001", "parentUuid": null, "sessionId": id,
        "cwd": "/code/shop", "gitBranch": "ada.lovelace@analytical-engines.org/fix", "version": "2.1.0", "isSidechain": false,
        "userType": "external", "timestamp": "2026-11-15T08:00:01.000Z", "message": {"role": "user", "content": "Fix it"}});
    home.write(&format!(".claude/projects/-code-shop/{id}.jsonl"), format!("{prompt}\n"));
    let export = |more: &[&str]| {
        let args = ["export", id, "--format", "json"];
        let exported = home.run(args.iter().chain(more));
        let document: Value = serde_json::from_str(&exported.stdout).unwrap();
        document["session"]["branch"].as_str().unwrap().to_owned()
    };
    assert!(export(&[]).contains("ada.lovelace"));
    let clean = export(&["--redact"]);
    is_clean(&clean, "branch");
    assert!(clean.starts_with("[EMAIL-") && clean.ends_with("/fix"), "{clean}");
}

#[test]
fn the_same_secret_has_the_same_tag_in_every_export() {
    let home = planted();
    let one = home.run(["export", "feedbeef", "--redact"]).stdout;
    assert_eq!(one, home.run(["export", "feedbeef", "--redact"]).stdout);
    assert!(home.path().join(".local/share/recount/redact/key").is_file());
}

#[test]
fn folders_hold_no_secret_in_content_or_names() {
    for format in ["md", "html"] {
        folder_holds_no_secret(format);
    }
}

fn folder_holds_no_secret(format: &str) {
    let home = planted();
    let folder = home.at("out");
    home.run(["export", "--all", "-f", format, "-o", &folder]);
    let exported = home.run(["export", "--all", "-f", format, "-o", &folder, "--redact"]);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let again = home.run(["export", "--all", "-f", format, "-o", &folder, "--redact"]);
    assert!(again.stderr.contains("nothing to write"), "{}", again.stderr);
    let mut folders = vec![std::path::PathBuf::from(&folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            is_clean(&path.to_string_lossy().to_lowercase().replace('-', ""), "a name");
            assert!(
                !path.to_string_lossy().to_lowercase().contains("syd3mo9f8"),
                "{}",
                path.display()
            );
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = home.read(path.strip_prefix(home.path()).unwrap().to_str().unwrap());
                is_clean(&String::from_utf8_lossy(&bytes), &path.to_string_lossy());
            }
        }
    }
}

#[test]
fn a_check_reports_and_refuses() {
    let home = planted();
    let check = home.run(["export", "feedbeef", "--redact=check"]);
    assert_eq!(check.code, Some(3));
    is_clean(&check.stdout, "the report");
    insta::assert_snapshot!(check, @r"
    feedbeef-0000-4000-8000-000000000001 (title and paths): 4 google-key (AIza…)
    feedbeef-0000-4000-8000-000000000001 (title and paths): 2 email
    feedbeef-0000-4000-8000-000000000001 (title and paths): 1 home
    feedbeef-0000-4000-8000-000000000001 (title and paths): 1 user
    feedbeef-0000-4000-8000-000000000001 message 1: 1 google-key (AIza…)
    feedbeef-0000-4000-8000-000000000001 message 1: 1 email
    feedbeef-0000-4000-8000-000000000001 message 1: 1 home
    feedbeef-0000-4000-8000-000000000001 message 2: 4 github-token (ghp_…)
    feedbeef-0000-4000-8000-000000000001 message 2: 1 url-password
    feedbeef-0000-4000-8000-000000000001 message 2: 1 email
    feedbeef-0000-4000-8000-000000000001 message 2: 1 home
    ------- stderr -------
    note: 11 findings
    [exit 3]
    ");
    let json = home.run(["export", "feedbeef", "--redact=check", "--json"]);
    let document: Value = serde_json::from_str(&json.stdout).unwrap();
    assert!(!document["redacted"].as_array().unwrap().is_empty());
}

#[test]
fn rules_of_ones_own_are_used() {
    let home = planted();
    home.write(".config/recount/config.toml", "[redact]\npatterns = { fruit = 'apple' }\n");
    let exported = home.run(["export", "d22642e2", "--redact"]);
    assert!(
        exported.stdout.contains("[OWN-FRUIT-") && !exported.stdout.contains("apple"),
        "{}",
        exported.stdout
    );
    home.write(".config/recount/config.toml", "[redact]\npatterns = { fruit = '(apple' }\n");
    let bad = home.run(["export", "d22642e2", "--redact"]);
    assert_eq!(bad.code, Some(2));
    assert!(bad.stderr.contains("fruit") && bad.stderr.contains("config.toml"), "{}", bad.stderr);
}
