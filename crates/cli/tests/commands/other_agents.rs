//! What is the same for every agent, and what an agent makes impossible.

#![expect(clippy::unwrap_used, reason = "what a test needs it must have")]

use serde_json::Value;

use super::changing::{files, json, session, sessions};
use super::export_parquet::rows;
use crate::home;

/// Homes with forks, resumes that copied history, agents that warm up, borrowed starts and several files per thread.
const COPIES: [&[&str]; 4] = [
    &["claude/inline/resume"],
    &["claude/flat/resume", "claude/folder/resume", "claude/flat/subagent"],
    &[
        "codex/bare/copied",
        "codex/tagged/rollback",
        "codex/paginated/fork",
        "codex/paginated/reverted",
    ],
    &["claude/flat/resume", "codex/tagged/rollback", "gemini/lines/subagent"],
];

const FIGURES: [&str; 6] = ["input", "output", "cached", "cache_write", "thoughts", "total"];

fn sums<'a>(rows: impl Iterator<Item = &'a Value>) -> Vec<u64> {
    let mut sums = vec![0; FIGURES.len()];
    for row in rows {
        for (sum, figure) in sums.iter_mut().zip(FIGURES) {
            *sum += row[figure].as_u64().unwrap_or(0);
        }
    }
    sums
}

/// The sum of what requests cost, of a table that was written as CSV.
fn cost_in_csv(text: &str) -> f64 {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = names.iter().position(|known| *known == "cost_usd").unwrap();
    lines.filter_map(|line| line.split(',').nth(place)?.parse::<f64>().ok()).sum()
}

/// The sums of a table that was written as CSV.
fn in_csv(text: &str) -> Vec<u64> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let mut sums = vec![0; FIGURES.len()];
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        for (sum, figure) in sums.iter_mut().zip(FIGURES) {
            *sum += cells[place(figure)].parse::<u64>().unwrap();
        }
    }
    sums
}

#[test]
fn each_request_counts_once_in_stats_in_sql_and_in_every_table() {
    for cases in COPIES {
        let home = home(cases.iter().copied());
        let stats = json(&home, &["stats", "--by", "source"]);
        let wanted = sums(std::iter::once(&stats["total"]["tokens"]));
        assert!(wanted[5] > 0, "{cases:?}");
        let asked = format!(
            "SELECT {} FROM requests",
            FIGURES.map(|name| format!("sum({name})")).join(", ")
        );
        let requests = json(&home, &["sql", &asked]);
        let by_sql: Vec<u64> = requests["rows"][0]
            .as_array()
            .unwrap()
            .iter()
            .map(|sum| sum.as_u64().unwrap())
            .collect();
        assert_eq!(by_sql, wanted, "sql of {cases:?}");
        let count = json(&home, &["sql", "SELECT count(*) FROM requests"]);
        assert_eq!(count["rows"][0][0], stats["total"]["requests"], "{cases:?}");
        let csv = home.run(["export", "--all", "--format", "csv", "--table", "requests"]);
        assert_eq!(csv.code, Some(0), "{csv}");
        assert_eq!(in_csv(&csv.stdout), wanted, "csv of {cases:?}");
        let written = home.run(["export", "--all", "--format", "parquet", "-o", "lake"]);
        assert_eq!(written.code, Some(0), "{written}");
        let table: Vec<Value> =
            rows(&home, "lake", "requests").into_iter().map(Value::Object).collect();
        assert_eq!(sums(table.iter()), wanted, "parquet of {cases:?}");
        let cost = stats["total"]["cost_usd"].as_f64().unwrap();
        assert!(cost > 0.0, "{cases:?}");
        let projects = json(&home, &["projects"]);
        let projects = projects["projects"].as_array().unwrap().iter();
        let costs = [
            json(&home, &["sql", "SELECT sum(cost_usd) FROM requests"])["rows"][0][0].as_f64(),
            Some(cost_in_csv(&csv.stdout)),
            Some(table.iter().filter_map(|row| row["cost_usd"].as_f64()).sum()),
            Some(projects.filter_map(|project| project["cost_usd"].as_f64()).sum()),
        ];
        for (found, of) in costs.into_iter().zip(["sql", "csv", "parquet", "projects"]) {
            assert!(
                (found.unwrap() - cost).abs() < 1e-9,
                "{of} of {cases:?}: {found:?}, not {cost}"
            );
        }
    }
}

#[test]
fn a_copy_counts_once_the_session_it_was_made_of_is_gone() {
    let home = home(["claude/flat/resume"]);
    let both = sessions(&home);
    let id = |prompts: u64| {
        let one = both.iter().find(|one| one["prompts"] == prompts).unwrap();
        one["id"].as_str().unwrap().to_owned()
    };
    let (first, fork) = (id(3), id(4));
    let made_by = |id: &str| {
        let asked = format!("SELECT count(*) FROM requests WHERE session = '{id}'");
        json(&home, &["sql", &asked])["rows"][0][0].as_u64().unwrap()
    };
    assert_eq!((made_by(&first), made_by(&fork)), (3, 1));
    let deleted = home.run(["delete", &first, "--yes"]);
    assert_eq!(deleted.code, Some(0), "{deleted}");
    assert_eq!((made_by(&first), made_by(&fork)), (0, 4), "the fork holds all of it");
    let stats = json(&home, &["stats", "--by", "source"]);
    let sum = json(&home, &["sql", "SELECT sum(total) FROM requests"]);
    assert_eq!(sum["rows"][0][0], stats["total"]["tokens"]["total"]);
}

#[test]
fn what_an_agent_makes_impossible_is_said_in_one_sentence_and_changes_nothing() {
    for (case, agent, folder) in
        [("claude/folder/compact", "claude", ".claude"), ("codex/tagged/tools", "codex", ".codex")]
    {
        let home = home([case]);
        let before = files(&home, folder);
        let id = sessions(&home)[0]["id"].as_str().unwrap().to_owned();
        for (args, why) in [
            (vec!["trim", &id, "--drop", "1"], "trimmed: recount does not rewrite their files"),
            (vec!["compact", &id], "compacted: recount does not rewrite their files"),
            (
                vec!["convert", &id, "--format", "json"],
                "converted: their agent has only one format",
            ),
            (vec!["recover", &id], "rebuilt: their agent keeps no other record of its answers"),
        ] {
            let refused = home.run(args.iter().copied().chain(["--yes"]));
            assert_eq!(refused.code, Some(3), "{refused}");
            let sentence = format!("error: sessions of {agent} cannot be {why}\n");
            assert!(refused.stderr.starts_with(&sentence), "{refused}");
        }
        assert!(files(&home, folder) == before, "{case}");
    }
    let home = home(["codex/tagged/tools"]);
    let guard = home.run(["guard"]);
    assert!(guard.stderr.contains("no agent of these sessions is known to delete any"), "{guard}");
}

#[test]
fn a_session_is_called_the_same_wherever_it_is_shown() {
    let home = home(["codex/paginated/fork", "claude/inline/resume"]);
    let path = ".claude/projects/-home-dev-code-shop/8c8719cf-fac3-4367-a7bb-71778fcf17b8.jsonl";
    let text = String::from_utf8(home.read(path)).unwrap();
    home.write(path, text.replace("Invalid API key · Please run /login", "Codes of HTTP"));
    let id =
        sessions(&home).into_iter().find(|one| one["source"] == "codex").unwrap()["id"].clone();
    let renamed = home.run(["rename", id.as_str().unwrap(), "Mine", "--yes"]);
    assert_eq!(renamed.code, Some(0), "{renamed}");
    let mut titles = Vec::new();
    for listed in sessions(&home) {
        let shown = json(&home, &["show", listed["id"].as_str().unwrap()]);
        for key in ["title", "title_from"] {
            assert_eq!(shown["session"][key], listed[key], "{}", listed["id"]);
        }
        titles.push(listed["title"].as_str().unwrap_or_default().to_owned());
    }
    assert!(titles.contains(&"Mine".to_owned()) && titles.contains(&"Codes of HTTP".to_owned()));
}

#[test]
fn sub_agents_name_their_call_and_calls_name_their_agent() {
    for case in [
        "claude/inline/subagent",
        "claude/flat/subagent",
        "claude/folder/subagent",
        "codex/paginated/subagent",
    ] {
        let home = home([case]);
        let agent = sessions(&home).into_iter().find(|one| one["kind"] == "subagent").unwrap();
        let parent = json(&home, &["show", agent["parent"].as_str().unwrap()]);
        let messages = parent["messages"].as_array().unwrap().iter();
        let calls: Vec<&Value> =
            messages.flat_map(|message| message["tool_calls"].as_array().unwrap()).collect();
        let call = calls.iter().find(|call| call["id"] == agent["parent_call"]).unwrap();
        assert_eq!(call["agent_id"], agent["id"], "{case}");
    }
}

/// The session was killed before the call gave anything back, and there are two calls that may have run the agent.
#[test]
fn what_lies_beside_a_sub_agent_names_its_call() {
    let home = home([]);
    let (main, agent) = ("0e790681-9c29-4bb7-9c9c-15e77218e922", "a41247fc89a311cf9");
    let row = |kind: &str, id: &str, parent: &str, message: &str, more: &str| {
        format!(
            r#"{{"parentUuid":{parent},"type":"{kind}","uuid":"{id}","message":{message},"timestamp":"2026-11-15T18:00:00.000Z","cwd":"/home/dev/code/shop","sessionId":"{main}"{more}}}"#
        ) + "\n"
    };
    let call = |id: &str| {
        format!(
            r#"{{"id":"m-{id}","model":"claude-opus-5-5","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Agent","input":{{"prompt":"Count","description":"Count files"}}}}],"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        )
    };
    let asked = r#"{"role":"user","content":"Count"}"#;
    let folder = ".claude/projects/-home-dev-code-shop";
    let rows = row("user", "u1", "null", asked, "")
        + &row("assistant", "a1", "\"u1\"", &call("toolu_1"), "")
        + &row("assistant", "a2", "\"a1\"", &call("toolu_2"), "");
    home.write(&format!("{folder}/{main}.jsonl"), rows);
    let side = format!(r#","isSidechain":true,"agentId":"{agent}""#);
    let below = format!("{folder}/{main}/subagents/agent-{agent}");
    home.write(&format!("{below}.jsonl"), row("user", "s1", "null", asked, &side));
    let found = session(&home, agent);
    assert!(found["parent_call"].is_null() && found.get("agent").is_none(), "{found}");
    let meta = r#"{"agentType":"Explore","description":"Count files","toolUseId":"toolu_2","spawnDepth":1}"#;
    home.write(&format!("{below}.meta.json"), meta);
    home.write(&format!("{below}.jsonl"), row("user", "s1", "null", asked, &side) + "\n");
    let found = session(&home, agent);
    assert_eq!(found["parent_call"], "toolu_2");
    assert_eq!(
        (&found["agent"]["type"], &found["agent"]["description"]),
        (&"Explore".into(), &"Count files".into())
    );
    let asked = json(
        &home,
        &["sql", "SELECT agent_type, parent_call FROM sessions WHERE kind = 'subagent'"],
    );
    assert_eq!(asked["rows"][0], serde_json::json!(["Explore", "toolu_2"]));
    home.write(&format!("{below}.meta.json"), "{\"toolUseId\":");
    home.write(&format!("{below}.jsonl"), row("user", "s1", "null", asked_again(), &side));
    assert!(session(&home, agent)["parent_call"].is_null());
}

fn asked_again() -> &'static str {
    r#"{"role":"user","content":"Count again"}"#
}

#[test]
fn prompts_outlive_sessions_and_the_folders_of_their_projects() {
    let home = home(["codex/paginated/fork"]);
    home.write(
        ".claude/history.jsonl",
        "{\"display\":\"Count plums\",\"timestamp\":1794766298029,\"project\":\"/home/dev/code/gone\",\"sessionId\":\"c26462b6-c968-456b-9841-a5ecd701f9b4\"}\n",
    );
    home.write(".claude/projects/keep", "");
    let known = sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    home.write(
        ".codex/history.jsonl",
        format!("{{\"session_id\":\"01a1e06d-9d83-79a1-b887-d77d275061bd\",\"ts\":1794766646,\"text\":\"Count pears\"}}\n{{\"session_id\":\"{known}\",\"ts\":1794766646,\"text\":\"not lost\"}}\n"),
    );
    let lost = json(&home, &["list", "--lost"]);
    let lost_titles: Vec<(&str, &str)> = { lost["sessions"].as_array().unwrap().iter() }
        .map(|one| (one["source"].as_str().unwrap(), one["prompts"][0].as_str().unwrap()))
        .collect();
    assert_eq!(lost_titles.len(), 2, "{lost}");
    assert!(
        lost_titles.contains(&("claude", "Count plums"))
            && lost_titles.contains(&("codex", "Count pears"))
    );
    let claude = lost["sessions"].as_array().unwrap().iter().find(|one| one["source"] == "claude");
    assert_eq!(claude.unwrap()["project"]["path"], "/home/dev/code/gone");
}

#[test]
fn guard_of_a_project_looks_at_the_sessions_of_every_agent() {
    let home = home(["gemini/lines/tools", "claude/folder/resume", "codex/tagged/tools"]);
    let all = sessions(&home);
    let mains = |project: &str, source: Option<&str>| {
        let is_main = |one: &&Value| {
            one["kind"] == "main"
                && one["project"]["path"] == project
                && source.is_none_or(|source| one["source"] == source)
        };
        all.iter().filter(is_main).count() as u64
    };
    let project = |source: &str| {
        let one = all.iter().find(|one| one["source"] == source).unwrap();
        one["project"]["path"].as_str().unwrap().to_owned()
    };
    for source in ["gemini", "claude", "codex"] {
        let project = project(source);
        let kept = json(&home, &["guard", &project, "--keep"]);
        assert_eq!(kept["sessions"], mains(&project, None), "{source}: {kept}");
    }
    let project = project("claude");
    let forecast = json(&home, &["guard", &project, "--release", "2.1.325"]);
    let rows = forecast["projects"].as_array().unwrap();
    let rows: Vec<&Value> = rows.iter().filter(|row| row["source"] == "claude").collect();
    let seen = rows.iter().map(|row| {
        row["sessions"].as_array().unwrap().len() as u64 + row["safe"]["sessions"].as_u64().unwrap()
    });
    assert_eq!(seen.sum::<u64>(), mains(&project, Some("claude")), "{forecast}");
    let alone = home.run(["--source", "claude", "guard", &project]);
    assert_ne!(alone.code, Some(2), "{alone}");
}

#[test]
fn doctor_reports_a_last_line_that_is_cut_short_for_every_agent() {
    for case in ["gemini/lines/tools", "claude/folder/resume", "codex/tagged/tools"] {
        let home = home([case]);
        let path = sessions(&home)[0]["files"][0]["path"].as_str().unwrap().to_owned();
        let relative = std::path::Path::new(&path).strip_prefix(home.path()).unwrap();
        let relative = relative.to_str().unwrap();
        let mut bytes = home.read(relative);
        bytes.extend_from_slice(b"{\"type\":\"user\",\"mess");
        home.write(relative, bytes);
        let found = json(&home, &["doctor"]);
        let is_it = |finding: &Value| {
            finding["topic"] == "sessions" && finding["path"].as_str() == Some(path.as_str())
        };
        assert!(found["findings"].as_array().unwrap().iter().any(is_it), "{case}: {found}");
    }
}

#[test]
fn a_deleted_session_is_said_to_be_in_the_trash() {
    let home = home(["gemini/lines/tools"]);
    let id = sessions(&home)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.run(["delete", &id, "--yes"]).code, Some(0));
    let shown = home.run(["show", id.get(..8).unwrap()]);
    assert!(shown.to_string().contains("it is in the trash: `recount restore"), "{shown}");
    let other = home.run(["show", "ffffffff"]);
    assert!(!other.to_string().contains("trash"), "{other}");
}
