//! The same tests on the disk of this machine.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::*;
use crate::change::{Disk as _, FileState, Refusal};
use crate::{RealDisk, create_folders, create_new};

struct Place {
    _folder: tempfile::TempDir,
    home: PathBuf,
    data: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let place = Place { home: root.join("home"), data: root.join("data"), _folder: folder };
    create_folders(&place.home.join("chats/agents")).unwrap();
    create_folders(&place.data).unwrap();
    let time = Timestamp::new(1_794_769_200, 123_456_789).unwrap();
    let large = vec![b'x'; 700_000];
    create_new(&place.home.join("chats/large.jsonl"), &large, Some(time)).unwrap();
    create_new(&place.home.join("chats/agents/one.jsonl"), b"{}\n", Some(time)).unwrap();
    place
}

fn removal(place: &Place) -> Plan {
    let mut plan = Plan::new("delete", vec![place.home.clone()]);
    plan.remove(&RealDisk, &place.home.join("chats/large.jsonl"), about()).unwrap();
    plan.remove(&RealDisk, &place.home.join("chats/agents/one.jsonl"), about()).unwrap();
    plan.remove_folder(&RealDisk, &place.home.join("chats/agents")).unwrap();
    plan
}

fn carry_out(place: &Place, plan: Plan) -> Result<String, Error> {
    let change_lock = ChangeLock::open(&RealDisk, &place.data, Timestamp::UNIX_EPOCH).unwrap();
    change_lock.apply(&plan.approve(&RealDisk, &[], &place.data)?)
}

#[test]
fn bytes_times_and_permissions_are_restored() {
    let place = place();
    let files = ["chats/large.jsonl", "chats/agents/one.jsonl"].map(|name| place.home.join(name));
    let states = || files.clone().map(|file| FileState::of(&RealDisk, &file).unwrap());
    let before = states();
    let id = carry_out(&place, removal(&place)).unwrap();
    assert_eq!(states(), [None, None]);
    assert!(!place.home.join("chats/agents").exists());
    let history = History::read(&RealDisk, &place.data).unwrap();
    let entry = history.find(Some(&id)).unwrap();
    let plan = history.undo(&RealDisk, &place.data, entry, |_| true).unwrap();
    carry_out(&place, plan).unwrap();
    assert_eq!(states(), before);
    assert_eq!(RealDisk.list(&place.data.join("trash")).unwrap(), Vec::<PathBuf>::new());
}

#[cfg(unix)]
#[test]
fn nothing_is_changed_through_links() {
    let place = place();
    let outside = place.data.join("outside.jsonl");
    create_new(&outside, b"{}", None).unwrap();
    std::os::unix::fs::symlink(&outside, place.home.join("chats/link.jsonl")).unwrap();
    std::os::unix::fs::symlink(&place.data, place.home.join("linked")).unwrap();
    let mut plan = Plan::new("delete", vec![place.home.clone()]);
    let link = plan.remove(&RealDisk, &place.home.join("chats/link.jsonl"), about());
    assert!(matches!(link, Err(Error::Refused(Refusal::NotAFile { .. }))), "{link:?}");
    plan.remove(&RealDisk, &place.home.join("linked/outside.jsonl"), about()).unwrap();
    let through = carry_out(&place, plan);
    assert!(matches!(through, Err(Error::Refused(Refusal::Outside { .. }))), "{through:?}");
}

#[test]
fn runs_lock_each_other_out() {
    let place = place();
    let plans: Vec<Plan> = ["chats/large.jsonl", "chats/agents/one.jsonl"]
        .iter()
        .map(|name| {
            let mut plan = Plan::new("delete", vec![place.home.clone()]);
            plan.remove(&RealDisk, &place.home.join(name), about()).unwrap();
            plan
        })
        .collect();
    std::thread::scope(|scope| {
        for plan in plans {
            scope.spawn(|| carry_out(&place, plan).unwrap());
        }
    });
    let history = History::read(&RealDisk, &place.data).unwrap();
    assert_eq!(history.changes().len(), 2);
    assert!(history.changes().iter().all(|entry| history.in_force(entry).len() == 1));
}

/// The agent's own protocol: a lock folder that is older than ten seconds is stale.
#[test]
fn a_stale_lock_of_the_agent_is_taken_over_and_released() {
    let place = place();
    let lock = place.home.join("projects.json.lock");
    create_folders(&lock).unwrap();
    let old = SystemTime::now() - Duration::from_secs(11);
    std::fs::File::open(&lock).unwrap().set_modified(old).unwrap();
    let mut plan = removal(&place);
    plan.locks.push(lock.clone());
    carry_out(&place, plan).unwrap();
    assert!(!lock.exists());
}

/// The other protocol: a system lock on an agreed file, which nobody removes.
#[test]
fn a_change_waits_for_the_lock_of_the_agent() {
    let place = place();
    let path = place.home.join("names.jsonl.lock");
    create_new(&path, b"", None).unwrap();
    let theirs = std::fs::File::options().write(true).open(&path).unwrap();
    theirs.lock().unwrap();
    let busy = RealDisk.lock_file(&path).map(|_| ()).map_err(|error| error.kind());
    assert_eq!(busy, Err(std::io::ErrorKind::WouldBlock));
    let mut plan = removal(&place);
    plan.file_locks = vec![path, place.home.join("not-there.lock")];
    std::thread::scope(|scope| {
        let change = scope.spawn(|| carry_out(&place, plan).unwrap());
        std::thread::sleep(Duration::from_millis(300));
        assert!(place.home.join("chats/large.jsonl").exists());
        theirs.unlock().unwrap();
        change.join().unwrap();
    });
    assert!(!place.home.join("chats/large.jsonl").exists());
    theirs.try_lock().unwrap();
}

#[cfg(unix)]
#[test]
fn a_held_lock_has_a_fresh_time() {
    let place = place();
    let old = SystemTime::now() - Duration::from_secs(11);
    std::fs::File::open(&place.home).unwrap().set_modified(old).unwrap();
    RealDisk.touch_folder(&place.home).unwrap();
    let now = place.home.metadata().unwrap().modified().unwrap();
    assert!(now > old + Duration::from_secs(10));
}
