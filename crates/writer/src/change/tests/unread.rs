//! Tests of removed files: planning reads only their metadata, approval reads their bytes.

use super::*;
use crate::change::Refusal;

const FILE: &str = "/home/tmp/shop/chats/session-a.jsonl";

fn removal(disk: &MemoryDisk) -> Plan {
    let mut plan = plan("prune");
    for name in ["session-a.jsonl", "session-a.jsonl", "agents/one.jsonl", "none"] {
        let path = Path::new("/home/tmp/shop/chats").join(name);
        plan.remove_unread(disk, &path, about()).unwrap();
    }
    plan
}

#[test]
fn unread_files_are_restored_byte_for_byte() {
    let disk = disk();
    let before = tree(&disk);
    let mut plan = removal(&disk);
    assert_eq!(plan.steps.len(), 2);
    assert!(plan.steps.iter().all(|step| step.before.as_ref().unwrap().hash.is_none()));
    assert_eq!(plan.bytes_before(), 19);
    let receipt = apply(&disk, plan.clone()).unwrap();
    assert!(!tree(&disk).contains_key(Path::new(FILE)));
    undo(&disk, &receipt).unwrap();
    assert_eq!(tree(&disk), before);
    plan.complete(&disk).unwrap();
    assert!(plan.steps.iter().all(|step| step.before.as_ref().unwrap().hash.is_some()));
}

#[test]
fn a_file_that_changed_since_it_was_looked_at_is_refused() {
    for (bytes, modified) in [(b"{\"a\":1}\n{\"b\":2}\n" as &[u8], 1_001), (b"{}", 1_000)] {
        let disk = disk();
        let mut plan = removal(&disk);
        disk.put(FILE, bytes, modified, 0o644);
        let before = tree(&disk);
        let refused = plan.complete(&disk);
        assert!(matches!(&refused, Err(Error::Refused(Refusal::Changed { .. }))), "{refused:?}");
        assert!(matches!(apply(&disk, plan), Err(Error::Refused(Refusal::Changed { .. }))));
        assert_eq!(tree(&disk), before);
    }
}

#[test]
fn steps_are_found_by_path_even_after_some_were_removed() {
    let disk = disk();
    let mut plan = removal(&disk);
    let agent = Path::new("/home/tmp/shop/chats/agents/one.jsonl");
    assert!(plan.has(Path::new(FILE)) && plan.has(agent));
    plan.steps.pop();
    assert!(plan.has(Path::new(FILE)) && !plan.has(agent));
    let other = Path::new("/home/tmp/shop/chats/session-b.json");
    plan.remove_unread(&disk, other, about()).unwrap();
    plan.steps.pop();
    plan.remove_unread(&disk, agent, about()).unwrap();
    assert!(plan.has(agent) && !plan.has(other));
}

#[test]
fn folders_are_removed_once_and_the_inner_ones_first() {
    let disk = disk();
    let mut plan = plan("prune");
    for path in ["/home/tmp", "/home/tmp/shop/chats", "/home/tmp/shop", "/home/tmp", "/none"] {
        plan.remove_folder(&disk, Path::new(path)).unwrap();
    }
    let removed: Vec<_> = plan.removed.iter().map(|folder| folder.path.to_str().unwrap()).collect();
    assert_eq!(removed, ["/home/tmp/shop/chats", "/home/tmp/shop", "/home/tmp"]);
}
