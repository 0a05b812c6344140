//! Tests of records that are damaged, contradictory or unreadable: a note, never a failure.

use recount_model::{ClueKind, ProjectState};
use recount_testkit::Home;
use serde_json::json;

use super::{
    assert_proven, clue, engine, hash, notes, path, row, rows, session, still,
    write_hash_directory, write_session,
};

fn mark(home: &Home, slug: &str, path: &str) {
    home.write(&format!(".gemini/tmp/{slug}/.project_root"), path);
}

fn register(home: &Home, projects: &serde_json::Value) {
    home.write(".gemini/projects.json", json!({"projects": projects}).to_string());
}

#[test]
fn whole_entries_of_a_half_written_registry_are_used() {
    let home = Home::empty();
    let whole = json!({"projects": {"/srv/tea": "tea", "/srv/wine": "wine"}}).to_string();
    let cut = whole.find("wine\":").unwrap() + 8;
    home.write(".gemini/projects.json", &whole[..cut]);
    for folder in ["/srv/tea", "/srv/wine"] {
        write_hash_directory(&home, folder);
    }
    let engine = still(&home);
    let (rows, listing) = engine.projects(None, &()).unwrap();
    let tea = row(&rows, "/srv/tea");
    assert_eq!(path(tea), Some("/srv/tea"));
    assert!(notes(tea).contains("projects.json is damaged"), "{}", notes(tea));
    assert_eq!(path(row(&rows, "/srv/wine")), None, "its entry is not whole");
    assert!(listing.problems.iter().any(|problem| problem.file.ends_with("projects.json")));
}

#[test]
fn any_registry_is_survived() {
    for bytes in [
        b"" as &[u8],
        b"null",
        b"[]",
        b"{\"projects\": []}",
        b"{\"projects\": {\"\": \"tea\"}}",
        b"{\"projects\": {\"/srv/x\": 3, \"/srv/y\": null}}",
        b"\xff\xfe\0{",
        &b"{\"a\":".repeat(20_000),
    ] {
        let home = Home::empty();
        home.write(".gemini/projects.json", bytes);
        mark(&home, "tea", "/srv/tea");
        write_session(&home, "tea", &session("aa11bb22", "/srv/tea", "hello"));
        assert_eq!(path(row(&rows(&still(&home)), "tea")), Some("/srv/tea"));
    }
}

#[test]
fn a_registry_entry_without_a_path_names_nothing() {
    let home = Home::empty();
    register(&home, &json!({"": "tea"}));
    write_session(&home, "tea", &session("aa11bb22", "/srv/tea", "hello"));
    assert_eq!(path(row(&rows(&still(&home)), "tea")), None);
}

#[test]
fn a_marker_with_a_line_break_is_taken_as_it_is_and_noted() {
    let home = Home::empty();
    mark(&home, "tea", "  /srv/tea\r\n\n");
    mark(&home, "wine", "/srv/wine\n/srv/other\n");
    mark(&home, "empty", "\n");
    home.write(".gemini/tmp/empty/logs.json", "[]");
    let rows = rows(&still(&home));
    assert_eq!(path(row(&rows, "tea")), Some("/srv/tea"));
    assert!(notes(row(&rows, "tea")).is_empty());
    let wine = row(&rows, "wine");
    assert_eq!(path(wine), Some("/srv/wine\n/srv/other"), "so the agent reads it");
    assert_eq!(wine.state, ProjectState::Missing);
    assert!(notes(wine).contains("line break"), "{}", notes(wine));
    assert_eq!(path(row(&rows, "empty")), None);
}

#[test]
fn of_contradicting_records_the_agents_first_one_counts_and_the_others_are_shown() {
    let home = Home::empty();
    mark(&home, "tea", "/srv/marker");
    home.write(".gemini/history/tea/.project_root", "/srv/history");
    register(&home, &json!({"/srv/registry": "tea"}));
    write_session(&home, "tea", &session("aa11bb22", "/srv/sessions", "hello"));
    let rows = rows(&still(&home));
    let tea = row(&rows, "tea");
    assert_eq!(path(tea), Some("/srv/marker"));
    assert!(tea.evidence.iter().all(|clue| !clue.proves), "{:?}", tea.evidence);
    let against = |kind, detail: &str| {
        let found = tea.evidence.iter().find(|clue| clue.clue == kind && clue.detail == detail);
        found.unwrap().names.as_ref().map(|path| path.as_str().to_owned())
    };
    assert_eq!(against(ClueKind::Marker, ".project_root"), None);
    assert_eq!(against(ClueKind::Marker, "history/.project_root").as_deref(), Some("/srv/history"));
    assert_eq!(against(ClueKind::Registry, "projects.json").as_deref(), Some("/srv/registry"));
    assert!(
        notes(tea).contains("1 file here carries the hash of another folder"),
        "{}",
        notes(tea)
    );
}

#[test]
fn the_name_of_a_hash_directory_overrules_its_marker_and_its_sessions() {
    let home = Home::empty();
    let name = hash("/srv/tea");
    mark(&home, &name, "/srv/evil");
    write_session(&home, &name, &session("aa11bb22", "/srv/evil", "hello"));
    let unproven = rows(&still(&home));
    let unproven = row(&unproven, "/srv/tea");
    assert_eq!(path(unproven), Some("/srv/evil"), "better than nothing");
    assert!(unproven.evidence.iter().all(|clue| !clue.proves), "{:?}", unproven.evidence);
    assert!(notes(unproven).contains("hash of another path"), "{}", notes(unproven));
    register(&home, &json!({"/srv/tea": "tea"}));
    let proven = rows(&still(&home));
    let proven = row(&proven, "/srv/tea");
    assert_eq!(path(proven), Some("/srv/tea"));
    assert!(clue(proven, ClueKind::Registry).unwrap().proves);
    assert_eq!(
        clue(proven, ClueKind::Marker).unwrap().names.as_ref().unwrap().as_str(),
        "/srv/evil"
    );
}

#[test]
fn sessions_decide_between_two_paths_with_one_name() {
    for (first, other) in [("/srv/tea", "/opt/tea"), ("/opt/tea", "/srv/tea")] {
        let home = Home::empty();
        register(&home, &json!({"/opt/tea": "tea", "/srv/tea": "tea"}));
        write_session(&home, "tea", &session("aa11bb22", first, "hello"));
        let rows = rows(&still(&home));
        let tea = row(&rows, "tea");
        assert_eq!(path(tea), Some(first));
        assert!(clue(tea, ClueKind::SessionHash).unwrap().proves);
        let text = notes(tea);
        assert!(text.contains("to both") && text.contains(first) && text.contains(other), "{text}");
    }
}

#[test]
fn directories_with_odd_names_are_read_and_noted() {
    let home = Home::empty();
    for (number, name) in ["My Shop", "über", "tea_1", "TEA", &"A".repeat(64)].iter().enumerate() {
        let folder = format!("/srv/{number}");
        mark(&home, name, &folder);
        write_session(&home, name, &session(&format!("aa11bb{number:02}"), &folder, "hello"));
    }
    let rows = rows(&still(&home));
    assert_eq!(rows.len(), 5);
    for row in &rows {
        assert!(path(row).is_some() && row.slug.is_some());
        assert!(notes(row).contains("not one that the agent makes"), "{}", notes(row));
    }
}

#[test]
fn paths_that_are_no_paths_are_not_looked_for_here() {
    let home = Home::empty();
    for (slug, text) in
        [("dot", "."), ("relative", "code/shop"), ("nul", "/srv/\0/x"), ("tilde", "~/x")]
    {
        mark(&home, slug, text);
    }
    mark(&home, "long", &format!("/srv/{}", "x".repeat(5000)));
    for row in rows(&engine(&home)) {
        assert_eq!(row.state, ProjectState::Missing, "{:?}", row.path);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_without_permission_is_passed_over() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    #[expect(clippy::disallowed_methods, reason = "a test locks what it made")]
    let allow = |folders: &[PathBuf], mode| {
        for folder in folders {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    let home = Home::empty();
    home.write("code/open/tea/README.md", "");
    home.write("code/locked/wine/README.md", "");
    for folder in ["code/open/tea", "code/locked/wine"] {
        write_hash_directory(&home, &home.at(folder));
    }
    mark(&home, "locked", &home.at("code/open"));
    let locked = [home.path().join("code/locked"), home.path().join(".gemini/tmp/locked")];
    allow(&locked, 0o000);
    // Root may look anywhere.
    let is_locked = fs::read_dir(&locked[0]).is_err();
    let engine = engine(&home);
    assert_proven(&engine, &home.at("code/open/tea"), ClueKind::Scan);
    let rows = rows(&engine);
    assert_eq!(path(row(&rows, &home.at("code/locked/wine"))).is_none(), is_locked);
    allow(&locked, 0o755);
}

#[cfg(unix)]
#[test]
fn links_that_lead_in_circles_end_no_search() {
    let home = Home::empty();
    home.write("code/a/b/README.md", "");
    let link = |from: &str, to: &str| {
        std::os::unix::fs::symlink(home.path().join(to), home.path().join(from)).unwrap();
    };
    link("code/a/b/up", "code");
    link("code/self", "code/self");
    link("code/there", "code/back");
    link("code/back", "code/there");
    link("projects", "code");
    for folder in ["code/a/b", "code/a/b/up/a", "projects/a/b"] {
        write_hash_directory(&home, &home.at(folder));
    }
    let engine = engine(&home);
    assert_proven(&engine, &home.at("code/a/b"), ClueKind::Scan);
    let rows = rows(&engine);
    for through in ["code/a/b/up/a", "projects/a/b"] {
        assert_eq!(
            path(row(&rows, &home.at(through))),
            None,
            "agents are told where they are without links"
        );
    }
}

#[test]
fn hundreds_of_directories_are_all_answered() {
    let home = Home::empty();
    for number in 0..300 {
        let folder = home.at(&format!("code/{}/p{number}", number % 10));
        home.write(&format!("code/{}/p{number}/x", number % 10), "");
        home.write(&format!(".gemini/tmp/{}/logs.json", hash(&folder)), "[]");
    }
    let rows = rows(&engine(&home));
    let found = rows.iter().filter(|row| row.state == ProjectState::Present).count();
    assert_eq!((rows.len(), found), (300, 300));
}
