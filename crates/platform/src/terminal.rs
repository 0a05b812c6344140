//! Which terminal we run in.

use crate::Env;

/// Returns what stands for the terminal we were started from, `None` when there is none. Two terminals do not share it, nor
/// does one that was opened later under the same name.
pub fn terminal(env: &Env) -> Option<String> {
    env.text("RECOUNT_TERMINAL").map(str::to_owned).or_else(device)
}

/// The device behind one of the standard streams, and since when it is what it is: its number is used again.
#[cfg(unix)]
fn device() -> Option<String> {
    use std::io::{IsTerminal as _, stderr, stdin, stdout};
    use std::os::unix::fs::MetadataExt as _;
    let streams = [
        (stdin().is_terminal(), "/dev/fd/0"),
        (stdout().is_terminal(), "/dev/fd/1"),
        (stderr().is_terminal(), "/dev/fd/2"),
    ];
    let (_, path) = streams.into_iter().find(|(is_terminal, _)| *is_terminal)?;
    let about = std::fs::metadata(path).ok()?;
    Some(format!("{}.{}.{}", about.rdev(), about.ctime(), about.ctime_nsec()))
}

#[cfg(not(unix))]
fn device() -> Option<String> {
    None
}
