//! Tests of the guarantees of the change pipeline, on a disk that fails in every way at every operation.

#![expect(
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::disallowed_methods,
    reason = "a failing test may panic, and tests create their own files"
)]

mod faults;
pub(crate) mod memory;
mod random;
mod real;
mod refused;
mod unread;

use std::path::Path;

use jiff::Timestamp;

use super::{
    ChangeDetails, ChangeLock, History, JournalEntry, NewContent, Plan, Recovered, Subject,
};
use crate::Error;
use memory::{MemoryDisk, Tree};

const DATA: &str = "/data";
const USER: &str = "/home";
const SESSION: &str = "3d2f9a10-5c1b-4d11-b127-fab536451cda";

fn change_lock(disk: &MemoryDisk) -> ChangeLock<'_> {
    ChangeLock { disk, data: Path::new(DATA), now: Timestamp::UNIX_EPOCH, _turn: None }
}

/// Returns a home with files of several sizes, times and permissions.
fn disk() -> MemoryDisk {
    let disk = MemoryDisk::default();
    disk.folder(DATA);
    disk.put("/home/tmp/shop/chats/session-a.jsonl", b"{\"a\":1}\n{\"b\":2}\n", 1_000, 0o644);
    disk.put("/home/tmp/shop/chats/session-b.json", b"{}", 2_000, 0o600);
    disk.put("/home/tmp/shop/chats/agents/one.jsonl", b"one", 3_000, 0o640);
    disk.put("/home/tmp/shop/chats/agents/two.jsonl", b"", 4_000, 0o444);
    disk.put("/home/tmp/shop/other", b"not ours", 5_000, 0o644);
    disk.put("/home/names.jsonl", b"{\"id\":\"a\"}\n", 7_000, 0o644);
    disk.put("/home/names.jsonl.lock", b"", 7_000, 0o644);
    disk.put("/home/projects.json", b"{\"projects\":{}}", 6_000, 0o600);
    disk
}

fn about() -> ChangeDetails<'static> {
    ChangeDetails { session: Some(SESSION), what: "session" }
}

fn plan(command: &str) -> Plan {
    let mut plan = Plan::new(command, vec![USER.into()]);
    let (source, id) = ("agent".to_owned(), SESSION.to_owned());
    plan.sessions.push(Subject { source, id, title: None, project: None });
    plan
}

/// Returns plans of every shape.
fn shapes(disk: &MemoryDisk) -> Result<Vec<Plan>, Error> {
    let at = |path: &str| Path::new("/home").join(path);
    let chats = "tmp/shop/chats";
    let mut removal = plan("delete");
    for name in ["session-a.jsonl", "session-b.json", "agents/one.jsonl", "agents/two.jsonl"] {
        removal.remove(disk, &at(chats).join(name), about())?;
    }
    removal.remove_folder(disk, &at(chats).join("agents"))?;
    let mut title = plan("rename");
    let file = at("tmp/shop/chats/session-a.jsonl");
    let more = NewContent::of_file(&file).then_bytes("{\"$set\":{\"summary\":\"x\"}}\n");
    title.replace(disk, &file, more, about())?;
    let mut moving = plan("move");
    moving.move_file(disk, &file, &at("tmp/store/chats/session-a.jsonl"), about())?;
    let agent = at("tmp/shop/chats/agents/two.jsonl");
    moving.move_file(disk, &agent, &at("tmp/store/chats/agents/two.jsonl"), about())?;
    let register = at("projects.json");
    let other = NewContent::default().then_stretch(&register, 0, 13).then_bytes("\"/a\":\"b\"}}");
    moving.replace(disk, &register, other, about())?;
    moving.locks.push(at("projects.json.lock"));
    let mut making = plan("ingest");
    let note = NewContent::of_bytes(b"new".to_vec());
    making.create(disk, &at("tmp/new/chats/session-c.jsonl"), note, about(), None)?;
    // A copy with a name, which an agent keeps in one file for all: its processes lock another file to change it.
    let names = at("names.jsonl");
    making.replace(
        disk,
        &names,
        NewContent::of_file(&names).then_bytes("{\"id\":\"c\"}\n"),
        about(),
    )?;
    making.file_locks.push(at("names.jsonl.lock"));
    let mut pruning = plan("prune");
    for name in ["session-a.jsonl", "agents/one.jsonl"] {
        pruning.remove_unread(disk, &at(chats).join(name), about())?;
    }
    Ok(vec![removal, title, moving, making, pruning])
}

fn apply(disk: &MemoryDisk, plan: Plan) -> Result<String, Error> {
    let approved = plan.approve(disk, &[], Path::new(DATA))?;
    change_lock(disk).apply(&approved)
}

fn recover(disk: &MemoryDisk) -> Result<Vec<Recovered>, Error> {
    change_lock(disk).recover(&|_| false)
}

fn history(disk: &MemoryDisk) -> History {
    History::read(disk, Path::new(DATA)).unwrap()
}

fn undo(disk: &MemoryDisk, id: &str) -> Result<String, Error> {
    let history = history(disk);
    let entry: &JournalEntry = history.find(Some(id))?;
    let plan = history.undo(disk, Path::new(DATA), entry, |_| true)?;
    apply(disk, plan)
}

/// Returns the user's files. A stale lock is not the user's data.
fn tree(disk: &MemoryDisk) -> Tree {
    let mut tree = disk.tree(USER);
    tree.retain(|path, _| path.extension().is_none_or(|ending| ending != "lock"));
    tree
}

/// Returns the contents of the disk after a plan was carried out without a fault.
fn outcome(number: usize) -> Tree {
    let disk = disk();
    let plan = shapes(&disk).unwrap().swap_remove(number);
    apply(&disk, plan).unwrap();
    tree(&disk)
}
