//! Raw copies, there and back.

use std::sync::Arc;

use object_store::ObjectStore;
use recount_lake::{Lake, LakeError, PushOptions};

use crate::machine::{Machine, URL};
use crate::store::FaultyStore;

fn raw() -> PushOptions {
    PushOptions { raw: true, ..PushOptions::default() }
}

fn lake(store: &Arc<FaultyStore>) -> Lake {
    let store: Arc<dyn ObjectStore> = store.clone();
    Lake::over(URL, store).unwrap()
}

#[test]
fn copies_come_back_as_a_home_with_the_same_bytes_and_times() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    let report = machine.push_with(&store, &raw()).unwrap();
    assert_eq!(report.raw.unwrap().files, 5, "four sessions and the marker of their project");
    let to = tempfile::tempdir().unwrap();
    let other = Machine::empty();
    let report = lake(&store).pull(&other.engine(), &[], to.path(), &()).unwrap();
    let [home] = report.homes.as_slice() else { panic!("{report:?}") };
    assert_eq!(home.written, 5);
    let name = machine.chat("05", 1);
    let below = name.strip_prefix(machine.folder.path().join("home")).unwrap();
    let copy = home.path.join(below);
    assert_eq!(read(&copy), read(&name));
    let time = |path: &std::path::Path| path.metadata().unwrap().modified().unwrap();
    assert_eq!(time(&copy), time(&name));
    // Only what has changed is sent and written again.
    let again = lake(&store).pull(&other.engine(), &[], to.path(), &()).unwrap();
    assert_eq!((again.homes[0].written, again.homes[0].unchanged), (0, 5));
    store.reset();
    machine.push_with(&store, &raw()).unwrap();
    assert_eq!(store.count(), 1);
    machine.session("05", 1, 6);
    let report = machine.push_with(&store, &raw()).unwrap().raw.unwrap();
    assert_eq!((report.pieces, report.removed), (1, 1));
}

#[test]
fn a_damaged_copy_is_refused_and_nothing_is_written_outside_of_the_home() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    machine.push_with(&store, &raw()).unwrap();
    let objects = store.objects();
    let to = tempfile::tempdir().unwrap();
    let pull = || lake(&store).pull(&machine.engine(), &[], to.path(), &());
    let (piece, _) = objects
        .iter()
        .find(|(path, _)| path.contains("/_raw/") && !path.ends_with("json"))
        .unwrap();
    store.set(piece, zstd::bulk::compress(b"something else", 3).unwrap());
    assert!(matches!(pull(), Err(LakeError::Damaged { .. })));
    let (list, bytes) =
        objects.iter().find(|(path, _)| path.contains("/_raw/") && path.ends_with("json")).unwrap();
    for evil in ["../../evil", "/etc/evil", "a/../../evil", "C:\\\\evil", "a\\nb/c", "evil"] {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let text = text.replace(".gemini/tmp/shop/.project_root", evil);
        store.set(list, text.into_bytes());
        assert!(matches!(pull(), Err(LakeError::Damaged { .. })), "{evil}");
    }
    assert!(!to.path().join("evil").exists() && !to.path().parent().unwrap().join("evil").exists());
}

#[test]
fn a_lake_without_copies_says_so() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    machine.push(&store).unwrap();
    let to = tempfile::tempdir().unwrap();
    let pulled = lake(&store).pull(&machine.engine(), &[], to.path(), &());
    assert!(matches!(pulled, Err(LakeError::NoRaw)));
}

fn read(path: &std::path::Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}
