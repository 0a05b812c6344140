//! Processes, as a tracker sees them.

use std::collections::BTreeMap;

use recount_model::LiveProcess;

/// The processes at one moment.
#[derive(Clone, Debug)]
pub struct Roster<'a> {
    by_pid: BTreeMap<u32, &'a LiveProcess>,
    children: BTreeMap<u32, Vec<u32>>,
}

impl<'a> Roster<'a> {
    /// Indexes processes.
    pub fn new(processes: &'a [LiveProcess]) -> Self {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for process in processes {
            children.entry(process.ppid).or_default().push(process.pid);
        }
        Self { by_pid: processes.iter().map(|one| (one.pid, one)).collect(), children }
    }

    /// Returns a process.
    pub fn get(&self, pid: u32) -> Option<&'a LiveProcess> {
        self.by_pid.get(&pid).copied()
    }

    /// Returns all processes.
    pub fn all(&self) -> impl Iterator<Item = &'a LiveProcess> {
        self.by_pid.values().copied()
    }

    /// Returns the children of a process.
    pub fn children(&self, pid: u32) -> impl Iterator<Item = &'a LiveProcess> {
        let children = self.children.get(&pid).map(Vec::as_slice).unwrap_or_default();
        children.iter().filter_map(|child| self.get(*child))
    }
}

/// A process that is or was a session, with what its samples say.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// As it was last seen.
    pub(crate) process: LiveProcess,
    /// When it was seen to have ended.
    pub(crate) ended: Option<i64>,
    /// When it was last seen to run.
    pub(crate) seen: i64,
    /// Children that may be tools.
    pub(crate) children: Vec<LiveProcess>,
    /// Bytes a second that it wrote between the last two looks, and when the last look was.
    pub(crate) output: Option<(f64, i64)>,
    /// The last moment at which it was seen to have written nothing since the look before.
    pub(crate) silent: Option<i64>,
    /// Since when every look saw nothing written.
    quiet_from: Option<i64>,
}

/// A child younger than this may be anything.
const YOUNG: i64 = 300;
/// Looks that are closer to each other say nothing of how much is written.
const SAMPLE: i64 = 400;
/// So few bytes a second are a cursor or a clock, not work.
const SILENT: f64 = 100.0;

impl Known {
    pub(crate) fn new(process: &LiveProcess, at: i64) -> Self {
        Self {
            process: process.clone(),
            ended: None,
            seen: at,
            children: Vec::new(),
            output: None,
            silent: None,
            quiet_from: None,
        }
    }

    fn update(&mut self, process: &LiveProcess, at: i64) {
        let process = &self.completed(process);
        if let (Some(before), Some(now)) = (self.process.wchar, process.wchar) {
            let elapsed = at - self.seen;
            if elapsed < SAMPLE {
                // The next look compares with the one before.
                let wchar = self.process.wchar;
                self.process = LiveProcess { wchar, ..process.clone() };
                return;
            }
            #[expect(clippy::cast_precision_loss, reason = "a rate needs no exact digits")]
            let rate = now.saturating_sub(before) as f64 * 1000.0 / elapsed as f64;
            if rate < SILENT {
                self.silent = Some(at);
                self.quiet_from.get_or_insert(self.seen);
            } else {
                self.quiet_from = None;
            }
            self.output = Some((rate, at));
        }
        self.process = process.clone();
        self.seen = at;
    }

    /// Adds what was known to what a look tells: the system says no more of a process that is about to end where it works and in which
    /// terminal it is.
    fn completed(&self, process: &LiveProcess) -> LiveProcess {
        let known = &self.process;
        let mut process = process.clone();
        if process.cwd.is_none() {
            process.cwd.clone_from(&known.cwd);
            process.exe = process.exe.or_else(|| known.exe.clone());
            process.tty = process.tty.or_else(|| known.tty.clone());
        }
        if process.env.is_empty() {
            process.env.clone_from(&known.env);
        }
        if process.args.is_empty() {
            process.args.clone_from(&known.args);
        }
        process
    }

    /// Returns a child that runs at `now`, is old enough to mean something and began after `since`.
    pub(crate) fn tool_child(&self, now: i64, since: i64) -> Option<&LiveProcess> {
        self.children.iter().find(|child| {
            !child.is_zombie()
                && now - child.start_ms >= YOUNG
                && child.start_ms >= since
                && !is_helper(child)
        })
    }

    /// Whether the terminal was silent at the last look, which was after `since`.
    pub(crate) fn is_silent_since(&self, since: i64) -> bool {
        self.silent.is_some_and(|at| at > since)
            && self.output.is_some_and(|(rate, _)| rate < SILENT)
    }

    /// Returns since when nothing is written to the terminal, if every look since `since` saw nothing for at least `time`.
    pub(crate) fn quiet_for(&self, since: i64, time: i64) -> Option<i64> {
        let from = self.quiet_from?.max(since);
        (self.seen - from >= time).then_some(from)
    }

    /// Whether the terminal was written to at the last look, which was after `since`.
    pub(crate) fn is_busy_since(&self, since: i64) -> bool {
        self.output.is_some_and(|(rate, at)| at > since && rate >= 4.0 * SILENT)
    }
}

/// The processes of one agent that are or were sessions, by what keeps a row apart.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    by_key: BTreeMap<u32, Known>,
}

impl Agents {
    /// Takes the processes that are sessions now, each with the number that keeps its row apart. Those that are missing have ended.
    pub(crate) fn update<'a>(
        &mut self,
        at: i64,
        running: impl IntoIterator<Item = (u32, &'a LiveProcess)>,
        roster: &Roster<'a>,
        is_child: &dyn Fn(&LiveProcess) -> bool,
    ) {
        let mut met = Vec::new();
        for (key, process) in running {
            met.push(key);
            let known = self.by_key.entry(key).or_insert_with(|| Known::new(process, at));
            let is_other = known.process.pid != process.pid
                || (known.process.start_ms - process.start_ms).abs() > 2000;
            if is_other {
                *known = Known::new(process, at);
            }
            known.ended = None;
            known.update(process, at);
            known.children = descendants(roster, process.pid, is_child);
        }
        for (key, known) in &mut self.by_key {
            if !met.contains(key) && known.ended.is_none() {
                known.ended = Some(at);
                known.children.clear();
            }
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &Known)> {
        self.by_key.iter().map(|(key, known)| (*key, known))
    }

    /// Forgets processes that ended before `time`.
    pub(crate) fn forget(&mut self, time: i64) {
        self.by_key.retain(|_, known| known.ended.is_none_or(|ended| ended >= time));
    }
}

/// Lists the descendants of a process that pass, each branch only as far as it passes.
fn descendants(
    roster: &Roster<'_>,
    pid: u32,
    is_child: &dyn Fn(&LiveProcess) -> bool,
) -> Vec<LiveProcess> {
    roster.children(pid).filter(|child| is_child(child)).cloned().collect()
}

/// Programs that agents start for themselves.
const HELPERS: &[&str] = &[
    "ps",
    "git",
    "rg",
    "ssh",
    "lsb_release",
    "xdg-mime",
    "pgrep",
    "git-remote-http",
    "which",
    "uname",
];

/// Whether a process is one that agents start for themselves rather than for a tool call.
pub(crate) fn is_helper(process: &LiveProcess) -> bool {
    let program =
        process.args.first().map_or(process.comm.as_str(), |program| program_name(program));
    if HELPERS.contains(&program) || HELPERS.contains(&process.comm.as_str()) {
        return true;
    }
    // `sh -c "ps …"` and the like.
    let mut words = process.args.iter().map(String::as_str).skip(1);
    program == "sh"
        && words.next() == Some("-c")
        && words
            .next()
            .and_then(|line| line.split_whitespace().next())
            .is_some_and(|first| HELPERS.contains(&first))
}

/// Returns the last component of a path without the extension of Windows programs.
pub(crate) fn program_name(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Returns the value of the first of these options on a command line: `--name value` or `--name=value`.
pub(crate) fn option_value<'a>(args: &'a [String], names: &[&str]) -> Option<&'a str> {
    let at = args.iter().position(|arg| {
        names.contains(&arg.as_str())
            || arg.split_once('=').is_some_and(|(name, _)| names.contains(&name))
    })?;
    let arg = args.get(at)?;
    match arg.split_once('=') {
        Some((_, value)) => Some(value),
        None => args.get(at + 1).map(String::as_str),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_about_to_end_keeps_its_folder_and_terminal() {
        let running = LiveProcess {
            pid: 7,
            args: vec!["claude".to_owned()],
            cwd: Some("/c/shop".to_owned()),
            tty: Some("/dev/pts/1".to_owned()),
            env: BTreeMap::from([("TMUX_PANE".to_owned(), "%1".to_owned())]),
            wchar: Some(10),
            ..LiveProcess::default()
        };
        let mut known = Known::new(&running, 1000);
        let dying = LiveProcess { pid: 7, state: "X".to_owned(), ..LiveProcess::default() };
        known.update(&dying, 2000);
        assert_eq!(
            known.process,
            LiveProcess { state: "X".to_owned(), wchar: None, ..running.clone() }
        );
        // One that goes elsewhere is where it says.
        let moved = LiveProcess { cwd: Some("/c/blog".to_owned()), tty: None, ..running };
        known.update(&moved, 3000);
        assert_eq!((known.process.cwd.as_deref(), known.process.tty), (Some("/c/blog"), None));
    }
}
