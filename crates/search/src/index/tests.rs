//! Tests of an index through its public interface.

use std::path::Path;

use jiff::Zoned;
use recount_model::{Fate, MessageKind};
use tempfile::TempDir;

use super::*;
use crate::{Document, Error, MessageTexts, QueryPlan, SearchQuery};

const DAY: i64 = 86_400_000;

fn message(key: u64, session: u64, text: MessageTexts<'_>) -> Document<'_> {
    Document {
        session,
        message: key,
        file: 3,
        offset: key * 100,
        bytes: 99,
        line: key + 1,
        time: Some(DAY),
        kind: MessageKind::Prompt,
        fate: Fate::Kept,
        model: None,
        tools: &[],
        is_error: false,
        text,
    }
}

fn prompt(text: &str) -> MessageTexts<'_> {
    MessageTexts { prompt: text, ..MessageTexts::default() }
}

fn output(text: &str) -> MessageTexts<'_> {
    MessageTexts { output: text, ..MessageTexts::default() }
}

fn options() -> SearchOptions {
    SearchOptions {
        limit: 100,
        relaxed_limit: 100,
        offset: 0,
        now: 100 * DAY,
        sort: HitOrder::Relevance,
        one_per_session: false,
        may_relax: true,
    }
}

fn plan(query: &str) -> QueryPlan {
    SearchQuery::parse(query).unwrap().plan(&Zoned::default(), &mut |_| vec![2, 7])
}

fn filled(folder: &Path, documents: &[Document<'_>]) -> Index {
    let index = Index::open(folder).unwrap();
    let writer = index.writer(0, 1, "one").unwrap();
    for document in documents {
        writer.add(document).unwrap();
    }
    writer.finish().unwrap();
    index
}

/// Returns the keys of the found messages, best first.
fn keys(searcher: &Searcher, query: &str, options: &SearchOptions) -> Vec<u64> {
    let found = searcher.search(&plan(query), options).unwrap();
    assert!(!found.relaxed, "{query}");
    found.hits.iter().map(|hit| hit.message).collect()
}

fn found(index: &Index, query: &str) -> Vec<u64> {
    let mut keys = keys(&index.searcher(), query, &options());
    keys.sort_unstable();
    keys
}

#[test]
fn a_hit_has_the_location_of_its_message() {
    let folder = TempDir::new().unwrap();
    let document = Document {
        fate: Fate::Rewound,
        kind: MessageKind::Notice,
        ..message(4, 2, prompt("hello"))
    };
    let index = filled(folder.path(), &[document]);
    let found = index.searcher().search(&plan("hello"), &options()).unwrap();
    assert_eq!((found.total, found.sessions, found.is_exact, found.relaxed), (1, 1, true, false));
    let hit = found.hits.first().unwrap();
    assert!(hit.score > 0.0);
    let want = Hit {
        session: 2,
        message: 4,
        file: 3,
        offset: 400,
        bytes: 99,
        line: 5,
        time: Some(DAY),
        kind: MessageKind::Notice,
        fate: Fate::Rewound,
        has_title: false,
        score: hit.score,
        must_check: false,
    };
    assert_eq!(*hit, want);
}

#[test]
fn both_spellings_of_a_name_are_found_in_every_field() {
    let folder = TempDir::new().unwrap();
    let index = filled(
        folder.path(),
        &[
            message(1, 1, prompt("calls parseLegacyRecord() twice")),
            message(2, 1, output("parse_legacy_record: 3")),
            message(3, 1, prompt("legacyRecord")),
            message(4, 1, output("a legacy of one record")),
            message(5, 1, prompt("record the legacy")),
        ],
    );
    assert_eq!(found(&index, "parseLegacyRecord"), [1, 2]);
    assert_eq!(found(&index, "parse_legacy_record"), [1, 2]);
    // Tool output has no positions, but adjacent words are known: separated parts are not a hit.
    assert_eq!(found(&index, "legacy_record"), [1, 2, 3]);
    // The neighbours of a word prefix are not known: messages with separated parts are hits to check.
    assert_eq!(found(&index, "legacy_rec*"), [1, 2, 3, 4, 5]);
    assert_eq!(found(&index, "legacyrecord"), [3]);
    let hits = index.searcher().search(&plan("legacy_record"), &options()).unwrap();
    let doubtful: Vec<u64> =
        hits.hits.iter().filter(|hit| hit.must_check).map(|hit| hit.message).collect();
    assert_eq!(doubtful.len(), 1, "{doubtful:?}");
    assert!(!hits.is_exact);
    assert!(!plan("legacy_record").holds(&message(4, 1, output("a legacy of one record"))));
    assert!(plan("legacy_record").holds(&message(2, 1, output("parse_legacy_record: 3"))));
}

#[test]
fn chinese_japanese_and_korean_words_are_found() {
    let folder = TempDir::new().unwrap();
    let index = filled(
        folder.path(),
        &[
            message(1, 1, prompt("新会话已恢复。")),
            message(2, 1, output("セッションを再開")),
            message(3, 1, prompt("세션을 다시")),
        ],
    );
    for (query, want) in [
        ("会话", &[1][..]),
        ("会话已恢复", &[1]),
        ("会", &[1]),
        ("复", &[1]),
        ("会复", &[]),
        ("セッション", &[2]),
        ("再開", &[2]),
        ("세션", &[3]),
    ] {
        assert_eq!(found(&index, query), want, "{query}");
    }
}

#[test]
fn filters_and_operators_compose() {
    let folder = TempDir::new().unwrap();
    let with_model = Document { model: Some("big-2.5-pro"), ..message(1, 1, prompt("cart tax")) };
    let with_tool = Document {
        tools: &["read_file"],
        is_error: true,
        kind: MessageKind::Answer,
        ..message(2, 2, prompt("cart"))
    };
    let late =
        Document { time: Some(30 * DAY), fate: Fate::Rewound, ..message(3, 7, prompt("tax")) };
    let timeless = Document { time: None, ..message(4, 9, prompt("basket")) };
    let index = filled(folder.path(), &[with_model, with_tool, late, timeless]);
    for (query, want) in [
        ("cart tax", &[1][..]),
        ("cart OR tax", &[1, 2, 3]),
        ("cart -tax", &[2]),
        ("-cart", &[3, 4]),
        ("cart OR -tax", &[1, 2, 4]),
        ("model:pro", &[1]),
        ("model:big-2.5-pro", &[1]),
        ("tool:read_file", &[2]),
        ("tool:file cart", &[2]),
        ("is:error", &[2]),
        ("is:undone", &[3]),
        ("kind:prompt,notice", &[1, 3, 4]),
        ("-kind:prompt", &[2]),
        ("project:any", &[2, 3]),
        ("project:any tax", &[3]),
        ("cart -project:any", &[1]),
        ("is:live OR basket", &[2, 3, 4]),
        ("after:1970-01-20", &[3]),
        ("before:1970-01-20", &[1, 2]),
        ("-before:1970-01-20", &[3, 4]),
        ("car*", &[1, 2]),
        ("caart~", &[1, 2]),
        ("/ca.t/", &[1, 2, 3, 4]),
        ("in:answer cart", &[]),
    ] {
        assert_eq!(found(&index, query), want, "{query}");
    }
}

#[test]
fn removed_messages_are_gone_and_can_be_added_again() {
    let folder = TempDir::new().unwrap();
    let index = filled(
        folder.path(),
        &[message(1, 1, prompt("one")), message(2, 1, prompt("one")), message(3, 2, prompt("one"))],
    );
    let mut writer = index.writer(0, 1, "one").unwrap();
    writer.delete_message(1);
    writer.add(&message(1, 1, prompt("two"))).unwrap();
    writer.commit().unwrap();
    assert_eq!((found(&index, "one"), found(&index, "two")), (vec![2, 3], vec![1]));
    writer.delete_session(1);
    writer.commit().unwrap();
    assert_eq!((found(&index, "one"), found(&index, "two")), (vec![3], vec![]));
}

#[test]
fn a_writer_that_is_dropped_leaves_the_last_commit() {
    let folder = TempDir::new().unwrap();
    let index = filled(folder.path(), &[message(1, 1, prompt("one"))]);
    let writer = index.writer(0, 1, "one").unwrap();
    writer.add(&message(2, 1, prompt("one"))).unwrap();
    writer.delete_message(1);
    drop(writer);
    let index = Index::open(folder.path()).unwrap();
    assert_eq!(found(&index, "one"), [1]);
    index.writer(0, 1, "one").unwrap();
}

#[test]
fn there_is_one_writer_at_a_time() {
    let folder = TempDir::new().unwrap();
    let index = Index::open(folder.path()).unwrap();
    let writer = index.writer(0, 1, "one").unwrap();
    let second = Index::open(folder.path()).unwrap();
    assert!(matches!(second.writer(0, 1, "one"), Err(Error::Busy { .. })));
    assert!(matches!(Index::rebuild(folder.path()), Err(Error::Busy { .. })));
    drop(writer);
    second.writer(0, 1, "one").unwrap();
}

#[test]
fn threads_may_add_at_the_same_time() {
    let folder = TempDir::new().unwrap();
    let index = Index::open(folder.path()).unwrap();
    let mut writer = index.writer(0, 2, "one").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                for key in 0..50 {
                    writer.add(&message(thread * 50 + key, thread, prompt("same"))).unwrap();
                }
            });
        }
    });
    writer.commit().unwrap();
    let found = index.searcher().search(&plan("same"), &options()).unwrap();
    assert_eq!((found.total, found.sessions), (200, 4));
}

#[test]
fn an_index_of_another_version_is_stale_and_can_be_rebuilt() {
    let folder = TempDir::new().unwrap();
    let other = tantivy::schema::Schema::builder().build();
    tantivy::Index::create_in_dir(folder.path(), other).unwrap();
    assert!(matches!(Index::open(folder.path()), Err(Error::Stale { .. })));
    let index = Index::rebuild(folder.path()).unwrap();
    assert_eq!(found(&index, "one"), [0; 0]);
    filled(folder.path(), &[message(1, 1, prompt("one"))]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test that damages its own files")]
fn a_damaged_index_is_stale_and_can_be_rebuilt() {
    for (extension, keep) in [("json", 10), ("json", 0), ("term", 20), ("idx", 0), ("fast", 3)] {
        let folder = TempDir::new().unwrap();
        drop(filled(folder.path(), &[message(1, 1, prompt("one"))]));
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|found| found == extension) {
                let bytes = std::fs::read(&path).unwrap();
                std::fs::write(&path, &bytes[..keep]).unwrap();
            }
        }
        let opened = Index::open(folder.path());
        assert!(matches!(opened, Err(Error::Stale { .. })), "{extension} {keep}: {opened:?}");
        let index = Index::rebuild(folder.path()).unwrap();
        assert_eq!(index.searcher().messages(), 0);
        filled(folder.path(), &[message(1, 1, prompt("one"))]);
    }
}

#[test]
fn a_folder_that_is_not_there_cannot_be_opened() {
    let folder = TempDir::new().unwrap();
    let missing = folder.path().join("missing");
    assert!(matches!(Index::open(&missing), Err(Error::Open { .. })));
}

#[test]
fn typed_text_ranks_first_and_recent_before_old() {
    let folder = TempDir::new().unwrap();
    let field = |key, text| message(key, key, text);
    let index = filled(
        folder.path(),
        &[
            field(1, MessageTexts { context: "retry", ..MessageTexts::default() }),
            field(2, output("retry")),
            field(3, MessageTexts { answer: "retry", ..MessageTexts::default() }),
            field(4, prompt("retry")),
            Document { time: Some(99 * DAY), ..field(5, prompt("retry")) },
            Document { time: None, ..field(6, prompt("retry")) },
            field(7, prompt("retry")),
        ],
    );
    let ranked = keys(&index.searcher(), "retry", &options());
    assert_eq!(ranked, [5, 4, 7, 6, 3, 2, 1]);
    let by_time = SearchOptions { sort: HitOrder::Time, ..options() };
    assert_eq!(keys(&index.searcher(), "retry", &by_time), [5, 1, 2, 3, 4, 7, 6]);
    let second = SearchOptions { offset: 1, limit: 2, ..options() };
    assert_eq!(keys(&index.searcher(), "retry", &second), [4, 7]);
    let none = SearchOptions { limit: 0, ..options() };
    assert_eq!(index.searcher().search(&plan("retry"), &none).unwrap().total, 7);
}

#[test]
fn one_hit_of_each_session_is_its_best() {
    let folder = TempDir::new().unwrap();
    let index = filled(
        folder.path(),
        &[
            message(1, 1, output("retry")),
            message(2, 1, prompt("retry")),
            message(3, 2, output("retry")),
            message(4, 3, MessageTexts { answer: "retry", ..MessageTexts::default() }),
            message(5, 3, output("retry")),
        ],
    );
    let one = SearchOptions { one_per_session: true, ..options() };
    let found = index.searcher().search(&plan("retry"), &one).unwrap();
    let messages: Vec<u64> = found.hits.iter().map(|hit| hit.message).collect();
    assert_eq!((found.total, found.sessions, messages), (5, 3, vec![2, 4, 3]));
    let second = SearchOptions { offset: 1, limit: 1, ..one };
    assert_eq!(keys(&index.searcher(), "retry", &second), [4]);
}

#[test]
fn if_no_message_has_all_words_those_with_most_come_first() {
    let folder = TempDir::new().unwrap();
    let index = filled(
        folder.path(),
        &[
            Document { time: Some(99 * DAY), ..message(1, 1, prompt("alpha alpha alpha")) },
            message(2, 2, output("alpha beta")),
            message(3, 3, prompt("delta")),
            Document { kind: MessageKind::Answer, ..message(4, 4, prompt("alpha beta gamma")) },
        ],
    );
    let plan = plan("alpha beta gamma kind:prompt");
    let found = index.searcher().search(&plan, &options()).unwrap();
    let messages: Vec<u64> = found.hits.iter().map(|hit| hit.message).collect();
    assert_eq!((found.total, found.relaxed, messages), (2, true, vec![2, 1]));
    let relaxed = plan.relaxed().unwrap();
    assert!(relaxed.holds(&message(2, 2, output("alpha beta"))));
    assert!(!relaxed.holds(&message(3, 3, prompt("delta"))));
    let nothing = index.searcher().search(&self::plan("omega psi"), &options()).unwrap();
    assert_eq!((nothing.total, nothing.relaxed), (0, false));
}

#[test]
fn a_question_finds_words_in_other_forms_and_in_messages_next_to_each_other() {
    let folder = TempDir::new().unwrap();
    let answer = |text| MessageTexts { answer: text, ..MessageTexts::default() };
    let index = filled(
        folder.path(),
        &[
            message(1, 1, prompt("look at the docker image")),
            message(2, 1, answer("I shrank it")),
            message(3, 2, prompt("draw an image of the docks")),
            message(4, 2, answer("how did we get here, the sea")),
            message(5, 3, prompt("shrinking is fine, shrink more, shrink again")),
            message(6, 4, output("how did we the image of a docker")),
        ],
    );
    let one = SearchOptions { one_per_session: true, ..options() };
    let asked = |query: &str, options: &SearchOptions| {
        let found = index.searcher().search(&plan(query), options).unwrap();
        let sessions: Vec<u64> = found.hits.iter().map(|hit| hit.session).collect();
        (found.relaxed, found.total, sessions)
    };
    let (relaxed, total, sessions) = asked("how did we shrink the docker image", &one);
    assert_eq!((relaxed, total, sessions[0]), (true, 5, 1), "{sessions:?}");
    let strict = SearchOptions { may_relax: false, ..one };
    assert_eq!(asked("how did we shrink the docker image", &strict), (false, 0, vec![]));
    assert_eq!(asked("+shrink +docker", &one), (false, 0, vec![]));
    // A word that nobody has is worth nothing, and does not change the order.
    let found = index.searcher().search(&plan("how did we shrink the xyzzy image"), &one).unwrap();
    assert_eq!(
        found.worth.iter().map(|worth| *worth > 0.0).collect::<Vec<_>>(),
        [true, false, true]
    );
    // Who wrote the question itself comes first.
    assert_eq!(asked("how did we get here", &one).2[0], 2);
}

#[test]
fn an_overlay_answers_like_a_commit() {
    let old = [
        message(1, 1, prompt("retry the cart")),
        message(2, 1, prompt("retry")),
        message(3, 2, prompt("a cart")),
        message(4, 2, output("retry cart")),
    ];
    let new = [message(2, 1, prompt("no more")), message(5, 3, prompt("retry the cart, please"))];
    let folder = TempDir::new().unwrap();
    let index = filled(folder.path(), &old);
    let searcher = index.searcher().with_overlay(Overlay::of(&new).unwrap(), &[2, 5]).unwrap();
    let fresh = TempDir::new().unwrap();
    let all: Vec<_> = [&old[0], &old[2], &old[3], &new[0], &new[1]].into_iter().copied().collect();
    let committed = filled(fresh.path(), &all).searcher();
    for query in ["retry", "cart", "\"the cart\"", "more", "retry -please", "retry OR more", "car*"]
    {
        for one_per_session in [false, true] {
            for sort in [HitOrder::Relevance, HitOrder::Time] {
                let options = SearchOptions { sort, one_per_session, ..options() };
                let left = searcher.search(&plan(query), &options).unwrap();
                let right = committed.search(&plan(query), &options).unwrap();
                let keys = |found: &Found| -> Vec<u64> {
                    found.hits.iter().map(|hit| hit.message).collect()
                };
                assert_eq!(keys(&left), keys(&right), "{query}");
                assert_eq!((left.total, left.sessions), (right.total, right.sessions), "{query}");
            }
        }
    }
    // Neighbours may be in another segment, so only the best of a question is the same.
    let question = plan("why was the cart retried");
    let left = searcher.search(&question, &options()).unwrap();
    let right = committed.search(&question, &options()).unwrap();
    assert_eq!((left.total, left.hits[0].message), (right.total, right.hits[0].message));
    let empty = index.searcher().with_overlay(Overlay::of(&[]).unwrap(), &[]).unwrap();
    assert_eq!(keys(&empty, "retry", &options()).len(), 3);
}

#[test]
fn phrases_are_found_in_every_part_of_a_large_segment() {
    const MESSAGES: u64 = 18_000;
    // A phrase in one of thousand messages; the others have its words the other way round.
    let text = |key: u64| if key % 1000 == 999 { "alpha beta" } else { "beta, then alpha" };
    let want: Vec<u64> = (0..MESSAGES).filter(|key| key % 1000 == 999).collect();
    // In one segment, and in eight that are merged to one.
    for commits in [1, 8] {
        let folder = TempDir::new().unwrap();
        let index = Index::open(folder.path()).unwrap();
        let mut writer = index.writer(0, 1, "one").unwrap();
        for key in 0..MESSAGES {
            writer.add(&message(key, 1, output(text(key)))).unwrap();
            if (key + 1) % (MESSAGES / commits) == 0 {
                writer.commit().unwrap();
            }
        }
        writer.finish().unwrap();
        let all = SearchOptions { limit: usize::MAX, ..options() };
        let mut keys = keys(&index.searcher(), "\"alpha beta\"", &all);
        keys.sort_unstable();
        assert!(want.iter().all(|key| keys.binary_search(key).is_ok()), "{keys:?}");
        assert!(keys.len() < 2000, "{} are to be checked", keys.len());
    }
}

/// The names of all files of an index, without locks.
fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| !has_extension(name, "lock"));
    names.sort();
    names
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension() == Some(extension.as_ref())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test leaves what a killed process leaves")]
fn files_of_a_killed_writer_do_not_stop_the_next_one() {
    let folder = TempDir::new().unwrap();
    // Enough that removing one is no reason to merge: a thread that merges goes on after its writer is dropped.
    let texts = ["one", "two", "three", "four", "five"].map(prompt);
    let old: Vec<_> = (1..).zip(texts).map(|(key, text)| message(key, key, text)).collect();
    let index = filled(folder.path(), &old);
    let before = files(folder.path());
    // Another process removes a session and dies between writing the list of removed messages and its commit.
    let meta = std::fs::read(folder.path().join("meta.json")).unwrap();
    let managed = std::fs::read(folder.path().join(".managed.json")).unwrap();
    let mut writer = Index::open(folder.path()).unwrap().writer(0, 1, "one").unwrap();
    writer.delete_session(2);
    writer.commit().unwrap();
    drop(writer);
    std::fs::write(folder.path().join("meta.json"), meta).unwrap();
    std::fs::write(folder.path().join(".managed.json"), managed).unwrap();
    std::fs::write(folder.path().join(".tmpAb12Cd"), "half").unwrap();
    let mut left = files(folder.path());
    left.retain(|name| !before.contains(name));
    assert!(left.iter().any(|name| has_extension(name, "del")), "{left:?}");

    // Also by an index that was opened before it.
    for index in [&index, &Index::open(folder.path()).unwrap()] {
        let writer = index.writer(0, 1, "one").unwrap();
        assert_eq!(files(folder.path()), before);
        drop(writer);
    }
    let writer = index.writer(0, 1, "one").unwrap();
    writer.delete_session(2);
    writer.finish().unwrap();
    assert_eq!(found(&index, "one OR two OR three"), [1, 3]);
    // What a commit names stays.
    drop(index.writer(0, 1, "one").unwrap());
    let again = Index::open(folder.path()).unwrap();
    assert_eq!(found(&again, "one OR two OR three"), [1, 3]);
    assert!(again.damaged_files().unwrap().is_empty());
}

fn segments(folder: &Path) -> usize {
    files(folder).iter().filter(|name| has_extension(name, "store")).count()
}

#[test]
fn many_small_updates_leave_few_segments() {
    let folder = TempDir::new().unwrap();
    for key in 0..60 {
        // Each update is a process of its own.
        let index = Index::open(folder.path()).unwrap();
        let writer = index.writer(0, 1, "one").unwrap();
        writer.merge_shortly();
        writer.add(&message(key, 1, prompt("one"))).unwrap();
        writer.finish().unwrap();
        assert!(segments(folder.path()) < 12, "{key}: {}", segments(folder.path()));
    }
    let index = Index::open(folder.path()).unwrap();
    assert_eq!(found(&index, "one"), (0..60).collect::<Vec<u64>>());
}

#[test]
fn long_merges_are_left_to_updates_that_have_time() {
    let folder = TempDir::new().unwrap();
    let index = Index::open(folder.path()).unwrap();
    let update = |keys: std::ops::Range<u64>, is_short: bool| {
        let writer = index.writer(0, 1, "one").unwrap();
        if is_short {
            writer.merge_shortly();
        }
        for key in keys {
            writer.add(&message(key, 1, prompt("one"))).unwrap();
        }
        writer.finish().unwrap();
        segments(folder.path())
    };
    for part in 0..8 {
        let before = update(part * 3000..(part + 1) * 3000, true);
        assert_eq!(before, usize::try_from(part).unwrap() + 1);
    }
    assert!(update(24_000..24_001, false) < 3);
}

#[test]
fn many_processes_may_create_and_write_it_at_once() {
    for _ in 0..8 {
        let folder = TempDir::new().unwrap();
        let one = || {
            // Each has its own handle, as each process has.
            let index = Index::open(folder.path()).unwrap();
            match index.writer(20 << 20, 1, "mark") {
                Ok(mut writer) => writer.commit().unwrap(),
                Err(error) => assert!(matches!(error, Error::Busy { .. }), "{error}"),
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(one);
            }
        });
        assert!(Index::open(folder.path()).unwrap().mark().unwrap().is_some());
    }
}
