//! `recount list`

use recount_testkit::Home;
use serde_json::Value;

use crate::{has, home};

/// One session of each era, sub-agents, and a damaged one.
const MIXED: [&str; 6] = [
    "gemini/strings/tools",
    "gemini/parts/multi-turn",
    "gemini/lines/rewind",
    "gemini/lines/resume-stub",
    "gemini/checkpoints/subagent",
    "gemini/damaged/torn-tail",
];

#[test]
fn newest_first_in_100_columns() {
    insta::assert_snapshot!(home(MIXED).run(["list"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS      COST    SIZE  NOTES      TITLE
    1  8c6c4609  5h ago  shop           1      2     19k     $0.03  7.4 KB             Where is the tax…
    2  09502e04  5h ago  shop           4      1     700    <$0.01  3.8 KB  5 undone   Question one
    3  798f2624  5h ago  shop           2      0     280    <$0.01  1.5 KB             Another session
    4  b3027235  5h ago  shop           2      0     643  ≥$0.0004  1.4 KB             Ask about the sh…
    5  2e70d071  5h ago  shop           3      0     15k  ≥$0.0044  2.6 KB             What do an apple…
    6  791b85e5  5h ago  shop           1     15     13k  ≥$0.0024  176 KB             Raise the tax ra…
    7  42dc48bd  6h ago  shop           3      0     220  ≥$0.0004  1.3 KB  1 problem  What does cart.j…
    ------- stderr -------
    note: 2 sub-agent sessions not shown (--kind main,subagent)
    note: 1 problem found while reading; -v shows each
    [exit 0]
    ");
}

#[test]
fn columns_that_matter_less_go_first_when_it_is_narrow() {
    let narrow = home(MIXED).run_with(["list", "-q"], |command| {
        command.env("RECOUNT_WIDTH", "60");
    });
    insta::assert_snapshot!(narrow, @r"
    #  ID        USED    PROJECT      COST  TITLE
    1  8c6c4609  5h ago  shop        $0.03  Where is the tax co…
    2  09502e04  5h ago  shop       <$0.01  Question one
    3  798f2624  5h ago  shop       <$0.01  Another session
    4  b3027235  5h ago  shop     ≥$0.0004  Ask about the shop…
    5  2e70d071  5h ago  shop     ≥$0.0044  What do an apple an…
    6  791b85e5  5h ago  shop     ≥$0.0024  Raise the tax rate…
    7  42dc48bd  6h ago  shop     ≥$0.0004  What does cart.js d…
    [exit 0]
    ");
    let narrower = home(MIXED).run_with(["list", "-q"], |command| {
        command.env("RECOUNT_WIDTH", "30");
    });
    insta::assert_snapshot!(narrower, @r"
    #  USED    TITLE
    1  5h ago  Where is the tax c…
    2  5h ago  Question one
    3  5h ago  Another session
    4  5h ago  Ask about the shop…
    5  5h ago  What do an apple a…
    6  5h ago  Raise the tax rate…
    7  6h ago  What does cart.js…
    [exit 0]
    ");
}

#[test]
fn it_is_the_default_command_and_has_a_short_name() {
    let home = home(["gemini/lines/plain"]);
    let long = home.run(["list"]).to_string();
    assert_eq!(home.run(["ls"]).to_string(), long);
    assert_eq!(home.run(None::<&str>).to_string(), long);
}

#[test]
fn two_runs_print_the_same() {
    let home = home(MIXED);
    assert_eq!(home.run(["list", "--json"]).stdout, home.run(["list", "--json"]).stdout);
}

#[test]
fn a_home_without_sessions_is_reported() {
    let home = home([]);
    home.write("elsewhere/.gemini/projects.json", r#"{"projects":{}}"#);
    insta::assert_snapshot!(home.run(["--home", "elsewhere", "list"]), @r"
    ------- stderr -------
    note: no sessions found
    [exit 1]
    ");
    let output = home.run(["list", "--json"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stderr.contains("showing demo data"), "{output}");
}

/// One project, three agents: one list, newest first.
#[test]
fn sessions_of_all_agents_are_one_list() {
    let home = home([]);
    let made = home.run(["testbed", "--demo", "demo"]);
    assert_eq!(made.code, Some(0), "{made}");
    let list = |more: &[&str]| {
        let output = home.run(["--home", "demo", "list", "shop", "--json"].iter().chain(more));
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        document["sessions"].as_array().unwrap().clone()
    };
    let all = list(&[]);
    let text = |session: &Value, key: &str| session[key].as_str().unwrap().to_owned();
    let sources: std::collections::BTreeSet<String> =
        all.iter().map(|session| text(session, "source")).collect();
    assert_eq!(sources.into_iter().collect::<Vec<_>>(), ["claude", "codex", "gemini"]);
    let times: Vec<String> = all.iter().map(|session| text(session, "updated")).collect();
    assert!(times.is_sorted_by(|one, next| one >= next), "{times:?}");
    assert!(all.iter().all(|session| session["project"]["path"] == "/home/dev/code/shop"));
    let parts: usize = ["claude", "codex", "gemini"]
        .iter()
        .map(|source| {
            let some = list(&["--source", source]);
            assert!(some.iter().all(|session| session["source"] == **source));
            some.len()
        })
        .sum();
    assert_eq!(parts, all.len());
}

#[test]
fn a_user_without_sessions_is_shown_the_demo_home() {
    let home = home([]);
    insta::assert_snapshot!(home.run(["list", "-n", "1"]), @r"
    #  ID        USED     PROJECT        PROMPTS  TOOLS  TOKENS    COST  NOTES     TITLE
    1  7f07c6a1  36m ago  release-tools        3      1     16k  ≥$0.02  1 undone  Draft the notes for…
    ------- stderr -------
    note: No sessions found; showing demo data (recount testbed --demo DIR to keep it)
    note: 5 sub-agent sessions not shown (--kind main,subagent)
    [exit 0]
    ");
    assert!(!home.path().join(".gemini").exists());
}

#[test]
fn a_project_is_named_by_path_slug_hash_or_a_part_of_its_name() {
    let home = home(["gemini/checkpoints/paths"]);
    for project in [
        "/home/dev/code/api server",
        "/home/dev/code/api server/",
        "api-server",
        "d22283d2",
        "SERV",
    ] {
        let output = home.run(["list", project, "--json"]);
        assert_eq!(ids(&output.stdout), ["a2101a91-5f1d-41d6-bed5-34c8484acc44"], "{project}");
    }
    for (project, id) in [
        ("笔记", "1d8a4010-27e6-4b0c-afee-254a6047773b"),
        ("old/shop", "0624fa75-57cc-47bb-aa57-528418c00899"),
        ("Shop", "dfe7676d-67df-41ac-8c41-111679bb056b"),
    ] {
        assert_eq!(ids(&home.run(["list", project, "--json"]).stdout), [id], "{project}");
    }
}

#[test]
fn a_name_that_may_be_several_projects_lists_them() {
    let home = home(["gemini/checkpoints/paths"]);
    insta::assert_snapshot!(home.run(["list", "sho"]), @"
    ------- stderr -------
    error: 'sho' matches 3 projects
    hint: /home/dev/code/Shop
    hint: /home/dev/code/shop
    hint: /home/dev/old/shop
    hint: give the full path, or assign a name: `recount projects alias NAME PATH`
    [exit 2]
    ");
}

#[test]
fn an_unknown_project_is_nothing_found() {
    insta::assert_snapshot!(home(["gemini/lines/plain"]).run(["list", "warehouse"]), @"
    ------- stderr -------
    error: no project matches 'warehouse'
    hint: `recount projects` shows every project
    [exit 1]
    ");
}

#[test]
fn in_a_project_only_its_own_sessions_are_listed() {
    let home = home(["gemini/checkpoints/paths"]);
    let shop = home.path().join("code/shop");
    home.write("code/shop/src/cart.js", "");
    home.write(".gemini/tmp/shop/.project_root", home.at("code/shop"));
    home.write(".gemini/history/shop/.project_root", home.at("code/shop"));
    home.write(".gemini/projects.json", r#"{"projects":{}}"#);
    let here = |arguments: &[&str], folder: &str| {
        let output = home.run_with(arguments, |command| {
            command.current_dir(shop.join(folder));
        });
        ids(&output.stdout).len()
    };
    assert_eq!(here(&["list", "--json"], ""), 1);
    assert_eq!(here(&["list", "--json"], "src"), 1);
    assert_eq!(here(&["list", ".", "--json"], ""), 1);
    assert_eq!(here(&["list", "--all", "--json"], ""), 7);
    assert_eq!(here(&["list", "--json"], ".."), 7);
}

#[test]
fn times_bound_the_list() {
    let home = home(["gemini/strings/plain", "gemini/checkpoints/plain", "gemini/damaged/crlf"]);
    let count = |arguments: &[&str]| {
        let output = home.run(["list", "--json"].iter().chain(arguments));
        ids(&output.stdout).len()
    };
    assert_eq!(count(&["--since", "2026-11-15T18:00:00Z"]), 2);
    assert_eq!(count(&["--since", "2026-11-15T18:30"]), 1);
    assert_eq!(count(&["--since", "6h"]), 2);
    assert_eq!(count(&["--since", "yesterday", "--until", "2026-11-15T18:00:00Z"]), 1);
    assert_eq!(count(&["--until", "2026-11-15"]), 0);
    assert_eq!(home.run(["list", "--until", "2026-11-15"]).code, Some(1));
}

#[test]
fn a_time_that_cannot_be_read_is_an_error() {
    let home = home(["gemini/lines/plain"]);
    insta::assert_snapshot!(home.run(["list", "--since", "soon"]), @r"
    ------- stderr -------
    error: --since soon: not a time
    hint: give a date (2026-09-02), a time (2026-09-02T08:00), `today`, or how long ago (12h, 7d)
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["list", "--until", "2026-13-01"]), @r"
    ------- stderr -------
    error: --until 2026-13-01: not a time
    hint: give a date (2026-09-02), a time (2026-09-02T08:00), `today`, or how long ago (12h, 7d)
    [exit 2]
    ");
}

#[test]
fn filters_that_nothing_passes_say_so() {
    insta::assert_snapshot!(home(MIXED).run(["list", "--model", "gpt"]), @r"
    ------- stderr -------
    note: none of 9 sessions matches
    [exit 1]
    ");
}

#[test]
fn sub_agents_are_listed_when_asked_for() {
    let home = home(["gemini/checkpoints/subagent", "gemini/damaged/subagent-with-kind"]);
    insta::assert_snapshot!(home.run(["list", "--kind", "subagent"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS      COST    SIZE  NOTES      TITLE
    1  91f41195  5h ago  shop           0      2    6.4k     $0.01  3.1 KB  sub-agent  Count the files.
    2  23214a90  5h ago  shop           0      3    6.4k    <$0.01  4.6 KB  sub-agent  Your task is to…
    3  69170cb8  6h ago  shop           0      1     220  ≥$0.0004  1.9 KB  sub-agent  Your task: find…
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "--kind", "subagent,main"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS      COST    SIZE  NOTES      TITLE
    1  8c6c4609  5h ago  shop           1      2     19k     $0.03  7.4 KB             Where is the tax…
    2  91f41195  5h ago  shop           0      2    6.4k     $0.01  3.1 KB  sub-agent  Count the files.
    3  23214a90  5h ago  shop           0      3    6.4k    <$0.01  4.6 KB  sub-agent  Your task is to…
    4  69170cb8  6h ago  shop           1      1     220  ≥$0.0004  2.0 KB             Investigate the…
    5  69170cb8  6h ago  shop           0      1     220  ≥$0.0004  1.9 KB  sub-agent  Your task: find…
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "--kind", "robot"]), @r"
    ------- stderr -------
    error: invalid value 'robot' for '--kind <KIND>'
      [possible values: main, subagent, headless]

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn sessions_with_problems_are_listed_when_asked_for() {
    let home =
        home(["gemini/lines/plain", "gemini/damaged/not-understood", "gemini/damaged/empty-file"]);
    insta::assert_snapshot!(home.run(["list", "--problems"]).stdout, @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS      COST  NOTES             TITLE
    1  71e4a1ad  5h ago  shop           0      0       –         –  1 problem         (no messages)
    2  e24c0bb8  5h ago  shop           0      0       –         –  1 problem         (no messages)
    3  5be9db0c  6h ago  shop           2      0     220  ≥$0.0004  2 not understood  What does cart.js…
    ");
}

#[test]
fn sessions_without_a_conversation_are_hidden() {
    let home = home(["gemini/lines/plain"]);
    home.write(
        ".gemini/tmp/shop/chats/session-2026-11-15T18-50-00000000.jsonl",
        concat!(
            r#"{"sessionId":"00000000-0000-4000-8000-000000000000","projectHash":"52ef","#,
            r#""startTime":"2026-11-15T18:50:00.000Z","lastUpdated":"2026-11-15T18:50:00.000Z","kind":"main"}"#,
            "\n"
        ),
    );
    insta::assert_snapshot!(home.run(["list"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    COST   SIZE  NOTES  TITLE
    1  d22642e2  5h ago  shop           1      0     821  <$0.01  742 B         What does an apple cost?
    ------- stderr -------
    note: 1 session without messages not shown (--empty)
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "--empty"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    COST   SIZE  NOTES  TITLE
    1  00000000  5h ago  shop           0      0       0   $0.00  168 B         (no messages)
    2  d22642e2  5h ago  shop           1      0     821  <$0.01  742 B         What does an apple cost?
    [exit 0]
    ");
}

#[test]
fn lost_sessions_are_listed_by_their_prompts() {
    let lost = home(["gemini/strings/logs-only", "gemini/lines/plain"]);
    insta::assert_snapshot!(lost.run(["list", "--lost"]), @r"
    ID        LAST PROMPT  PROJECT  PROMPTS  FIRST PROMPT
    6327a2f0  5h ago       shop           4  What do an apple and a pear cost together?
    [exit 0]
    ");
    insta::assert_snapshot!(home(["gemini/lines/plain"]).run(["list", "--lost"]), @r"
    ------- stderr -------
    note: no lost sessions found
    [exit 1]
    ");
}

#[test]
fn lost_sessions_as_json() {
    let output = home(["gemini/strings/logs-only"]).run(["list", "--lost", "--json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["schema"], "recount.lost/1");
    assert_eq!(document["sessions"][0]["prompts"][2], "Thanks.");
}

#[test]
fn the_order_and_length_can_be_chosen() {
    let home = home(MIXED);
    let first = |sort: &str| {
        let output = home.run(["list", "--json", "--kind", "main", "-n", "1", "--sort", sort]);
        ids(&output.stdout).remove(0)
    };
    assert_eq!(first("updated"), "8c6c4609-3378-4a83-acc3-4e687ba70861");
    assert_eq!(first("started"), "8c6c4609-3378-4a83-acc3-4e687ba70861");
    assert_eq!(first("tokens"), "8c6c4609-3378-4a83-acc3-4e687ba70861");
    assert_eq!(first("messages"), "09502e04-146e-4a20-908d-b2d38cf0da98");
    assert_eq!(first("size"), "791b85e5-ecde-4caf-9157-3eb11e92d8dd");
}

#[test]
fn every_documented_field_is_in_the_json() {
    let output = home(MIXED).run(["list", "--json"]);
    assert_eq!(output.code, Some(0));
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["schema"], "recount.list/1");
    let sessions = document["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 9);
    for session in sessions {
        has(
            session,
            "source id kind parent title title_from first_prompt last_prompt branch entrypoint project started updated messages prompts answers \
             undone tool_calls models tokens cost_usd cost_is_lower_bound files agent_index live doomed problems",
        );
        has(&session["project"], "path state slug hash evidence");
        has(&session["tool_calls"], "total failed cancelled");
        has(&session["tokens"], "input output cached thoughts tool total");
        has(&session["files"][0], "path role bytes grammar");
        assert!(session["started"].as_str().unwrap().ends_with('Z'));
    }
}

#[test]
fn copies_twins_and_stubs_are_counted_once() {
    let output = home(["gemini/lines/migration"]).run(["list", "--json"]);
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    let all = document["sessions"].as_array().unwrap();
    assert_eq!(all.len(), 6);
    let oldest = all.iter().find(|session| session["title"] == "Question asked in 0.20.2").unwrap();
    let roles: Vec<&Value> =
        oldest["files"].as_array().unwrap().iter().map(|file| &file["role"]).collect();
    assert_eq!(roles, ["twin", "copy", "main", "stub"]);
    assert_eq!(oldest["tokens"]["total"], 420);
    assert_eq!(oldest["messages"], 5);
}

#[test]
fn homes_are_read_instead_of_the_own_one() {
    let home = home(["gemini/lines/plain"]);
    let itself = Home::with(["gemini/strings/plain"]);
    let output = home.run(["--home", &itself.at(".gemini"), "list", "--json"]);
    assert_eq!(ids(&output.stdout), ["117e505c-3d3a-4d21-bd60-5b8a2d07d003"]);
    let two = [Home::with(["gemini/strings/plain"]), Home::with(["gemini/parts/plain"])];
    let [one, other] = two.each_ref().map(|home| home.path().to_string_lossy().into_owned());
    let output = home.run(["--home", &one, "--home", &other, "list", "--json"]);
    assert_eq!(ids(&output.stdout).len(), 2);
}

#[test]
fn the_agents_own_variable_names_its_home() {
    let home = home([]);
    let other = Home::with(["gemini/lines/plain"]);
    for value in [other.path().to_owned(), other.path().join(".gemini")] {
        let output = home.run_with(["list", "--json"], |command| {
            command.env("GEMINI_CLI_HOME", &value);
        });
        assert_eq!(ids(&output.stdout).len(), 1, "{}", value.display());
    }
    let output = home.run_with(["list", "--json"], |command| {
        command.env("GEMINI_SESSIONS_DIR", other.path().join(".gemini/tmp"));
    });
    assert_eq!(ids(&output.stdout).len(), 1);
}

#[test]
fn lost_sessions_are_filtered_like_others() {
    let home = home(["gemini/strings/logs-only"]);
    assert_eq!(home.run(["list", "nonexistent", "--lost"]).code, Some(1));
    assert_eq!(home.run(["list", "--lost", "--since", "2026-11-16"]).code, Some(1));
    assert_eq!(home.run(["list", "--lost", "--json"]).code, Some(0));
}

#[test]
fn the_limit_counts_rows_that_are_shown() {
    let home = home(["gemini/checkpoints/subagent"]);
    let output = home.run(["list", "--all", "--sort", "started", "-n", "1"]);
    assert_eq!(output.stdout.lines().count(), 2, "{output}");
}

#[test]
fn an_exact_slug_wins_over_a_name() {
    let home = home(["gemini/checkpoints/paths"]);
    let output = home.run(["list", "shop", "--json"]);
    assert_eq!(ids(&output.stdout).len(), 1, "{output}");
}

#[test]
fn filters_look_into_the_messages() {
    let home = home(["gemini/checkpoints/tools", "gemini/checkpoints/plain"]);
    assert_eq!(ids(&home.run(["list", "--all", "--json"]).stdout).len(), 2);
    for filter in
        [["--tool", "run_shell_command"], ["--tool", "Shell"], ["--touched", "prices.csv"]]
    {
        let output = home.run(["list", "--all", "--json", filter[0], filter[1]]);
        assert_eq!(ids(&output.stdout).len(), 1, "{filter:?} {output}");
    }
    assert_eq!(ids(&home.run(["list", "--all", "--json", "--text", "APPLE"]).stdout).len(), 2);
    assert_eq!(home.run(["list", "--all", "--text", "no such words"]).code, Some(1));
}

fn ids(document: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(document).unwrap_or_default();
    let all = document["sessions"].as_array().cloned().unwrap_or_default();
    all.iter().filter_map(|session| session["id"].as_str().map(str::to_owned)).collect()
}

#[test]
fn usage_that_was_not_recorded_is_unknown_and_not_nothing() {
    // Early releases recorded no figures; of a damaged file nothing can be read.
    let home = home(["codex/bare/plain", "gemini/damaged/empty-file", "gemini/lines/plain"]);
    let rows = home.run(["list", "--empty", "-q"]).stdout;
    for row in rows.lines().filter(|row| row.contains("91f7729c") || row.contains("71e4a1ad")) {
        assert_eq!(row.matches(" – ").count(), 2, "{row}");
    }
    assert!(!rows.contains("$0.00"), "{rows}");
    let document: Value = serde_json::from_str(&home.run(["list", "--json"]).stdout).unwrap();
    let sessions = document["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 4);
    for session in sessions {
        let is_known = session["tokens"]["total"] != 0;
        assert_eq!(session["cost_usd"].is_f64(), is_known, "{session}");
        assert_eq!(session["cost_is_lower_bound"], !is_known, "{session}");
    }
    let asked =
        "SELECT count(*), count(tokens_total), count(tokens_input), count(cost_usd) FROM sessions";
    let known: Value = serde_json::from_str(&home.run(["sql", asked, "--json"]).stdout).unwrap();
    assert_eq!(known["rows"][0], serde_json::json!([4, 1, 1, 1]));
    let csv = home.run(["list", "--csv", "--source", "codex"]).stdout;
    assert!(csv.lines().nth(1).is_some_and(|row| row.contains(",,,,,,")), "{csv}");
}

#[test]
fn a_scope_counts_the_rows_that_are_shown() {
    let home = home(MIXED);
    let scope = |arguments: &[&str]| {
        let shown = home.run(["list", "shop", "-q"].iter().chain(arguments)).stdout;
        let rows = shown.lines().count() - 2;
        (shown.lines().next().unwrap_or_default().to_owned(), rows)
    };
    let (line, rows) = scope(&[]);
    assert_eq!(line, format!("project shop · {rows} of {rows} sessions"));
    let (line, some) = scope(&["--since", "2026-11-15T18:30"]);
    assert!(some < rows);
    assert_eq!(line, format!("project shop · {some} shown · {rows} of {rows} sessions"));
    let (line, _) = scope(&["--limit", "1"]);
    assert!(line.starts_with("project shop · 1 shown · "), "{line}");
}

#[test]
fn what_a_sub_agent_was_asked_is_no_prompt_of_a_human() {
    let home =
        home(["gemini/checkpoints/subagent", "claude/flat/subagent", "codex/tagged/subagent"]);
    let stats: Value =
        serde_json::from_str(&home.run(["stats", "--by", "source", "--json"]).stdout).unwrap();
    let asked = "SELECT sum(prompts), sum(kept_prompts), sum(kind = 'subagent') FROM sessions";
    let sum: Value = serde_json::from_str(&home.run(["sql", asked, "--json"]).stdout).unwrap();
    assert_eq!(sum["rows"][0][0], stats["total"]["prompts"]);
    assert_eq!(sum["rows"][0][1], stats["total"]["prompts"]);
    assert!(sum["rows"][0][2].as_u64() >= Some(3), "{sum}");
    let csv = home.run(["list", "--kind", "subagent", "--csv"]).stdout;
    assert!(csv.lines().count() > 3, "{csv}");
    for row in home.run(["list", "--kind", "subagent", "-q"]).stdout.lines().skip(1) {
        assert!(row.split_whitespace().any(|cell| cell == "0"), "{row}");
    }
}
