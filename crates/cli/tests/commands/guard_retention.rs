//! `recount guard --retention`: one value of the agent's settings, and not a byte more.

use crate::home;

const SETTINGS: &str = ".gemini/settings.json";

#[test]
fn settings_are_changed_in_their_place_and_back() {
    let home = home(["gemini/lines/plain"]);
    let text = "{\r\n\t// mine\r\n\t\"ui\": { \"theme\": \"x\" }, /* and */ \"general\": { \"vimMode\": true }\r\n}\r\n";
    home.write(SETTINGS, text);
    insta::assert_snapshot!(home.run(["guard", "--retention", "off", "--release", "0.60.0", "--yes"]), @"
    CHANGE  WHAT      BEFORE  AFTER  FILE
    change  settings    83 B  123 B  ~/.gemini/settings.json
    ------- stderr -------
    note: the agent deletes no session by itself; `recount undo 20261116-000000` reverts it
    [exit 0]
    ");
    let new = text.replace("true }", "true, \"sessionRetention\": {\"enabled\": false} }");
    assert_eq!(String::from_utf8(home.read(SETTINGS)).unwrap(), new);
    let calm = home.run(["guard", "--release", "0.60.0"]);
    assert!(calm.stdout.contains("general.sessionRetention.enabled is off"), "{calm}");
    insta::assert_snapshot!(home.run(["guard", "--retention", "off", "--release", "0.60.0", "--yes"]), @"
    ------- stderr -------
    note: it is set already: the agent deletes no session by itself
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["guard", "--retention", "90", "--release", "0.60.0", "-q", "--yes"]), @"
    CHANGE  WHAT      BEFORE  AFTER  FILE
    change  settings   123 B  139 B  ~/.gemini/settings.json
    [exit 0]
    ");
    for _ in 0..2 {
        let undone = home.run(["undo", "--yes"]);
        assert_eq!(undone.code, Some(0), "{undone}");
    }
    assert_eq!(String::from_utf8(home.read(SETTINGS)).unwrap(), text);
}

#[test]
fn a_file_that_is_missing_is_made_and_undone() {
    let home = home(["gemini/lines/plain"]);
    let path = home.path().join(SETTINGS);
    let had = path.exists();
    let output = home.run(["guard", "--retention", "7d", "--yes", "--json"]);
    assert_eq!(output.code, Some(0), "{output}");
    let text = String::from_utf8(home.read(SETTINGS)).unwrap();
    assert!(text.contains("\"maxAge\": \"7d\""), "{text}");
    assert_eq!(home.run(["undo", "--yes"]).code, Some(0));
    assert_eq!(path.exists(), had);
}

#[test]
fn overriding_settings_are_reported() {
    let home = home(["gemini/lines/plain"]);
    home.write(
        SETTINGS,
        r#"{"general": {"sessionRetention": {"minRetention": "5d", "maxCount": 9}}}"#,
    );
    insta::assert_snapshot!(home.run(["guard", "--retention", "3", "--release", "0.60.0", "--dry-run"]), @"
    CHANGE  WHAT      BEFORE  AFTER  FILE
    change  settings    72 B  105 B  ~/.gemini/settings.json
    ------- stderr -------
    note: this disables the agent's clean-up: maxAge 3d is less than minRetention 5d: no session is deleted
    note: nothing was changed (--dry-run)
    [exit 0]
    ");
    home.write(SETTINGS, r#"{"general": {"sessionRetention": {"maxCount": 9}}}"#);
    insta::assert_snapshot!(home.run(["guard", "--retention", "40", "--release", "0.60.0", "--dry-run"]), @"
    CHANGE  WHAT      BEFORE  AFTER  FILE
    change  settings    50 B   84 B  ~/.gemini/settings.json
    ------- stderr -------
    note: maxCount still holds: over the limit of 9 sessions
    note: nothing was changed (--dry-run)
    [exit 0]
    ");
}

#[test]
fn invalid_settings_are_not_changed() {
    let home = home(["gemini/lines/plain"]);
    home.write(SETTINGS, "{\n  \"a\": 1\n  \"b\": 2\n}\n");
    insta::assert_snapshot!(home.run(["guard", "--retention", "off", "--yes"]), @"
    ------- stderr -------
    error: cannot parse ~home~/.gemini/settings.json: line 3: a comma or an end is missing
    hint: nothing was changed; fix the file first, because the agent does not start with it; or set the value by hand
    [exit 3]
    ");
    assert_eq!(home.read(SETTINGS), b"{\n  \"a\": 1\n  \"b\": 2\n}\n");
    insta::assert_snapshot!(home.run(["guard", "--retention", "soon"]), @"
    ------- stderr -------
    error: invalid value 'soon' for '--retention <off|DAYS>': give `off` or a number of days

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn a_project_with_other_settings_is_reported() {
    let home = home(["gemini/lines/plain"]);
    let own = r#"{"general": {"sessionRetention": {"enabled": true, "maxAge": "10d"}}}"#;
    home.write("code/shop/.gemini/settings.json", own);
    home.write(".gemini/tmp/shop/.project_root", home.at("code/shop"));
    let output =
        home.run_with(["guard", "--retention", "off", "--release", "0.60.0", "--yes"], |command| {
            command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
        });
    assert_eq!(output.code, Some(0), "{output}");
    let expected = "other settings apply in ~/code/shop: ~/code/shop/.gemini/settings.json";
    assert!(output.stderr.contains(expected), "{output}");
}
