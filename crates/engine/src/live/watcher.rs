//! Feeds the board from the files, processes and titles of this machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use recount_formats::live::{FileForm, LiveFeed};
use recount_model::{Clock, LiveProcess, LiveState, TERMINAL_VARIABLES};
use recount_platform::{ProcessQuery, ProcessTable};

use crate::Engine;
use crate::live::board::LiveBoard;
use crate::live::folders::FollowedDirectories;
use crate::live::hooks::HookTail;
use crate::live::recorder::Recorder;
use crate::live::table::read_table;
use crate::live::tail::{Change, Tails};
use crate::live::titles::{TitleAnswer, TitlePoll};
use crate::live::{LiveEvent, LiveRow};
use crate::watch::inbox::Inbox;
use crate::watch::signals::Signals;

/// The board is looked at once in this time while much happens. What happens after a pause is shown at once.
const TOGETHER: Duration = Duration::from_millis(40);
/// While a session works, the board is looked at so often: states may change by the passing of time alone.
const ACTIVE: Duration = Duration::from_millis(200);
/// Processes and titles are looked at so often while an agent runs.
const SAMPLE: Duration = Duration::from_secs(1);
/// Something that was seen of a session makes them be looked at again, but not more often than this.
const SOON: Duration = Duration::from_millis(200);
/// While none does. A session file that appears makes them be looked at sooner.
const NOBODY: Duration = Duration::from_secs(6);
/// Processes that are not seen any more are looked for again after this time, before anybody is told that they are gone.
const AGAIN: Duration = Duration::from_millis(300);
/// What the system may have missed is looked for so often; where it tells nothing, each time processes are.
const SWEEP: Duration = Duration::from_secs(30);
/// So long after a process ended the board is looked at as often as while one works: what it leaves behind says how it ended.
const ENDING: Duration = Duration::from_secs(2);
/// Files that were written so long before an agent began may be its own.
const MARGIN: i64 = 60_000;
/// Documents of this size are read without a reason.
const SMALL: u64 = 16 << 10;

/// Watches the sessions of this machine.
#[derive(Debug)]
pub struct LiveWatch {
    board: LiveBoard,
    tails: Tails,
    followed: FollowedDirectories,
    hooks: HookTail,
    table: Box<ProcessTable>,
    file: Option<PathBuf>,
    variables: Vec<&'static str>,
    processes: Vec<LiveProcess>,
    /// Those that are agents, and when each began.
    agents: Vec<(u32, i64)>,
    titles: TitlePoll,
    signals: Option<Signals>,
    inbox: Arc<Inbox<TitleAnswer>>,
    sampled: Option<Instant>,
    /// When processes were last seen to have ended.
    ended: Option<Instant>,
    /// When what the system told was last read.
    looked: Instant,
    swept: Instant,
    /// Whether a state may change by the passing of time alone.
    is_open: bool,
    /// Whether a dialog may be shown at any moment.
    may_ask: bool,
    is_blind: bool,
    recorder: Option<Recorder>,
}

impl Engine {
    /// Watches what sessions do, until the returned value is dropped.
    pub fn watch_live(&self) -> LiveWatch {
        let mut watch = LiveWatch::new(self);
        let inbox = Arc::clone(&watch.inbox);
        watch.signals = Signals::new(move |signal| inbox.tell(signal));
        watch.follow_directories();
        watch.sample();
        watch
    }
}

impl LiveWatch {
    fn new(engine: &Engine) -> Self {
        let mut feed = LiveFeed::default();
        for root in engine.data_folders().iter().filter(|root| !root.is_ingested) {
            feed.add(root.source, &root.path);
        }
        let mut variables: Vec<&'static str> =
            feed.roots().flat_map(|(source, _)| source.variables()).copied().collect();
        variables.extend(TERMINAL_VARIABLES);
        variables.sort_unstable();
        variables.dedup();
        Self {
            board: LiveBoard::new(feed, engine.prices().ok()),
            tails: Tails::default(),
            followed: FollowedDirectories::default(),
            hooks: HookTail::new(engine.own_data().ok()),
            table: Box::default(),
            file: engine.env().path("RECOUNT_PROCESS_TABLE"),
            variables,
            processes: Vec::new(),
            agents: Vec::new(),
            titles: TitlePoll::default(),
            signals: None,
            inbox: Arc::default(),
            sampled: None,
            ended: None,
            looked: Instant::now(),
            swept: Instant::now(),
            is_open: false,
            may_ask: false,
            is_blind: false,
            recorder: None,
        }
    }

    /// Looks once, without titles; `None` if the processes cannot be seen.
    pub(crate) fn look(engine: &Engine) -> Option<Self> {
        let mut watch = Self::new(engine);
        let sources: Vec<_> = watch.board.feed().roots().map(|(source, _)| source).collect();
        let is_agent =
            |process: &LiveProcess| sources.iter().any(|source| source.is_agent(process));
        let query = ProcessQuery { variables: &watch.variables, is_agent: &is_agent };
        watch.processes = engine.processes.sample(&query)?;
        if !watch.processes.is_empty() {
            let now = now();
            watch.note_agents();
            watch.load(now);
            watch.read_hooks();
            let processes = std::mem::take(&mut watch.processes);
            watch.board.feed().processes(now, &processes);
        }
        Some(watch)
    }

    /// Whether the system tells of changes; if not, files are looked at each second.
    pub fn is_told(&self) -> bool {
        self.signals.is_some()
    }

    /// Whether processes cannot be seen: then no session is seen to run.
    pub fn is_blind(&self) -> bool {
        self.is_blind
    }

    /// Writes down what is seen from now on, beginning with what is known.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn record(&mut self, path: &Path, home: &Path) -> Result<(), crate::Error> {
        let failed = |error| crate::Error::Recording { path: path.to_owned(), error };
        let out = Box::new(recount_writer::disk::append_private(path)?);
        self.start_recording(out, home).map_err(failed)
    }

    fn start_recording(
        &mut self,
        out: Box<dyn std::io::Write + Send>,
        home: &Path,
    ) -> std::io::Result<()> {
        let now = now();
        let mut recorder = Recorder::new(out, home, now)?;
        let paths = self.tails.paths();
        self.tails = Tails::default();
        for path in paths {
            if let Some(change) = self.tails.look(&path, now, self.board.feed()) {
                recorder.file(now, &path, &change)?;
            }
        }
        recorder.processes(now, &self.processes)?;
        for (terminal, title) in self.titles.known() {
            recorder.title(now, terminal, title)?;
        }
        self.recorder = Some(recorder);
        Ok(())
    }

    /// Returns the rows now.
    pub fn rows(&mut self) -> Vec<LiveRow> {
        self.board.rows(now())
    }

    /// Waits for something to happen, no longer than `patience`, and returns the rows and what is different.
    ///
    /// # Errors
    /// If the recording cannot be written.
    pub fn next(&mut self, patience: Duration) -> std::io::Result<(Vec<LiveRow>, Vec<LiveEvent>)> {
        let end = Instant::now() + patience;
        loop {
            let is_due = self.sampled.is_none_or(|at| at.elapsed() >= self.interval());
            if is_due {
                self.sample();
            }
            if self.swept.elapsed() >= SWEEP {
                self.sweep();
            }
            if self.titles.rest(self.may_ask) == Some(Duration::ZERO) {
                self.ask_titles();
            }
            let (rows, events) = self.board.changes(now());
            self.note_states(&rows);
            if let Some(recorder) = &mut self.recorder {
                recorder.processes(now(), &self.processes)?;
            }
            if !events.is_empty() || Instant::now() >= end {
                return Ok((rows, events));
            }
            let (paths, titles) =
                self.wait(self.pause().min(end.saturating_duration_since(Instant::now())));
            self.take_titles(titles);
            self.read(paths)?;
        }
    }

    /// Notes what may change without anything being told.
    fn note_states(&mut self, rows: &[LiveRow]) {
        self.may_ask =
            rows.iter().any(|row| matches!(row.state, LiveState::Working | LiveState::Tool));
        let is_guess = |row: &LiveRow| row.state == LiveState::Yours && !row.session.certain;
        self.is_open = rows.iter().any(|row| row.state.is_open() || is_guess(row))
            || self.ended.is_some_and(|at| at.elapsed() < ENDING);
    }

    /// Returns how long nothing has to be looked at unless something is told.
    fn pause(&self) -> Duration {
        let step = if self.is_open { ACTIVE } else { self.interval() };
        let sample =
            self.sampled.map_or(Duration::ZERO, |at| self.interval().saturating_sub(at.elapsed()));
        let titles = self.titles.rest(self.may_ask).unwrap_or(step);
        step.min(sample).min(titles).max(Duration::from_millis(1))
    }

    fn interval(&self) -> Duration {
        if self.ended.is_some_and(|at| Some(at) >= self.sampled) {
            AGAIN
        } else if self.processes.is_empty() {
            NOBODY
        } else {
            SAMPLE
        }
    }

    /// Waits for somebody to tell something: in which files, and titles.
    fn wait(&mut self, patience: Duration) -> (BTreeSet<PathBuf>, Vec<TitleAnswer>) {
        if !self.inbox.wait(patience) {
            return (BTreeSet::new(), Vec::new());
        }
        // What follows closely is read together, without waking up for each.
        std::thread::sleep((self.looked + TOGETHER).saturating_duration_since(Instant::now()));
        let told = self.inbox.take();
        let mut paths: BTreeSet<PathBuf> = told.paths.into_iter().collect();
        if told.is_anywhere {
            // Nobody knows where it happened: all files that are followed may have changed.
            paths.extend(self.tails.paths());
        }
        if !paths.is_empty() {
            self.looked = Instant::now();
        }
        (paths, told.others)
    }

    /// Reads what changed in files.
    fn read(&mut self, paths: BTreeSet<PathBuf>) -> std::io::Result<()> {
        let now = now();
        let mut is_new = false;
        let mut has_directories = false;
        for path in paths {
            if self.hooks.is_log(&path) {
                self.read_hooks();
                continue;
            }
            if self.board.feed().form(&path).is_none() {
                has_directories |= path.is_dir() || !path.exists();
                continue;
            }
            is_new |= !self.tails.knows(&path);
            self.look_at(&path, now)?;
        }
        if has_directories {
            self.follow_directories();
        }
        if is_new || has_directories {
            // Whose is it?
            self.sampled = self.sampled.filter(|at| at.elapsed() < SOON);
        }
        Ok(())
    }

    fn look_at(&mut self, path: &Path, now: i64) -> std::io::Result<Option<()>> {
        let Some(change) = self.tails.look(path, now, self.board.feed()) else { return Ok(None) };
        if let Some(recorder) = &mut self.recorder {
            recorder.file(now, path, &change)?;
        }
        Ok(matches!(change, Change::Opened(..)).then_some(()))
    }

    /// Looks at processes and titles.
    fn sample(&mut self) {
        let now = now();
        let had: Vec<u32> = self.processes.iter().map(|process| process.pid).collect();
        let found = if let Some(file) = &self.file {
            read_table(file)
        } else {
            let sources: Vec<_> = self.board.feed().roots().map(|(source, _)| source).collect();
            let is_agent =
                |process: &LiveProcess| sources.iter().any(|source| source.is_agent(process));
            self.table.sample(&ProcessQuery { variables: &self.variables, is_agent: &is_agent })
        };
        self.is_blind = found.is_none();
        self.processes = found.unwrap_or_default();
        let sampled = Instant::now();
        self.sampled = Some(sampled);
        let has: Vec<u32> = self.processes.iter().map(|process| process.pid).collect();
        if had.iter().any(|pid| !has.contains(pid)) {
            self.ended = Some(sampled);
        }
        if self.note_agents() || self.signals.is_none() {
            self.load(now);
        }
        let processes = std::mem::take(&mut self.processes);
        self.board.feed().processes(now, &processes);
        self.processes = processes;
        let servers = self.processes.iter().filter_map(|process| process.terminal_server());
        self.titles.follow(servers.map(|(server, _)| server).collect());
        if !self.processes.is_empty() {
            self.read_hooks();
        }
    }

    /// Notes which of the processes are agents. Returns whether these are others than before.
    fn note_agents(&mut self) -> bool {
        let sources: Vec<_> = self.board.feed().roots().map(|(source, _)| source).collect();
        let is_agent = |one: &&LiveProcess| sources.iter().any(|source| source.is_agent(one));
        let agents = self.processes.iter().filter(is_agent);
        let agents = agents.map(|agent| (agent.pid, agent.start_ms)).collect();
        let before = std::mem::replace(&mut self.agents, agents);
        before != self.agents
    }

    /// Reads what agents said through hooks.
    fn read_hooks(&mut self) {
        for hook in self.hooks.read() {
            if let Some(recorder) = &mut self.recorder {
                let _recorded = recorder.hook(&hook);
            }
            self.board.feed().hook(&hook);
        }
    }

    /// Reads the files that agents which run may work in.
    fn load(&mut self, now: i64) {
        let Some(oldest) = self.agents.iter().map(|(_, start)| *start).min() else { return };
        for path in self.followed.files(self.board.feed()) {
            let Ok(metadata) = path.metadata() else { continue };
            let written = recount_formats::source::modified(&metadata).unwrap_or_default();
            let is_small = metadata.len() <= SMALL
                && self.board.feed().form(&path) == Some(FileForm::Document);
            if is_small || written >= oldest - MARGIN {
                // Nothing is recorded that cannot be written: the next change says so.
                let _recorded = self.look_at(&path, now);
            }
        }
    }

    fn sweep(&mut self) {
        self.swept = Instant::now();
        let now = now();
        for path in self.tails.paths() {
            let _recorded = self.look_at(&path, now);
        }
        self.load(now);
        self.follow_directories();
        let day = now - 24 * 60 * 60 * 1000;
        self.tails.retain(&|path| {
            let written =
                path.metadata().ok().and_then(|about| recount_formats::source::modified(&about));
            written.is_none_or(|written| written >= day)
        });
    }

    /// Asks multiplexers and terminal programs for titles, only those that agents run in.
    fn ask_titles(&mut self) {
        let inbox = Arc::clone(&self.inbox);
        self.titles.ask(|| Box::new(move |answer| inbox.pass(answer)));
    }

    fn take_titles(&mut self, answers: Vec<TitleAnswer>) {
        let now = now();
        for (terminal, title) in answers.into_iter().flat_map(|one| self.titles.take(one)) {
            // What began or ended with it?
            self.sampled = self.sampled.filter(|at| at.elapsed() < SOON);
            self.board.feed().title(now, &terminal, &title);
            if let Some(recorder) = &mut self.recorder {
                let _recorded = recorder.title(now, &terminal, &title);
            }
        }
    }

    fn follow_directories(&mut self) {
        let mut directories: BTreeSet<PathBuf> =
            self.followed.find(self.board.feed()).into_iter().collect();
        directories.extend(self.hooks.directory());
        let Some(signals) = &mut self.signals else { return };
        match signals.watch(&directories) {
            None => self.signals = None,
            Some(new) => {
                let now = now();
                let is_started = self.sampled.is_some();
                for folder in new.into_iter().filter(|_| is_started) {
                    // What came before the directory was watched.
                    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                        let _recorded = self.look_at(&entry.path(), now);
                    }
                }
            }
        }
    }
}

fn now() -> i64 {
    Clock::system().now().as_millisecond()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "files and processes to be watched")]

    use recount_platform::Env;

    use super::*;
    use crate::Setup;

    #[test]
    fn where_the_system_reports_nothing_files_are_looked_at() {
        let home = tempfile::tempdir().unwrap();
        let log =
            home.path().join(".gemini/tmp/shop/chats/session-2026-11-16T13-10-117eaa32.jsonl");
        std::fs::create_dir_all(log.parent().unwrap()).unwrap();
        std::fs::write(home.path().join(".gemini/tmp/shop/.project_root"), "/c/shop").unwrap();
        let start = recount_model::timestamp(now() - 1000).unwrap();
        let head = format!("{{\"sessionId\":\"117eaa32\",\"startTime\":\"{start}\"}}\n");
        std::fs::write(&log, &head).unwrap();
        let table = home.path().join("processes.json");
        let process = format!(
            "[{{\"pid\":9,\"ppid\":1,\"argv\":[\"node\",\"/bin/gemini\"],\"cwd\":\"/c/shop\",\"start_ms\":{},\"tty\":\"/dev/pts/1\"}}]",
            now() - 5000
        );
        std::fs::write(&table, process).unwrap();
        let data = home.path().join("data");
        let variables = [
            ("RECOUNT_PROCESS_TABLE", table.to_str().unwrap()),
            ("RECOUNT_DATA_DIR", data.to_str().unwrap()),
        ];
        let engine = Engine::new(Setup {
            homes: vec![home.path().to_owned()],
            known_sources: recount_formats::SOURCES,
            sources: Vec::new(),
            env: Env::for_tests(variables, None),
            clock: Clock::system(),
        })
        .unwrap();
        let mut watch = engine.watch_live();
        // As when the limit of watches is reached.
        watch.signals = None;
        assert!(!watch.is_told());
        let state = |watch: &mut LiveWatch| {
            let (rows, _) = watch.next(Duration::from_secs(25)).unwrap();
            rows.first().map(|row| row.state)
        };
        assert_eq!(state(&mut watch), Some(LiveState::Yours));
        std::fs::write(&log, head + "{\"id\":\"1\",\"type\":\"user\",\"content\":\"go\"}\n")
            .unwrap();
        let begun = Instant::now();
        assert_eq!(state(&mut watch), Some(LiveState::Working));
        assert!(!watch.is_blind());
        assert!(begun.elapsed() < Duration::from_secs(25));
        // Nobody can say what runs.
        std::fs::write(&table, "[").unwrap();
        assert_eq!(state(&mut watch), Some(LiveState::Gone));
        assert!(watch.is_blind());
    }
}
