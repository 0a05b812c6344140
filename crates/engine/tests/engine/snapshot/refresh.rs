//! What changed, and what a refresh does when nothing did.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;
use std::{fs, iter};

use notify::event::{AccessKind, EventKind};
use notify::{RecursiveMode, Watcher as _};
use recount_engine::{Engine, ListQuery};

use super::questions::{QUESTIONS, answer, every_hit};
use super::{Place, add_beside, age, append};

/// Returns the paths that are opened while something is done.
fn opened(below: &Path, done: impl FnOnce()) -> Vec<String> {
    let (sender, receiver) = channel();
    let mut watcher = notify::recommended_watcher(sender).unwrap();
    watcher.watch(below, RecursiveMode::Recursive).unwrap();
    // Events come in order: those before a file is opened that nothing else opens are all there are.
    let marks = tempfile::tempdir().unwrap();
    watcher.watch(marks.path(), RecursiveMode::NonRecursive).unwrap();
    let (before, after) = (marks.path().join("before"), marks.path().join("after"));
    let opened_until = |mark: &Path| {
        fs::write(mark, "").unwrap();
        let next = || receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        let events = iter::repeat_with(next).map(Result::unwrap);
        let opens =
            events.filter(|event| matches!(event.kind, EventKind::Access(AccessKind::Open(_))));
        let paths = opens.flat_map(|event| event.paths);
        paths.take_while(|path| path != mark).map(|path| path.display().to_string()).collect()
    };
    let _set_up: Vec<String> = opened_until(&before);
    done();
    opened_until(&after)
}

#[test]
fn nothing_is_listed_nor_opened_when_nothing_changed() {
    let place = Place::new(12, 0.5);
    let engine = place.engine("data");
    let snapshot = engine.snapshot(&()).unwrap();
    let all = opened(&place.home(), || {
        engine.snapshot(&()).unwrap();
    });
    assert!(!all.is_empty(), "a look at everything is noticed");
    let mut again = None;
    let none = opened(&place.home(), || again = Some(engine.refresh(&snapshot, &()).unwrap()));
    assert_eq!(none, Vec::<String>::new());
    let (again, diff) = again.unwrap();
    assert!(diff.is_empty() && again.number() == snapshot.number(), "{diff:?}");
}

#[test]
fn only_what_changed_is_listed_and_opened() {
    let place = Place::new(12, 0.5);
    let engine = place.engine("data");
    let snapshot = engine.snapshot(&()).unwrap();
    // What rows are made from is remembered after the first change.
    let log = place.log();
    append(&log, 1);
    age(&log, 60);
    let (snapshot, _) = engine.refresh(&snapshot, &()).unwrap();
    append(&log, 2);
    age(&log, 50);
    let mut next = None;
    let mut all = opened(&place.home(), || next = Some(engine.refresh(&snapshot, &()).unwrap()));
    all.dedup();
    assert_eq!(all, [log.display().to_string()]);
    let (snapshot, diff) = next.unwrap();
    let [change] = diff.changed.as_slice() else { panic!("{diff:?}") };
    let appended = change.appended.as_ref().unwrap();
    assert_eq!((appended.messages, appended.to), (1, fs::metadata(&log).unwrap().len()));
    assert_eq!(change.after.counts.prompts, change.before.counts.prompts + 1);
    // A new file: its directory is listed again, and the one above in which projects lie.
    let new = add_beside(&log, 0x5151);
    let folder = new.parent().unwrap();
    age(&new, 40);
    age(folder, 40);
    let mut next = None;
    let mut all = opened(&place.home(), || next = Some(engine.refresh(&snapshot, &()).unwrap()));
    all.sort();
    all.dedup();
    let projects = folder.parent().unwrap().parent().unwrap();
    let elsewhere = |path: &&String| {
        let path = Path::new(path.as_str());
        !path.starts_with(folder.parent().unwrap()) && path != projects
    };
    let elsewhere: Vec<&String> = all.iter().filter(elsewhere).collect();
    let other: Vec<_> =
        elsewhere.iter().filter(|path| path.contains("/tmp/") && path.contains("chats")).collect();
    assert!(other.is_empty(), "{other:?}");
    let (_, diff) = next.unwrap();
    assert_eq!((diff.added.len(), diff.changed.len(), diff.gone.len()), (1, 0, 0), "{diff:?}");
}

#[test]
fn after_every_kind_of_change_answers_are_those_of_a_fresh_engine() {
    let place = Place::new(10, 0.4);
    let engine = place.engine("data");
    let mut snapshot = engine.snapshot(&()).unwrap();
    let log = place.log();
    let changes: [(&str, &dyn Fn()); 7] = [
        ("nothing", &|| {}),
        ("a prompt is appended", &|| append(&log, 1)),
        ("another one", &|| append(&log, 2)),
        ("a session is added", &|| drop(add_beside(&log, 77))),
        ("a session is deleted", &|| fs::remove_file(place.sessions().pop().unwrap()).unwrap()),
        ("a session is rewritten", &|| {
            let text = fs::read_to_string(&log).unwrap();
            let cut = text.trim_end().rsplit_once('\n').unwrap().0.len();
            fs::write(&log, &text[..=cut]).unwrap();
        }),
        ("a project goes", &|| {
            fs::remove_dir_all(log.parent().unwrap().parent().unwrap()).unwrap();
        }),
    ];
    for (what, change) in changes {
        change();
        (snapshot, _) = engine.refresh(&snapshot, &()).unwrap();
        for number in 0..QUESTIONS {
            let fresh = answer(&place.engine("fresh"), number);
            assert_eq!(answer(&engine.at(&snapshot), number), fresh, "{what}: question {number}");
        }
    }
}

#[test]
fn a_question_that_nobody_waits_for_ends() {
    let place = Place::new(4, 0.2);
    let engine = place.engine("data");
    let cancel = recount_engine::Cancel::default();
    cancel.cancel();
    assert!(matches!(engine.snapshot(&cancel), Err(recount_engine::Error::Cancelled)));
    assert_eq!(engine.snapshot(&()).unwrap().sessions().len(), 4 + subagents(&engine));
}

fn subagents(engine: &Engine) -> usize {
    let listing = engine.list(&ListQuery::default(), &()).unwrap();
    listing.sessions.iter().filter(|facts| facts.parent.is_some()).count()
}

#[test]
fn the_newest_remembered_rows_are_the_first_of_all() {
    let place = Place::new(12, 0.5);
    let engine = place.engine("data");
    assert!(engine.remembered_list(None).is_empty());
    engine.list(&ListQuery::default(), &()).unwrap();
    engine.list(&ListQuery::default(), &()).unwrap();
    engine.finish_writing();
    let all = engine.remembered_list(None);
    assert!(all.len() >= 12);
    for many in 0..all.len() + 2 {
        let newest = engine.remembered_list(Some(many));
        let used = |facts: &std::sync::Arc<recount_model::SessionFacts>| facts.updated;
        let expected: Vec<_> = all.iter().take(many).map(used).collect();
        assert_eq!(newest.iter().map(used).collect::<Vec<_>>(), expected, "{many}");
    }
}

#[test]
fn a_large_session_is_opened_from_where_it_was_read_last() {
    let place = Place::new(4, 0.2);
    let log = place.log();
    // What was read of a file of this size is kept.
    for number in 0..12_000 {
        append(&log, number);
    }
    age(&log, 60);
    let engine = place.engine("data");
    let id = |engine: &Engine| {
        let listing = engine.list(&ListQuery::default(), &()).unwrap();
        let is_it = |facts: &&std::sync::Arc<recount_model::SessionFacts>| {
            facts.files.iter().any(|file| Path::new(&file.path) == log)
        };
        listing.sessions.iter().find(is_it).unwrap().id.as_str().to_owned()
    };
    let id = id(&engine);
    engine.finish_writing();
    let check = |what: &str| {
        let known = engine.open(&id, &()).unwrap().facts;
        let read = crate::engine(&place.home(), None).open(&id, &()).unwrap().facts;
        assert_eq!(format!("{known:?}"), format!("{read:?}"), "{what}");
        known.counts.prompts
    };
    let first = check("as it was listed");
    assert!(first >= 12_000, "{first}");
    append(&log, 12_001);
    assert_eq!(check("a line is appended"), first + 1);
    let text =
        fs::read_to_string(&log).unwrap().replace("prompt number 1\"", "prompt number one\"");
    fs::write(&log, &text).unwrap();
    assert_eq!(check("it is rewritten"), first + 1);
    let half = text.len() / 2 + text[text.len() / 2..].find('\n').unwrap() + 1;
    fs::write(&log, &text[..half]).unwrap();
    assert!(check("half of it is gone") < first);
}

#[test]
fn a_log_with_other_messages_than_before_is_indexed_again() {
    let place = Place::new(4, 0.2);
    let log = place.log();
    for number in 1000..1010 {
        append(&log, number);
    }
    let engine = place.engine("data");
    let found = |number: usize| {
        let answer = engine.search(&every_hit(&number.to_string()), &()).unwrap();
        answer.hits.iter().filter(|hit| format!("{:?}", hit.message).contains("appended")).count()
    };
    assert_eq!([1000, 1009, 2000].map(found), [1, 1, 0]);

    // Its end is replaced by more messages, of the same length.
    let text = fs::read_to_string(&log).unwrap();
    let kept = text.split_inclusive('\n').count() - 6;
    fs::write(&log, text.split_inclusive('\n').take(kept).collect::<String>()).unwrap();
    for number in 2000..2008 {
        append(&log, number);
    }
    assert_eq!([1000, 1009, 2000, 2007].map(found), [1, 0, 1, 1]);

    // One message is replaced, and nothing else.
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replace("2003", "3003")).unwrap();
    assert_eq!([1000, 2003, 3003, 2007].map(found), [1, 0, 1, 1]);

    append(&log, 4000);
    assert_eq!([1000, 2003, 3003, 4000].map(found), [1, 0, 1, 1]);
}
