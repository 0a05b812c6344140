//! The processes of this user, sampled again and again while sessions are watched.

use std::collections::BTreeMap;

use recount_model::LiveProcess;

/// What a sample looks at.
#[derive(Clone, Copy)]
pub struct ProcessQuery<'a> {
    /// Environment variables to read.
    pub variables: &'a [&'static str],
    /// Whether a process is an agent, of which everything is read; so it is of its children.
    pub is_agent: &'a dyn Fn(&LiveProcess) -> bool,
}

impl std::fmt::Debug for ProcessQuery<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ProcessQuery")
            .field("variables", &self.variables)
            .finish_non_exhaustive()
    }
}

/// Samples processes, and remembers what does not change.
#[derive(Debug, Default)]
pub struct ProcessTable {
    known: BTreeMap<u32, LiveProcess>,
}

impl ProcessTable {
    /// Returns the agents with their parents and children.
    pub fn sample(&mut self, query: &ProcessQuery<'_>) -> Vec<LiveProcess> {
        let all = system::list(&self.known);
        let agents: Vec<u32> =
            all.iter().filter(|one| (query.is_agent)(one)).map(|one| one.pid).collect();
        self.known = all.iter().map(|one| (one.pid, one.clone())).collect();
        if agents.is_empty() {
            return Vec::new();
        }
        let parents: Vec<u32> =
            all.iter().filter(|one| agents.contains(&one.pid)).map(|one| one.ppid).collect();
        let mut wanted: Vec<LiveProcess> = Vec::new();
        let mut below: Vec<u32> = agents.clone();
        // Children of children, as far as they go: a tool may be run by a daemon's helper.
        loop {
            let more: Vec<u32> = all
                .iter()
                .filter(|one| below.contains(&one.ppid) && !below.contains(&one.pid))
                .map(|one| one.pid)
                .collect();
            if more.is_empty() {
                break;
            }
            below.extend(more);
        }
        for mut process in all {
            if below.contains(&process.pid) {
                let is_agent = agents.contains(&process.pid);
                system::detail(&mut process, query.variables, is_agent);
                wanted.push(process);
            } else if parents.contains(&process.pid) {
                wanted.push(process);
            }
        }
        wanted
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    use recount_model::LiveProcess;

    use crate::program::system_nanos;

    /// Clock ticks per second in user space, on every system we run on.
    const TICKS: u64 = 100;
    /// So much is read of a file about a process.
    const MOST: u64 = 1 << 20;

    /// Lists the processes of this user, with what one look tells. `known` saves reading command lines again.
    pub(super) fn list(known: &BTreeMap<u32, LiveProcess>) -> Vec<LiveProcess> {
        let user = fs::metadata("/proc/self").ok().map(|about| about.uid());
        let Some(booted) = booted() else { return Vec::new() };
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let mut all = Vec::new();
        for entry in entries.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
            else {
                continue;
            };
            let folder = entry.path();
            let Some(mut process) = stat(&folder, pid, booted) else { continue };
            let before = known.get(&pid).filter(|one| {
                one.start_ticks == process.start_ticks
                    && one.comm == process.comm
                    && !one.args.is_empty()
            });
            if let Some(before) = before {
                process.args.clone_from(&before.args);
                process.start_ms = before.start_ms;
                process.exe.clone_from(&before.exe);
            } else {
                if fs::metadata(&folder).ok().map(|about| about.uid()) != user {
                    continue;
                }
                process.args = words(&read(&folder.join("cmdline")));
            }
            all.push(process);
        }
        all.sort_by_key(|one| one.pid);
        all
    }

    /// Reads what is only of interest for agents and what they started.
    pub(super) fn detail(process: &mut LiveProcess, variables: &[&'static str], is_agent: bool) {
        let folder = Path::new("/proc").join(process.pid.to_string());
        let link = |name: &str| {
            let target = fs::read_link(folder.join(name)).ok()?;
            let target = target.to_string_lossy().into_owned();
            Some(target.strip_suffix(" (deleted)").map_or(target.clone(), str::to_owned))
        };
        process.cwd = link("cwd");
        process.exe = link("exe");
        let io = read(&folder.join("io"));
        let written = String::from_utf8_lossy(&io);
        let written = written.lines().find_map(|line| line.strip_prefix("wchar: "));
        process.wchar = written.and_then(|bytes| bytes.trim().parse().ok());
        for pair in words(&read(&folder.join("environ"))) {
            if let Some((name, value)) = pair.split_once('=')
                && variables.contains(&name)
            {
                process.env.insert(name.to_owned(), value.to_owned());
            }
        }
        if is_agent && let Ok(entries) = fs::read_dir(folder.join("fd")) {
            let targets = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
            let files =
                targets.filter(|target| target.extension().is_some_and(|end| end == "jsonl"));
            process.open_files = files.map(|file| file.to_string_lossy().into_owned()).collect();
        }
    }

    /// When the system began to count, in milliseconds since 1970.
    fn booted() -> Option<i64> {
        let uptime = read(Path::new("/proc/uptime"));
        let seconds: f64 =
            String::from_utf8_lossy(&uptime).split_whitespace().next()?.parse().ok()?;
        let now = i64::try_from(system_nanos() / 1_000_000).ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a number of milliseconds since the start"
        )]
        let up = (seconds * 1000.0) as i64;
        Some(now - up)
    }

    fn stat(folder: &Path, pid: u32, booted: i64) -> Option<LiveProcess> {
        let text = read(&folder.join("stat"));
        let text = String::from_utf8_lossy(&text);
        // The name may have any characters, brackets too.
        let (head, rest) = text.rsplit_once(')')?;
        let comm = head.split_once('(')?.1.to_owned();
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|field| field.parse::<i64>().ok());
        let ticks = u64::try_from(number(19)?).ok()?;
        let since = i64::try_from(ticks * 1000 / TICKS).ok()?;
        Some(LiveProcess {
            pid,
            ppid: u32::try_from(number(1)?).ok()?,
            comm,
            state: fields.first()?.to_string(),
            start_ticks: ticks,
            start_ms: booted + since,
            tty: number(4).and_then(terminal),
            ..LiveProcess::default()
        })
    }

    /// Returns the device of a terminal by its number.
    fn terminal(number: i64) -> Option<String> {
        let (major, minor) = ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xfff00));
        match major {
            136..=143 => Some(format!("/dev/pts/{}", (major - 136) * 256 + minor)),
            4 => Some(format!("/dev/tty{minor}")),
            _ => None,
        }
    }

    fn read(path: &Path) -> Vec<u8> {
        let mut bytes = Vec::new();
        // What has just ended is empty.
        let _read = fs::File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
        bytes
    }

    fn words(bytes: &[u8]) -> Vec<String> {
        let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::collections::BTreeMap;

    use recount_model::LiveProcess;
    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, UpdateKind};

    pub(super) fn list(_known: &BTreeMap<u32, LiveProcess>) -> Vec<LiveProcess> {
        sysinfo::set_open_files_limit(0);
        let wanted = ProcessRefreshKind::nothing()
            .without_tasks()
            .with_user(UpdateKind::OnlyIfNotSet)
            .with_cmd(UpdateKind::OnlyIfNotSet)
            .with_exe(UpdateKind::OnlyIfNotSet)
            .with_cwd(UpdateKind::OnlyIfNotSet)
            .with_environ(UpdateKind::OnlyIfNotSet);
        let mut system = sysinfo::System::new();
        system.refresh_processes_specifics(ProcessesToUpdate::All, false, wanted);
        let own = sysinfo::get_current_pid().ok().and_then(|pid| system.process(pid));
        let user = own.and_then(sysinfo::Process::user_id).cloned();
        let mut all: Vec<LiveProcess> = system
            .processes()
            .values()
            .filter(|process| process.user_id() == user.as_ref())
            .map(|process| {
                let text = |text: &std::ffi::OsString| text.to_string_lossy().into_owned();
                let pairs = process.environ().iter().map(text);
                LiveProcess {
                    pid: process.pid().as_u32(),
                    ppid: process.parent().map_or(0, |parent| parent.as_u32()),
                    comm: process.name().to_string_lossy().into_owned(),
                    args: process.cmd().iter().map(text).collect(),
                    exe: process.exe().map(|path| path.to_string_lossy().into_owned()),
                    cwd: process.cwd().map(|path| path.to_string_lossy().into_owned()),
                    start_ms: i64::try_from(process.start_time() * 1000).unwrap_or_default(),
                    state: if process.status() == sysinfo::ProcessStatus::Zombie {
                        "Z"
                    } else {
                        "S"
                    }
                    .to_owned(),
                    env: pairs
                        .filter_map(|pair| {
                            pair.split_once('=')
                                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                        })
                        .collect(),
                    ..LiveProcess::default()
                }
            })
            .collect();
        all.sort_by_key(|one| one.pid);
        all
    }

    pub(super) fn detail(process: &mut LiveProcess, variables: &[&'static str], _is_agent: bool) {
        process.env.retain(|name, _| variables.contains(&name.as_str()));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_found_with_its_start_and_folder() {
        let own = std::process::id();
        let is_agent = |process: &LiveProcess| process.pid == own;
        let query = ProcessQuery { variables: &["PATH"], is_agent: &is_agent };
        let mut table = ProcessTable::default();
        for _ in 0..2 {
            let sample = table.sample(&query);
            let found = sample.iter().find(|one| one.pid == own).unwrap();
            let age = i64::try_from(crate::system_nanos() / 1_000_000).unwrap() - found.start_ms;
            assert!((-50..3_600_000).contains(&age), "{age} ms old");
            assert!(found.cwd.is_some() && !found.args.is_empty() && found.wchar.is_some());
        }
        let none = |_: &LiveProcess| false;
        assert!(table.sample(&ProcessQuery { variables: &[], is_agent: &none }).is_empty());
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn processes_of_other_users_are_left_alone() {
        let own = std::fs::metadata("/proc/self").unwrap().uid();
        let all = system::list(&BTreeMap::new());
        assert!(all.iter().any(|one| one.pid == std::process::id()));
        for process in all {
            // One may have ended since.
            if let Ok(about) = std::fs::metadata(format!("/proc/{}", process.pid)) {
                assert_eq!(about.uid(), own, "{process:?}");
            }
        }
    }

    #[test]
    fn no_agent_means_no_look_at_details() {
        let query = ProcessQuery { variables: &["PATH"], is_agent: &|_| false };
        assert!(ProcessTable::default().sample(&query).is_empty());
        let me = std::process::id();
        let query = ProcessQuery { variables: &["PATH"], is_agent: &|one| one.pid == me };
        let found = ProcessTable::default().sample(&query);
        let own = found.iter().find(|one| one.pid == me).unwrap();
        assert!(
            own.cwd.is_some() && own.wchar.is_some() && own.env.contains_key("PATH"),
            "{own:?}"
        );
    }
}
