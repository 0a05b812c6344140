//! Tests of clues from the rest of the machine: running programs, shells, other agents, repositories.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use recount_engine::{HitOrder, ListQuery, SearchRequest};
use recount_model::{ClueKind, ProjectState};
use recount_platform::Running;
use recount_testkit::Home;
use serde_json::json;

use super::{
    Scripted, assert_proven, engine_at, hash, path, row, rows, session, still,
    write_hash_directory, write_session,
};

const TEA: &str = "/srv/shops/tea";

fn process(name: &str, args: &[&str], folder: &str, variables: &[(&str, &str)]) -> Running {
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Running {
        pid: 42,
        name: name.to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        folder: Some(PathBuf::from(folder)),
        variables,
    }
}

/// Returns a home that knows the folder only by its hash.
fn home_with(folder: &str) -> Home {
    let home = Home::empty();
    write_hash_directory(&home, folder);
    home
}

fn running(home: &Home, processes: Vec<Running>) -> recount_engine::Engine {
    still(home).with_processes(Arc::new(Scripted(processes)))
}

#[test]
fn a_running_agent_works_in_the_folder() {
    for args in [
        &["node", "/usr/local/bin/gemini"] as &[&str],
        &["/opt/gemini", "--resume", "latest"],
        &["node", "--no-warnings", "/usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js"],
    ] {
        let home = home_with(TEA);
        assert_proven(
            &running(&home, vec![process("node", args, TEA, &[])]),
            TEA,
            ClueKind::Process,
        );
    }
}

#[test]
fn a_mere_mention_of_the_agent_is_no_evidence() {
    for (name, args) in [
        ("grep", &["grep", "-r", "gemini"] as &[&str]),
        ("vim", &["vim", "/usr/local/bin/gemini"]),
        ("node", &["node", "server.js", "gemini"]),
    ] {
        let home = home_with(TEA);
        let process = process(name, args, TEA, &[("PWD", TEA)]);
        let rows = rows(&running(&home, vec![process]));
        assert_eq!((path(&rows[0]), rows[0].state), (None, ProjectState::Unknown), "{name}");
    }
}

#[test]
fn a_running_agent_has_a_home_of_its_own() {
    let home = home_with(TEA);
    home.write("other/.gemini/projects.json", json!({"projects": {TEA: "tea"}}).to_string());
    let variables = [("GEMINI_CLI_HOME", &*home.at("other"))];
    let agent = process("node", &["node", "/usr/bin/gemini"], "/srv", &variables);
    assert_proven(&running(&home, vec![agent]), TEA, ClueKind::Registry);
}

#[test]
fn the_home_of_a_running_agent_may_be_its_data_folder_itself() {
    let home = home_with(TEA);
    home.write("other/tmp/tea/.project_root", TEA);
    let variables = [("GEMINI_CLI_HOME", &*home.at("other"))];
    let agent = process("node", &["node", "/usr/bin/gemini"], "/srv", &variables);
    assert_proven(&running(&home, vec![agent]), TEA, ClueKind::Registry);
}

#[test]
fn a_running_shell_is_there_or_came_from_there() {
    for shell in [
        process("bash", &["bash"], TEA, &[]),
        process("-zsh", &["-zsh"], "/", &[("PWD", TEA)]),
        process("fish", &["fish"], "/", &[("PWD", "/"), ("OLDPWD", TEA)]),
        process("bash", &["bash"], "/srv/shops/tea/src", &[]),
    ] {
        let home = home_with(TEA);
        assert_proven(&running(&home, vec![shell]), TEA, ClueKind::Shell);
    }
}

#[test]
fn zoxide_remembers_the_folder() {
    let home = home_with(TEA);
    let mut database = 3_u32.to_le_bytes().to_vec();
    database.extend(1_u64.to_le_bytes());
    database.extend((TEA.len() as u64).to_le_bytes());
    database.extend(TEA.as_bytes());
    database.extend(4.0_f64.to_le_bytes());
    database.extend(1_794_769_200_u64.to_le_bytes());
    home.write(".local/share/zoxide/db.zo", database);
    if cfg!(target_os = "linux") {
        assert_proven(&still(&home), TEA, ClueKind::Recent);
    }
}

#[test]
fn the_history_of_a_shell_names_the_folder() {
    for (file, text) in [
        (".bash_history", "ls\ncd /srv/shops/tea\n"),
        (".zsh_history", ": 1794769200:0;cd /srv/shops/tea && make\n"),
        (".local/share/fish/fish_history", "- cmd: pushd /srv/shops/tea\n  when: 1794769200\n"),
    ] {
        let home = home_with(TEA);
        home.write(file, text);
        assert_proven(&still(&home), TEA, ClueKind::Shell);
    }
    let home = Home::empty();
    write_hash_directory(&home, &home.at("code/shop"));
    home.write(".bash_history", "cd ~/code/shop\n");
    assert_proven(&still(&home), &home.at("code/shop"), ClueKind::Shell);
}

#[test]
fn other_agents_were_used_in_the_folder() {
    let user = json!({"type": "user", "cwd": TEA, "sessionId": "a", "message": {"role": "user", "content": "hi"}});
    let head = json!({"timestamp": "2026-11-15T08:00:00.000Z", "type": "session_meta",
        "payload": {"id": "b", "timestamp": "2026-11-15T08:00:00.000Z", "cwd": TEA}});
    for (file, text) in [
        (".claude/projects/-srv-shops-tea/5d0c.jsonl", format!("{user}\n")),
        (".claude.json", json!({"projects": {TEA: {}}}).to_string()),
        (".codex/sessions/2026/11/15/rollout-2026-11-15T08-00-00-b.jsonl", format!("{head}\n")),
        (".codex/config.toml", format!("[projects.\"{TEA}\"]\ntrust_level = \"trusted\"\n")),
    ] {
        let home = home_with(TEA);
        home.write(file, text);
        // A file that is read as a session proves the folder by its text, or by the folder that it records.
        let rows = rows(&still(&home));
        let row = row(&rows, TEA);
        let kinds = [ClueKind::Neighbour, ClueKind::Text, ClueKind::Session];
        let is_told = row.evidence.iter().any(|clue| clue.proves && kinds.contains(&clue.clue));
        assert!(is_told && path(row) == Some(TEA), "{file}: {:?}", row.evidence);
    }
}

/// Returns a home with a project whose folder is known and exists.
fn known_shop() -> Home {
    let home = Home::empty();
    home.write("code/shop/README.md", "");
    home.write(".gemini/tmp/shop/.project_root", home.at("code/shop"));
    write_session(&home, "shop", &session("aa11bb22", &home.at("code/shop"), "hello"));
    home
}

#[test]
fn a_worktree_of_a_known_repository_is_a_folder_too() {
    let home = known_shop();
    let tree = home.at("trees/fix");
    home.write("code/shop/.git/HEAD", "ref: refs/heads/main\n");
    home.write("code/shop/.git/worktrees/fix/gitdir", format!("{tree}/.git\n"));
    write_hash_directory(&home, &tree);
    assert_proven(&still(&home), &tree, ClueKind::Worktree);
}

#[test]
fn a_folder_beside_a_known_project_is_found() {
    let home = known_shop();
    home.write("code/lib/README.md", "");
    write_hash_directory(&home, &home.at("code/lib"));
    let engine = still(&home);
    assert_proven(&engine, &home.at("code/lib"), ClueKind::Beside);
    assert_eq!(row(&rows(&engine), &home.at("code/lib")).state, ProjectState::Present);
}

#[test]
fn a_list_asks_the_machine_once_a_day() {
    let home = home_with(TEA);
    let agent = || process("gemini", &["gemini"], TEA, &[]);
    let listed = |now: &str, processes: Vec<Running>| {
        let engine = engine_at(&home, now).with_tree(Arc::new(super::Bare));
        let engine = engine.with_processes(Arc::new(Scripted(processes)));
        let listing = engine.list(&ListQuery::default(), &()).unwrap();
        listing.sessions[0].project.path.is_some()
    };
    assert!(!listed("2026-11-16T00:00:00Z", Vec::new()), "nothing runs");
    assert!(!listed("2026-11-16T01:00:00Z", vec![agent()]), "asked an hour ago");
    assert!(!listed("2026-11-17T02:00:00Z", Vec::new()), "asked again for nothing");
    assert!(!listed("2026-11-17T03:00:00Z", vec![agent()]), "asked an hour ago");
    assert!(listed("2026-11-18T04:00:00Z", vec![agent()]), "asked again");
    assert!(listed("2026-11-18T04:00:00Z", Vec::new()), "learned");
}

#[test]
fn a_list_of_projects_always_asks() {
    let home = home_with(TEA);
    assert_eq!(path(&rows(&still(&home))[0]), None);
    let agent = process("gemini", &["gemini"], TEA, &[]);
    assert_proven(&running(&home, vec![agent]), TEA, ClueKind::Process);
    assert_proven(&still(&home), TEA, ClueKind::Process);
}

#[test]
fn the_last_session_of_a_folder_in_which_the_agent_runs_is_live() {
    let home = Home::empty();
    home.write("code/shop/readme.md", "shop");
    let shop = home.at("code/shop");
    let at = |text: &str, time: &str| text.replace("2026-11-15T08:00:01", time);
    for (id, time) in [("aaaaaaaa-1", "2026-11-15T08:00:01"), ("bbbbbbbb-2", "2026-11-15T09:00:01")]
    {
        write_session(&home, &hash(&shop), &at(&session(id, &shop, "about taxes"), time));
    }
    write_session(&home, &hash("/elsewhere"), &session("cccccccc-3", "/elsewhere", "about taxes"));
    let agent = process("node", &["node", "/usr/bin/gemini"], &shop, &[]);
    let shell = process("bash", &["bash"], "/elsewhere", &[]);
    let engine = still(&home).with_processes(Arc::new(Scripted(vec![agent, shell])));
    let query = ListQuery { live: true, ..ListQuery::default() };
    let live: Vec<_> = engine.list(&query, &()).unwrap().sessions;
    assert_eq!(live.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["bbbbbbbb-2"]);
    assert_eq!(live[0].live, Some(true));
    let asked = SearchRequest {
        query: "taxes is:live".to_owned(),
        limit: 10,
        sort: HitOrder::Relevance,
        all_hits: true,
        width: 60,
        without_index: false,
        at_once: false,
    };
    let answer = engine.search(&asked, &()).unwrap();
    assert_eq!(answer.hits.len(), 1);
    assert_eq!(answer.hits[0].session.id.as_str(), "bbbbbbbb-2");
}
