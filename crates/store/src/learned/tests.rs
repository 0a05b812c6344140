//! Tests of what is stored, for how long, and how it is merged.

use std::time::Duration;

use recount_formats::SOURCES;

use super::*;

fn source() -> &'static dyn Source {
    SOURCES[0]
}

fn hash(path: &str) -> ProjectHash {
    source().project_hash(path).unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

const MONDAY: &str = "2026-11-16T00:00:00Z";

fn proven(path: &str) -> Learned {
    let mut learned = Learned::default();
    let path = RecordedPath::new(path);
    learned.prove(source(), &path, (ClueKind::Scan, "found below ~"), at(MONDAY));
    learned
}

fn record(finished: bool, when: &str, unfound: &[&str]) -> Searched {
    Searched {
        place: "/home/dev".to_owned(),
        depth: 4,
        shape: "as it was".to_owned(),
        finished,
        patience: 2000,
        when: at(when),
        unfound: unfound.iter().map(|&name| name.to_owned()).collect(),
    }
}

fn place(depth: usize, patience: u64) -> ScanRoot {
    ScanRoot { path: "/home/dev".into(), depth, patience: Duration::from_millis(patience) }
}

fn paths(learned: &Learned) -> Vec<&str> {
    learned.proven(source()).map(|entry| entry.path.as_str()).collect()
}

#[test]
fn the_file_round_trips() {
    let mut learned = proven("/srv/shop");
    learned.record_failed_read(source(), &hash("/srv/gone"), "3/400/5".to_owned(), at(MONDAY));
    learned.record_search(record(true, MONDAY, &["a"]));
    learned.record_search(record(false, MONDAY, &["b"]));
    learned.record_spots(&BTreeSet::from(["/srv/store".to_owned()]));
    let remotes = vec!["host.example/a/shop".to_owned()];
    learned.record_repository("/srv/shop", GitIdentity { remotes, first: Some("1@2".to_owned()) });
    assert_eq!(Learned::parse(&learned.to_bytes()).unwrap(), learned);
    assert!(learned.to_bytes().ends_with(b"\n"));
    assert_eq!((learned.len(), learned.is_empty()), (1, false));
}

#[test]
fn a_damaged_file_counts_as_empty_and_a_newer_one_is_refused() {
    let whole = proven("/srv/shop").to_bytes();
    for damaged in [b"" as &[u8], b"\0\0", b"[]", b"{\"version\":1}", &whole[..whole.len() / 2]] {
        assert_eq!(Learned::parse(damaged).unwrap(), Learned::default());
    }
    assert_eq!(Learned::parse(br#"{"version":2,"proven":"of another form"}"#), Err(Newer));
}

#[test]
fn an_entry_whose_hash_does_not_match_is_ignored() {
    let bytes = String::from_utf8(proven("/srv/shop").to_bytes()).unwrap();
    let forged = Learned::parse(bytes.replace("/srv/shop", "/srv/evil").as_bytes()).unwrap();
    assert!(paths(&forged).is_empty());
    assert_eq!(paths(&Learned::parse(bytes.as_bytes()).unwrap()), ["/srv/shop"]);
}

#[test]
fn what_two_runs_learned_is_merged() {
    let mut one = proven("/srv/shop");
    one.record_failed_read(source(), &hash("/srv/late"), "1/1/1".to_owned(), at(MONDAY));
    one.record_search(record(true, MONDAY, &["a"]));
    let mut other = proven("/srv/late");
    other.record_search(record(true, MONDAY, &["b"]));
    one.absorb(other);
    assert_eq!(one.len(), 2);
    assert!(!one.has_failed(source(), &hash("/srv/late"), "1/1/1"), "it was found after all");
    for wanted in ["a", "b"] {
        assert!(one.is_settled(wanted, &place(4, 2000), "as it was", at(MONDAY)), "{wanted}");
    }
}

#[test]
fn a_failed_search_counts_until_something_changes() {
    let mut learned = Learned::default();
    learned.record_search(record(true, MONDAY, &["a"]));
    let settled = |wanted: &str, depth: usize, shape: &str, now: &str| {
        learned.is_settled(wanted, &place(depth, 9000), shape, at(now))
    };
    assert!(settled("a", 4, "as it was", "2026-11-22T23:00:00Z"));
    assert!(settled("a", 2, "as it was", MONDAY));
    assert!(!settled("b", 4, "as it was", MONDAY), "it was not looked for");
    assert!(!settled("a", 5, "as it was", MONDAY), "not as deep");
    assert!(!settled("a", 4, "changed", MONDAY));
    assert!(!settled("a", 4, "as it was", "2026-11-23T01:00:00Z"), "a week ago");
}

#[test]
fn a_search_that_ran_out_of_time_counts_for_an_hour_or_until_there_is_more_time() {
    let mut learned = Learned::default();
    learned.record_search(record(false, MONDAY, &["a"]));
    let settled =
        |patience: u64, now: &str| learned.is_settled("a", &place(4, patience), "changed", at(now));
    assert!(settled(2000, "2026-11-16T00:59:00Z") && settled(150, MONDAY));
    assert!(!settled(2001, MONDAY) && !settled(2000, "2026-11-16T01:01:00Z"));
    assert!(
        learned.is_unfinished("a", "2026-11-15T12:00:00Z".parse().unwrap())
            && !learned.is_unfinished("b", "2026-11-15T12:00:00Z".parse().unwrap())
    );
}

#[test]
fn a_search_without_time_does_not_undo_one_that_had_it() {
    let mut learned = Learned::default();
    learned.record_search(record(true, MONDAY, &["a"]));
    learned.record_search(record(false, "2026-11-16T00:30:00Z", &["a", "b"]));
    assert!(learned.is_settled("a", &place(4, 9000), "as it was", at(MONDAY)));
    assert!(
        !learned.is_unfinished("a", "2026-11-15T12:00:00Z".parse().unwrap())
            && learned.is_unfinished("b", "2026-11-15T12:00:00Z".parse().unwrap())
    );
    let changed =
        Searched { shape: "changed".to_owned(), ..record(false, "2026-11-16T00:40:00Z", &["a"]) };
    learned.record_search(changed);
    assert!(
        learned.is_unfinished("a", "2026-11-15T12:00:00Z".parse().unwrap()),
        "the place has changed since it was searched to its end"
    );
    learned.record_search(record(true, "2026-11-16T00:50:00Z", &["a", "b"]));
    assert!(
        !learned.is_unfinished("a", "2026-11-15T12:00:00Z".parse().unwrap())
            && !learned.is_unfinished("b", "2026-11-15T12:00:00Z".parse().unwrap())
    );
}

#[test]
fn what_was_missed_together_is_as_old_as_the_older_search() {
    let mut learned = Learned::default();
    learned.record_search(record(true, MONDAY, &["a"]));
    learned.record_search(record(true, "2026-11-20T00:00:00Z", &["b"]));
    let settled =
        |wanted: &str, now: &str| learned.is_settled(wanted, &place(4, 0), "as it was", at(now));
    assert!(settled("a", "2026-11-22T00:00:00Z") && settled("b", "2026-11-22T00:00:00Z"));
    assert!(!settled("a", "2026-11-24T00:00:00Z"), "nobody has looked for it for a week");
    let mut later = learned.clone();
    later.record_search(record(true, "2026-11-24T00:00:00Z", &["b"]));
    let now = at("2026-11-24T00:00:00Z");
    assert!(later.is_settled("b", &place(4, 0), "as it was", now));
    assert!(!later.is_settled("a", &place(4, 0), "as it was", now), "too old to be kept");
}

#[test]
fn the_machine_is_asked_again_after_a_day() {
    let gone = hash("/srv/gone");
    let mut learned = Learned::default();
    learned.record_failed_read(source(), &gone, "1/1/1".to_owned(), at(MONDAY));
    assert!(
        learned.has_failed(source(), &gone, "1/1/1")
            && !learned.has_failed(source(), &gone, "2/1/1")
    );
    let asked = |learned: &Learned, now: &str| learned.asked_recently(source(), &gone, at(now));
    assert!(asked(&learned, "2026-11-16T23:00:00Z"));
    assert!(!asked(&learned, "2026-11-17T01:00:00Z"));
    let mut news = Learned::default();
    news.record_failed_search(&learned, source(), &gone, at("2026-11-16T23:00:00Z"));
    assert!(news.is_empty(), "nothing to write");
    news.record_failed_search(&learned, source(), &gone, at("2026-11-17T01:00:00Z"));
    learned.absorb(news);
    assert!(asked(&learned, "2026-11-17T23:00:00Z"));
    assert!(learned.has_failed(source(), &gone, "1/1/1"), "and the files need not be read again");
}
