//! Tests of resuming: the right program in the right folder and home, or the reason why not.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "test setup must succeed")]

use std::fs;
use std::path::PathBuf;

use recount_testkit::{Home, Output};

use crate::home;

/// Returns a home that contains its project's folder.
fn with_project(cases: &[&str]) -> Home {
    let home = home(cases.iter().copied());
    let project = home.at("code/my shop");
    fs::create_dir_all(&project).unwrap();
    home.write(".gemini/tmp/shop/.project_root", &project);
    home.write(".gemini/projects.json", format!("{{\"projects\":{{\"{project}\":\"shop\"}}}}"));
    home
}

/// Installs an agent that only prints how it was started.
fn with_agent(home: &Home) -> PathBuf {
    let bin = home.path().join("bin");
    home.write(
        "bin/gemini",
        "#!/bin/sh\necho \"in $(pwd) with $* home=$GEMINI_CLI_HOME\"\nexit 7\n",
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(bin.join("gemini"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    bin
}

fn id(home: &Home) -> String {
    let listed = home.run(["list", "--all", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    listed["sessions"][0]["id"].as_str().unwrap().to_owned()
}

#[cfg(unix)]
fn resumed(home: &Home, arguments: &[&str]) -> Output {
    let bin = with_agent(home);
    let path = format!("{}:/usr/bin:/bin", bin.display());
    home.run_with(arguments, |command| {
        command.env("PATH", path);
    })
}

#[test]
fn the_command_is_one_for_the_shell() {
    let home = with_project(&["gemini/lines/plain"]);
    let id = id(&home);
    let output = home.run(["resume", &id, "--print"]);
    assert_eq!(output.code, Some(0), "{output}");
    let project = home.at("code/my shop");
    assert_eq!(output.stdout, format!("cd '{project}' && gemini --resume={id}\n"), "{output}");
    let output = home.run(["resume", &id, "--json", "--", "--model", "a b"]);
    let json: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(json["schema"], "recount.resume/1");
    assert_eq!(json["session"]["id"], id.as_str());
    let command = json["command"].as_array().unwrap();
    assert_eq!(command[1], format!("--resume={id}"));
    assert_eq!(command[3], "a b");
}

#[cfg(unix)]
#[test]
fn the_agent_runs_in_the_project_folder_and_its_exit_code_is_returned() {
    let home = with_project(&["gemini/lines/plain"]);
    let id = id(&home);
    let output = resumed(&home, &["resume", &id, "--", "--model", "flash"]);
    assert_eq!(output.code, Some(7), "{output}");
    let expected = format!("code/my shop with --resume={id} --model flash home=\n");
    assert!(output.stdout.ends_with(&expected), "{output}");
}

#[cfg(unix)]
#[test]
fn a_session_of_another_home_is_looked_for_there() {
    let elsewhere = with_project(&["gemini/lines/plain"]);
    let home = home([]);
    let there = elsewhere.path().to_string_lossy().into_owned();
    let id = id(&elsewhere);
    let output = resumed(&home, &["--home", &there, "resume", &id]);
    assert_eq!(output.code, Some(7), "{output}");
    assert!(output.stdout.trim_end().ends_with(&format!("home={there}")), "{output}");
}

/// The agent leaves a stub beside a session that it resumes, and would delete both at its next start.
#[cfg(unix)]
#[test]
fn stubs_left_by_the_agent_are_removed() {
    let home = with_project(&["gemini/checkpoints/resume-stub"]);
    let chats = home.path().join(".gemini/tmp/shop/chats");
    let files = || {
        let mut names: Vec<_> =
            fs::read_dir(&chats).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files();
    let doomed = home.run(["guard"]);
    assert_eq!(doomed.code, Some(1), "{doomed}");
    let id = id(&home);
    let output = resumed(&home, &["resume", &id]);
    assert_eq!(output.code, Some(7), "{output}");
    assert!(output.stderr.contains("delete sessions; `recount undo"), "{output}");
    assert!(files().len() < before.len(), "{:?}", files());
    assert_eq!(home.run(["guard"]).code, Some(0));
    assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    assert_eq!(files(), before);
}

#[test]
fn sessions_that_cannot_be_resumed_are_refused_with_the_reason() {
    let home = home(["gemini/lines/plain"]);
    let gone = home.run(["resume", &id(&home)]);
    assert_eq!(gone.code, Some(3), "{gone}");
    assert!(
        gone.stderr.contains("the folder of its project is gone: /home/dev/code/shop"),
        "{gone}"
    );
    assert!(gone.stderr.contains("recount relocate /home/dev/code/shop NEW"), "{gone}");

    let home = with_project(&["gemini/lines/plain"]);
    let missing = home.run(["resume", &id(&home)]);
    assert_eq!(missing.code, Some(2), "{missing}");
    assert!(missing.stderr.contains("gemini is not installed"), "{missing}");

    let home = with_project(&["gemini/checkpoints/subagent"]);
    let listed = home.run(["list", "--all", "--kind", "subagent", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    let agent = listed["sessions"][0]["id"].as_str().unwrap();
    let refused = home.run(["resume", agent]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("it is a sub-agent's"), "{refused}");

    let home = with_project(&["gemini/damaged/bom"]);
    let refused = home.run(["resume", &id(&home)]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(refused.stderr.contains("the agent does not list it"), "{refused}");
    assert!(refused.stderr.contains("recount repair"), "{refused}");
}
