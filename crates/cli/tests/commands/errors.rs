//! Tests of what all commands share: homes, problems, exit codes, color, pipes, and untrusted text.

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
    hint: give a folder that contains the agents' folders
    [exit 2]
    ");
    home.write("file.txt", "");
    let output = home.run(["--home", "file.txt", "list"]);
    assert_eq!(output.code, Some(2));
    assert!(output.stderr.starts_with("error: cannot read the home file.txt: "));
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
      [possible values: gemini, claude, codex]

    For more information, try '--help'.
    [exit 2]
    ");
    insta::assert_snapshot!(home.run(["fork"]), @r"
    ------- stderr -------
    error: the following required arguments were not provided:
      <SESSION>

    Usage: recount fork <SESSION>

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
    insta::assert_snapshot!(home.run(["-h"]), @r"
    Recount what your coding agents did, and count it right

    Usage: recount [OPTIONS] [COMMAND]

    Examples:
      recount list --all                 # every session on this machine, newest first
      recount show latest                # transcript of the newest session
      recount search discount            # full text of every session
      recount stats --all --by month     # tokens and cost
      recount guard                      # sessions that the agent will delete

    Read:
      list         List sessions, newest first
      show         Show the transcript of a session
      story        Print a short, token-light transcript
      projects     List projects and the folder that each belongs to
      verify       Check that a quote is in the message cited for it
      export       Export sessions as Markdown, HTML, JSON, CSV or Parquet
      serve        Show sessions in a web browser, on this machine only

    Search & count:
      search       Search the full text of every session
      stats        Count tokens, cost and time, each request once
      watch        Show what every running session is doing
      prices       Show the price table and its sources
      sql          Query sessions with SQL
      index        Update, inspect or rebuild the search index

    Continue:
      resume       Resume a session with its agent, in its project's folder
      fork         Start a new session from the messages of another
      handover     Continue a session in another agent
      merge        Merge several sessions into one

    Organize:
      rename       Set the title of a session
      tag          Add tags to a session
      pin          Pin sessions, so that `prune` keeps them
      unpin        Remove the pin of sessions
      move         Move a session to another project
      relocate     Update a project whose folder was moved or renamed
      trim         Remove turns from what the agent loads of a session
      compact      Shrink session files by dropping repeated records
      convert      Convert a session between the JSON and JSONL formats
      delete       Move sessions to the trash, with everything they own
      prune        Move sessions to the trash by rule

    Protect:
      guard        Show sessions that the agent will delete on its next start
      vault        List, verify or prune the copies made by `guard --keep`
      trash        List deleted sessions and undo data, or empty the trash

    Repair & undo:
      doctor       Check sessions, registry and data folders for problems
      repair       Repair sessions that their agent cannot load or resume
      restore      Restore a deleted session from trash, vault or backup
      recover      Rebuild a lost session from what is left on disk
      undo         Revert a change made by recount, byte for byte
      history      List the changes made by recount

    Team:
      push         Send sessions as tables to a team's object store
      pull         Copy raw sessions of a lake into homes on this machine

    Setup:
      integrate    Let agents look up earlier sessions
      ingest       Keep headless output and telemetry logs as sessions
      mcp          Let agents search and read earlier sessions (MCP server)
      testbed      Create a synthetic home for demos, tests and benchmarks
      completions  Print a completion script for a shell
      man          Print a manual page

    Options:
          --home <DIR>        Home to read instead of your own (repeatable)
          --source <AGENT>    Read only the sessions of this agent (repeatable) [possible values:
                              gemini, claude, codex]
          --json              Print JSON
          --color <WHEN>      When to use color [default: auto] [possible values: auto, always, never]
      -q, --quiet             Suppress notes and warnings
      -v, --verbose...        Show each problem with file, line and byte range
          --fail-on-problems  Exit with 2 if files had problems
      -h, --help              Print help (see more with '--help')
      -V, --version           Print version

    Arguments of commands:
      SESSION  Id, its first characters (4+), a file, @N (row of the last list), `latest`
      PROJECT  Path, `.`, slug, hash prefix, or part of its name
      WHEN     2026-09-02, 2026-09-02T08:00, 12h, 7d, 4w, `today`, `yesterday`

    Run `recount help COMMAND` for options and examples.
    Without a command, opens the app on a terminal, else runs `list`.
    [exit 0]
    ");
    assert_eq!(
        home.run(["--version"]).stdout,
        concat!("recount ", env!("CARGO_PKG_VERSION"), "\n")
    );
    assert_eq!(home.run(["-V"]).stdout, home.run(["--color", "never", "--version"]).stdout);
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
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS      COST  NOTES             TITLE
    1  5be9db0c  6h ago  shop           2      0     220  ≥$0.0004  2 not understood  What does cart.js…
    ------- stderr -------
    note: 3 problems found while reading, 2 records not understood; -v shows each
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "-v"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS      COST  NOTES             TITLE
    1  5be9db0c  6h ago  shop           2      0     220  ≥$0.0004  2 not understood  What does cart.js…
    ------- stderr -------
    problem: ~home~/.gemini/tmp/shop/chats/session-2026-11-15T17-00-5be9db0c.jsonl:4 (bytes 390+40): record not understood; kept, see `show --raw`
    problem: ~home~/.gemini/tmp/shop/chats/session-2026-11-15T17-00-5be9db0c.jsonl:7 (bytes 700+94): unknown message type; shown as a notice
    problem: ~home~/.gemini/tmp/shop/chats/session-2026-11-15T17-00-5be9db0c.jsonl:9 (bytes 847+253): unknown field; kept, see `show --raw`
    [exit 0]
    ");
    insta::assert_snapshot!(home.run(["list", "-q"]), @r"
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS      COST  NOTES             TITLE
    1  5be9db0c  6h ago  shop           2      0     220  ≥$0.0004  2 not understood  What does cart.js…
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
    note: 4 problems found while reading, 2 records not understood; -v shows each
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
    #  ID        USED    PROJECT  PROMPTS  TOOLS  TOKENS      COST    SIZE  NOTES      TITLE
    1  42dc48bd  6h ago  shop           3      0     220  ≥$0.0004  1.3 KB  1 problem  What does cart.j…
    [exit 2]
    ");
}

#[test]
fn color_is_used_only_when_wanted() {
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
fn color_changes_nothing_but_color() {
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
            // JSON has its own escapes.
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

/// Runs a command whose reader closes the pipe at once, or after the first line.
#[expect(clippy::expect_used, reason = "test setup must succeed")]
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

/// Removes color sequences: `ESC [ … m`.
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

/// Whether it begins a terminal's commands, or is another ASCII control character.
fn is_escape(c: char) -> bool {
    c.is_ascii_control() && c != '\n'
}

/// Whether it is a control character except line ends and tabs, or changes the reading direction.
fn is_dangerous(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}
