//! Tests of random plans with random faults.

use proptest::prelude::*;

use super::memory::{Fault, Loss};
use super::*;

#[derive(Clone, Debug)]
enum Operation {
    Remove(usize),
    Append(usize, Vec<u8>),
    Cut(usize, u64),
    Move(usize, usize),
    Make(usize, Vec<u8>),
    Clear(usize),
}

const FILES: &[&str] = &[
    "/home/tmp/shop/chats/session-a.jsonl",
    "/home/tmp/shop/chats/session-b.json",
    "/home/tmp/shop/chats/agents/one.jsonl",
    "/home/tmp/shop/chats/agents/two.jsonl",
    "/home/projects.json",
];
const PLACES: &[&str] =
    &["/home/tmp/a", "/home/tmp/b/c/d", "/home/tmp/b/c/e", "/home/tmp/shop/chats/agents/three"];
const FOLDERS: &[&str] =
    &["/home/tmp/shop/chats/agents", "/home/tmp/shop/chats", "/home/tmp/shop", "/home/tmp"];

fn deed() -> impl Strategy<Value = Operation> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..20);
    prop_oneof![
        (0..FILES.len()).prop_map(Operation::Remove),
        (0..FILES.len(), bytes()).prop_map(|(file, bytes)| Operation::Append(file, bytes)),
        (0..FILES.len(), 0u64..8).prop_map(|(file, at)| Operation::Cut(file, at)),
        (0..FILES.len(), 0..PLACES.len()).prop_map(|(file, place)| Operation::Move(file, place)),
        (0..PLACES.len(), bytes()).prop_map(|(place, bytes)| Operation::Make(place, bytes)),
        (0..FOLDERS.len()).prop_map(Operation::Clear),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    let at = || 1usize..160;
    prop_oneof![
        at().prop_map(Fault::Stop),
        at().prop_map(Fault::Torn),
        at().prop_map(Fault::Once),
        at().prop_map(Fault::Full),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![Just(Loss::Nothing), Just(Loss::Unsynced), any::<usize>().prop_map(Loss::Some)]
}

/// Returns a plan of the compatible operations: each path is changed once.
fn planned(disk: &MemoryDisk, operations: &[Operation]) -> Plan {
    let mut plan = plan("change");
    for deed in operations {
        let taken = |path: &str| plan.steps.iter().any(|step| step.path == Path::new(path));
        let (file, place) = match deed {
            Operation::Remove(file) | Operation::Append(file, _) | Operation::Cut(file, _) => {
                (FILES[*file], "")
            }
            Operation::Move(file, place) => (FILES[*file], PLACES[*place]),
            Operation::Make(place, _) => ("", PLACES[*place]),
            Operation::Clear(folder) => {
                plan.remove_folder(disk, Path::new(FOLDERS[*folder])).unwrap();
                continue;
            }
        };
        if taken(file) || taken(place) {
            continue;
        }
        let (file, place) = (Path::new(file), Path::new(place));
        match deed {
            Operation::Remove(_) => plan.remove(disk, file, about()),
            Operation::Append(_, bytes) => {
                let content = NewContent::of_file(file).then_bytes(bytes.clone());
                plan.replace(disk, file, content, about())
            }
            Operation::Cut(_, at) => {
                let length = disk.tree(USER)[file].1.as_ref().unwrap().0.len() as u64;
                let content = NewContent::default().then_stretch(file, 0, (*at).min(length));
                plan.replace(disk, file, content, about())
            }
            Operation::Move(..) => plan.move_file(disk, file, place, about()),
            Operation::Make(_, bytes) => {
                plan.create(disk, place, NewContent::of_bytes(bytes.clone()), about(), None)
            }
            Operation::Clear(_) => Ok(()),
        }
        .unwrap();
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_plan_with_any_fault_is_made_or_not_and_can_be_undone(
        operations in proptest::collection::vec(deed(), 1..8),
        fault in fault(),
        loss in loss(),
    ) {
        let undisturbed = disk();
        let before = tree(&undisturbed);
        let plan = planned(&undisturbed, &operations);
        if !plan.is_empty() {
            apply(&undisturbed, plan.clone()).unwrap();
            let after = tree(&undisturbed);
            let disk = disk();
            let approved = plan.approve(&disk, &[], Path::new(DATA)).unwrap();
            disk.plant(fault);
            let applied = change_lock(&disk).apply(&approved);
            let refused = matches!(&applied, Err(error) if !matches!(error, Error::Unfinished { .. }));
            let crashed = matches!(fault, Fault::Stop(_) | Fault::Torn(_));
            disk.reboot(if crashed { loss } else { Loss::Nothing });
            if refused && !crashed {
                prop_assert_eq!(&tree(&disk), &before);
            }
            recover(&disk).unwrap();
            let now = tree(&disk);
            prop_assert!(now == before || now == after, "{now:#?}\nis neither\n{before:#?}\nnor\n{after:#?}");
            prop_assert!(applied.is_err() || now == after);
            if history(&disk).find(None).is_ok() {
                let id = history(&disk).find(None).unwrap().id.clone();
                undo(&disk, &id).unwrap();
            }
            prop_assert_eq!(&tree(&disk), &before);
        }
    }
}
