//! Tests of clues in the agent's own files about a directory named by a hash.

use recount_model::{ClueKind, ProjectState};
use recount_testkit::Home;
use serde_json::json;

use super::{
    assert_proven, clue, hash, notes, path, row, rows, session, still, write_hash_directory,
    write_session,
};

const TEA: &str = "/srv/shops/tea";

/// Returns a home with a directory for `folder` without clues, and one more file in that directory.
fn with_file(folder: &str, file: &str, text: &str) -> Home {
    let home = Home::empty();
    write_hash_directory(&home, folder);
    home.write(&format!(".gemini/tmp/{}/{file}", hash(folder)), text);
    home
}

#[test]
fn without_a_clue_nothing_is_said() {
    let home = Home::empty();
    write_hash_directory(&home, TEA);
    let rows = rows(&still(&home));
    assert_eq!((rows.len(), path(&rows[0]), rows[0].state), (1, None, ProjectState::Unknown));
    assert!(rows[0].evidence.is_empty(), "{:?}", rows[0].evidence);
    assert_eq!(rows[0].hash.as_ref().unwrap().as_str(), hash(TEA));
}

#[test]
fn files_beside_the_sessions_speak_of_paths() {
    let prompt = |text: &str| {
        json!({"sessionId": "s", "messageId": 0, "type": "user", "message": text,
        "timestamp": "2026-11-15T08:00:00.000Z"})
    };
    let logs = json!([prompt("read @/srv/shops/tea/README.md please")]).to_string();
    let saved = json!({"history": [{"role": "user", "parts": [{"text": "see '/srv/shops/tea'"}]}]});
    let tagged = json!([{"role": "model", "parts": [{"functionCall": {"name": "read_file",
        "args": {"absolute_path": "/srv/shops/tea/docs/guide.md"}}}]}]);
    let before_edit =
        json!({"history": [], "toolCall": {"args": {"file_path": "/srv/shops/tea/src/cart.js"}}});
    for (file, text) in [
        ("logs.json", logs.as_str()),
        ("checkpoint-before lunch.json", &saved.to_string()),
        ("checkpoint.json", &tagged.to_string()),
        ("checkpoints/2026-11-15T08-00-00_000Z-cart.js-replace.json", &before_edit.to_string()),
        ("shell_history", "ls\ncd /srv/shops/tea && git status\n"),
        (
            "tool-outputs/session-aa11/run_shell_command_1.txt",
            "ok\n/srv/shops/tea/src/cart.js:3: let\n",
        ),
        ("tool_output/list.txt", "/srv/shops/tea/src/cart.js\n"),
        ("shell_9f3a.output", "Directory: /srv/shops/tea\n"),
    ] {
        let home = with_file(TEA, file, text);
        let rows = rows(&still(&home));
        let row = row(&rows, TEA);
        assert_eq!(path(row), Some(TEA), "{file}");
        let name = file.rsplit('/').next().unwrap();
        let clue = clue(row, ClueKind::Text).unwrap();
        assert!(clue.proves && clue.detail == format!("the text of {name}"), "{clue:?}");
    }
}

#[test]
fn a_session_mentions_paths_in_calls_results_and_attached_files() {
    let in_text = |text: &str| session("aa11bb22", TEA, text);
    let call = json!({"id": "m2", "timestamp": "2026-11-15T08:00:02.000Z", "type": "gemini", "content": "",
        "toolCalls": [{"id": "c1", "name": "read_file", "args": {"absolute_path": "/srv/shops/tea/src/tax.js"},
        "status": "success"}]});
    let result = json!({"id": "m2", "timestamp": "2026-11-15T08:00:02.000Z", "type": "gemini", "content": "",
        "toolCalls": [{"id": "c1", "name": "glob", "args": {}, "status": "success",
        "result": [{"functionResponse": {"response": {"output": "Found 2:\n/srv/shops/tea/a.js\n/srv/shops/tea/b.js"}}}]}]});
    for text in [
        in_text(
            "<session_context>\n- **Workspace Directories:**\n  - /srv/shops/tea\n- **Directory Structure:**",
        ),
        in_text(
            "--- Content from referenced files ---\nContent from @/srv/shops/tea/README.md:\n# Tea",
        ),
        in_text("what is in /srv/shops/tea, and why?"),
        in_text("diff [/srv/shops/tea/a.js,/srv/shops/tea/b.js]"),
        in_text("open file:///srv/shops/tea/README.md"),
        in_text("hello") + &call.to_string() + "\n",
        in_text("hello") + &result.to_string() + "\n",
    ] {
        let home = Home::empty();
        write_session(&home, &hash(TEA), &text);
        assert_proven(&still(&home), TEA, ClueKind::Text);
    }
}

#[test]
fn a_path_with_blanks_is_found_in_the_middle_of_a_sentence() {
    let folder = "/srv/shops/tea and coffee";
    let home = Home::empty();
    let text = "go to /srv/shops/tea and coffee and look around";
    write_session(&home, &hash(folder), &session("aa11bb22", folder, text));
    assert_proven(&still(&home), folder, ClueKind::Text);
}

#[test]
fn one_project_mentions_another() {
    let home = Home::empty();
    write_hash_directory(&home, TEA);
    home.write(".gemini/tmp/lib/.project_root", "/srv/lib");
    let text = "compare with /srv/shops/tea/src/cart.js";
    write_session(&home, "lib", &session("cc33dd44", "/srv/lib", text));
    assert_proven(&still(&home), TEA, ClueKind::Text);
}

#[test]
fn trusted_folders_and_their_parents_are_candidates() {
    let home = Home::empty();
    write_hash_directory(&home, TEA);
    write_hash_directory(&home, "/srv/shops");
    home.write(".gemini/trustedFolders.json", json!({TEA: "TRUST_PARENT"}).to_string());
    let engine = still(&home);
    assert_proven(&engine, TEA, ClueKind::Trusted);
    assert_proven(&engine, "/srv/shops", ClueKind::Trusted);
}

#[test]
fn the_registry_and_the_markers_of_other_directories_tell() {
    let home = Home::empty();
    write_hash_directory(&home, TEA);
    write_hash_directory(&home, "/srv/shops");
    home.write(".gemini/projects.json", json!({"projects": {TEA: "tea"}}).to_string());
    home.write(".gemini/tmp/shops/.project_root", "/srv/shops\n");
    let engine = still(&home);
    assert_proven(&engine, TEA, ClueKind::Registry);
    assert_proven(&engine, "/srv/shops", ClueKind::Marker);
    let rows = rows(&engine);
    assert_eq!(
        row(&rows, "/srv/shops").parts.len(),
        2,
        "the hash directory and the slug directory"
    );
}

#[test]
fn the_folders_that_a_session_had_open_tell() {
    let home = Home::empty();
    let set = json!({"$set": {"directories": ["/srv/other", TEA]}});
    let text = session("aa11bb22", TEA, "hello") + &set.to_string() + "\n";
    write_session(&home, &hash(TEA), &text);
    assert_proven(&still(&home), TEA, ClueKind::Workspace);
}

#[test]
fn windows_paths_are_found_in_whatever_way_they_were_written() {
    let texts = [
        json!({"file_path": r"C:\Users\dev\shop\src\cart.js"}).to_string(),
        json!({"text": "see c:/Users/dev/shop/README.md"}).to_string(),
        json!({"text": "Workspace Directories:\n  - C:\\Users\\dev\\shop\n- next"}).to_string(),
    ];
    let spellings = [
        r"C:\Users\dev\shop",
        r"c:\Users\dev\shop",
        "c:/Users/dev/shop",
        "C:/Users/dev/shop",
        "/c/Users/dev/shop",
        "/mnt/c/Users/dev/shop",
    ];
    for (text, folder) in texts.iter().flat_map(|text| spellings.map(|folder| (text, folder))) {
        let home = with_file(folder, "checkpoint-x.json", text);
        assert_proven(&still(&home), folder, ClueKind::Text);
    }
}

#[test]
fn a_slug_directory_without_a_marker_is_known_by_the_hash_in_its_sessions() {
    let home = Home::empty();
    write_session(&home, "tea", &session("aa11bb22", TEA, "look at /srv/shops/tea/README.md"));
    let rows = rows(&still(&home));
    let row = row(&rows, "tea");
    assert_eq!(path(row), Some(TEA));
    assert!(clue(row, ClueKind::SessionHash).unwrap().proves);
    assert!(!clue(row, ClueKind::Text).unwrap().proves, "the name of the directory proves nothing");
}

#[test]
fn without_a_hash_the_name_and_a_path_in_the_text_only_suggest() {
    let home = Home::empty();
    let text = session("aa11bb22", TEA, "look at /srv/shops/tea/README.md");
    write_session(&home, "tea", &text.replace(&hash(TEA), "?"));
    write_session(&home, "wine", &text.replace(&hash(TEA), "?").replace("aa11", "ee55"));
    let rows = rows(&still(&home));
    let tea = row(&rows, "tea");
    assert_eq!(path(tea), Some(TEA));
    assert!(tea.evidence.iter().all(|clue| !clue.proves), "{:?}", tea.evidence);
    assert_eq!(path(row(&rows, "wine")), None, "no path there is called wine");
}

#[test]
fn one_folder_in_several_directories_is_one_project() {
    let home = Home::empty();
    write_hash_directory(&home, TEA);
    for slug in ["tea", "tea-1"] {
        home.write(&format!(".gemini/tmp/{slug}/.project_root"), TEA);
    }
    write_session(&home, "tea-1", &session("cc33dd44", TEA, "again"));
    home.write(".cache/.gemini/tmp/tea/.project_root", TEA);
    let rows = rows(&still(&home));
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].parts.len(), rows[0].sessions), (4, 2));
    assert!(notes(&rows[0]).is_empty(), "{}", notes(&rows[0]));
}
