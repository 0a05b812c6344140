//! Which programs run, and where.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

use recount_model::LiveProcess;
use sysinfo::{Process, ProcessRefreshKind, ProcessesToUpdate, UpdateKind};

use crate::process_table::{ProcessQuery, ProcessTable};

/// A running process of this user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// Its number.
    pub pid: u32,
    /// The name of the program, possibly truncated.
    pub name: String,
    /// Its command line, the program first.
    pub args: Vec<String>,
    /// Its current folder, which may no longer exist.
    pub folder: Option<PathBuf>,
    /// The requested environment variables that are set.
    pub variables: BTreeMap<String, String>,
}

/// Lists running processes; tests script them.
pub trait Processes: Debug + Send + Sync {
    /// Lists the processes of this user, sorted by pid, each with those `variables` of its
    /// environment that are set. Processes that the system hides are missing.
    fn running(&self, variables: &[&str]) -> Vec<Running>;

    /// Returns the agents among the processes, with their parents and children; `None` if only
    /// [`Processes::running`] is supported.
    fn sample(&self, _query: &ProcessQuery<'_>) -> Option<Vec<LiveProcess>> {
        None
    }
}

/// The processes of this system.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Processes for System {
    fn sample(&self, query: &ProcessQuery<'_>) -> Option<Vec<LiveProcess>> {
        ProcessTable::default().sample(query)
    }

    fn running(&self, variables: &[&str]) -> Vec<Running> {
        // Otherwise a file stays open for each process, for later refreshes.
        sysinfo::set_open_files_limit(0);
        let environment =
            if variables.is_empty() { UpdateKind::Never } else { UpdateKind::OnlyIfNotSet };
        let wanted = ProcessRefreshKind::nothing()
            .without_tasks()
            .with_user(UpdateKind::OnlyIfNotSet)
            .with_cmd(UpdateKind::OnlyIfNotSet)
            .with_cwd(UpdateKind::OnlyIfNotSet)
            .with_environ(environment);
        let mut system = sysinfo::System::new();
        system.refresh_processes_specifics(ProcessesToUpdate::All, false, wanted);
        let own = sysinfo::get_current_pid().ok().and_then(|pid| system.process(pid));
        let user = own.and_then(Process::user_id);
        let mut all: Vec<Running> = system
            .processes()
            .values()
            .filter(|process| process.user_id() == user)
            .map(|process| look(process, variables))
            // Kernel threads and processes that have just ended have neither.
            .filter(|running| !running.args.is_empty() || running.folder.is_some())
            .collect();
        all.sort_by_key(|running| running.pid);
        all
    }
}

fn look(process: &Process, variables: &[&str]) -> Running {
    let text = |words: &OsString| words.to_string_lossy().into_owned();
    let environment = process.environ().iter().map(text);
    Running {
        pid: process.pid().as_u32(),
        name: process.name().to_string_lossy().into_owned(),
        args: process.cmd().iter().map(text).collect(),
        folder: process.cwd().filter(|folder| folder.is_absolute()).map(without_mark),
        variables: environment.filter_map(|pair| variable(&pair, variables)).collect(),
    }
}

/// Linux appends a mark to the path of a deleted folder.
fn without_mark(folder: &Path) -> PathBuf {
    let unmarked = folder.to_str().and_then(|path| path.strip_suffix(" (deleted)"));
    match unmarked {
        Some(path) if cfg!(target_os = "linux") && !folder.exists() => PathBuf::from(path),
        _ => folder.to_owned(),
    }
}

/// Reads `NAME=value`, if the name is a requested one.
fn variable(pair: &str, wanted: &[&str]) -> Option<(String, String)> {
    let (name, value) = pair.split_once('=')?;
    // Windows does not distinguish `Path` from `PATH`.
    let same = |wanted: &&&str| {
        if cfg!(windows) { wanted.eq_ignore_ascii_case(name) } else { **wanted == name }
    };
    let name = wanted.iter().find(same)?;
    Some(((*name).to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_process_is_found() {
        assert!(System.running(&[]).iter().any(|running| running.pid == std::process::id()));
    }

    #[test]
    fn only_wanted_variables_are_kept() {
        let pair = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(variable("PWD=/home/dev", &["PWD"]), pair("PWD", "/home/dev"));
        assert_eq!(variable("PWD=", &["PWD"]), pair("PWD", ""));
        assert_eq!(variable("OLDPWD=/", &["PWD"]), None);
        assert_eq!(variable("damaged", &["damaged"]), None);
    }

    #[cfg(target_os = "linux")]
    mod with_a_child {
        use std::process::{Child, Command, Stdio};

        use super::*;

        /// A process that ends with the test.
        struct Sleeper(Child);

        impl Sleeper {
            fn start(folder: &Path) -> Self {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "the process that the test looks for"
                )]
                let mut command = Command::new("sleep");
                command.arg("60").current_dir(folder).env_clear().stdin(Stdio::null());
                command.env("PATH", "/usr/bin:/bin").env("PWD", folder).env("OTHER", "a=b");
                Self(command.spawn().unwrap())
            }

            fn found(&self, variables: &[&str]) -> Running {
                let all = System.running(variables);
                assert!(all.is_sorted_by_key(|running| running.pid));
                all.into_iter().find(|running| running.pid == self.0.id()).unwrap()
            }
        }

        impl Drop for Sleeper {
            fn drop(&mut self) {
                self.0.kill().unwrap();
                self.0.wait().unwrap();
            }
        }

        #[test]
        fn it_is_found_with_its_folder_and_the_variables_asked_for() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().canonicalize().unwrap();
            let sleeper = Sleeper::start(&path);
            let found = sleeper.found(&["PWD", "UNSET"]);
            assert_eq!(found.name, "sleep");
            assert_eq!(found.args, ["sleep", "60"]);
            assert_eq!(found.folder.as_ref(), Some(&path));
            let pwd = ("PWD".to_owned(), path.to_str().unwrap().to_owned());
            assert_eq!(found.variables, BTreeMap::from([pwd]));
            assert!(sleeper.found(&[]).variables.is_empty());
            assert_eq!(sleeper.found(&["OTHER"]).variables.get("OTHER").unwrap(), "a=b");
            folder.close().unwrap();
            assert_eq!(sleeper.found(&[]).folder, Some(path), "a folder that is gone has a name");
        }
    }
}
