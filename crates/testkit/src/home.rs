//! A temporary home for one test, with fixtures and a clean environment.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::{Output, fixture};

/// The fixed time of every test.
pub const NOW: &str = "2026-11-16T00:00:00Z";

/// The modification time of all files in a home: 2026-11-15T19:00:00Z. A checkout has other times on each machine.
const WRITTEN: Duration = Duration::from_secs(1_794_769_200);

/// A temporary folder used as home, deleted when dropped.
#[derive(Debug)]
pub struct Home {
    // Deletes the folder; `path` is the same one with symbolic links resolved.
    _folder: TempDir,
    path: PathBuf,
    program: Option<PathBuf>,
}

impl Home {
    /// Creates an empty home.
    ///
    /// # Panics
    /// If no temporary folder can be created.
    pub fn empty() -> Self {
        let made = || -> io::Result<Self> {
            let folder = tempfile::Builder::new().prefix("recount-").tempdir()?;
            let path = folder.path().canonicalize()?;
            Ok(Self { _folder: folder, path, program: None })
        };
        done(made(), "a temporary folder")
    }

    /// Creates a home with the homes of some cases; if several have the same file, the last one wins.
    ///
    /// ```
    /// let home = recount_testkit::Home::with(["gemini/lines/plain", "gemini/strings/plain"]);
    /// assert!(home.path().join(".gemini/projects.json").is_file());
    /// ```
    ///
    /// # Panics
    /// If a case does not exist or cannot be copied.
    pub fn with<'a>(cases: impl IntoIterator<Item = &'a str>) -> Self {
        let home = Self::empty();
        for case in cases {
            done(copy(&fixture(case).join("home"), &home.path), case);
        }
        home
    }

    /// Names the program that [`run`](Self::run) starts: `env!("CARGO_BIN_EXE_…")` of the crate under test.
    #[must_use]
    pub fn for_program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of something in the home as text.
    pub fn at(&self, path: &str) -> String {
        self.path.join(path).to_string_lossy().into_owned()
    }

    /// Writes a file, and creates its parent folders.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let target = self.path.join(path);
        let written = || -> io::Result<()> {
            fs::create_dir_all(target.parent().unwrap_or(&self.path))?;
            fs::write(&target, bytes)?;
            age(&target)
        };
        done(written(), path);
    }

    /// Reads a file.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn read(&self, path: &str) -> Vec<u8> {
        done(fs::read(self.path.join(path)), path)
    }

    /// Runs the program in the home.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Output {
        self.run_with(arguments, |_| {})
    }

    /// Runs the program in the home after `adjust` has changed its environment, folder or input.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn run_with<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        adjust: impl FnOnce(&mut Command),
    ) -> Output {
        let mut command = self.command(arguments);
        adjust(&mut command);
        Output::new(&done(command.output(), "the program"), &self.path)
    }

    /// Prepares a run: only the home's environment, a fixed clock, UTC, 100 columns.
    ///
    /// # Panics
    /// If no program was named.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Command {
        #[expect(clippy::expect_used, reason = "a mistake of the test")]
        let program = self.program.as_ref().expect("Home::for_program names the program");
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .current_dir(&self.path)
            .env_clear()
            .env("HOME", &self.path)
            .env("XDG_DATA_HOME", self.path.join(".local/share"))
            .env("XDG_CONFIG_HOME", self.path.join(".config"))
            .env("RECOUNT_DATA_DIR", self.path.join(".local/share/recount"))
            .env("RECOUNT_NOW", NOW)
            .env("TZ", "UTC")
            .env("RECOUNT_WIDTH", "100");
        command
    }
}

/// Copies a folder into another that may already have files.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
            age(&target)?;
        }
    }
    Ok(())
}

fn age(path: &Path) -> io::Result<()> {
    File::options().write(true).open(path)?.set_modified(SystemTime::UNIX_EPOCH + WRITTEN)
}

fn done<T>(result: io::Result<T>, what: &str) -> T {
    #[expect(clippy::panic, reason = "a test that cannot be set up must fail")]
    result.unwrap_or_else(|error| panic!("{what}: {error}"))
}
