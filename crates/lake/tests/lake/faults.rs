//! Requests that fail, and programs that are killed between two of them.

use std::collections::BTreeMap;

use crate::machine::Machine;
use crate::store::{Fault, FaultyStore};

type Objects = BTreeMap<String, Vec<u8>>;

/// Returns the tables, without manifests.
fn tables(objects: Objects) -> Objects {
    objects.into_iter().filter(|(path, _)| path.ends_with(".parquet")).collect()
}

/// Changes a machine: a session grows, one is new, the sessions of a month are gone.
fn change(machine: &Machine) {
    machine.session("05", 1, 4);
    machine.session("07", 5, 1);
    machine.delete("06", 3);
    machine.delete("06", 4);
}

/// Returns the tables of a machine before and after a change, each pushed to an empty lake; and the number of requests of the
/// second push to one lake.
fn before_and_after() -> (Objects, Objects, usize) {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    machine.push(&store).unwrap();
    let before = tables(store.objects());
    change(&machine);
    store.reset();
    machine.push(&store).unwrap();
    (before, tables(store.objects()), store.count())
}

fn without_origin(objects: &Objects) -> Objects {
    let named = |path: &str| {
        let parts = path.split('/').filter(|part| !part.starts_with("origin="));
        parts.collect::<Vec<_>>().join("/")
    };
    objects.iter().map(|(path, bytes)| (named(path), bytes.clone())).collect()
}

#[test]
fn one_failure_of_any_request_changes_nothing_in_the_end() {
    let (_, after, requests) = before_and_after();
    assert!(requests > 10, "{requests}");
    for fault in [Fault::Fails, Fault::TimesOut, Fault::NoAnswer] {
        for number in 0..requests {
            let (machine, store) = (Machine::new(), FaultyStore::new());
            machine.push(&store).unwrap();
            change(&machine);
            store.fail_at(number, fault);
            machine.push(&store).unwrap_or_else(|error| panic!("{fault:?} at {number}: {error}"));
            let now = tables(store.objects());
            assert!(without_origin(&now) == without_origin(&after), "{fault:?} at {number}");
            store.reset();
            machine.push(&store).unwrap();
            assert!(store.puts().is_empty(), "{fault:?} at {number}: {:?}", store.puts());
        }
    }
}

#[test]
fn a_kill_between_any_two_requests_leaves_old_or_new_files_and_the_next_push_goes_on() {
    let (before, after, requests) = before_and_after();
    let (before, after) = (without_origin(&before), without_origin(&after));
    let changed = after.iter().filter(|(path, bytes)| before.get(*path) != Some(*bytes)).count();
    for number in 0..requests {
        let (machine, store) = (Machine::new(), FaultyStore::new());
        machine.push(&store).unwrap();
        change(&machine);
        store.die_at(number);
        assert!(machine.push(&store).is_err(), "{number}");
        let sent = without_origin(&tables(store.objects()));
        for (path, bytes) in &sent {
            let is_old = before.get(path) == Some(bytes);
            assert!(is_old || after.get(path) == Some(bytes), "{number}: {path}");
        }
        // No table is missing that is there before and after.
        for path in before.keys().filter(|path| after.contains_key(*path)) {
            assert!(sent.contains_key(path), "{number}: {path}");
        }
        let is_new = |(path, bytes): &(&String, &Vec<u8>)| {
            before.get(*path) != Some(*bytes) && sent.get(*path) == Some(*bytes)
        };
        let done = after.iter().filter(is_new).count();
        store.reset();
        machine.push(&store).unwrap_or_else(|error| panic!("after {number}: {error}"));
        assert!(without_origin(&tables(store.objects())) == after, "{number}");
        // What was sent is not sent again, but for the one of which no answer came.
        let again = store.puts().iter().filter(|path| path.ends_with(".parquet")).count();
        assert!(again <= changed - done + 1, "{number}: {again} of {changed}, {done} were done");
        store.reset();
        machine.push(&store).unwrap();
        assert!(store.puts().is_empty(), "{number}");
    }
}

#[test]
fn what_an_unfinished_push_has_sent_is_replaced_when_the_sessions_are_as_before() {
    let (before, _, requests) = before_and_after();
    for number in 0..requests {
        let (machine, store) = (Machine::new(), FaultyStore::new());
        machine.push(&store).unwrap();
        let original = Machine::clone_of(&machine);
        change(&machine);
        store.die_at(number);
        assert!(machine.push(&store).is_err());
        // Somebody restores the home, not the data folder.
        let home = machine.folder.path().join("home/.gemini");
        std::fs::remove_dir_all(&home).unwrap();
        crate::machine::copy(&original.folder.path().join("home/.gemini"), &home);
        store.reset();
        machine.push(&store).unwrap();
        assert!(without_origin(&tables(store.objects())) == without_origin(&before), "{number}");
    }
}

#[test]
fn a_push_that_is_killed_again_and_again_is_never_taken_for_another_machine() {
    let (_, after, requests) = before_and_after();
    let (machine, store) = (Machine::new(), FaultyStore::new());
    machine.push(&store).unwrap();
    change(&machine);
    for number in (0..requests).chain(0..requests) {
        store.die_at(number % 5);
        assert!(machine.push(&store).is_err(), "{number}");
    }
    store.reset();
    machine.push(&store).unwrap();
    assert!(without_origin(&tables(store.objects())) == without_origin(&after));
}

#[test]
fn a_store_that_never_answers_is_an_error_without_credentials_and_changes_nothing() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    store.die_at(0);
    let error = machine.push(&store).unwrap_err().to_string();
    assert!(error.contains("_origins/"), "{error}");
    assert!(store.objects().is_empty());
}
