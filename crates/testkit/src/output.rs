//! The output of a run of the program, in a form for snapshots.

use std::fmt;
use std::path::Path;

/// The output and exit code of a run. `Display` shows all of it, the same on every machine.
#[derive(Clone, Debug)]
pub struct Output {
    /// Standard output, unchanged.
    pub stdout: String,
    /// Standard error, unchanged.
    pub stderr: String,
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    home: String,
}

impl Output {
    pub(crate) fn new(output: &std::process::Output, home: &Path) -> Self {
        Self {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
            home: home.to_string_lossy().into_owned(),
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let neutral = |text: &str| text.replace(&self.home, "~home~");
        write!(f, "{}", neutral(&self.stdout))?;
        if !self.stderr.is_empty() {
            write!(f, "------- stderr -------\n{}", neutral(&self.stderr))?;
        }
        match self.code {
            Some(code) => write!(f, "[exit {code}]"),
            None => write!(f, "[ended by a signal]"),
        }
    }
}
