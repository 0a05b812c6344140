//! Tests that stop, fail, fill up and unplug the disk at every operation.

use super::memory::{Fault, LATE, Loss};
use super::*;

const SHAPES: usize = 4;
const LOSSES: [Loss; 5] =
    [Loss::Nothing, Loss::Unsynced, Loss::Some(0), Loss::Some(1), Loss::Some(7)];

/// Carries out a plan with a fault, and restarts.
fn with_fault(number: usize, fault: Fault, loss: Loss) -> (MemoryDisk, Result<String, Error>) {
    let disk = disk();
    let plan = shapes(&disk).unwrap().swap_remove(number);
    let approved = plan.approve(&disk, &[], Path::new(DATA)).unwrap();
    disk.plant(fault);
    let applied = change_lock(&disk).apply(&approved);
    disk.reboot(loss);
    (disk, applied)
}

/// Returns the number of operations of a plan.
fn length(number: usize) -> usize {
    let disk = disk();
    let plan = shapes(&disk).unwrap().swap_remove(number);
    let approved = plan.approve(&disk, &[], Path::new(DATA)).unwrap();
    disk.plant(Fault::None);
    change_lock(&disk).apply(&approved).unwrap();
    disk.operations()
}

/// Asserts that everything is as before or as after, that no temporary file is left, and that what was done can be undone.
fn settled(disk: &MemoryDisk, [before, after]: &[Tree; 2], case: &str) -> bool {
    let now = tree(disk);
    assert!(now == *before || now == *after, "{case}: neither before nor after: {now:#?}");
    assert!(!history(disk).is_cut_short(), "{case}");
    let changed = now == *after;
    if changed {
        let id = history(disk).find(None).unwrap().id.clone();
        undo(disk, &id).unwrap();
        assert_eq!(tree(disk), *before, "{case}: undone");
    }
    let copies = disk.tree("/data/trash");
    let needed = |path: &Path| path.components().count() <= 3 || changed;
    assert!(copies.keys().all(|path| needed(path)), "{case}: {copies:#?}");
    changed
}

#[test]
fn stopped_after_any_operation_a_change_is_made_or_not() {
    for number in 0..SHAPES {
        let ends = [tree(&disk()), outcome(number)];
        let (mut made, mut not_made) = (0, 0);
        for at in 1..=length(number) + 1 {
            for fault in [Fault::Stop(at), Fault::Torn(at)] {
                for loss in LOSSES {
                    let case = format!("shape {number}, {fault:?}, {loss:?}");
                    let (disk, applied) = with_fault(number, fault, loss);
                    recover(&disk)
                        .unwrap_or_else(|error| panic!("{case}: {}", error.full_message()));
                    let changed = settled(&disk, &ends, &case);
                    assert!(changed || applied.is_err(), "{case}: said to be made");
                    *(if changed { &mut made } else { &mut not_made }) += 1;
                }
            }
        }
        assert!(made > 0 && not_made > 0, "shape {number}: {made} made, {not_made} not made");
    }
}

#[test]
fn an_error_at_any_operation_rolls_everything_back() {
    for number in 0..SHAPES {
        let ends = [tree(&disk()), outcome(number)];
        for at in 1..=length(number) {
            for fault in [Fault::Once(at), Fault::Full(at), Fault::Rot(at)] {
                let case = format!("shape {number}, {fault:?}");
                let (disk, applied) = with_fault(number, fault, Loss::Nothing);
                match applied {
                    Ok(_) => {}
                    Err(Error::Unfinished { .. }) => drop(recover(&disk).unwrap()),
                    Err(_) => assert_eq!(tree(&disk), ends[0], "{case}: said not to be made"),
                }
                settled(&disk, &ends, &case);
            }
        }
    }
}

#[test]
fn a_crash_while_recovering_is_recovered_from() {
    for number in 0..SHAPES {
        let ends = [tree(&disk()), outcome(number)];
        for at in (1..=length(number)).step_by(3) {
            for again in 1.. {
                let case = format!("shape {number}, stopped at {at}, again at {again}");
                let (disk, _) = with_fault(number, Fault::Stop(at), Loss::Unsynced);
                disk.plant(Fault::Stop(again));
                let recovered = recover(&disk);
                disk.reboot(if again % 2 == 0 { Loss::Unsynced } else { Loss::Nothing });
                recover(&disk).unwrap_or_else(|error| panic!("{case}: {}", error.full_message()));
                settled(&disk, &ends, &case);
                if recovered.is_ok() {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_crash_while_undoing_leaves_it_done_or_undone() {
    for number in 0..SHAPES {
        let (before, after) = (tree(&disk()), outcome(number));
        for at in 1.. {
            let (disk, applied) = with_fault(number, Fault::None, Loss::Nothing);
            let id = applied.unwrap();
            let known = history(&disk);
            let plan = known.undo(&disk, Path::new(DATA), known.find(Some(&id)).unwrap(), |_| true);
            let approved = plan.unwrap().approve(&disk, &[], Path::new(DATA)).unwrap();
            disk.plant(Fault::Stop(at));
            let undone = change_lock(&disk).apply(&approved);
            disk.reboot(Loss::Unsynced);
            recover(&disk).unwrap();
            let now = tree(&disk);
            assert!(now == before || now == after, "shape {number}, {at}: {now:#?}");
            assert_eq!(
                history(&disk).in_force(known.find(Some(&id)).unwrap()).is_empty(),
                now == before
            );
            if now == after {
                undo(&disk, &id).unwrap();
                assert_eq!(tree(&disk), before);
            }
            if undone.is_ok() {
                break;
            }
        }
    }
}

#[test]
fn an_undo_can_be_undone_and_that_too() {
    for number in 0..SHAPES {
        let (before, after) = (tree(&disk()), outcome(number));
        let (disk, applied) = with_fault(number, Fault::None, Loss::Nothing);
        let mut last = applied.unwrap();
        for wanted in [&before, &after, &before, &after] {
            last = undo(&disk, &last).unwrap();
            assert_eq!(tree(&disk), *wanted);
        }
        // A redone change is the last change, if none is named.
        let id = history(&disk).find(None).unwrap().id.clone();
        assert_eq!(id, last);
        undo(&disk, &id).unwrap();
        assert_eq!(tree(&disk), before);
        assert!(history(&disk).find(None).is_err(), "shape {number}");
    }
}

#[test]
fn concurrent_writes_are_kept_and_the_rest_is_restored() {
    let stolen = "/home/tmp/shop/chats/session-b.json";
    for at in 1..=length(0) {
        let (disk, _) = with_fault(0, Fault::Stop(at), Loss::Nothing);
        disk.put(stolen, b"somebody else's", 9_000, 0o644);
        recover(&disk).unwrap();
        let mut wanted = tree(&super::disk());
        let theirs = (Some(0o644), Some((b"somebody else's".to_vec(), Some(9_000))));
        wanted.insert(stolen.into(), theirs);
        let now = tree(&disk);
        // Once everything was done, only what others wrote exists.
        let gone = now.keys().filter(|path| path.starts_with("/home/tmp/shop/chats")).count() == 2;
        assert!(now == wanted || gone, "stopped at {at}: {now:#?}");
        if now == wanted && history(&disk).changes().iter().any(|entry| {
            matches!(&entry.end, crate::change::JournalEnd::TakenBack { left, .. } if !left.is_empty())
        }) {
            let copies = disk.tree("/data/trash");
            let kept = copies.values().any(|(_, file)| {
                file.as_ref().is_some_and(|(bytes, _)| bytes == b"{}")
            });
            assert!(kept, "what they replaced is kept: {copies:#?}");
        }
    }
}

#[test]
fn a_change_to_a_live_session_is_rolled_back_rather_than_finished() {
    let before = tree(&disk());
    let mut seen = 0;
    for at in 1..=length(0) {
        let (disk, _) = with_fault(0, Fault::Stop(at), Loss::Nothing);
        let recovered = change_lock(&disk).recover(&|plan| plan.sessions[0].id == SESSION).unwrap();
        if recovered.iter().any(|recovered| !recovered.finished) {
            assert_eq!(tree(&disk), before, "stopped at {at}");
            seen += 1;
        }
    }
    assert!(seen > 10);
}

/// An agent appends to its session at any moment of a change: both its old content and the addition exist afterwards.
#[test]
fn concurrent_appends_are_not_lost() {
    let old = b"{\"a\":1}\n{\"b\":2}\n";
    for number in 0..SHAPES {
        let (mut refused, mut made) = (0, 0);
        for at in 1..=length(number) + 1 {
            for then in 0..3 {
                let case = format!("shape {number}, opened at {at}, written {then} later");
                let (disk, applied) = with_fault(number, Fault::LateWrite(at, then), Loss::Nothing);
                if matches!(applied, Err(Error::Unfinished { .. })) {
                    recover(&disk).unwrap();
                }
                let files = [disk.tree(USER), disk.tree("/data/trash")].map(|tree| {
                    tree.into_values().filter_map(|(_, file)| Some(file?.0)).collect::<Vec<_>>()
                });
                let holds = |files: &[Vec<u8>], wanted: &[u8]| {
                    files.iter().any(|bytes| bytes.windows(wanted.len()).any(|part| part == wanted))
                };
                let is_written = at + then <= length(number);
                assert!(!is_written || holds(&files[0], LATE), "{case}: {files:?}");
                assert!(holds(&files.concat(), old), "{case}: {files:?}");
                *(if applied.is_ok() { &mut made } else { &mut refused }) += 1;
            }
        }
        // A new file is not in use yet.
        assert!(refused > 0 || number == 3, "shape {number}: {made} made");
    }
}
