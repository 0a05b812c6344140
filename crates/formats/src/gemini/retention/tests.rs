//! Tests of synthetic folders, each rule of each release. The comparison with the real program is in `e2e/guard.mjs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{DeletionReason, SessionId};

use crate::bytes::Buffer;
use crate::gemini::Gemini;
use crate::gemini::js_date::JsTime;
use crate::gemini::state::{RecordedTime, RetentionFacts};
use recount_testkit::Home;

use super::deletions::{Candidate, deletions};
use super::rules::Rules;
use super::{CleanUp, installed, settings};
use crate::retention::{
    Chats, InstallFolders, RetentionPolicy as _, RetentionSettings, Settings, Variables,
};
use crate::source::{FileAt, RootShape, Source as _};

const DAY: i64 = 24 * 60 * 60 * 1000;
const NOW: i64 = 1_800_000_000_000;

/// Returns a log with a conversation, last used the given number of days ago.
fn log(id: &str, days: i64) -> RetentionFacts {
    RetentionFacts {
        id: Some(SessionId::new(id)),
        first_id: Some(SessionId::new(id)),
        started: RecordedTime::Said(JsTime::At(NOW - days * DAY)),
        updated: RecordedTime::Said(JsTime::At(NOW - days * DAY)),
        loadable: true,
        spoken: true,
        spoken_in_lines: true,
        spoken_in_list: true,
        resumable: true,
        ..RetentionFacts::default()
    }
}

fn document(id: &str, days: i64) -> RetentionFacts {
    RetentionFacts { is_document: true, has_messages: true, ..log(id, days) }
}

/// Returns the stub of a resume; for 0.44 and later with a context message in a checkpoint.
fn stub(id: &str, has_context: bool) -> RetentionFacts {
    let (spoken, spoken_in_list) = (has_context, has_context);
    RetentionFacts {
        spoken,
        spoken_in_list,
        spoken_in_lines: false,
        resumable: false,
        ..log(id, 1)
    }
}

fn kept(max_age: Option<i64>, max_count: Option<u64>) -> RetentionSettings {
    let max_age = max_age.map(|days| (format!("{days}d"), days * DAY));
    RetentionSettings {
        starts: true,
        outputs: true,
        max_age,
        max_count,
        ..RetentionSettings::default()
    }
}

/// Returns what is deleted: the end of the name, and why.
fn gone(
    files: &[(&str, RetentionFacts)],
    retention: &RetentionSettings,
    release: &str,
) -> Vec<(String, DeletionReason)> {
    let names: Vec<String> = files.iter().map(|(name, _)| format!("session-{name}")).collect();
    let mut candidates: Vec<Candidate<'_>> = files
        .iter()
        .zip(&names)
        .map(|((_, facts), name)| Candidate { name, modified: Some(NOW), facts: Some(facts) })
        .collect();
    candidates.sort_by_key(|candidate| candidate.name);
    let deletions = deletions(&candidates, retention, &Rules::of(release), NOW);
    let name = |at: usize| candidates[at].name.trim_start_matches("session-").to_owned();
    deletions.into_iter().map(|victim| (name(victim.at), victim.why)).collect()
}

fn names(gone: &[(String, DeletionReason)]) -> Vec<&str> {
    gone.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn a_stub_takes_the_conversation_along_where_the_trap_is_open() {
    let bare = [("1-aaaaaaaa.jsonl", log("a", 2)), ("2-aaaaaaaa.jsonl", stub("a", false))];
    let context = [("1-aaaaaaaa.jsonl", log("a", 2)), ("2-aaaaaaaa.jsonl", stub("a", true))];
    let retention = kept(Some(30), None);
    for release in ["0.42.0", "0.43.0", "0.47.0", "0.61.0", "1.0.0"] {
        let found = gone(&bare, &retention, release);
        let all = [
            ("1-aaaaaaaa.jsonl", DeletionReason::SameName),
            ("2-aaaaaaaa.jsonl", DeletionReason::Stub),
        ];
        assert_eq!(found, all.map(|(name, why)| (name.to_owned(), why)), "{release}");
    }
    // Only the stub is deleted.
    for release in ["0.39.1", "0.41.2"] {
        assert_eq!(names(&gone(&bare, &retention, release)), ["2-aaaaaaaa.jsonl"], "{release}");
    }
    // The context message makes it a session.
    for release in ["0.43.0", "0.44.0", "0.46.0"] {
        assert!(gone(&context, &retention, release).is_empty(), "{release}");
    }
    assert_eq!(gone(&context, &retention, "0.47.0").len(), 2);
    // Logs are not considered.
    assert!(gone(&bare, &retention, "0.38.2").is_empty());
}

#[test]
fn an_old_twin_takes_the_fresh_log_along() {
    let files = [("1-aaaaaaaa.json", document("a", 45)), ("1-aaaaaaaa.jsonl", log("a", 1))];
    let retention = kept(Some(30), None);
    let all = ["1-aaaaaaaa.json", "1-aaaaaaaa.jsonl"];
    assert_eq!(names(&gone(&files, &retention, "0.60.0")), all);
    assert_eq!(names(&gone(&files, &retention, "0.41.2")), ["1-aaaaaaaa.json"]);
    assert_eq!(names(&gone(&files, &retention, "0.29.0")), ["1-aaaaaaaa.json"]);
}

#[test]
fn ids_that_begin_alike_share_their_fate() {
    let files =
        [("1-aaaaaaaa.json", document("a-old", 45)), ("2-aaaaaaaa.json", document("a-new", 1))];
    let retention = kept(Some(30), None);
    assert_eq!(names(&gone(&files, &retention, "0.35.0")), ["1-aaaaaaaa.json"]);
    assert_eq!(gone(&files, &retention, "0.36.0").len(), 2);
    let short =
        [("1-my-task-.jsonl", log("my-task-1", 45)), ("2-my-task-.jsonl", log("my-task-2", 1))];
    assert_eq!(names(&gone(&short, &retention, "0.60.0")), ["1-my-task-.jsonl"]);
}

#[test]
fn the_last_used_are_kept_whatever_their_names() {
    let files = [
        ("1-aaaaaaaa.jsonl", log("a", 1)),
        ("2-bbbbbbbb.jsonl", log("b", 4)),
        ("3-cccccccc.jsonl", log("c", 3)),
        ("4-dddddddd.jsonl", log("d", 2)),
    ];
    let two = gone(&files, &kept(None, Some(2)), "0.60.0");
    assert_eq!(names(&two), ["2-bbbbbbbb.jsonl", "3-cccccccc.jsonl"]);
    assert!(two.iter().all(|(_, why)| *why == DeletionReason::Count));
    // A session at exactly the limit is kept.
    assert!(gone(&files, &kept(Some(4), None), "0.60.0").is_empty());
    assert_eq!(names(&gone(&files, &kept(Some(3), None), "0.60.0")), ["2-bbbbbbbb.jsonl"]);
}

#[test]
fn what_cannot_be_listed_goes_whatever_its_age() {
    let unreadable = RetentionFacts { loadable: false, ..log("a", 0) };
    let command = RetentionFacts { resumable: false, ..log("b", 0) };
    let agent = RetentionFacts { subagent: true, ..document("c", 0) };
    let timeless = RetentionFacts { updated: RecordedTime::Nothing, ..document("d", 0) };
    let unclear = RetentionFacts { updated: RecordedTime::Unclear, ..log("e", 0) };
    let files = [
        ("1-aaaaaaaa.jsonl", unreadable),
        ("2-bbbbbbbb.jsonl", command),
        ("3-cccccccc.json", agent),
        ("4-dddddddd.json", timeless),
        ("5-eeeeeeee.jsonl", unclear),
    ];
    let gone = |release| gone(&files, &kept(Some(30), None), release);
    let why = |release| gone(release).into_iter().map(|(_, why)| why).collect::<Vec<_>>();
    assert_eq!(
        why("0.60.0"),
        [DeletionReason::Unreadable, DeletionReason::NothingSaid, DeletionReason::Subagent]
    );
    assert_eq!(why("0.44.0"), [DeletionReason::Unreadable, DeletionReason::Subagent]);
    assert_eq!(why("0.43.0"), [DeletionReason::Unreadable, DeletionReason::Subagent]);
    assert_eq!(
        why("0.42.0"),
        [DeletionReason::Unreadable, DeletionReason::Subagent, DeletionReason::NoTimes]
    );
    assert_eq!(why("0.38.2"), [DeletionReason::Subagent, DeletionReason::NoTimes]);
    assert_eq!(why("0.29.0"), [DeletionReason::NoTimes]);
}

/// An environment.
struct Words<'a>(&'a [(&'a str, &'a str)]);

impl Variables for Words<'_> {
    fn get(&self, name: &str) -> Option<String> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    }
}

/// Reads settings below a home, and none of this machine's.
fn read(home: &Home, words: &[(&str, &str)]) -> Settings {
    let nowhere = home.at("etc/settings.json");
    let mut all = vec![("GEMINI_CLI_SYSTEM_SETTINGS_PATH", nowhere.as_str())];
    all.extend_from_slice(words);
    settings::settings(&home.path().join(".gemini"), RootShape::Whole, &Words(&all))
}

fn retention(home: &Home, words: &[(&str, &str)], release: &str) -> RetentionSettings {
    CleanUp.retention(&read(home, words), Some(&home.path().join("code/shop")), release)
}

#[test]
fn the_usual_limit_came_with_a_release() {
    let home = Home::empty();
    assert!(retention(&home, &[], "0.32.0").off.unwrap().contains("by default"));
    let kept = retention(&home, &[], "0.33.0");
    assert_eq!((kept.off, kept.max_age), (None, Some(("30d".to_owned(), 30 * DAY))));
    assert!(retention(&home, &[], "0.8.0").off.unwrap().contains("no clean-up"));
}

#[test]
fn settings_may_have_comments_and_words_of_the_environment() {
    let home = Home::empty();
    home.write(
        ".gemini/settings.json",
        r#"{ // mine
          "general": { "sessionRetention": { /* long */ "maxAge": "${KEEP}", "maxCount": 7 } } }"#,
    );
    let kept = retention(&home, &[("KEEP", "90d")], "0.60.0");
    assert_eq!((kept.off, kept.max_count), (None, Some(7)));
    assert_eq!(kept.max_age.unwrap().0, "90d");
    assert_eq!(kept.from, [home.path().join(".gemini/settings.json")]);
    assert!(retention(&home, &[], "0.60.0").off.unwrap().contains("not a period"));
}

#[test]
fn what_is_not_valid_turns_the_clean_up_off() {
    for (said, because) in [
        (r#"{"enabled": false}"#, "enabled is off"),
        (r#"{"enabled": null}"#, "enabled is off"),
        ("null", "enabled is off"),
        (r#"{"maxAge": 30}"#, "not a period"),
        (r#"{"maxAge": "12h"}"#, "less than minRetention 1d"),
        (r#"{"maxAge": "2d", "minRetention": "1w"}"#, "less than minRetention 1w"),
        (r#"{"maxCount": 0}"#, "less than 1"),
        (r#"{"maxAge": null}"#, "neither"),
    ] {
        let home = Home::empty();
        home.write(
            ".gemini/settings.json",
            format!(r#"{{"general":{{"sessionRetention":{said}}}}}"#),
        );
        let off = retention(&home, &[], "0.60.0").off.unwrap_or_default();
        assert!(off.contains(because), "{said}: {off}");
    }
    let home = Home::empty();
    home.write(".gemini/settings.json", "{ torn");
    let kept = retention(&home, &[], "0.60.0");
    assert!(!kept.starts && kept.off.unwrap().contains("does not start"));
}

#[test]
fn a_project_speaks_for_itself_only_when_it_is_trusted() {
    let home = Home::empty();
    let off = r#"{"general":{"sessionRetention":{"enabled":false}}}"#;
    home.write("code/shop/.gemini/settings.json", off);
    let is_off = |words: &[(&str, &str)], release| retention(&home, words, release).off.is_some();
    assert!(!is_off(&[], "0.60.0"));
    assert_eq!(retention(&home, &[], "0.60.0").notes.len(), 1);
    assert!(is_off(&[("GEMINI_CLI_TRUST_WORKSPACE", "true")], "0.60.0"));
    assert!(!is_off(&[("GEMINI_CLI_TRUST_WORKSPACE", "true")], "0.38.2"));
    home.write(
        ".gemini/trustedFolders.json",
        format!(r#"{{"{}":"TRUST_FOLDER"}}"#, home.at("code")),
    );
    assert!(is_off(&[], "0.60.0"));
    assert!(!is_off(&[("GEMINI_CLI_TRUST_WORKSPACE", "false")], "0.60.0"));
    let rules = format!(
        r#"{{"{}":"TRUST_FOLDER","{}":"DO_NOT_TRUST"}}"#,
        home.at("code"),
        home.at("code/shop")
    );
    home.write(".gemini/trustedFolders.json", rules);
    assert!(!is_off(&[], "0.60.0"));
    home.write(".gemini/settings.json", r#"{"security":{"folderTrust":{"enabled":false}}}"#);
    assert!(is_off(&[], "0.60.0"));
}

#[test]
fn the_installed_release_is_found_through_a_link_and_in_the_usual_places() {
    let home = Home::empty();
    let package =
        |release: &str| format!(r#"{{"name":"@google/gemini-cli","version":"{release}"}}"#);
    let at = |path: &str| home.path().join(path);
    home.write("a/node_modules/@google/gemini-cli/package.json", package("0.43.0"));
    home.write("b/node_modules/@google/gemini-cli/package.json", package("0.9.1"));
    home.write("c/node_modules/@google/gemini-cli/package.json", package("none"));
    let packages: Vec<PathBuf> = ["a", "b", "c"].map(|name| at(name).join("node_modules")).to_vec();
    let found = |programs: &[PathBuf]| {
        let places = InstallFolders { programs, packages: &packages };
        installed::installed(&places).map(|found| found.release)
    };
    assert_eq!(found(&[]).as_deref(), Some("0.43.0"));
    assert_eq!(found(&[at("bin")]).as_deref(), Some("0.43.0"));
    home.write("d/lib/node_modules/@google/gemini-cli/package.json", package("0.60.0"));
    home.write("d/lib/node_modules/@google/gemini-cli/bundle/gemini.js", "");
    home.write("d/bin/gemini", "#!/bin/sh");
    assert_eq!(found(&[at("bin"), at("d/bin")]).as_deref(), Some("0.60.0"));
    // A script of the user that starts it, and one that starts that one.
    home.write("e/opt/node_modules/@google/gemini-cli/package.json", package("0.52.0"));
    home.write("e/opt/node_modules/@google/gemini-cli/bundle/gemini.js", "");
    let script = at("e/opt/node_modules/@google/gemini-cli/bundle/gemini.js");
    home.write("e/bin/gemini", format!("#!/bin/sh\nexec node \"{}\" \"$@\"\n", script.display()));
    assert_eq!(found(&[at("e/bin")]).as_deref(), Some("0.52.0"));
    home.write("f/bin/gemini", format!("#!/bin/sh\nA=1 {} \"$@\"\n", at("e/bin/gemini").display()));
    assert_eq!(found(&[at("f/bin")]).as_deref(), Some("0.52.0"));
    home.write(
        "e/shim/gemini.cmd",
        "@node \"%~dp0\\..\\opt\\node_modules\\@google\\gemini-cli\\bundle\\gemini.js\" %*",
    );
    assert_eq!(found(&[at("e/shim")]).as_deref(), Some("0.52.0"));
    // One that starts itself leads nowhere.
    home.write("g/gemini", format!("exec {}", at("g/gemini").display()));
    assert_eq!(found(&[at("g")]).as_deref(), Some("0.43.0"));
    let nobody = InstallFolders { programs: &[], packages: &[] };
    assert_eq!(installed::installed(&nobody), None);
    assert!(Path::new(CleanUp.newest()).is_relative());
}

/// Lists need only the session files, which are found without listing any folder: the answer is that of the whole prediction.
#[test]
fn session_files_are_deleted_as_predicted_with_everything_beside_them() {
    let mut buffer = Buffer::new();
    let (mut all, mut gone) = (0, 0);
    for home in recount_testkit::corpus().captures.iter().flat_map(recount_testkit::Capture::homes)
    {
        for folder in Gemini.locate(&home.join(".gemini"), RootShape::Whole).folders {
            let outlines = folder.files.iter().map(|file| Gemini.outline(&file.path, &mut buffer));
            let states: Vec<_> = outlines.map(|outline| Gemini.light_state(&outline)).collect();
            let states: Vec<_> = states.iter().map(|state| Some(state.as_bytes())).collect();
            let settings = [kept(Some(1), None), kept(None, Some(1)), kept(Some(100_000), None)];
            for (release, retention) in
                ["0.20.0", "0.30.0", "0.43.0", "0.61.0"].into_iter().zip(settings.iter().cycle())
            {
                let now = NOW;
                let chats = Chats { folder: &folder, states: &states, retention, release, now };
                let pending = CleanUp.pending_deletions(&chats);
                let is_pending = |file: &Arc<FileAt>| {
                    pending.iter().any(|deletion| Path::new(&deletion.path) == file.path)
                };
                let expected: Vec<bool> = folder.files.iter().map(is_pending).collect();
                assert_eq!(CleanUp.deleted_files(&chats), expected, "{release} {folder:?}");
                all += expected.len();
                gone += expected.iter().filter(|is_gone| **is_gone).count();
            }
        }
    }
    assert!(gone > 0 && gone < all, "{gone} of {all}");
}
