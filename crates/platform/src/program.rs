//! Programs that recount starts, and the clock.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use recount_model::Clock;

use crate::Env;

/// Returns the clock: `RECOUNT_NOW` if it is set, else the system's.
pub fn clock(env: &Env) -> Clock {
    let given = env.text("RECOUNT_NOW").and_then(|text| text.parse().ok());
    given.map_or_else(Clock::system, Clock::fixed)
}

/// Returns the system time, even if `RECOUNT_NOW` is set: for questions about files that are being
/// written.
pub fn system_nanos() -> i128 {
    Clock::system().now().as_nanosecond()
}

/// A pager that shows what is written to it, as git does.
#[derive(Debug)]
pub struct Pager {
    child: Child,
}

impl Pager {
    /// Starts the user's pager; `None` if there is none or the user has disabled it.
    pub fn start(env: &Env) -> Option<Self> {
        let chosen = if env.is_set("RECOUNT_PAGER") { "RECOUNT_PAGER" } else { "PAGER" };
        let words = match env.text(chosen) {
            Some(words) => words,
            None if env.is_set(chosen) => return None,
            None => "less",
        };
        if words == "cat" || !may_run(env, words) {
            return None;
        }
        let mut command =
            if cfg!(windows) { shell("cmd", "/C", words) } else { shell("sh", "-c", words) };
        command.env("LESS", less(env));
        if !env.is_set("LESSCHARSET") {
            command.env("LESSCHARSET", "utf-8");
        }
        let child = command.stdin(Stdio::piped()).spawn().ok()?;
        Some(Self { child })
    }

    /// Returns the pipe to the pager.
    pub fn input(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Waits until the user has closed the pager.
    ///
    /// # Errors
    /// If the pager cannot be waited for.
    pub fn wait(mut self) -> io::Result<()> {
        drop(self.child.stdin.take());
        self.child.wait().map(|_| ())
    }
}

/// Runs a program in a folder, with the terminal as its own, and waits for it to end. Returns its
/// exit code.
///
/// # Errors
/// If it cannot be started.
pub fn run_in(
    program: &Path,
    args: &[String],
    folder: &Path,
    variables: &[(&'static str, PathBuf)],
) -> io::Result<u8> {
    #[expect(clippy::disallowed_methods, reason = "the agent that the user asked for")]
    let mut command = Command::new(program);
    let status = command.args(args).current_dir(folder).envs(variables.iter().cloned()).status()?;
    Ok(status.code().map_or_else(|| killed(status), |code| u8::try_from(code).unwrap_or(u8::MAX)))
}

/// Returns the exit code of a program that was ended by a signal, as shells report it.
#[cfg(unix)]
fn killed(status: ExitStatus) -> u8 {
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or(0);
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

#[cfg(not(unix))]
fn killed(_status: ExitStatus) -> u8 {
    u8::MAX
}

/// Starts this program again with other arguments, detached: it has no terminal and no streams,
/// gets none of our signals, and runs at low priority.
///
/// # Errors
/// If it cannot be started.
pub fn start_detached(env: &Env, args: &[std::ffi::OsString]) -> io::Result<()> {
    let own = std::env::current_exe()?;
    let nice = find_program(env, "nice").filter(|_| cfg!(unix));
    #[expect(clippy::disallowed_methods, reason = "this program itself")]
    let mut command = match nice {
        Some(nice) => {
            let mut command = Command::new(nice);
            command.args(["-n", "10"]).arg(own);
            command
        }
        None => Command::new(own),
    };
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    {
        // A folder that no process uses can be removed or unmounted.
        std::os::unix::process::CommandExt::process_group(&mut command, 0).current_dir("/");
    }
    command.spawn().map(drop)
}

/// Whether a process may be left running in the background: not where the user or a build server does not want it.
pub fn may_leave_process(env: &Env) -> bool {
    let is_off = |name: &str| env.text(name).is_some_and(|value| value != "false");
    env.text("RECOUNT_BACKGROUND") != Some("0") && !is_off("CI")
}

/// Finds a program where the shell would.
pub fn find_program(env: &Env, name: &str) -> Option<PathBuf> {
    let names = if cfg!(windows) {
        vec![format!("{name}.cmd"), format!("{name}.exe")]
    } else {
        vec![name.to_owned()]
    };
    let path = env.path("PATH")?;
    let places = std::env::split_paths(&path);
    let mut files =
        places.flat_map(|place| names.iter().map(move |name| place.join(name)).collect::<Vec<_>>());
    files.find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// Returns the options for `less`: quit if the text fits, keep colors, leave the screen as it is.
/// Options that the user has set are kept, with `-R` added: without it, colors would be shown as
/// raw bytes.
fn less(env: &Env) -> String {
    match env.text("LESS") {
        Some(own) => format!("-R {own}"),
        None if env.is_set("LESS") => "-R".to_owned(),
        None => "FRX".to_owned(),
    }
}

/// Whether a shell command line can be run, as far as that can be checked: otherwise the shell
/// would start, fail to find the program, and everything written to it would be lost.
fn may_run(env: &Env, words: &str) -> bool {
    let is_setting =
        |word: &&str| word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
    let Some(program) = words.split_whitespace().find(|word| !is_setting(word)) else {
        return false;
    };
    // What only the shell understands is left to the shell.
    if program
        .contains(['"', '\'', '`', '$', '~', '(', '{', ';', '|', '&', '<', '>', '*', '?', '\\'])
    {
        return true;
    }
    if program.contains('/') {
        return is_program(Path::new(program));
    }
    find_program(env, program).is_some()
}

fn shell(program: &str, flag: &str, words: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the pager is chosen by the user")]
    let mut command = Command::new(program);
    command.arg(flag).arg(words);
    command
}

/// Returns random bytes, from the system where it has any.
pub fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    if getrandom::fill(&mut bytes).is_err() {
        // No current system fails here; the clock and the process id are at least not the same
        // twice.
        let seed = system_nanos().to_le_bytes().into_iter().chain(std::process::id().to_le_bytes());
        bytes.iter_mut().zip(seed).for_each(|(byte, seed)| *byte = seed);
    }
    bytes
}

/// Returns the processes above this one, the nearest first, as far as the system reports them.
pub fn ancestors(most: usize) -> Vec<u32> {
    let mut found = Vec::new();
    #[cfg(unix)]
    found.push(std::os::unix::process::parent_id());
    while found.len() < most {
        let parent = found.last().and_then(|pid| parent_of(*pid)).filter(|parent| *parent > 1);
        let Some(parent) = parent else { break };
        found.push(parent);
    }
    found
}

pub(crate) fn parent_of(pid: u32) -> Option<u32> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(format!("/proc/{pid}/stat")).ok()?;
    file.take(4096).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // The name of the program stands in brackets and may hold anything.
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_reach_the_pager_with_any_less_options() {
        let given = |pairs: &[(&str, &str)]| less(&Env::for_tests(pairs.iter().copied(), None));
        assert_eq!(given(&[]), "FRX");
        assert_eq!(given(&[("LESS", "")]), "-R");
        assert_eq!(given(&[("LESS", "-F -X")]), "-R -F -X");
    }

    #[cfg(unix)]
    #[test]
    fn a_pager_that_is_not_there_is_not_started() {
        let env = Env::for_tests([("PATH", "/usr/bin:/bin")], None);
        for there in ["sh", "sh -c cat", "LESS=R sh", "/bin/sh -x", "$HOME/pager", "(sh)"] {
            assert!(may_run(&env, there), "{there}");
        }
        for missing in ["no-such-pager", "no-such-pager -R", "/no/such/pager", "A=b", " "] {
            assert!(!may_run(&env, missing), "{missing}");
        }
        let env = Env::for_tests([("PATH", "/usr/bin:/bin"), ("PAGER", "no-such-pager")], None);
        assert!(Pager::start(&env).is_none());
    }
}
