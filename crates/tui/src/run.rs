//! Runs the app on a terminal: events in, frames out, and what the app asks for.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use ratatui::crossterm::event::{self, Event as Input};
use recount_changes::Changes;
use recount_display::live;
use recount_engine::live::LiveRow;
use recount_engine::{Engine, Snapshot};
use recount_model::SessionKey;
use recount_platform::{
    Jump, Pager, edit, find_program, jump, may_leave_process, run_in, run_self,
};
use signal_hook::consts::{SIGHUP, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

use crate::app::App;
use crate::effect::{Effect, Event, Notice};
use crate::settings::AppSettings;
use crate::shared::Shared;
use crate::terminal::Terminal;
use crate::work::{FIRST_ROWS, Feed, Indexer, Workers};
use crate::{Tab, copy};

/// What the app is started with.
#[derive(Debug)]
pub struct Launch {
    /// Reads the sessions.
    pub engine: Engine,
    /// What the user has set.
    pub settings: AppSettings,
    /// The tab to open.
    pub tab: Tab,
    /// What to search for, in the tab Search.
    pub query: Option<String>,
    /// Whether all projects are shown, wherever it was started.
    pub everywhere: bool,
    /// Whether the data is made up.
    pub is_demo: bool,
    /// Opens the demo home.
    pub demo: fn(&Engine) -> Option<Engine>,
    /// Arguments for another run of this program on the same homes.
    pub arguments: Vec<OsString>,
}

/// How the app ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The user quit.
    Quit,
    /// A signal ended it.
    Signal(i32),
}

/// Why the app could not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The terminal failed.
    #[error("the terminal cannot be used: {0}")]
    Terminal(#[from] io::Error),
}

/// What comes to the main thread.
enum Message {
    Input(Event),
    Event(Event),
    Signal(i32),
}

/// Clocks on the screen are drawn this often, while there are any.
const CLOCK: Duration = Duration::from_secs(1);

/// Runs the app until it ends.
///
/// # Errors
/// If the terminal fails.
pub fn run(launch: Launch) -> Result<Ended, Error> {
    let (messages, receiver) = channel();
    let acknowledge = read_input(messages.clone());
    watch_signals(messages.clone())?;
    let events = forward(messages);
    let mut terminal = Terminal::take()?;
    let mut runner = Runner::new(launch, terminal.size()?, events);
    terminal.draw(&mut runner.app)?;
    runner.feed.start();
    let effects = std::mem::take(&mut runner.pending);
    if let Some(outcome) = runner.perform(effects, &mut terminal)? {
        return Ok(outcome);
    }
    runner.serve(&receiver, &acknowledge, &mut terminal)
}

/// Reads keys on a thread of its own. It waits until each has been handled, so that nobody reads the terminal while it is
/// lent to another program.
fn read_input(messages: Sender<Message>) -> Sender<()> {
    let (acknowledge, acknowledged) = channel();
    thread::spawn(move || {
        while let Ok(input) = event::read() {
            let event = match input {
                Input::Key(key) => Event::Key(key),
                Input::Paste(text) => Event::Paste(text),
                Input::Mouse(mouse) => Event::Mouse(mouse),
                Input::Resize(width, height) => Event::Resize(width, height),
                Input::FocusGained | Input::FocusLost => continue,
            };
            if messages.send(Message::Input(event)).is_err() || acknowledged.recv().is_err() {
                return;
            }
        }
        // The terminal is gone.
        let _sent = messages.send(Message::Signal(SIGHUP));
    });
    acknowledge
}

fn watch_signals(messages: Sender<Message>) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if messages.send(Message::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Passes events of the workers on.
fn forward(messages: Sender<Message>) -> Sender<Event> {
    let (events, receiver) = channel();
    thread::spawn(move || {
        for event in receiver {
            if messages.send(Message::Event(event)).is_err() {
                return;
            }
        }
    });
    events
}

struct Runner {
    app: App,
    engine: Engine,
    feed: Feed,
    workers: Workers,
    events: Sender<Event>,
    demo: fn(&Engine) -> Option<Engine>,
    arguments: Vec<OsString>,
    pending: Vec<Effect>,
}

impl Runner {
    fn new(launch: Launch, size: (u16, u16), events: Sender<Event>) -> Self {
        let engine = launch.engine;
        let here = engine.env().current_folder().cloned().filter(|_| !launch.everywhere);
        let latest: Arc<Mutex<Option<Snapshot>>> = Arc::default();
        let may_index = !launch.is_demo && may_leave_process(engine.env());
        let feed = Feed {
            engine: engine.clone(),
            here: here.clone(),
            latest: Arc::clone(&latest),
            events: events.clone(),
            indexer: may_index.then(|| Indexer::new(&launch.arguments)),
        };
        let shared = Shared {
            now: engine.clock().now(),
            size,
            folders: engine.folders().clone(),
            here,
            settings: launch.settings,
            rows: feed.remembered(Some(FIRST_ROWS)),
            reading: None,
            live: Arc::default(),
            states: HashMap::default(),
            quiet: HashMap::default(),
            is_muted: false,
            at_risk: HashSet::default(),
            read: Arc::new(engine.read_marks()),
            problems: 0,
            is_demo: launch.is_demo,
            roots: engine.roots().cloned().collect(),
        };
        let workers = Workers::new(engine.clone(), latest, events.clone());
        let (app, pending) = App::new(shared, launch.tab, launch.query);
        Self {
            app,
            engine,
            feed,
            workers,
            events,
            demo: launch.demo,
            arguments: launch.arguments,
            pending,
        }
    }

    fn now(&self) -> Timestamp {
        self.engine.clock().now()
    }

    /// Takes events until the app ends.
    fn serve(
        &mut self,
        messages: &Receiver<Message>,
        acknowledge: &Sender<()>,
        terminal: &mut Terminal,
    ) -> Result<Ended, Error> {
        loop {
            terminal.draw(&mut self.app)?;
            let message = if self.app.has_clock() {
                match messages.recv_timeout(CLOCK) {
                    Ok(message) => message,
                    Err(RecvTimeoutError::Timeout) => Message::Event(Event::Time),
                    Err(RecvTimeoutError::Disconnected) => return Ok(Ended::Quit),
                }
            } else {
                match messages.recv() {
                    Ok(message) => message,
                    Err(_) => return Ok(Ended::Quit),
                }
            };
            // What has come meanwhile is drawn together.
            let mut next = Some(message);
            while let Some(message) = next {
                let (event, is_input) = match message {
                    Message::Input(event) => (event, true),
                    Message::Event(event) => (event, false),
                    Message::Signal(signal) => return Ok(Ended::Signal(signal)),
                };
                let effects = self.app.update(event, self.now());
                let ended = self.perform(effects, terminal)?;
                if let Some(outcome) = ended {
                    return Ok(outcome);
                }
                if is_input && acknowledge.send(()).is_err() {
                    return Ok(Ended::Quit);
                }
                next = messages.try_recv().ok();
            }
        }
    }

    fn perform(
        &mut self,
        effects: Vec<Effect>,
        terminal: &mut Terminal,
    ) -> Result<Option<Ended>, Error> {
        for effect in effects {
            match effect {
                Effect::Ask(slot, job, number) => self.workers.ask(slot, job, number),
                Effect::Forget(slot) => self.workers.forget(slot),
                Effect::Quit => return Ok(Some(Ended::Quit)),
                Effect::Redraw => terminal.clear()?,
                Effect::Suspend => {
                    terminal.lend(|| {
                        // If it cannot be sent, the app goes on.
                        let _stopped = signal_hook::low_level::raise(SIGTSTP);
                    })?;
                }
                Effect::Resume(key) => self.resume(&key, terminal)?,
                Effect::Run(arguments) => self.run_self(arguments, terminal)?,
                Effect::Page(text) => self.page(&text, terminal)?,
                Effect::Edit(path) => self.edit(&path, terminal)?,
                Effect::Copy(text, what) => {
                    let notice = copy::copy(&text, what, &self.engine, terminal);
                    self.say(notice);
                }
                Effect::Alarm(words) => {
                    let term = self.engine.env().text("TERM").unwrap_or_default();
                    terminal.send(live::notification(term, &words).as_bytes())?;
                }
                Effect::Jump(pid, place) => self.jump(pid, &place, terminal),
                Effect::Index => {
                    if let Some(indexer) = &self.feed.indexer {
                        indexer.start(self.engine.env());
                    }
                }
                Effect::Demo => self.show_demo(),
                // The app has done these.
                Effect::Acknowledge(..)
                | Effect::Push(_)
                | Effect::Pop
                | Effect::Act(_)
                | Effect::Go(_)
                | Effect::Tell(..)
                | Effect::Rows(_)
                | Effect::Problems(_)
                | Effect::Say(_) => {}
            }
        }
        Ok(None)
    }

    fn say(&mut self, notice: Notice) {
        self.app.notice = Some(Notice { at: Some(self.now()), ..notice });
    }

    /// Starts the session's agent in its folder, with the terminal, and comes back when it ends.
    fn resume(&mut self, key: &SessionKey, terminal: &mut Terminal) -> Result<(), Error> {
        let is_it = |row: &&LiveRow| {
            row.session.source == key.source && row.session.id.as_ref() == Some(&key.id)
        };
        let running = self.app.shared.live.iter().find(is_it).filter(|row| !row.has_ended());
        if let Some(row) = running {
            let (pid, place) = (row.session.process, live::place(row));
            self.jump(pid, &place, terminal);
            return Ok(());
        }
        let engine = self.engine.afresh();
        let resume = match engine.resume(&key.to_string(), &()) {
            Ok(resume) => resume,
            Err(error) => {
                self.say(Notice::error(error.full_message()));
                return Ok(());
            }
        };
        let Some(program) = find_program(engine.env(), resume.program) else {
            self.say(Notice::error(format!("{} is not installed", resume.program)));
            return Ok(());
        };
        let ended = terminal.lend(|| {
            // A stub that is left is found again by the guard.
            let _before = Changes::new(&engine).disarm(&resume, &());
            let ended = run_in(&program, &resume.args, &resume.folder, &resume.variables);
            let _after = Changes::new(&engine.afresh()).disarm(&resume, &());
            ended
        })?;
        match ended {
            Ok(0) => self.say(Notice::done(format!("back from {}", resume.program))),
            Ok(code) => self.say(Notice::info(format!("{} ended with {code}", resume.program))),
            Err(error) => {
                self.say(Notice::error(format!("cannot start {}: {error}", program.display())));
            }
        }
        Ok(())
    }

    /// Goes to the pane that a process runs in: a session that runs must not be resumed a second time.
    fn jump(&mut self, pid: Option<u32>, place: &str, terminal: &mut Terminal) {
        match pid.and_then(|pid| jump(self.engine.env(), pid)) {
            Some(Jump::Shown(pane)) => self.say(Notice::done(format!("it runs in {pane}"))),
            Some(Jump::Attach(line)) => {
                let copied = copy::copy(&line, "attach command", &self.engine, terminal);
                self.say(Notice { text: format!("{}: {line}", copied.text), ..copied });
            }
            None => {
                let place = if place.is_empty() { "elsewhere" } else { place };
                self.say(Notice::info(format!("it runs in {place}, and is not resumed twice")));
            }
        }
    }

    /// Runs a command of recount with the terminal, and waits for Enter.
    fn run_self(&mut self, arguments: Vec<OsString>, terminal: &mut Terminal) -> Result<(), Error> {
        let arguments: Vec<OsString> =
            { arguments }.into_iter().chain(self.arguments.clone()).collect();
        let ended = terminal.lend(|| {
            let ended = run_self(&arguments);
            let _asked = io::stderr().write_all(b"\n[enter] goes back ");
            let _answered = io::stdin().read_line(&mut String::new());
            ended
        })?;
        if let Err(error) = ended {
            self.say(Notice::error(format!("cannot run it: {error}")));
        }
        Ok(())
    }

    fn page(&mut self, text: &str, terminal: &mut Terminal) -> Result<(), Error> {
        let env = self.engine.env().clone();
        let shown = terminal.lend(|| {
            let mut pager = Pager::start(&env)?;
            let mut input = pager.input()?;
            // The reader may leave before the end.
            let _written = input.write_all(text.as_bytes());
            drop(input);
            pager.wait().ok()
        })?;
        if shown.is_none() {
            self.say(Notice::error("no pager could be started; PAGER names one"));
        }
        Ok(())
    }

    fn edit(&mut self, path: &std::path::Path, terminal: &mut Terminal) -> Result<(), Error> {
        let env = self.engine.env().clone();
        let ended = terminal.lend(|| edit(&env, path))?;
        if let Err(error) = ended {
            self.say(Notice::error(format!("cannot start the editor: {error}; EDITOR names one")));
        }
        Ok(())
    }

    fn show_demo(&mut self) {
        let Some(engine) = (self.demo)(&self.engine) else {
            self.say(Notice::error("the demo home could not be made"));
            return;
        };
        let latest: Arc<Mutex<Option<Snapshot>>> = Arc::default();
        self.engine = engine.clone();
        self.workers = Workers::new(engine.clone(), Arc::clone(&latest), self.events.clone());
        let events = self.events.clone();
        self.feed = Feed { engine, here: None, latest, events, indexer: None };
        self.app.shared.is_demo = true;
        self.app.shared.roots = self.engine.roots().cloned().collect();
        self.feed.start();
    }
}
