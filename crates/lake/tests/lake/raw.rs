//! Raw copies, there and back.

use std::sync::Arc;

use object_store::ObjectStore;
use recount_lake::{Lake, LakeAccess, LakeError, PushOptions};

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

#[test]
fn a_store_that_is_no_lake_is_told_from_one_without_copies() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    let to = tempfile::tempdir().unwrap();
    let pull = |origins: &[String]| lake(&store).pull(&machine.engine(), origins, to.path(), &());
    // Another program's files, and a folder that would hide in the homes.
    store.set("photos/one.jpg", b"x".to_vec());
    store.set("v1/_raw/.gemini.json", b"{}".to_vec());
    assert!(matches!(pull(&[]), Err(LakeError::NoLake { .. })));
    machine.push_with(&store, &raw()).unwrap();
    assert_eq!(pull(&[]).unwrap().homes.len(), 1);
    let Err(LakeError::NoOrigin { wanted, known }) = pull(&["zz".to_owned()]) else {
        panic!("it does not exist")
    };
    assert_eq!((wanted.as_str(), known.len()), ("zz", 1));
    assert_eq!(pull(&[known[0][..4].to_owned()]).unwrap().homes.len(), 1);
}

#[test]
fn sizes_that_a_lake_claims_are_not_trusted() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    machine.push_with(&store, &raw()).unwrap();
    let to = tempfile::tempdir().unwrap();
    let (list, bytes) = store
        .objects()
        .into_iter()
        .find(|(path, _)| path.contains("/_raw/") && path.ends_with("json"))
        .unwrap();
    let mut value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    for file in value["files"].as_object_mut().unwrap().values_mut() {
        file["bytes"] = u64::MAX.into();
    }
    store.set(&list, value.to_string().into_bytes());
    let pulled = lake(&store).pull(&machine.engine(), &[], to.path(), &());
    assert!(matches!(pulled, Err(LakeError::Damaged { .. })), "{pulled:?}");
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_a_problem_and_the_others_are_sent() {
    let (machine, store) = (Machine::new(), FaultyStore::new());
    machine.push_with(&store, &raw()).unwrap();
    // A folder cannot be read as a file either, whoever runs the test.
    let path = machine.chat("05", 1);
    let hidden = machine.folder.path().join("hidden");
    machine.session("05", 2, 7);
    let (now, swap) = (path.clone(), hidden.clone());
    store.reset();
    store.call_before(1, move || {
        std::fs::rename(&now, &swap).unwrap();
        std::fs::create_dir(&now).unwrap();
    });
    // Its time has changed, so it is read again.
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(5);
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
    let report = machine.push_with(&store, &raw()).unwrap();
    assert_eq!(report.raw.unwrap().unread, 1);
    assert!(report.problems.iter().any(|one| one.done.contains("no copy was sent")));
    let to = tempfile::tempdir().unwrap();
    let pulled = lake(&store).pull(&Machine::empty().engine(), &[], to.path(), &()).unwrap();
    assert_eq!(pulled.homes[0].written, 5, "what was sent before stays");
    std::fs::remove_dir(&path).unwrap();
    std::fs::rename(&hidden, &path).unwrap();
    assert_eq!(machine.push_with(&store, &raw()).unwrap().raw.unwrap().unread, 0);
}

#[test]
fn only_a_push_creates_the_folder_of_a_lake() {
    let machine = Machine::new();
    let folder = machine.folder.path().join("lake");
    let (url, engine) = (format!("file://{}", folder.display()), machine.engine());
    let read = Lake::open(&url, LakeAccess::Read, &engine).unwrap();
    let dry = PushOptions { dry_run: true, ..raw() };
    assert!(read.push(&machine.engine(), &dry, &()).unwrap().files > 0);
    let to = machine.folder.path().join("homes");
    let pulled = read.pull(&machine.engine(), &[], &to, &());
    assert!(matches!(pulled, Err(LakeError::NoLake { .. })), "{pulled:?}");
    assert!(!folder.exists() && !to.exists());
    let write = Lake::open(&url, LakeAccess::Write, &engine).unwrap();
    write.push(&machine.engine(), &raw(), &()).unwrap();
    assert!(folder.is_dir());
    // Never in an agent's own folder.
    let inside = machine.folder.path().join("home/.gemini/tmp/lake");
    let url = format!("file://{}", inside.display());
    assert!(Lake::open(&url, LakeAccess::Write, &engine).is_err() && !inside.exists());
}

fn read(path: &std::path::Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}
