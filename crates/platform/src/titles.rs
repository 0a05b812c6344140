//! Titles of terminals, as far as terminal multiplexers report them.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A multiplexer that does not answer within this time is skipped.
const TIMEOUT: Duration = Duration::from_millis(500);
/// At most this much of an answer is read.
const MAX_BYTES: u64 = 1 << 20;

/// Reads the titles of all panes of a tmux server, each with the key that
/// [`recount_model::LiveProcess::terminal_key`] gives processes in it. `server` is the start of
/// such a key: the socket and the pid of the server.
pub fn pane_titles(server: &str) -> Vec<(String, String)> {
    let Some((socket, _)) = server.rsplit_once(',') else { return Vec::new() };
    #[expect(clippy::disallowed_methods, reason = "asks the multiplexer that the agent runs in")]
    let mut command = Command::new("tmux");
    command.args(["-S", socket, "list-panes", "-a", "-F", "#{pane_id} #{pane_title}"]);
    let Some(answer) = answer(command) else { return Vec::new() };
    let panes = answer.lines().filter_map(|line| line.split_once(' '));
    panes.map(|(pane, title)| (format!("{server},{pane}"), title.to_owned())).collect()
}

/// Runs a program that is expected to answer at once.
fn answer(mut command: Command) -> Option<String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let out = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        out.take(MAX_BYTES).read_to_string(&mut text).ok().map(|_| text)
    });
    let end = Instant::now() + TIMEOUT;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => {
                // It may have just ended.
                let _killed = child.kill();
                let _waited = child.wait();
                return None;
            }
        }
    }
    reader.join().ok()?
}

/// Runs a program with the given standard input and a short timeout.
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
            // A program that does not read its input still runs.
            let _written = std::io::Write::write_all(&mut stdin, &input);
        }
        let _ended = child.wait();
    });
    Ok(())
}
