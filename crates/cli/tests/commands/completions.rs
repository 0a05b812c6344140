//! `recount completions`

use crate::home;

#[test]
fn every_shell_gets_its_script() {
    let home = home([]);
    for (shell, start) in [
        ("bash", "_recount()"),
        ("zsh", "#compdef recount"),
        ("fish", "# Print"),
        ("powershell", ""),
    ] {
        let output = home.run(["completions", shell]);
        assert_eq!(output.code, Some(0), "{shell}");
        assert!(output.stdout.starts_with(start), "{shell}: {:.60}", output.stdout);
        assert!(output.stdout.contains("testbed"), "{shell}");
        assert_eq!(output.stderr, "", "{shell}");
    }
}

#[test]
fn an_unknown_shell_is_bad_usage() {
    insta::assert_snapshot!(home([]).run(["completions", "tcsh-5"]), @r"
    ------- stderr -------
    error: invalid value 'tcsh-5' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

    For more information, try '--help'.
    [exit 2]
    ");
}
