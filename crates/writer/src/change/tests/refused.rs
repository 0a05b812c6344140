//! Tests of what the change pipeline refuses.

use std::io::Read as _;

use super::*;
use crate::change::{Disk as _, Owner, Refusal};

const FILE: &str = "/home/tmp/shop/chats/session-a.jsonl";

fn removal(disk: &MemoryDisk) -> Plan {
    let mut plan = plan("delete");
    plan.remove(disk, Path::new(FILE), about()).unwrap();
    plan
}

fn refusal(result: Result<impl std::fmt::Debug, Error>) -> Refusal {
    match result {
        Err(Error::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_session_in_use_is_refused() {
    let disk = disk();
    let owner = |session: &str| Owner { session: session.to_owned(), process: 7 };
    let refused = removal(&disk).approve(&disk, &[owner(SESSION)], Path::new(DATA));
    assert_eq!(refusal(refused), Refusal::Live { session: SESSION.to_owned(), process: 7 });
    removal(&disk).approve(&disk, &[owner("another")], Path::new(DATA)).unwrap();
}

#[test]
fn a_file_that_changed_is_refused_also_when_only_its_time_did() {
    let same = b"{\"a\":1}\n{\"b\":2}\n" as &[u8];
    let as_long = b"{\"a\":1}\n{\"b\":3}\n";
    for (bytes, modified) in [(same, 1_001), (b"{}", 1_000), (as_long, 1_000)] {
        let disk = disk();
        let plan = removal(&disk);
        disk.put(FILE, bytes, modified, 0o644);
        let before = tree(&disk);
        assert_eq!(refusal(apply(&disk, plan)), Refusal::Changed { path: FILE.into() });
        assert_eq!(tree(&disk), before);
    }
}

#[test]
fn a_file_that_changes_after_approval_is_not_lost() {
    let disk = disk();
    let approved = removal(&disk).approve(&disk, &[], Path::new(DATA)).unwrap();
    disk.put(FILE, b"{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n", 1_001, 0o644);
    let before = tree(&disk);
    assert_eq!(
        refusal(change_lock(&disk).apply(&approved)),
        Refusal::Changed { path: FILE.into() }
    );
    assert_eq!(tree(&disk), before);
}

#[test]
fn nothing_outside_of_the_roots_is_touched() {
    let disk = disk();
    disk.put("/etc/passwd", b"root", 1, 0o644);
    for path in ["/etc/passwd", "/home/tmp/../../etc/passwd", "/homework/file"] {
        disk.put(path, b"root", 1, 0o644);
        let mut plan = plan("delete");
        plan.remove(&disk, Path::new(path), about()).unwrap();
        assert_eq!(refusal(apply(&disk, plan)), Refusal::Outside { path: path.into() });
    }
}

#[test]
fn a_place_that_is_taken_is_refused_at_every_stage() {
    let disk = disk();
    let new = Path::new("/home/tmp/shop/new");
    let content = || NewContent::of_bytes(b"new".to_vec());
    let mut early = plan("ingest");
    let taken = early.create(&disk, Path::new(FILE), content(), about(), None);
    assert_eq!(refusal(taken), Refusal::Occupied { path: FILE.into() });
    let mut late = plan("ingest");
    late.create(&disk, new, content(), about(), None).unwrap();
    let approved = late.clone().approve(&disk, &[], Path::new(DATA)).unwrap();
    disk.put("/home/tmp/shop/new", b"theirs", 1, 0o644);
    assert_eq!(refusal(apply(&disk, late)), Refusal::Occupied { path: new.into() });
    assert_eq!(refusal(change_lock(&disk).apply(&approved)), Refusal::Changed { path: new.into() });
    assert_eq!(tree(&disk)[new].1.as_ref().unwrap().0, b"theirs");
}

#[test]
fn without_room_nothing_is_begun() {
    let disk = disk();
    disk.set_free(1024 * 1024 + 15);
    let refused = refusal(apply(&disk, removal(&disk)));
    assert!(matches!(refused, Refusal::NoRoom { free: 1_048_591, .. }), "{refused:?}");
    disk.set_free(1024 * 1024 + 16);
    apply(&disk, removal(&disk)).unwrap();
}

#[test]
fn what_has_changed_since_cannot_be_undone() {
    let disk = disk();
    let id = apply(&disk, removal(&disk)).unwrap();
    disk.put(FILE, b"new", 1, 0o644);
    assert_eq!(refusal(undo(&disk, &id)), Refusal::Occupied { path: FILE.into() });
}

#[test]
fn a_name_is_removed_from_a_log_that_has_grown_since() {
    const NAMES: &str = "/home/names.jsonl";
    let path = Path::new(NAMES);
    let read = |disk: &MemoryDisk| {
        let mut bytes = Vec::new();
        disk.read(path).unwrap().read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let disk = disk();
    let old = read(&disk);
    let mut naming = plan("handover");
    let named = NewContent::of_file(path).then_bytes("{\"id\":\"ours\"}\n");
    let about = ChangeDetails { what: "names", ..about() };
    naming.replace(&disk, path, named, about).unwrap();
    let id = apply(&disk, naming).unwrap();
    let grown = format!("{}{{\"id\":\"theirs\"}}\n", read(&disk));
    disk.put(NAMES, grown.as_bytes(), 1, 0o644);
    undo(&disk, &id).unwrap();
    assert_eq!(read(&disk), format!("{old}{{\"id\":\"theirs\"}}\n"));
    // A last line that had no end, and got one, stays a line.
    disk.put(NAMES, b"{\"id\":\"torn\"}", 1, 0o644);
    let mut naming = plan("handover");
    let named = NewContent::of_file(path).then_bytes("\n{\"id\":\"ours\"}\n");
    naming.replace(&disk, path, named, about).unwrap();
    let id = apply(&disk, naming).unwrap();
    let grown = format!("{}{{\"id\":\"theirs\"}}\n", read(&disk));
    disk.put(NAMES, grown.as_bytes(), 1, 0o644);
    undo(&disk, &id).unwrap();
    assert_eq!(read(&disk), "{\"id\":\"torn\"}\n{\"id\":\"theirs\"}\n");
    // What was rewritten is left alone.
    let id = apply(&disk, {
        let mut naming = plan("handover");
        let named = NewContent::of_file(path).then_bytes("{\"id\":\"ours\"}\n");
        naming.replace(&disk, path, named, about).unwrap();
        naming
    });
    disk.put(NAMES, b"{\"id\":\"theirs\"}\n{\"id\":\"other\"}\n", 1, 0o644);
    assert_eq!(refusal(undo(&disk, &id.unwrap())), Refusal::Changed { path: path.into() });
}

#[test]
fn a_folder_that_others_removed_since_is_made_again() {
    let disk = disk();
    let wanted = tree(&disk);
    let id = apply(&disk, shapes(&disk).unwrap().swap_remove(0)).unwrap();
    disk.remove(Path::new("/home/tmp/shop/other")).unwrap();
    for folder in ["/home/tmp/shop/chats", "/home/tmp/shop", "/home/tmp"] {
        disk.remove_folder(Path::new(folder)).unwrap();
    }
    undo(&disk, &id).unwrap();
    let now = tree(&disk);
    let files = |tree: &Tree| tree.values().filter(|(_, file)| file.is_some()).count();
    assert_eq!(files(&now), files(&wanted) - 1);
    let is_back = |path: &str| now.get(Path::new(path)) == wanted.get(Path::new(path));
    assert!(is_back(FILE) && is_back("/home/tmp/shop/chats/agents/one.jsonl"));
}

#[test]
fn an_undone_or_emptied_change_cannot_be_undone_again() {
    let disk = disk();
    let id = apply(&disk, removal(&disk)).unwrap();
    undo(&disk, &id).unwrap();
    assert!(matches!(refusal(undo(&disk, &id)), Refusal::NotUndoable { .. }));
    let id = apply(&disk, removal(&disk)).unwrap();
    change_lock(&disk).empty(history(&disk).changes()).unwrap();
    assert!(matches!(refusal(undo(&disk, &id)), Refusal::NotUndoable { .. }));
    assert_eq!(disk.tree("/data/trash").len(), 1);
    assert!(matches!(history(&disk).find(None), Err(Error::NothingToUndo)));
}

#[test]
fn an_invalid_journal_is_reported_and_kept() {
    let disk = disk();
    disk.put("/data/journal/20260101-000000.jsonl", b"{\"record\":\"what\"}\n", 1, 0o600);
    assert!(recover(&disk).unwrap().is_empty());
    assert_eq!(history(&disk).damaged().len(), 1);
    apply(&disk, removal(&disk)).unwrap();
    assert_eq!(history(&disk).changes().len(), 1);
}
