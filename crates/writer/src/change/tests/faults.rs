//! Stopped, failed, filled up and unplugged at every operation.

use super::memory::{Fault, LATE, Loss};
use super::*;

const SHAPES: usize = 4;
const LOSSES: [Loss; 5] =
    [Loss::Nothing, Loss::Unsynced, Loss::Some(0), Loss::Some(1), Loss::Some(7)];

/// Carries out a plan with a fault, and starts again.
fn disturbed(number: usize, fault: Fault, loss: Loss) -> (MemoryDisk, Result<String, Error>) {
    let disk = disk();
    let plan = shapes(&disk).unwrap().swap_remove(number);
    let approved = plan.approve(&disk, &[], Path::new(DATA)).unwrap();
    disk.plant(fault);
    let applied = change_lock(&disk).apply(&approved);
    disk.reboot(loss);
    (disk, applied)
}

/// How many operations a plan takes.
fn length(number: usize) -> usize {
    let disk = disk();
    let plan = shapes(&disk).unwrap().swap_remove(number);
    let approved = plan.approve(&disk, &[], Path::new(DATA)).unwrap();
    disk.plant(Fault::None);
    change_lock(&disk).apply(&approved).unwrap();
    disk.operations()
}

/// All is as before or as after, nothing of ours is left about, and what was done can be undone.
fn settled(disk: &MemoryDisk, [before, after]: &[Tree; 2], told: &str) -> bool {
    let now = tree(disk);
    assert!(now == *before || now == *after, "{told}: neither before nor after: {now:#?}");
    assert!(!history(disk).is_cut_short(), "{told}");
    let changed = now == *after;
    if changed {
        let id = history(disk).find(None).unwrap().id.clone();
        undo(disk, &id).unwrap();
        assert_eq!(tree(disk), *before, "{told}: undone");
    }
    let copies = disk.tree("/data/trash");
    let needed = |path: &Path| path.components().count() <= 3 || changed;
    assert!(copies.keys().all(|path| needed(path)), "{told}: {copies:#?}");
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
                    let told = format!("shape {number}, {fault:?}, {loss:?}");
                    let (disk, applied) = disturbed(number, fault, loss);
                    recover(&disk).unwrap_or_else(|error| panic!("{told}: {}", error.told()));
                    let changed = settled(&disk, &ends, &told);
                    assert!(changed || applied.is_err(), "{told}: said to be made");
                    *(if changed { &mut made } else { &mut not_made }) += 1;
                }
            }
        }
        assert!(made > 0 && not_made > 0, "shape {number}: {made} made, {not_made} not made");
    }
}

#[test]
fn an_error_at_any_operation_takes_all_back() {
    for number in 0..SHAPES {
        let ends = [tree(&disk()), outcome(number)];
        for at in 1..=length(number) {
            for fault in [Fault::Once(at), Fault::Full(at), Fault::Rot(at)] {
                let told = format!("shape {number}, {fault:?}");
                let (disk, applied) = disturbed(number, fault, Loss::Nothing);
                match applied {
                    Ok(_) => {}
                    Err(Error::Unfinished { .. }) => drop(recover(&disk).unwrap()),
                    Err(_) => assert_eq!(tree(&disk), ends[0], "{told}: said not to be made"),
                }
                settled(&disk, &ends, &told);
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
                let told = format!("shape {number}, stopped at {at}, again at {again}");
                let (disk, _) = disturbed(number, Fault::Stop(at), Loss::Unsynced);
                disk.plant(Fault::Stop(again));
                let recovered = recover(&disk);
                disk.reboot(if again % 2 == 0 { Loss::Unsynced } else { Loss::Nothing });
                recover(&disk).unwrap_or_else(|error| panic!("{told}: {}", error.told()));
                settled(&disk, &ends, &told);
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
            let (disk, applied) = disturbed(number, Fault::None, Loss::Nothing);
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
        let (disk, applied) = disturbed(number, Fault::None, Loss::Nothing);
        let mut last = applied.unwrap();
        for wanted in [&before, &after, &before, &after] {
            last = undo(&disk, &last).unwrap();
            assert_eq!(tree(&disk), *wanted);
        }
        // What was made once more is the last change, if none is named.
        let id = history(&disk).find(None).unwrap().id.clone();
        assert_eq!(id, last);
        undo(&disk, &id).unwrap();
        assert_eq!(tree(&disk), before);
        assert!(history(&disk).find(None).is_err(), "shape {number}");
    }
}

#[test]
fn what_others_wrote_meanwhile_is_left_alone_and_the_rest_comes_back() {
    let stolen = "/home/tmp/shop/chats/session-b.json";
    for at in 1..=length(0) {
        let (disk, _) = disturbed(0, Fault::Stop(at), Loss::Nothing);
        disk.put(stolen, b"somebody else's", 9_000, 0o644);
        recover(&disk).unwrap();
        let mut wanted = tree(&super::disk());
        let theirs = (Some(0o644), Some((b"somebody else's".to_vec(), Some(9_000))));
        wanted.insert(stolen.into(), theirs);
        let now = tree(&disk);
        // Once everything was done, only what others wrote is there.
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
fn what_is_live_again_is_taken_back_rather_than_finished() {
    let before = tree(&disk());
    let mut seen = 0;
    for at in 1..=length(0) {
        let (disk, _) = disturbed(0, Fault::Stop(at), Loss::Nothing);
        let recovered = change_lock(&disk).recover(&|plan| plan.sessions[0].id == SESSION).unwrap();
        if recovered.iter().any(|recovered| !recovered.finished) {
            assert_eq!(tree(&disk), before, "stopped at {at}");
            seen += 1;
        }
    }
    assert!(seen > 10);
}

/// An agent adds to its session at any moment of a change: what it adds is there afterwards, and what was there too.
#[test]
fn what_an_agent_adds_meanwhile_is_not_lost() {
    let old = b"{\"a\":1}\n{\"b\":2}\n";
    for number in 0..SHAPES {
        let (mut refused, mut made) = (0, 0);
        for at in 1..=length(number) + 1 {
            for then in 0..3 {
                let told = format!("shape {number}, opened at {at}, written {then} later");
                let (disk, applied) = disturbed(number, Fault::Late(at, then), Loss::Nothing);
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
                assert!(!is_written || holds(&files[0], LATE), "{told}: {files:?}");
                assert!(holds(&files.concat(), old), "{told}: {files:?}");
                *(if applied.is_ok() { &mut made } else { &mut refused }) += 1;
            }
        }
        // What is made new is nobody's yet.
        assert!(refused > 0 || number == 3, "shape {number}: {made} made");
    }
}
