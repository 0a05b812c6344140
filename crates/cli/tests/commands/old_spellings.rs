//! Tests that renamed flags still work under their old names, and are in no help (docs/decisions/0017-vocabulary.md).

use crate::home;

const SESSION: &str = "279d";

#[test]
fn old_spellings_do_what_the_new_ones_do() {
    let home = home([]);
    let made = home.run(["testbed", "--demo", "demo"]);
    assert_eq!(made.code, Some(0), "{made}");
    let run = |arguments: &[&str]| home.run(["--home", "demo"].iter().chain(arguments));
    for (old, new) in [
        (&["show", SESSION, "--level", "full"][..], &["show", SESSION, "--level", "details"][..]),
        (&["show", SESSION, "--from", "2", "--to", "5"], &["show", SESSION, "--messages", "2..5"]),
        (&["show", SESSION, "--from", "-3"], &["show", SESSION, "--messages", "-3.."]),
        (&["list", "--all", "--strict"], &["list", "--all", "--fail-on-problems"]),
        (&["stats", "--all", "--by", "agent"], &["stats", "--all", "--by", "subagent"]),
        (&["stats", "--all", "--context"], &["stats", "--all", "--content"]),
        (&["trim", SESSION, "--to", "1", "-n"], &["trim", SESSION, "--keep", "..1", "-n"]),
        (&["convert", SESSION, "--to", "json", "-n"], &["convert", SESSION, "-f", "json", "-n"]),
        (
            &["compact", SESSION, "--strict-only", "-n"],
            &["compact", SESSION, "--view", "strict", "-n"],
        ),
    ] {
        let (before, now) = (run(old), run(new));
        assert_eq!(before.code, Some(0), "{old:?}: {before}");
        assert_eq!(before.stdout, now.stdout, "{old:?} {new:?}");
    }
}

#[test]
fn old_spellings_are_in_no_help() {
    let home = home([]);
    for (command, gone) in [
        ("show", "--from"),
        ("trim", "--to "),
        ("convert", "--to"),
        ("compact", "--strict-only"),
        ("stats", "--context"),
        ("list", "--strict"),
        ("recover", "resurrect"),
    ] {
        let help = home.run(["help", command]);
        assert_eq!(help.code, Some(0), "{help}");
        assert!(!help.stdout.contains(gone), "{command}: {help}");
    }
    let completions = home.run(["completions", "bash"]).stdout;
    assert!(!completions.contains("help-markdown"));
}
