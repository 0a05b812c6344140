//! Titles of terminals, as far as multiplexers and terminal programs report them.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use recount_model::TerminalServer;
use serde::Deserialize;

/// A program that does not answer within this time is skipped.
const PATIENCE: Duration = Duration::from_millis(500);
/// At most this much of an answer is read.
const MOST: u64 = 1 << 20;

/// Asks a program for the titles of its terminals, each with the key that [`recount_model::LiveProcess::terminal_key`] gives processes
/// in it; `None` if it does not answer.
pub fn pane_titles(server: &TerminalServer) -> Option<Vec<(String, String)>> {
    let found = match server {
        TerminalServer::Tmux(name) => {
            let socket = name.rsplit_once(',').map_or(name.as_str(), |(socket, _)| socket);
            let mut command = program("tmux");
            command.args(["-S", socket, "list-panes", "-a", "-F", "#{pane_id} #{pane_title}"]);
            tmux_panes(&answer(command)?)
        }
        TerminalServer::Wezterm(socket) => {
            let mut command = program("wezterm");
            command.args(["cli", "--no-auto-start", "list", "--format", "json"]);
            command.env("WEZTERM_UNIX_SOCKET", socket);
            wezterm_panes(&answer(command)?)
        }
        // Other addresses lead to other machines.
        TerminalServer::Kitty(address) if address.starts_with("unix:") => {
            let mut command = program("kitty");
            command.args(["@", "--to", address, "ls"]);
            kitty_windows(&answer(command)?)
        }
        TerminalServer::Kitty(_) => return None,
    };
    Some(found.into_iter().map(|(pane, title)| (server.key(&pane), title)).collect())
}

#[expect(clippy::disallowed_methods, reason = "asks the terminal that the agent runs in")]
pub(crate) fn program(name: &str) -> Command {
    Command::new(name)
}

fn tmux_panes(answer: &str) -> Vec<(String, String)> {
    let panes = answer.lines().filter_map(|line| line.split_once(' '));
    panes.map(|(pane, title)| (pane.to_owned(), title.to_owned())).collect()
}

#[derive(Deserialize)]
struct WeztermPane {
    pane_id: u64,
    #[serde(default)]
    title: String,
}

fn wezterm_panes(answer: &str) -> Vec<(String, String)> {
    let panes: Vec<WeztermPane> = serde_json::from_str(answer).unwrap_or_default();
    panes.into_iter().map(|pane| (pane.pane_id.to_string(), pane.title)).collect()
}

#[derive(Deserialize)]
struct KittyWindow {
    id: u64,
    #[serde(default)]
    title: String,
}

#[derive(Deserialize)]
struct KittyTab {
    #[serde(default)]
    windows: Vec<KittyWindow>,
}

#[derive(Deserialize)]
struct KittyOsWindow {
    #[serde(default)]
    tabs: Vec<KittyTab>,
}

fn kitty_windows(answer: &str) -> Vec<(String, String)> {
    let all: Vec<KittyOsWindow> = serde_json::from_str(answer).unwrap_or_default();
    let windows = all.into_iter().flat_map(|one| one.tabs).flat_map(|tab| tab.windows);
    windows.map(|window| (window.id.to_string(), window.title)).collect()
}

/// Runs a program that answers at once.
fn answer(command: Command) -> Option<String> {
    ended(command).map(|(_, answer)| answer)
}

/// Runs a program that ends at once; `None` if it cannot be started or does not end. Returns whether it succeeded, and its answer.
pub(crate) fn ended(mut command: Command) -> Option<(bool, String)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let out = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.take(MOST).read_to_string(&mut text).ok().map(|_| text)
    });
    let end = Instant::now() + PATIENCE;
    let is_success = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => {
                // It may have ended just now.
                let _killed = child.kill();
                let _waited = child.wait();
                return None;
            }
        }
    };
    Some((is_success, reader.join().ok()??))
}

/// Runs a program with something on its standard input, without waiting for it for long.
///
/// # Errors
/// If it cannot be started.
pub fn notify_program(program: &str, args: &[String], input: &[u8]) -> std::io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "the user's own alarm")]
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let input = input.to_vec();
    let stdin = child.stdin.take();
    std::thread::spawn(move || {
        if let Some(mut stdin) = stdin {
            // A program that does not read what it is given still runs.
            let _written = std::io::Write::write_all(&mut stdin, &input);
        }
        let _ended = child.wait();
    });
    Ok(())
}

/// Starts a program, writes lines to it, and returns as many lines of its answer, or fewer if it ends or takes too long. Then it is ended.
///
/// # Errors
/// If it cannot be started.
pub fn ask_program(
    program: &std::path::Path,
    args: &[String],
    lines: &[String],
    patience: Duration,
) -> std::io::Result<Vec<String>> {
    #[expect(clippy::disallowed_methods, reason = "the server that the user has set up")]
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let end = Instant::now() + patience;
    let (sender, receiver) = std::sync::mpsc::channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            let read = std::io::BufReader::new(out.take(MOST));
            for line in std::io::BufRead::lines(read).map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
    }
    let mut stdin = child.stdin.take();
    let input = lines.join("\n") + "\n";
    // A few hundred bytes: they fit into the pipe of a program that does not read.
    let written = stdin.as_mut().map(|stdin| std::io::Write::write_all(stdin, input.as_bytes()));
    let mut answers = Vec::new();
    while written.as_ref().is_some_and(Result::is_ok) && answers.len() < lines.len() {
        let left = end.saturating_duration_since(Instant::now());
        let Ok(line) = receiver.recv_timeout(left) else { break };
        answers.push(line);
    }
    drop(stdin);
    let _killed = child.kill();
    let _ended = child.wait();
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood() {
        let own = |pane: &str, title: &str| (pane.to_owned(), title.to_owned());
        assert_eq!(
            tmux_panes("%0 ◇  Ready (shop)\n%12 a b\n"),
            [own("%0", "◇  Ready (shop)"), own("%12", "a b")]
        );
        let panes = r#"[{"window_id":0,"tab_id":0,"pane_id":3,"workspace":"default","title":"✋  Action Required (shop)","tty_name":"/dev/pts/1"}]"#;
        assert_eq!(wezterm_panes(panes), [own("3", "✋  Action Required (shop)")]);
        let windows = r#"[{"id":1,"tabs":[{"id":1,"windows":[{"id":7,"title":"⠋ shop","pid":1},{"id":8,"title":"sh"}]}]}]"#;
        assert_eq!(kitty_windows(windows), [own("7", "⠋ shop"), own("8", "sh")]);
        for nonsense in ["", "{}", "[{}]", "[1"] {
            assert!(wezterm_panes(nonsense).is_empty() && kitty_windows(nonsense).is_empty());
        }
        assert!(pane_titles(&TerminalServer::Kitty("tcp:example.org:1".to_owned())).is_none());
    }

    #[test]
    fn a_program_that_is_not_there_or_does_not_end_says_nothing() {
        assert!(answer(program("/nowhere/recount-test")).is_none());
        let mut slow = program("sleep");
        slow.arg("30");
        let begun = Instant::now();
        assert!(answer(slow).is_none());
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}
