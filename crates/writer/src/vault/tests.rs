//! Tests of the guarantees of the vault, on a disk that fails in every way at every operation: everything in the index
//! exists completely, and a copy is never lost.

#![expect(clippy::indexing_slicing, reason = "a failing test may panic")]

use std::path::Path;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::change::tests::memory::{Fault as DiskFault, Loss, MemoryDisk};
use crate::change::{ChangeDetails, Plan};

const DATA: &str = "/data";
const LOG: &str = "/home/chats/session-a.jsonl";
const OTHER: &str = "/home/chats/session-b.json";
const LOSSES: [Loss; 5] =
    [Loss::Nothing, Loss::Unsynced, Loss::Some(0), Loss::Some(1), Loss::Some(7)];

fn disk() -> MemoryDisk {
    let disk = MemoryDisk::default();
    disk.folder(DATA);
    disk.put(LOG, b"one\n", 1_000, 0o644);
    disk.put(OTHER, b"{}", 2_000, 0o600);
    disk
}

fn whose() -> FileOwner {
    FileOwner { source: "agent".to_owned(), session: "a".to_owned(), ..FileOwner::default() }
}

fn vault(disk: &MemoryDisk) -> Result<Vault<'_>, Error> {
    Vault::found(disk, Path::new(DATA), Timestamp::UNIX_EPOCH, None)
}

fn keep(disk: &MemoryDisk) -> Result<Vec<Outcome>, Error> {
    let mut vault = vault(disk)?;
    let mut outcomes = Vec::new();
    for file in [LOG, OTHER] {
        outcomes.push(vault.keep(Path::new(file), &whose())?);
    }
    vault.commit()?;
    Ok(outcomes)
}

/// Returns the content of a copy.
fn bytes(disk: &MemoryDisk, copy: &VaultCopy) -> Vec<u8> {
    let mut out = Vec::new();
    copy.content(Path::new(DATA)).write(disk, &mut out, Path::new("")).unwrap();
    out
}

/// Returns everything in the vault, every copy verified.
fn held(disk: &MemoryDisk, case: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let index = VaultIndex::read(disk, Path::new(DATA)).unwrap();
    let copy = |copy: &VaultCopy| {
        VaultIndex::verify(disk, Path::new(DATA), copy)
            .unwrap_or_else(|why| panic!("{case}: {why} of {copy:?}"));
        (copy.file.clone(), bytes(disk, copy))
    };
    index.copies().map(copy).collect()
}

#[test]
fn a_file_that_grew_gets_a_frame_and_another_a_generation() {
    use Outcome::{Changed, Grown, New, Unchanged};
    let disk = disk();
    assert_eq!(keep(&disk).unwrap(), [New, New]);
    assert_eq!(keep(&disk).unwrap(), [Unchanged, Unchanged]);
    disk.put(LOG, b"one\ntwo\n", 3_000, 0o644);
    disk.put(OTHER, b"{\"a\":1}", 3_000, 0o600);
    assert_eq!(keep(&disk).unwrap(), [Grown, Changed]);
    // Truncated, then restored: nothing of it is lost.
    disk.put(LOG, b"on", 4_000, 0o644);
    assert_eq!(keep(&disk).unwrap(), [Changed, Unchanged]);
    disk.put(LOG, b"on", 5_000, 0o644);
    assert_eq!(keep(&disk).unwrap(), [Grown, Unchanged]);
    let texts: Vec<Vec<u8>> = held(&disk, "").into_iter().map(|(_, bytes)| bytes).collect();
    assert_eq!(texts, [&b"one\ntwo\n"[..], b"on", b"{}", b"{\"a\":1}"]);
    // A missing file is reported, and its copy stays.
    let mut vault = vault(&disk).unwrap();
    assert_eq!(vault.keep(Path::new("/home/none"), &whose()).unwrap(), Outcome::Missing);
    // It is restored through the change pipeline.
    let copy = vault.index().copies().next().unwrap().clone();
    let mut plan = Plan::new("restore", vec!["/home".into()]);
    let about = ChangeDetails { session: None, what: "session" };
    let content = copy.content(Path::new(DATA));
    plan.create(&disk, Path::new("/home/chats/back.jsonl"), content, about, None).unwrap();
    assert_eq!(plan.steps[0].after.as_ref().unwrap().hash, Some(copy.hash));
}

#[test]
fn with_a_fault_at_any_operation_the_index_has_only_complete_copies() {
    // The change between the first copy, without a fault, and the second.
    let change = |disk: &MemoryDisk| {
        disk.put(LOG, b"one\ntwo\n", 3_000, 0o644);
        disk.put(OTHER, b"{\"a\":1}", 3_000, 0o600);
    };
    for fresh in [true, false] {
        let ready = || {
            let disk = disk();
            if !fresh {
                keep(&disk).unwrap();
                change(&disk);
            }
            disk
        };
        let counted = ready();
        counted.plant(DiskFault::None);
        keep(&counted).unwrap();
        let (length, wanted) = (counted.operations(), held(&counted, "undisturbed"));
        let before = held(&ready(), "before");
        let mut failed = 0;
        for at in 1..=length + 1 {
            for fault in [
                DiskFault::Stop(at),
                DiskFault::Torn(at),
                DiskFault::Once(at),
                DiskFault::Full(at),
                DiskFault::Rot(at),
            ] {
                for loss in LOSSES {
                    let case = format!("fresh {fresh}, {fault:?}, {loss:?}");
                    let disk = ready();
                    disk.plant(fault);
                    let kept = keep(&disk);
                    disk.reboot(loss);
                    let now = held(&disk, &case);
                    for (file, bytes) in &before {
                        let still = |(other, now): &(PathBuf, Vec<u8>)| {
                            other == file && now.starts_with(bytes)
                        };
                        assert!(now.iter().any(still), "{case}: {} is lost", file.display());
                    }
                    match kept {
                        Ok(_) => assert_eq!(now, wanted, "{case}: said to be kept"),
                        Err(_) => failed += 1,
                    }
                    keep(&disk).unwrap_or_else(|error| panic!("{case}: {}", error.full_message()));
                    let again = held(&disk, &case);
                    for (file, bytes) in &wanted {
                        let is_there = again.contains(&(file.clone(), bytes.clone()));
                        assert!(is_there, "{case}: {} is not kept", file.display());
                    }
                }
            }
        }
        assert!(failed > length, "{failed}");
    }
}

#[test]
fn with_a_fault_while_pruning_only_unwanted_copies_are_lost() {
    let ready = || {
        let disk = disk();
        keep(&disk).unwrap();
        disk.put(OTHER, b"{\"a\":1}", 3_000, 0o600);
        keep(&disk).unwrap();
        disk.put("/data/vault/files/left-by-a-crash.zst", b"x", 1, 0o600);
        disk
    };
    let prune = |disk: &MemoryDisk| {
        vault(disk)?.prune(|copy| copy.file == Path::new(OTHER) && copy.generation == 1)
    };
    let counted = ready();
    counted.plant(DiskFault::None);
    assert!(prune(&counted).unwrap() > 0);
    let wanted = held(&counted, "undisturbed");
    assert_eq!(wanted.len(), 2);
    for at in 1..=counted.operations() + 1 {
        for fault in [DiskFault::Stop(at), DiskFault::Torn(at), DiskFault::Once(at)] {
            for loss in LOSSES {
                let case = format!("{fault:?}, {loss:?}");
                let disk = ready();
                disk.plant(fault);
                let pruned = prune(&disk);
                disk.reboot(loss);
                let now = held(&disk, &case);
                assert!(wanted.iter().all(|copy| now.contains(copy)), "{case}");
                prune(&disk).unwrap_or_else(|error| panic!("{case}: {}", error.full_message()));
                assert_eq!(held(&disk, &case), wanted, "{case}");
                let files = disk.tree("/data/vault/files").len();
                assert_eq!(files, 3, "{case}: {pruned:?}");
            }
        }
    }
}

#[test]
fn damage_is_found() {
    let disk = disk();
    keep(&disk).unwrap();
    let index = VaultIndex::read(&disk, Path::new(DATA)).unwrap();
    let copy = index.copies().next().unwrap();
    let place = place(&folder(Path::new(DATA)), &copy.file, copy.generation);
    let (_, packed) = disk.tree(place.to_str().unwrap()).remove(&place).unwrap();
    let mut packed = packed.unwrap().0;
    let middle = packed.len() / 2;
    packed[middle] ^= 4;
    disk.put(place.to_str().unwrap(), &packed, 1, 0o600);
    assert!(VaultIndex::verify(&disk, Path::new(DATA), copy).is_err());
    // A truncated copy is created again, not appended to.
    disk.put(place.to_str().unwrap(), &packed[..2], 1, 0o600);
    disk.put(LOG, b"one\ntwo\n", 3_000, 0o644);
    assert_eq!(keep(&disk).unwrap()[0], Outcome::Changed);
    let index = VaultIndex::read(&disk, Path::new(DATA)).unwrap();
    assert_eq!(bytes(&disk, index.newest(Path::new(LOG)).unwrap()), b"one\ntwo\n");
}

proptest! {
    #[test]
    fn whatever_a_file_becomes_each_state_is_the_start_of_a_generation(
        steps in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..300)), 1..8),
    ) {
        let disk = disk();
        let mut now = Vec::new();
        let mut states = Vec::new();
        for (number, (grows, bytes)) in (0..).zip(steps) {
            if grows {
                now.extend_from_slice(&bytes);
            } else {
                now = bytes;
            }
            disk.put(LOG, &now, 10_000 + number, 0o644);
            keep(&disk).unwrap();
            states.push(now.clone());
        }
        let held = held(&disk, "");
        for state in &states {
            let is_its = |(file, bytes): &(PathBuf, Vec<u8>)| file == Path::new(LOG) && bytes.starts_with(state);
            prop_assert!(held.iter().any(is_its));
        }
        let newest = held.iter().rfind(|(file, _)| file == Path::new(LOG)).unwrap();
        prop_assert_eq!(&newest.1, &now);
    }
}
