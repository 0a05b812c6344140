//! The terminal that recount runs in.

use crate::Env;

/// Returns a key of the terminal that recount was started from; `None` if there is none. Two
/// terminals never share a key, even if one was opened later under the same name.
pub fn terminal(env: &Env) -> Option<String> {
    env.text("RECOUNT_TERMINAL").map(str::to_owned).or_else(device)
}

/// Returns the device of one of the standard streams, with its creation time: its number is reused.
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
