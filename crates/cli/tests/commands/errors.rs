//! What all commands share: homes, problems, exit codes, colour, pipes, and text that must not be trusted.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use recount_testkit::Home;

use crate::home;

#[test]
fn a_home_that_is_not_there_is_an_error() {
    let home = home([]);
    insta::assert_snapshot!(home.run(["--home", "nowhere", "list"]), @r"
    ------- stderr -------
    error: no such home: nowhere
    hint: give a folder that has the agents' folders below it
    [exit 2]
    ");
    home.write("file.txt", "");
    let output = home.run(["--home", "file.txt", "list"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.starts_with("error: cannot look into home file.txt: "));
}

#[test]
fn bad_usage_exits_with_2() {
    let home = home([]);
    insta::assert_snapshot!(home.run(["frobnicate"]), @r"
    ------- stderr -------
    error: unrecognized subcommand 'frobnicate'

      tip: a similar subcommand exists: 'relocate'

    Usage: recount [OPTIONS] [COMMAND]

    For more information, try '--help'.
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["--source", "hal", "list"]), @r"
    ------- stderr -------
    error: invalid value 'hal' for '--source <AGENT>'
      [possible values: gemini]

    For more information, try '--help'.
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["show"]), @r"
    ------- stderr -------
    error: the following required arguments were not provided:
      <SESSION>

    Usage: recount show <SESSION>

    For more information, try '--help'.
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["show", "latest", "--raw", "--level", "talk"]), @r"
    ------- stderr -------
    error: the argument '--raw' cannot be used with '--level <LEVEL>'

    Usage: recount show --raw <SESSION>

    For more information, try '--help'.
    [exit 2]
    ");
}

#[expect(clippy::too_many_lines, reason = "there are many commands")]
#[test]
fn help_and_version_are_no_errors() {
    let home = home([]);
    insta::assert_snapshot!(home.run(["-h"]), @"
    Recount what your coding agents did, and count it right

    Usage: recount [OPTIONS] [COMMAND]

    Commands:
      list         List sessions, newest first [alias: ls]
      show         Show a session's transcript [alias: cat]
      story        Tell a session, or all sessions of a project, in few words
      export       Write sessions to files that others can read
      search       Search everything that was ever said, in every session
      projects     List projects: which folder each is, how that is known, and what became of it
      stats        Count tokens, money and time, each request once
      prices       Show what models cost, since when, and who says so
      sql          Ask your sessions in SQL
      resume       Go on with a session: in its project's folder, with the agent it belongs to
      guard        Show what the agent's next start would delete, and why
      rename       Give a session a title, also where the agent itself shows it
      tag          Put words of your own on a session, to find it by
      pin          Pin sessions: they are kept when others are cleared away
      unpin        Take the pin from sessions
      move         Take a session to another project, where the agent then lists and resumes it
      relocate     Tell the agent that a project's folder was moved or renamed
      fork         Begin a new session with the conversation of another, as far as you want it
      merge        Make one session of several, one conversation behind the other
      doctor       Tell what is wrong with sessions and around them, and what mends it
      repair       Mend sessions that their agent cannot load, or cannot go on with
      recover      Rebuild a lost session from what is left on disk
      compact      Write session files down once more, without what they repeat
      convert      Write a session in the other of its agent's two grammars
      trim         Drop turns of a session from what its agent will load
      delete       Put sessions into the trash, with all that belongs to them
      prune        Clear sessions away by rule, into the trash
      restore      Bring a session back from the trash, from the vault, or from a backup
      trash        List deleted sessions and undo data, or remove them for good
      vault        List, verify or prune the copies that `guard --keep` holds
      undo         Take a change back, byte for byte
      history      List what recount itself has changed
      index        Bring the search index up to date
      testbed      Make a made-up but valid home, for demos, tests and benchmarks
      completions  Print completions for a shell
      man          Print a manual page

    Options:
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version

    Global options:
          --home <DIR>      Read this home instead of your own (can be repeated)
          --source <AGENT>  Read only this agent (can be repeated) [possible values: gemini]
          --json            Print one JSON document
          --color <WHEN>    When to use colour [default: auto] [possible values: auto, always, never]
      -q, --quiet           Leave out warnings
      -v, --verbose...      Say more: each problem, with file, line and bytes
          --strict          Count problems as an error: exit with 2

    A SESSION is an id, its first characters (4 or more), a file, @N (row N of the last list) or
    `latest`.
    Without a command, `recount list`.
    [exit 0]
    ");
    assert_eq!(
        home.run(["--version"]).stdout,
        concat!("recount ", env!("CARGO_PKG_VERSION"), "\n")
    );
    for command in [
        "list",
        "show",
        "story",
        "export",
        "projects",
        "sql",
        "delete",
        "restore",
        "trash",
        "undo",
        "history",
        "testbed",
        "completions",
        "man",
    ] {
        let output = home.run([command, "--help"]);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{command}");
        let widest = output.stdout.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(100), "{command} --help is {widest:?} columns wide");
    }
}

#[test]
fn problems_are_counted_shown_or_silenced() {
    let home = home(["gemini/damaged/not-understood"]);
    insta::assert_snapshot!(home.run(["list"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    SIZE  NOTES             TITLE
    1  5be9db0c  6h ago  shop           2      0     220  1.3 KB  2 not understood  What does cart.js d…
    ------- stderr -------
    note: 3 problems met while reading, 2 records not understood; -v shows each
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "-v"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    SIZE  NOTES             TITLE
    1  5be9db0c  6h ago  shop           2      0     220  1.3 KB  2 not understood  What does cart.js d…
    ------- stderr -------
    problem: ~home~/.gemini/tmp/shop/chats/session-2026-11-15T17-00-5be9db0c.jsonl:4 (bytes 390+40): record not understood; kept, see `show --raw`
    problem: ~home~/.gemini/tmp/shop/chats/session-2026-11-15T17-00-5be9db0c.jsonl:7 (bytes 700+94): unknown message type; shown as a notice
    problem: ~home~/.gemini/tmp/shop/chats/session-2026-11-15T17-00-5be9db0c.jsonl:9 (bytes 847+253): unknown field; kept, see `show --raw`
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "-q"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    SIZE  NOTES             TITLE
    1  5be9db0c  6h ago  shop           2      0     220  1.3 KB  2 not understood  What does cart.js d…
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["show", "latest", "--level", "talk"]), @r"
    What does cart.js do?
    /home/dev/code/shop · gemini · 5be9db0c-cc4f-506c-af65-210d5b404389
    2026-11-15 17:00, 20 s · 2 prompts · 2 answers · 220 tokens · gemini-2.5-pro

    you  17:00
    > What does cart.js do?

    gemini-2.5-pro  17:00
      It adds up prices.
      It adds the tax.

    you  17:00
    > Look at this:
    ------- stderr -------
    note: 4 problems met while reading, 2 records not understood; -v shows each
    [exit 0]
    ");
}

#[test]
fn problems_are_an_error_when_strict() {
    let damaged = home(["gemini/damaged/torn-tail"]);
    let sound = home(["gemini/lines/plain"]);
    for command in [["list", "--strict"].as_slice(), &["show", "latest", "--strict"]] {
        assert_eq!(damaged.run(command).code, Some(2), "{command:?}");
        assert_eq!(sound.run(command).code, Some(0), "{command:?}");
    }
    insta::assert_snapshot!(damaged.run(["--strict", "-q", "list"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS    SIZE  NOTES      TITLE
    1  42dc48bd  6h ago  shop           3      0     220  1.3 KB  1 problem  What does cart.js do?
    [exit 2]
    ");
}

#[test]
fn colour_is_used_only_when_wanted() {
    let home = home(["gemini/lines/rewind"]);
    let coloured = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = home.run_with(arguments, |command| {
            command.envs(variables.iter().copied());
        });
        output.stdout.contains('\u{1b}')
    };
    for command in [["list"].as_slice(), &["show", "latest"], &["projects"]] {
        let with = |flags: &[&'static str]| [command, flags].concat();
        assert!(!coloured(&with(&[]), &[]), "{command:?}: not on a terminal");
        assert!(coloured(&with(&["--color", "always"]), &[]), "{command:?}");
        assert!(coloured(&with(&["--color", "always"]), &[("NO_COLOR", "1")]), "{command:?}");
        assert!(coloured(&with(&[]), &[("CLICOLOR_FORCE", "1")]), "{command:?}");
        assert!(
            !coloured(&with(&[]), &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]),
            "{command:?}"
        );
        assert!(!coloured(&with(&["--color", "never"]), &[("CLICOLOR_FORCE", "1")]), "{command:?}");
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let home = home(["gemini/lines/multi-turn"]);
    for command in [["list"].as_slice(), &["show", "latest", "--level", "full", "--thoughts"]] {
        let plain = home.run(command).stdout;
        let coloured = home.run([command, &["--color", "always"]].concat()).stdout;
        assert_eq!(without_colour(&coloured), plain, "{command:?}");
    }
}

#[test]
fn escapes_in_session_text_never_reach_the_terminal() {
    let home = home(["gemini/damaged/terminal-escapes"]);
    let commands: [&[&str]; 9] = [
        &["list", "-v"],
        &["show", "latest"],
        &["show", "latest", "--level", "full"],
        &["show", "latest", "--level", "trace", "--thoughts"],
        &["story", "latest"],
        &["projects", "--evidence"],
        &["list", "--json"],
        &["show", "latest", "--json"],
        &["story", "latest", "--json"],
    ];
    for command in commands {
        for colour in ["never", "always"] {
            let output = home.run([command, &["--color", colour]].concat());
            assert_eq!(output.code, Some(0), "{command:?}");
            assert!(output.stdout.contains("pwn") || command.contains(&"projects"), "{command:?}");
            // JSON has escapes of its own.
            let is_bad = if command.contains(&"--json") { is_escape } else { is_dangerous };
            for text in [output.stdout, output.stderr] {
                let bad = without_colour(&text).chars().find(|&c| is_bad(c));
                assert_eq!(bad, None, "{command:?} --color {colour}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn escapes_in_arguments_and_names_never_reach_the_terminal() {
    let home = home(["gemini/lines/plain"]);
    let evil = "a\u{1b}]0;pwn\u{7}b";
    home.write(&format!("{evil}.json"), "{}");
    home.write(&format!(".gemini/tmp/shop/chats/session-{evil}.jsonl"), "{\n");
    for command in [
        ["show", evil].as_slice(),
        &["show", "./a\u{1b}]0;pwn\u{7}b.json"],
        &["show", "@a\u{1b}]0;pwn\u{7}b"],
        &["story", evil],
        &["list", evil],
        &["list", "--since", evil],
        &["list", "-v", "--empty"],
        &["--home", evil, "list"],
    ] {
        let output = home.run(command);
        for text in [&output.stdout, &output.stderr] {
            let bad = text.chars().find(|&c| is_dangerous(c));
            assert_eq!(bad, None, "{command:?}: {text:?}");
        }
    }
}

#[test]
fn a_closed_pipe_is_a_quiet_success() {
    let home = home(["gemini/lines/tools"]);
    for command in [
        ["show", "latest", "--level", "trace"].as_slice(),
        &["show", "latest", "--raw"],
        &["show", "latest", "--json"],
        &["story", "latest"],
        &["list", "--json"],
        &["list"],
        &["projects"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
    ] {
        let (code, stderr) = with_closed_pipe(&home, command);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{command:?}");
    }
}

/// Runs a command whose reader leaves before anything, or behind the first line.
#[expect(clippy::expect_used, reason = "a test that cannot go on must fail")]
fn with_closed_pipe(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = home.command(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a child");
    let stdout = child.stdout.take().expect("a pipe");
    if arguments.len() > 2 {
        let mut line = String::new();
        BufReader::with_capacity(1, stdout).read_line(&mut line).expect("a line");
    } else {
        drop(stdout);
    }
    let output = child.wait_with_output().expect("an end");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Takes out what we colour with: `ESC [ … m`.
fn without_colour(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(after.len());
        if let Some(behind) = after[end..].strip_prefix('m') {
            rest = behind;
        } else {
            plain.push_str("\u{1b}[");
            rest = after;
        }
    }
    plain + rest
}

/// What begins a terminal's commands, and other control characters of ASCII.
fn is_escape(c: char) -> bool {
    c.is_ascii_control() && c != '\n'
}

/// Control characters but line ends and tabs, and those that turn the reading direction.
fn is_dangerous(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}
