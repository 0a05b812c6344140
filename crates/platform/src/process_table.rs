//! The processes of this user, sampled again and again while sessions are watched.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use recount_model::LiveProcess;

/// What to sample.
#[derive(Clone, Copy)]
pub struct ProcessQuery<'a> {
    /// Environment variables to read.
    pub variables: &'a [&'static str],
    /// Whether a process is an agent. Agents and their children are read completely.
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

/// A process that is younger may still become another program.
const YOUNG: Duration = Duration::from_secs(15);
/// How long facts about a process unrelated to agents are cached.
const STALE: Duration = Duration::from_secs(30);

/// Samples processes, and caches what does not change.
#[derive(Debug, Default)]
pub struct ProcessTable {
    known: BTreeMap<u32, Seen>,
}

/// What is known of a process.
#[derive(Debug)]
struct Seen {
    process: LiveProcess,
    /// Whether it is this user's. Of others nothing is known.
    is_own: bool,
    is_agent: bool,
    /// Whether it is an agent or was started by one.
    is_wanted: bool,
    first: Instant,
    looked: Instant,
}

impl ProcessTable {
    /// Returns the agents with their parents and children; `None` where the system does not list processes.
    pub fn sample(&mut self, query: &ProcessQuery<'_>) -> Option<Vec<LiveProcess>> {
        let Some(pids) = system::pids() else {
            self.known.clear();
            return None;
        };
        self.look(pids, query);
        let mut open: Vec<u32> =
            self.own().filter(|seen| seen.is_agent).map(|seen| seen.process.pid).collect();
        if open.is_empty() {
            return Some(Vec::new());
        }
        let parents: BTreeSet<u32> =
            self.own().filter(|seen| seen.is_agent).map(|seen| seen.process.ppid).collect();
        // Descendants at any depth: a tool may be run by a daemon's helper.
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for seen in self.own() {
            children.entry(seen.process.ppid).or_default().push(seen.process.pid);
        }
        let mut below: BTreeSet<u32> = BTreeSet::new();
        while let Some(pid) = open.pop() {
            if below.insert(pid) {
                open.extend(children.get(&pid).into_iter().flatten());
            }
        }
        let mut wanted: Vec<LiveProcess> = Vec::new();
        for (pid, seen) in self.known.iter_mut().filter(|(_, seen)| seen.is_own) {
            seen.is_wanted = below.contains(pid);
            if seen.is_wanted {
                let mut process = seen.process.clone();
                system::detail(&mut process, query.variables, seen.is_agent);
                wanted.push(process);
            } else if parents.contains(pid) {
                wanted.push(seen.process.clone());
            }
        }
        Some(wanted)
    }

    /// Brings what is known up to date. Nothing is read of processes that have nothing to do with agents and are known.
    fn look(&mut self, pids: Vec<u32>, query: &ProcessQuery<'_>) {
        let now = Instant::now();
        let mut before = std::mem::take(&mut self.known);
        let looker = system::Looker::default();
        for pid in pids {
            let seen = before.remove(&pid);
            let is_settled = |seen: &Seen| {
                !seen.is_wanted && now - seen.first >= YOUNG && now - seen.looked < STALE
            };
            let seen = match seen {
                Some(seen) if is_settled(&seen) => seen,
                seen => {
                    let known = seen.as_ref().map(|seen| &seen.process);
                    let process = looker.look(pid, known);
                    let ticks = process.as_ref().map(|process| process.start_ticks);
                    let before =
                        seen.as_ref().filter(|seen| Some(seen.process.start_ticks) == ticks);
                    Seen {
                        first: before.map_or(now, |seen| seen.first),
                        is_wanted: before.is_some_and(|seen| seen.is_wanted),
                        is_agent: process.as_ref().is_some_and(|process| (query.is_agent)(process)),
                        is_own: process.is_some(),
                        process: process.unwrap_or_default(),
                        looked: now,
                    }
                }
            };
            self.known.insert(pid, seen);
        }
    }

    /// Returns the processes of this user that are known.
    fn own(&self) -> impl Iterator<Item = &Seen> {
        self.known.values().filter(|seen| seen.is_own)
    }
}

#[cfg(target_os = "linux")]
mod system {
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

    /// Lists the pids of all processes; `None` where the system does not report them.
    pub(super) fn pids() -> Option<Vec<u32>> {
        // An empty directory in its place says nothing.
        fs::metadata("/proc/self").ok()?;
        let entries = fs::read_dir("/proc").ok()?;
        let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
        let mut pids: Vec<u32> = entries.flatten().filter_map(pid).collect();
        pids.sort_unstable();
        Some(pids)
    }

    /// Looks at processes.
    #[derive(Debug)]
    pub(super) struct Looker {
        user: Option<u32>,
        booted: Option<i64>,
    }

    impl Default for Looker {
        fn default() -> Self {
            let user = fs::metadata("/proc/self").ok().map(|about| about.uid());
            Self { user, booted: booted() }
        }
    }

    impl Looker {
        /// Returns what one look shows of a process of this user. `known` saves reading its command line again.
        pub(super) fn look(&self, pid: u32, known: Option<&LiveProcess>) -> Option<LiveProcess> {
            let folder = Path::new("/proc").join(pid.to_string());
            if fs::metadata(&folder).ok()?.uid() != self.user? {
                return None;
            }
            let mut process = stat(&folder, pid, self.booted?)?;
            let before = known.filter(|one| {
                one.start_ticks == process.start_ticks
                    && one.comm == process.comm
                    && !one.args.is_empty()
            });
            if let Some(before) = before {
                process.args.clone_from(&before.args);
                process.start_ms = before.start_ms;
            } else {
                process.args = words(&read(&folder.join("cmdline")));
            }
            Some(process)
        }
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
    use std::cell::OnceCell;
    use std::collections::BTreeMap;

    use recount_model::LiveProcess;
    use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, UpdateKind};

    /// Lists all processes by their numbers.
    pub(super) fn pids() -> Option<Vec<u32>> {
        let mut system = sysinfo::System::new();
        let nothing = ProcessRefreshKind::nothing().without_tasks();
        system.refresh_processes_specifics(ProcessesToUpdate::All, false, nothing);
        let mut pids: Vec<u32> = system.processes().keys().map(|pid| pid.as_u32()).collect();
        pids.sort_unstable();
        Some(pids)
    }

    /// Looks at processes: at all of them, once one is asked for.
    #[derive(Debug, Default)]
    pub(super) struct Looker {
        all: OnceCell<BTreeMap<u32, LiveProcess>>,
    }

    impl Looker {
        /// Returns what is known of a process of this user.
        pub(super) fn look(&self, pid: u32, _known: Option<&LiveProcess>) -> Option<LiveProcess> {
            let all = || list().into_iter().map(|one| (one.pid, one)).collect();
            self.all.get_or_init(all).get(&pid).cloned()
        }
    }

    fn list() -> Vec<LiveProcess> {
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
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn this_process_is_found_with_its_start_and_folder() {
        let own = std::process::id();
        let is_agent = |process: &LiveProcess| process.pid == own;
        let query = ProcessQuery { variables: &["PATH"], is_agent: &is_agent };
        let mut table = ProcessTable::default();
        for _ in 0..2 {
            let sample = table.sample(&query).unwrap();
            let found = sample.iter().find(|one| one.pid == own).unwrap();
            let age = i64::try_from(crate::system_nanos() / 1_000_000).unwrap() - found.start_ms;
            assert!((-50..3_600_000).contains(&age), "{age} ms old");
            assert!(found.cwd.is_some() && !found.args.is_empty() && found.wchar.is_some());
        }
        let none = |_: &LiveProcess| false;
        assert_eq!(
            table.sample(&ProcessQuery { variables: &[], is_agent: &none }),
            Some(Vec::new())
        );
    }

    #[test]
    fn processes_of_other_users_are_left_alone() {
        let own = std::fs::metadata("/proc/self").unwrap().uid();
        let looker = system::Looker::default();
        let all: Vec<LiveProcess> =
            system::pids().unwrap().into_iter().filter_map(|pid| looker.look(pid, None)).collect();
        assert!(all.iter().any(|one| one.pid == std::process::id()));
        for process in all {
            // One may have ended since.
            if let Ok(about) = std::fs::metadata(format!("/proc/{}", process.pid)) {
                assert_eq!(about.uid(), own, "{process:?}");
            }
        }
    }

    #[test]
    fn a_process_that_starts_or_ends_is_seen_at_the_next_look() {
        #[expect(clippy::disallowed_methods, reason = "a process to be seen")]
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let is_agent = |one: &LiveProcess| one.args.first().is_some_and(|word| word == "sleep");
        let query = ProcessQuery { variables: &[], is_agent: &is_agent };
        let mut table = ProcessTable::default();
        let has = |table: &mut ProcessTable| {
            table.sample(&query).unwrap().iter().any(|one| one.pid == pid)
        };
        // The child may not have become the program yet.
        let begun = Instant::now();
        while !has(&mut table) && begun.elapsed() < Duration::from_secs(10) {}
        assert!(has(&mut table) && has(&mut table));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!has(&mut table));
    }
}
