//! The way to the pane that a process runs in: tmux, `WezTerm`, kitty.

use std::collections::BTreeMap;
use std::io::Read as _;

use recount_model::{LiveProcess, TERMINAL_VARIABLES, TerminalServer};

use crate::program::parent_of;
use crate::titles::{ended, program};
use crate::{Env, quote};

/// At most this many processes above one are looked at.
const DEEP: usize = 32;
/// At most this much of an environment is read.
const MOST: u64 = 1 << 20;

/// How to get to a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Jump {
    /// The terminal shows it now; what it is called.
    Shown(String),
    /// This command line leads there from another terminal.
    Attach(String),
}

/// Goes to the pane that a process runs in; `None` if it is in none that can be found.
pub fn jump(env: &Env, pid: u32) -> Option<Jump> {
    let process = LiveProcess { pid, env: environment(pid), ..LiveProcess::default() };
    match process.terminal_server() {
        Some((TerminalServer::Tmux(server), _)) => {
            let socket = server.rsplit_once(',').map_or(server.as_str(), |(socket, _)| socket);
            tmux(env, Some(socket), pid)
        }
        Some((TerminalServer::Wezterm(socket), pane)) if is_number(pane) => {
            let mut command = program("wezterm");
            command.args(["cli", "--no-auto-start", "activate-pane", "--pane-id", pane]);
            command.env("WEZTERM_UNIX_SOCKET", socket);
            run(command).map(|_| Jump::Shown(format!("wezterm {pane}")))
        }
        // Other addresses lead to other machines.
        Some((TerminalServer::Kitty(address), window))
            if address.starts_with("unix:") && is_number(window) =>
        {
            let mut command = program("kitty");
            let wanted = format!("id:{window}");
            command.args(["@", "--to", &address, "focus-window", "--match", &wanted]);
            run(command).map(|_| Jump::Shown(format!("kitty {window}")))
        }
        Some((TerminalServer::Wezterm(_) | TerminalServer::Kitty(_), _)) => None,
        // Its environment cannot be read: it may be in a pane of the tmux that we are in, or of the user's own.
        None => tmux(env, None, pid),
    }
}

/// Runs a command; `None` if it fails.
fn run(command: std::process::Command) -> Option<String> {
    ended(command).filter(|(is_success, _)| *is_success).map(|(_, answer)| answer)
}

/// A pane of tmux.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pane {
    pid: u32,
    session: String,
    window: String,
    id: String,
    /// As people write it: session, window and pane.
    name: String,
}

const FORMAT: &str = "#{pane_pid} #{session_id} #{window_id} #{pane_id} #{session_name}:#{window_index}.#{pane_index}";

/// Goes to a pane of tmux if we are in the same server; else says how to get there.
fn tmux(env: &Env, socket: Option<&str>, pid: u32) -> Option<Jump> {
    let own = env.text("TMUX").and_then(|own| own.split(',').next()).map(str::to_owned);
    let socket = socket.or(own.as_deref());
    let ask = |words: &[&str]| {
        let mut command = program("tmux");
        if let Some(socket) = socket {
            command.args(["-S", socket]);
        }
        command.args(words);
        run(command)
    };
    let panes = panes(&ask(&["list-panes", "-a", "-F", FORMAT])?);
    let mut above = Some(pid);
    let mut found = None;
    for _ in 0..DEEP {
        let Some(one) = above else { break };
        found = panes.iter().find(|pane| pane.pid == one);
        if found.is_some() {
            break;
        }
        above = parent_of(one).filter(|parent| *parent > 1);
    }
    let Pane { session, window, id: pane, name, .. } = found?;
    if own.is_some() && own.as_deref() == socket {
        ask(&["select-window", "-t", window])?;
        ask(&["select-pane", "-t", pane])?;
        ask(&["switch-client", "-t", session])?;
        return Some(Jump::Shown(format!("tmux {name}")));
    }
    let is_default = socket.is_none_or(|socket| socket.ends_with("/default"));
    let server = socket.filter(|_| !is_default);
    let server = server.map(|socket| format!(" -S {}", quote(socket))).unwrap_or_default();
    let line = format!(
        "tmux{server} select-window -t '{window}' \\; select-pane -t '{pane}' \\; attach-session -t '{session}'"
    );
    Some(Jump::Attach(line))
}

/// Reads the answer of tmux. What has not exactly the form of its ids is left out: they become arguments of commands.
fn panes(answer: &str) -> Vec<Pane> {
    let pane = |line: &str| {
        let mut words = line.splitn(5, ' ');
        let pid = words.next()?.parse().ok()?;
        let (session, window, pane) = (words.next()?, words.next()?, words.next()?);
        let is_id = |text: &str, mark: char| text.strip_prefix(mark).is_some_and(is_number);
        (is_id(session, '$') && is_id(window, '@') && is_id(pane, '%')).then(|| Pane {
            pid,
            session: session.to_owned(),
            window: window.to_owned(),
            id: pane.to_owned(),
            name: words.next().unwrap_or_default().to_owned(),
        })
    };
    answer.lines().filter_map(pane).collect()
}

fn is_number(text: &str) -> bool {
    (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads the variables of a process that say which terminal it is in, where the system tells them.
fn environment(pid: u32) -> BTreeMap<String, String> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(format!("/proc/{pid}/environ")).ok();
    // What cannot be read is not known.
    let _read = file.map(|file| file.take(MOST).read_to_end(&mut bytes));
    let pairs = bytes.split(|byte| *byte == 0).filter_map(|pair| {
        let (name, value) = std::str::from_utf8(pair).ok()?.split_once('=')?;
        TERMINAL_VARIABLES.contains(&name).then(|| (name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_tmux_become_arguments() {
        let answer = "100 $1 @2 %3 work:0.1\n101 $1 @2 %4 a b:0.2\n102 $x @2 %5 n:0.0\n\
                      103 $1 @2 %5;kill-server n:0.0\n104 $1 -t %5 n:0.0\nx $1 @2 %6 n:0.0\n105 $1\n";
        let found = panes(answer);
        let shown: Vec<(u32, &str, &str)> =
            found.iter().map(|pane| (pane.pid, pane.id.as_str(), pane.name.as_str())).collect();
        assert_eq!(shown, [(100, "%3", "work:0.1"), (101, "%4", "a b:0.2")]);
        for bad in ["", "-1", "1a", "9999999999", " 1", "١"] {
            assert!(!is_number(bad), "{bad}");
        }
    }

    /// Where tmux is installed: a process in a pane is found by its parents.
    #[test]
    fn a_pane_of_tmux_is_found() {
        let folder = std::env::temp_dir().join(format!("recount-jump-{}", std::process::id()));
        let socket = folder.to_str().unwrap();
        let tmux = |words: &[&str]| {
            let mut command = program("tmux");
            command.args(["-S", socket, "-f", "/dev/null"]).args(words);
            run(command)
        };
        if tmux(&["new-session", "-d", "-s", "a b", "sh -c 'sleep 30; true'"]).is_none() {
            return;
        }
        let pane = tmux(&["list-panes", "-a", "-F", "#{pane_pid}"]).unwrap();
        let pid: u32 = pane.trim().parse().unwrap();
        let env = Env::for_tests([("HOME", "/")], None);
        let found = jump(&env, pid);
        let within = Env::for_tests([("TMUX", format!("{socket},1,0").as_str())], None);
        let unattached = jump(&within, pid);
        tmux(&["kill-server"]);
        let Some(Jump::Attach(line)) = found else { panic!("{found:?}") };
        assert!(line.starts_with(&format!("tmux -S {socket} select-window -t '@")), "{line}");
        assert!(line.contains("select-pane -t '%") && line.ends_with("attach-session -t '$0'"));
        assert_eq!(unattached, None, "nobody is there who could be shown something");
    }

    #[test]
    fn a_process_that_is_nowhere_leads_nowhere() {
        let env = Env::for_tests([("TMUX", "/nowhere/recount-test,1,0")], None);
        assert_eq!(jump(&env, u32::MAX), None);
    }
}
