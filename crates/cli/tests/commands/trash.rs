//! Tests of the trash and undo data: both are listed, and undo data is never lost by accident.

use super::changing::{change, json, tree, undo};
use super::rewriting::{LOG, long_log, with};
use crate::{has, home};

const TOOLS: &str = "8662c6d1-79eb-45ff-9a82-649436c92eda";

#[test]
fn emptying_the_trash_keeps_what_undoes_every_other_change() {
    for arguments in [
        &["rename", "3d2f", "Tax"][..],
        &["trim", "3d2f", "--drop", "1", "--rewrite"],
        &["compact", "3d2f"],
        &["convert", "3d2f", "--to", "json"],
        &["repair", "3d2f"],
    ] {
        let home = with(&long_log(4));
        if arguments.contains(&"repair") {
            // An incomplete line that a crash leaves at the end of a log.
            home.write(LOG, long_log(4) + r#"{"id":"torn","type":"us"#);
        }
        let before = tree(&home);
        let changed = change(&home, arguments);
        let kept = json(&home, &["trash"]);
        assert_eq!(kept["sessions"].as_array().unwrap().len(), 0, "{arguments:?} {kept}");
        assert_eq!(kept["undo_data"].as_array().unwrap().len(), 1, "{arguments:?} {kept}");
        has(&kept["undo_data"][0], "receipt time command sessions files bytes");
        let emptied = change(&home, &["trash", "empty"]);
        assert_eq!(emptied["emptied"]["changes"], 0, "{arguments:?} {emptied}");
        undo(&home, &changed, &before);
    }
}

#[test]
fn undo_data_goes_only_when_it_is_asked_for_and_by_age() {
    let home = home(["gemini/lines/tools", "gemini/lines/subagent"]);
    change(&home, &["rename", TOOLS, "Tax"]);
    change(&home, &["delete", "fa29"]);
    let both = home.run(["trash"]);
    assert!(both.stdout.contains("fa293f46") && both.stdout.contains("20261116-000000"), "{both}");
    insta::assert_snapshot!(home.run(["trash", "empty", "--dry-run"]), @"
    ------- stderr -------
    note: undo data of 1 change, 482 KB, stays; --undo-data removes it, too
    note: nothing was changed (--dry-run): 1 deleted session, 12 KB would be removed
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["trash", "empty", "--yes"]), @"
    ------- stderr -------
    note: undo data of 1 change, 482 KB, stays; --undo-data removes it, too
    note: removed for good: 1 deleted session, 12 KB; 1 change can no longer be undone
    [exit 0]
    ");
    let left = home.run(["trash"]);
    assert!(!left.stdout.contains("fa293f46") && left.stdout.contains("rename"), "{left}");
    assert!(left.stderr.contains("no deleted sessions"), "{left}");
    let old = ["trash", "empty", "--undo-data", "--before", "1d", "--yes"];
    insta::assert_snapshot!(home.run(old), @"
    ------- stderr -------
    note: nothing to remove
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["trash", "empty", "--undo-data", "--yes"]), @"
    ------- stderr -------
    note: removed for good: the undo data of 1 change, 482 KB; 1 change can no longer be undone
    [exit 0]
    ");
    let undo = home.run(["undo", "20261116-000000", "--yes"]);
    assert!(undo.stderr.contains("its undo data was removed"), "{undo}");
    assert_eq!(home.path().join(".local/share/recount/trash").read_dir().unwrap().count(), 0);
}

#[test]
fn a_stub_that_guard_removes_is_undo_data() {
    let home = home(["gemini/lines/resume-stub"]);
    let fixed = change(&home, &["guard", "--fix", "--release", "0.60.0"]);
    let kept = json(&home, &["trash"]);
    assert_eq!(kept["sessions"].as_array().unwrap().len(), 0, "{kept}");
    assert_eq!(kept["undo_data"][0]["receipt"], fixed["receipt"], "{kept}");
}
