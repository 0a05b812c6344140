//! The app without a terminal: keys in, cells out.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use recount_engine::{Engine, SOURCES, Setup, Snapshot};
use recount_model::Clock;
use recount_platform::Env;
use tempfile::TempDir;

use crate::app::App;
use crate::effect::{Answer, Effect, Event};
use crate::settings::AppSettings;
use crate::shared::Shared;
use crate::work::{Fresh, ReadNews, Recent, Slot, Work, rows};
use crate::{Tab, frame};

mod boards;
mod history;
mod live;
mod plans;
mod problems;
mod projects;
mod random;
mod reader;
mod search;
mod seed;
mod sessions;
mod stats;

/// The time of all tests.
const NOW: &str = "2026-11-15T23:30:00Z";

/// The app on a home, driven by keys. Questions are answered at once.
pub(crate) struct Driver {
    pub(crate) app: App,
    pub(crate) engine: Engine,
    latest: Arc<Mutex<Option<Snapshot>>>,
    recent: Recent,
    /// What the app asked the outside for, except questions.
    pub(crate) done: Vec<String>,
    size: (u16, u16),
    now: Timestamp,
    pub(crate) home: TempDir,
}

impl Driver {
    /// Opens the demo home.
    pub(crate) fn demo(width: u16, height: u16) -> Self {
        let home = tempfile::tempdir().unwrap();
        recount_testbed::demo(&home.path().join("home"), now()).unwrap();
        Self::on(home, width, height, Tab::Sessions, None)
    }

    /// Opens a home made of fixtures, with these settings of Gemini CLI.
    #[expect(clippy::disallowed_methods, reason = "a home for tests")]
    pub(crate) fn fixtures(cases: &[&str], settings: &str, width: u16, height: u16) -> Self {
        let made = recount_testkit::Home::with(cases.iter().copied());
        let home = tempfile::tempdir().unwrap();
        std::fs::rename(made.path(), home.path().join("home")).unwrap();
        std::fs::write(home.path().join("home/.gemini/settings.json"), settings).unwrap();
        Self::on(home, width, height, Tab::Sessions, None)
    }

    /// Makes a folder below the home, and returns its path.
    #[expect(clippy::disallowed_methods, reason = "a home for tests")]
    pub(crate) fn folder(&self, name: &str) -> String {
        let path = self.home.path().join("home").join(name);
        std::fs::create_dir_all(&path).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Returns every file below the home with its bytes.
    #[expect(clippy::disallowed_methods, reason = "a home for tests")]
    pub(crate) fn tree(&self) -> std::collections::BTreeMap<String, Vec<u8>> {
        let root = self.home.path().join("home");
        let (mut files, mut folders) = (std::collections::BTreeMap::new(), vec![root.clone()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                    files.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
        files
    }

    /// Opens a home without sessions.
    pub(crate) fn empty(width: u16, height: u16) -> Self {
        let home = tempfile::tempdir().unwrap();
        Self::on(home, width, height, Tab::Sessions, None)
    }

    /// Opens the home in `home/home`.
    pub(crate) fn on(
        home: TempDir,
        width: u16,
        height: u16,
        tab: Tab,
        query: Option<&str>,
    ) -> Self {
        let root = home.path().join("home");
        let data = home.path().join("data");
        let variables = [
            ("HOME", root.to_str().unwrap()),
            ("RECOUNT_DATA_DIR", data.to_str().unwrap()),
            ("RECOUNT_BACKGROUND", "0"),
        ];
        let env = Env::for_tests(variables, Some(root.clone()));
        let setup = Setup {
            homes: vec![root.clone()],
            known_sources: SOURCES,
            sources: Vec::new(),
            env,
            clock: Clock::fixed(now()),
        };
        #[expect(clippy::disallowed_methods, reason = "a home for tests")]
        std::fs::create_dir_all(&root).unwrap();
        let engine = Engine::new(setup).unwrap();
        let shared = Shared {
            now: now(),
            size: (width, height),
            folders: engine.folders().clone(),
            here: None,
            settings: AppSettings::default(),
            rows: Arc::default(),
            reading: None,
            live: Arc::default(),
            states: std::collections::HashMap::new(),
            quiet: std::collections::HashMap::new(),
            is_muted: false,
            at_risk: std::collections::HashSet::new(),
            read: Arc::default(),
            problems: 0,
            is_demo: false,
            roots: engine.roots().cloned().collect(),
        };
        let latest: Arc<Mutex<Option<Snapshot>>> = Arc::default();
        let (app, effects) = App::new(shared, tab, query.map(str::to_owned));
        let mut driver = Self {
            app,
            engine,
            latest,
            recent: Recent::default(),
            done: Vec::new(),
            size: (width, height),
            now: now(),
            home,
        };
        driver.perform(effects);
        driver.reload();
        driver
    }

    /// Looks at the disk again, as the feed would.
    pub(crate) fn reload(&mut self) {
        let snapshot = self.engine.snapshot(&()).unwrap();
        *self.latest.lock().unwrap() = Some(snapshot.clone());
        let read = ReadNews(Arc::new(self.engine.read_marks()));
        self.event(Event::Answer(Answer::new(Slot::Feed, 0, Box::new(read))));
        let rows = rows(&self.engine.at(&snapshot), None);
        self.event(Event::Answer(Answer::new(Slot::Feed, 0, Box::new(Fresh(rows)))));
    }

    pub(crate) fn event(&mut self, event: Event) {
        let effects = self.app.update(event, self.now);
        self.perform(effects);
    }

    /// Answers questions, notes the rest.
    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Effect::Ask(slot, job, number) = effect {
                let work = Work::new(self.engine.clone(), Arc::clone(&self.latest));
                let work = work.sharing(&self.recent);
                let value = job(&work);
                self.event(Event::Answer(Answer::new(slot, number, value)));
            } else {
                self.done.push(format!("{effect:?}"));
            }
        }
    }

    /// Presses keys, written as in the table: `press("/ d i s c enter j")`. A word of several letters is typed.
    pub(crate) fn press(&mut self, keys: &str) -> &mut Self {
        for key in keys.split(' ').filter(|key| !key.is_empty()) {
            for event in events(key) {
                self.event(Event::Key(event));
            }
        }
        self
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, millis: i64) -> &mut Self {
        self.now += jiff::SignedDuration::from_millis(millis);
        self
    }

    /// Presses keys, and lets time pass before each, so that a plan takes them.
    pub(crate) fn slowly(&mut self, keys: &str) -> &mut Self {
        for key in keys.split(' ').filter(|key| !key.is_empty()) {
            self.wait(200).press(key);
        }
        self
    }

    /// Returns what is said at the foot.
    pub(crate) fn said(&self) -> String {
        self.app.notice.as_ref().map(|notice| notice.text.clone()).unwrap_or_default()
    }

    /// Types text.
    pub(crate) fn type_text(&mut self, text: &str) -> &mut Self {
        for letter in text.chars() {
            self.event(Event::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)));
        }
        self
    }

    pub(crate) fn resize(&mut self, width: u16, height: u16) -> &mut Self {
        self.size = (width, height);
        self.event(Event::Resize(width, height));
        self
    }

    /// Draws, and returns the cells.
    pub(crate) fn cells(&mut self) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, self.size.0, self.size.1));
        frame::draw(&mut self.app, &mut buffer);
        buffer
    }

    /// Returns the screen as text, with times and dates masked.
    pub(crate) fn screen(&mut self) -> String {
        without_times(&self.exact_screen())
    }

    /// Draws, and returns the screen as text; the selected row has `▌` before it.
    pub(crate) fn exact_screen(&mut self) -> String {
        let buffer = self.cells();
        let mut text = String::new();
        for y in 0..self.size.1 {
            let mut line = String::new();
            let mut skip = 0;
            for x in 0..self.size.0 {
                let Some(cell) = buffer.cell((x, y)) else { continue };
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                line.push_str(cell.symbol());
                skip = recount_display::width::width(cell.symbol()).saturating_sub(1);
            }
            writeln!(text, "{}", line.trim_end()).unwrap();
        }
        text.replace(self.home.path().to_str().unwrap(), "~~")
    }
}

/// Replaces times and dates, which depend on the time zone of the machine, by letters of the same width.
fn without_times(text: &str) -> String {
    const FORMS: &[(&str, &str)] = &[("0000-00-00", "yyyy-mm-dd"), ("00:00", "hh:mm")];
    let mut kept = text.to_owned();
    for (form, letters) in FORMS {
        let mut at = 0;
        while let Some(part) = kept.get(at..).filter(|part| part.len() >= form.len()) {
            let is_it = part.bytes().zip(form.bytes()).all(|(byte, form)| {
                if form == b'0' { byte.is_ascii_digit() } else { byte == form }
            });
            let step = part.chars().next().map_or(1, char::len_utf8);
            if is_it {
                kept.replace_range(at..at + form.len(), letters);
            }
            at += step;
        }
    }
    kept
}

/// Returns the events of one word of a script.
fn events(word: &str) -> Vec<KeyEvent> {
    let (mut modifiers, mut rest) = (KeyModifiers::NONE, word);
    for (name, one) in [
        ("ctrl-", KeyModifiers::CONTROL),
        ("alt-", KeyModifiers::ALT),
        ("shift-", KeyModifiers::SHIFT),
    ] {
        if let Some(more) = rest.strip_prefix(name).filter(|more| !more.is_empty()) {
            (modifiers, rest) = (modifiers | one, more);
        }
    }
    let code = match rest {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" if modifiers == KeyModifiers::SHIFT => KeyCode::BackTab,
        "tab" => KeyCode::Tab,
        "backspace" => KeyCode::Backspace,
        "del" => KeyCode::Delete,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "space" => KeyCode::Char(' '),
        "F1" => KeyCode::F(1),
        text => {
            return text
                .chars()
                .map(|letter| KeyEvent::new(KeyCode::Char(letter), modifiers))
                .collect();
        }
    };
    vec![KeyEvent::new(code, modifiers)]
}

pub(crate) fn now() -> Timestamp {
    NOW.parse().unwrap()
}
