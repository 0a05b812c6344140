//! Machines that are copies of one another.

use std::sync::{Arc, Mutex};

use object_store::local::LocalFileSystem;
use recount_lake::{LakeError, PushOptions};

use crate::machine::{Machine, URL};
use crate::store::FaultyStore;

#[test]
fn a_copied_data_folder_is_refused_until_it_has_its_own_origin() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    machine.push(&store).unwrap();
    let copy = Machine::clone_of(&machine);
    machine.session("05", 9, 1);
    machine.push(&store).unwrap();
    copy.session("05", 8, 1);
    let before = store.objects();
    assert!(matches!(copy.push(&store), Err(LakeError::Cloned { .. })));
    assert_eq!(store.objects(), before, "nothing was written");
    copy.engine().new_lake_origin().unwrap();
    let report = copy.push(&store).unwrap();
    assert_eq!(report.sessions, 5);
    machine.session("06", 7, 1);
    machine.push(&store).unwrap();
    let origins = store.objects().into_keys().filter(|path| path.contains("_origins/")).count();
    assert_eq!(origins, 2);
}

#[test]
fn a_restored_data_folder_continues_only_when_told_to() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    machine.push(&store).unwrap();
    let backup = Machine::clone_of(&machine);
    machine.session("05", 9, 1);
    machine.push(&store).unwrap();
    backup.session("05", 9, 2);
    assert!(matches!(backup.push(&store), Err(LakeError::Cloned { .. })));
    let options = PushOptions { adopt: true, ..PushOptions::default() };
    backup.push_with(&store, &options).unwrap();
    backup.push(&store).unwrap();
    assert!(matches!(machine.push(&store), Err(LakeError::Cloned { .. })));
}

/// Lets a copy push before each request of the original in turn: one of the two must be refused, and no table may be of both.
#[test]
fn of_two_copies_that_push_at_once_one_is_refused_before_it_changes_a_table() {
    let count = {
        let (machine, store) = (Machine::new(), FaultyStore::new());
        machine.push(&store).unwrap();
        machine.session("05", 1, 5);
        store.reset();
        machine.push(&store).unwrap();
        store.count()
    };
    let mut refused = [0, 0];
    for number in 0..count {
        let (machine, store) = (Machine::new(), FaultyStore::new());
        machine.push(&store).unwrap();
        let copy = Machine::clone_of(&machine);
        machine.session("05", 1, 5);
        copy.session("05", 1, 7);
        let other = Arc::new(Mutex::new(None));
        let (result, of_copy) = (Arc::clone(&other), Arc::clone(&store));
        store.call_before(number, move || {
            *result.lock().unwrap() = Some(copy.push(&of_copy));
        });
        let own = machine.push(&store);
        let other = other.lock().unwrap().take().unwrap();
        match (own, other) {
            (Err(LakeError::Cloned { .. }), Ok(_)) => refused[0] += 1,
            (Ok(_), Err(LakeError::Cloned { .. })) => refused[1] += 1,
            (own, other) => panic!("{number}: {own:?} and {other:?}"),
        }
    }
    assert!(refused[0] > 0 && refused[1] > 0, "{refused:?}");
}

#[test]
fn a_second_push_from_one_data_folder_is_refused_while_the_first_runs() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    let running = machine.engine().lake_folder(URL).unwrap();
    assert!(matches!(machine.push(&store), Err(LakeError::Running)));
    drop(running);
    machine.push(&store).unwrap();
}

#[test]
fn a_folder_is_a_lake_with_the_same_guarantees() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(LocalFileSystem::new_with_prefix(folder.path()).unwrap());
    let machine = Machine::new();
    machine.push(&store).unwrap();
    let copy = Machine::clone_of(&machine);
    machine.session("05", 1, 3);
    copy.session("05", 1, 4);
    machine.push(&store).unwrap();
    assert!(matches!(copy.push(&store), Err(LakeError::Cloned { .. })));
    assert_eq!(machine.push(&store).unwrap().requests["put"], 0);
    // Claims of earlier generations do not pile up.
    let claims = std::fs::read_dir(folder.path().join("v1/_origins")).unwrap();
    let claims: Vec<_> = claims.map(|entry| entry.unwrap().path()).filter(|p| p.is_dir()).collect();
    assert_eq!(std::fs::read_dir(&claims[0]).unwrap().count(), 1);
}

#[test]
fn a_clock_that_is_wrong_changes_nothing() {
    let (mut machine, store) = (Machine::new(), FaultyStore::new());
    machine.push(&store).unwrap();
    let before = store.objects();
    for now in ["1999-01-01T00:00:00Z", "2099-01-01T00:00:00Z"] {
        machine.now = now.to_owned();
        store.reset();
        machine.push(&store).unwrap();
        assert!(store.puts().is_empty());
        assert_eq!(store.objects(), before);
    }
    machine.session("05", 1, 3);
    machine.push(&store).unwrap();
}
