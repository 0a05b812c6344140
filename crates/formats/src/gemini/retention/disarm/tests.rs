//! Tests of directories of every mixture: once the traps are gone, no kept file is deleted with another.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use recount_model::{DeletionReason, SessionId};

use crate::gemini::js_date::JsTime;
use crate::gemini::state::{RecordedTime, RetentionFacts};

use super::super::deletions::{Candidate, causes, deletions};
use super::super::rules::Rules;
use crate::retention::{RetentionSettings, Trap, TrapKind};

const DAY: i64 = 24 * 60 * 60 * 1000;
const NOW: i64 = 1_800_000_000_000;

type Files = Vec<(String, RetentionFacts)>;

fn retention() -> RetentionSettings {
    let max_age = Some(("30d".to_owned(), 30 * DAY));
    RetentionSettings { starts: true, max_age, ..RetentionSettings::default() }
}

fn facts(id: &str, days: i64, resumable: bool) -> RetentionFacts {
    RetentionFacts {
        id: Some(SessionId::new(id)),
        first_id: Some(SessionId::new(id)),
        started: RecordedTime::Said(JsTime::At(NOW - days * DAY)),
        updated: RecordedTime::Said(JsTime::At(NOW - days * DAY)),
        loadable: true,
        spoken: true,
        spoken_in_lines: true,
        spoken_in_list: true,
        has_messages: true,
        resumable,
        ..RetentionFacts::default()
    }
}

fn candidates(files: &Files) -> Vec<Candidate<'_>> {
    files
        .iter()
        .map(|(name, facts)| Candidate { name, modified: Some(NOW), facts: Some(facts) })
        .collect()
}

fn traps(files: &Files, release: &str) -> Vec<Trap> {
    let paths: Vec<PathBuf> =
        files.iter().map(|(name, _)| Path::new("/chats").join(name)).collect();
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    super::traps(&paths, &candidates(files), &retention(), &Rules::of(release), NOW)
}

fn sorted(mut files: Files) -> Files {
    files.sort_by(|one, next| one.0.cmp(&next.0));
    files.dedup_by(|one, next| one.0 == next.0);
    files
}

/// Applies the traps to the files; `covered` is whether removable files are removed.
fn disarmed(files: &Files, traps: &[Trap], covered: bool) -> Files {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut left = Files::new();
    for (file, facts) in files {
        let Some(trap) = traps.iter().find(|trap| name(&trap.path) == *file) else {
            left.push((file.clone(), facts.clone()));
            continue;
        };
        if trap.beside.is_empty() || !covered {
            let aside = trap.aside.as_ref().map_or_else(|| file.clone(), |aside| name(aside));
            left.push((aside, facts.clone()));
        }
    }
    let count = left.len();
    let left = sorted(left);
    assert_eq!(left.len(), count, "a name was given twice");
    left
}

fn whys(files: &Files, release: &str) -> Vec<(String, DeletionReason)> {
    let seen = candidates(files);
    let gone = deletions(&seen, &retention(), &Rules::of(release), NOW);
    gone.into_iter().map(|victim| (files[victim.at].0.clone(), victim.why)).collect()
}

fn kinds(traps: &[Trap]) -> Vec<(TrapKind, &str, Option<&str>)> {
    let name =
        |path: &'_ Path| path.file_name().unwrap().to_str().unwrap().to_owned().leak() as &str;
    traps
        .iter()
        .map(|trap| (trap.kind, name(&trap.path), trap.aside.as_deref().map(name)))
        .collect()
}

#[test]
fn a_stub_a_twin_and_a_namesake_are_found() {
    let [one, other] =
        ["3d2f9a10-0000-4000-8000-00000000000a", "3d2f9a10-1111-4111-8111-11111111111b"];
    let document = |id, days| RetentionFacts { is_document: true, ..facts(id, days, true) };
    let files = sorted(vec![
        ("session-2026-09-01T08-00-3d2f9a10.json".to_owned(), document(one, 40)),
        ("session-2026-09-01T08-00-3d2f9a10.jsonl".to_owned(), facts(one, 2, true)),
        ("session-2026-09-02T08-00-3d2f9a10.jsonl".to_owned(), facts(one, 1, false)),
        ("session-2026-09-03T08-00-3d2f9a10.jsonl".to_owned(), facts(other, 44, true)),
    ]);
    let found = traps(&files, "0.60.0");
    let whole = |id: &str, minute: &str, ending: &str| format!("session-{minute}-{id}.{ending}");
    let [stub, twin, namesake] = [
        whole(one, "2026-09-02T08-00", "jsonl"),
        whole(one, "2026-09-01T08-00", "json"),
        whole(other, "2026-09-03T08-00", "jsonl"),
    ];
    assert_eq!(
        kinds(&found),
        [
            (TrapKind::Stub, "session-2026-09-02T08-00-3d2f9a10.jsonl", Some(stub.as_str())),
            (TrapKind::Twin, "session-2026-09-01T08-00-3d2f9a10.json", Some(twin.as_str())),
            (
                TrapKind::SameName,
                "session-2026-09-03T08-00-3d2f9a10.jsonl",
                Some(namesake.as_str())
            ),
        ]
    );
    assert_eq!(found[0].beside.len(), 2);
    assert_eq!(found[1].beside, [Path::new("/chats/session-2026-09-01T08-00-3d2f9a10.jsonl")]);
    // Only the old one is deleted, and alone.
    let left = disarmed(&files, &found, true);
    assert_eq!(whys(&left, "0.60.0"), [(namesake, DeletionReason::Age)]);
    // If only documents are grouped, the log is in no group.
    assert!(traps(&files, "0.41.2").iter().all(|trap| trap.kind == TrapKind::Stub));
}

#[test]
fn what_goes_anyway_is_left_alone() {
    let id = "3d2f9a10-0000-4000-8000-00000000000a";
    let files = sorted(vec![
        ("session-2026-09-01T08-00-3d2f9a10.jsonl".to_owned(), facts(id, 50, true)),
        ("session-2026-09-02T08-00-3d2f9a10.jsonl".to_owned(), facts(id, 45, false)),
    ]);
    assert!(traps(&files, "0.60.0").is_empty());
}

#[test]
fn an_id_of_eight_letters_gets_another_end() {
    let files = sorted(vec![
        ("session-2026-09-01T08-00-abcdefgh.jsonl".to_owned(), facts("abcdefgh", 9, true)),
        ("session-2026-09-02T08-00-abcdefgh.jsonl".to_owned(), facts("abcdefgh2", 1, true)),
    ]);
    let found = traps(&files, "0.60.0");
    let aside = Some("session-2026-09-01T08-00-abcdefgh-apart.jsonl");
    assert_eq!(
        kinds(&found),
        [(TrapKind::SameName, "session-2026-09-01T08-00-abcdefgh.jsonl", aside)]
    );
}

fn any_file() -> impl Strategy<Value = (String, RetentionFacts)> {
    let shorts = prop_oneof![Just("3d2f9a10"), Just("aaaaaaaa"), Just("my-task-"), Just("zz")];
    let ids =
        prop_oneof![Just("a"), Just("abcdefgh"), Just("3d2f9a10-5c1b-4d11-b127-fab536451cda")];
    let flags =
        (any::<bool>(), prop::bool::weighted(0.9), any::<bool>(), prop::bool::weighted(0.1));
    (1..6_u8, shorts, any::<bool>(), ids, prop_oneof![0..5_i64, 28..33_i64], flags).prop_map(
        |(minute, short, is_log, id, days, (resumable, loadable, spoken, subagent))| {
            let ending = if is_log { "jsonl" } else { "json" };
            let mut facts = facts(id, days, resumable);
            facts.is_document = !is_log;
            (facts.loadable, facts.spoken, facts.subagent) = (loadable, spoken, subagent);
            (format!("session-2026-09-02T08-0{minute}-{short}.{ending}"), facts)
        },
    )
}

proptest! {
    #[test]
    fn without_traps_nothing_goes_but_for_its_own_reason(
        files in prop::collection::vec(any_file(), 1..9),
        release in prop_oneof![Just("0.40.1"), Just("0.43.0"), Just("0.47.0"), Just("0.61.0")],
        covered: bool,
    ) {
        let files = sorted(files);
        let left = disarmed(&files, &traps(&files, release), covered);
        let own: Vec<DeletionReason> = {
            let seen = candidates(&files);
            causes(&seen, &retention(), &Rules::of(release), NOW).into_iter().map(|(_, why)| why).collect()
        };
        let gone = whys(&left, release);
        prop_assert!(gone.iter().all(|(_, why)| *why != DeletionReason::SameName), "{gone:?} of {files:?}");
        prop_assert!(gone.len() <= own.len());
        // A second time there is nothing left to do.
        let again = traps(&left, release);
        prop_assert!(covered == again.is_empty() || !covered, "{again:?}");
    }
}
