//! Shared by every command: the engine, and where output goes and how it looks.

use std::any::Any;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock};

use recount_engine::{Engine, SOURCES, Setup, source_names};
use recount_model::{Clock, Problem};
use recount_platform::{Env, Folders, Pager, clock};

use crate::args::{Color, Global};
use crate::failure::{ERROR, Failure};
use crate::output::canvas::{Canvas, Paint};
use crate::output::columns::{Column, render, tabs};
use crate::output::form::Form;
use crate::output::sanitize::single_line;
use crate::output::span::{Line, StyledSpan};
use crate::output::theme::Tone;
use crate::output::wrap::{hang, wrap};

/// Shared by every command.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) env: Env,
    pub(crate) folders: Folders,
    pub(crate) clock: Clock,
    on_terminal: bool,
    pinned: OnceLock<Engine>,
    engine: OnceLock<Engine>,
    kept: Mutex<Vec<Box<dyn Any + Send>>>,
}

/// The default width.
const WIDTH: usize = 100;
/// The message if there is nothing to read.
const DEMO: &str = "No sessions found; showing demo data (recount testbed --demo DIR to keep it)";
/// A width that nothing reaches.
const UNBOUNDED: usize = usize::MAX / 4;
/// The variable that sets the number of columns for tables, regardless of the output.
const FORCED: &str = "RECOUNT_WIDTH";

impl Context {
    pub(crate) fn new(global: &Global) -> Self {
        let env = Env::of_process();
        Self {
            global: global.clone(),
            folders: Folders::find(&env),
            // One command is one query, with a fixed time.
            clock: clock(&env).stopped(),
            on_terminal: io::stdout().is_terminal(),
            env,
            pinned: OnceLock::new(),
            engine: OnceLock::new(),
            kept: Mutex::default(),
        }
    }

    /// Keeps a value until the process ends: dropping thousands of rows would only take time.
    pub(crate) fn keep(&self, value: impl Any + Send) {
        if let Ok(mut kept) = self.kept.lock() {
            kept.push(Box::new(value));
        }
    }

    /// Waits for pending writes.
    pub(crate) fn finish(&self) {
        for engine in [&self.engine, &self.pinned] {
            if let Some(engine) = engine.get() {
                engine.finish_writing();
            }
        }
    }

    /// Opens the homes for the session that `wanted` names. For a file, the user's home does not matter.
    pub(crate) fn engine_for(&self, wanted: &str) -> Result<&Engine, Failure> {
        if wanted.contains(['/', '\\']) || Path::new(wanted).is_file() {
            let engine = Engine::new(self.setup())?;
            return Ok(self.engine.get_or_init(|| engine));
        }
        self.engine()
    }

    /// Opens the homes for commands that name sessions. If one is named by a file, the user's home does not matter.
    pub(crate) fn engine_for_all(&self, wanted: &[String]) -> Result<&Engine, Failure> {
        let is_file =
            |wanted: &&String| wanted.contains(['/', '\\']) || Path::new(wanted.as_str()).is_file();
        match wanted.iter().find(is_file) {
            Some(file) => self.engine_for(file),
            None => self.engine(),
        }
    }

    /// Opens the homes for commands that change data or recount's own state: never the demo home.
    pub(crate) fn plain_engine(&self) -> Result<Engine, Failure> {
        Ok(Engine::new(self.setup())?)
    }

    /// Whether there are no sessions, so that commands that only read show the demo home, and this one does not.
    pub(crate) fn has_only_demo_data(&self) -> bool {
        self.engine.get().is_none()
            && self.global.home.is_empty()
            && Engine::new(self.setup()).is_ok_and(|engine| !engine.has_sessions())
    }

    /// Opens the homes for an answer from one listing of the disk, even if there are no sessions.
    pub(crate) fn pinned_engine(&self) -> Result<&Engine, Failure> {
        if let Some(engine) = self.pinned.get() {
            return Ok(engine);
        }
        let engine = Engine::new(self.setup())?.pin();
        Ok(self.pinned.get_or_init(|| engine))
    }

    /// Opens the homes for commands that only read: everything is answered from one listing of the disk. A user without
    /// sessions sees the demo home.
    pub(crate) fn engine(&self) -> Result<&Engine, Failure> {
        self.engine_if(Engine::has_sessions)
    }

    /// The same, for questions that may be answered before the disk is listed.
    pub(crate) fn engine_before_listing(&self) -> Result<&Engine, Failure> {
        self.engine_if(Engine::has_sessions_still)
    }

    fn engine_if(&self, has_sessions: fn(&Engine) -> bool) -> Result<&Engine, Failure> {
        if let Some(engine) = self.engine.get() {
            return Ok(engine);
        }
        if self.global.home.is_empty() && self.folders.home.is_none() {
            self.warn("HOME is not set: give the home to read with --home DIR");
        }
        let (setup, engine) = (self.setup(), self.pinned_engine()?.clone());
        let as_told = !self.global.home.is_empty() || has_sessions(&engine) || self.has_others()?;
        let engine = if as_told { engine } else { self.demo(setup).unwrap_or(Ok(engine))? };
        Ok(self.engine.get_or_init(|| engine))
    }

    /// Whether there are sessions of agents that were not selected.
    fn has_others(&self) -> Result<bool, Failure> {
        let all = Setup { sources: Vec::new(), ..self.setup() };
        Ok(!self.global.source.is_empty() && Engine::new(all)?.has_sessions())
    }

    /// Whether a background process may outlive this one.
    pub(crate) fn may_leave_process(&self) -> bool {
        recount_platform::may_leave_process(&self.env)
    }

    /// Returns the arguments for another run of this program on the same homes and agents.
    pub(crate) fn again<const N: usize>(&self, words: [&str; N]) -> Vec<OsString> {
        let mut args: Vec<OsString> = words.map(OsString::from).to_vec();
        // The demo home is treated as if it was given.
        let demo = self.demo_folder().filter(|demo| {
            let roots = self.engine.get().into_iter().flat_map(Engine::roots);
            { roots }.any(|root| root.starts_with(demo))
        });
        for home in self.global.home.iter().chain(&demo) {
            let home = std::path::absolute(home).unwrap_or_else(|_| home.clone());
            args.extend(["--home".into(), home.into_os_string()]);
        }
        for source in &self.global.source {
            args.extend(["--source".into(), source.into()]);
        }
        args
    }

    /// Returns the demo home if it is shown because there are no sessions.
    pub(crate) fn demo_home(&self) -> Result<Option<PathBuf>, Failure> {
        let engine = self.engine()?;
        let demo = self.demo_folder();
        Ok(demo.filter(|demo| engine.roots().any(|root| root.starts_with(demo))))
    }

    fn demo_folder(&self) -> Option<PathBuf> {
        Some(self.folders.data.as_ref()?.join("demo-home"))
    }

    /// Returns a PROJECT argument with a relative path made absolute; names, and parts of paths, are unchanged.
    pub(crate) fn project_argument(&self, wanted: &str) -> String {
        let is_path = matches!(wanted, "." | "..")
            || wanted.starts_with("./")
            || wanted.starts_with("../")
            || (wanted.contains('/') && Path::new(wanted).is_dir());
        if !is_path || wanted.starts_with(['/', '~']) {
            return wanted.to_owned();
        }
        self.absolute(Path::new(wanted)).to_string_lossy().into_owned()
    }

    /// Returns the absolute form of a given path; a path that does not exist is used as written.
    pub(crate) fn absolute(&self, wanted: &Path) -> PathBuf {
        let text = wanted.to_string_lossy();
        let home = self.folders.home.as_ref().filter(|_| text == "~" || text.starts_with("~/"));
        if let Some(home) = home {
            return home.join(text.trim_start_matches('~').trim_start_matches('/'));
        }
        let is_elsewhere = text.as_bytes().get(1) == Some(&b':') || text.contains('\\');
        if is_elsewhere && !cfg!(windows) {
            return wanted.to_owned();
        }
        let mut path = self.env.current_folder().cloned().unwrap_or_default();
        for part in wanted.components() {
            match part {
                Component::ParentDir => {
                    path.pop();
                }
                Component::RootDir | Component::Prefix(_) => path = PathBuf::from(part.as_os_str()),
                Component::Normal(name) => path.push(name),
                Component::CurDir => {}
            }
        }
        path
    }

    pub(crate) fn setup(&self) -> Setup {
        let named = |name: &String| source_names().into_iter().find(|known| known.as_str() == name);
        Setup {
            known_sources: SOURCES,
            homes: self.global.home.clone(),
            sources: self.global.source.iter().filter_map(named).collect(),
            env: self.env.clone(),
            clock: self.clock,
        }
    }

    fn demo(&self, setup: Setup) -> Option<Result<Engine, Failure>> {
        let folder = self.demo_folder()?;
        if !folder.is_dir() {
            recount_testbed::demo(&folder, self.clock.now()).ok()?;
        }
        self.warn(DEMO);
        let engine = Engine::new(Setup { homes: vec![folder], ..setup });
        Some(engine.map(|engine| engine.pin()).map_err(Failure::from))
    }

    /// Returns the canvas for text.
    pub(crate) fn canvas(&self) -> Canvas {
        let columns = |name: &str| {
            let columns = self.env.text(name).and_then(|columns| columns.parse().ok());
            columns.filter(|&columns: &usize| columns > 0)
        };
        let terminal = terminal_size::terminal_size().filter(|_| self.on_terminal);
        let terminal = terminal.map(|(width, _)| usize::from(width.0));
        let columns = columns(FORCED).or(terminal).or_else(|| columns("COLUMNS"));
        Canvas::new(columns.unwrap_or(WIDTH), self.paint())
    }

    /// Returns the canvas for tables with text around them: nothing is cut if the output is not a terminal.
    pub(crate) fn page(&self) -> Canvas {
        match self.form() {
            Form::Short => self.canvas(),
            Form::Exact => Canvas::new(UNBOUNDED, self.paint()),
        }
    }

    /// Returns the form of figures in tables: exact in a pipe or a file.
    pub(crate) fn form(&self) -> Form {
        let is_page = self.on_terminal || self.env.text(FORCED).is_some();
        if is_page { Form::Short } else { Form::Exact }
    }

    /// Lays out a table: aligned for people, else complete rows with tabs between the cells and no headings.
    pub(crate) fn table(&self, columns: &[Column], rows: &[Vec<StyledSpan>]) -> String {
        match self.form() {
            Form::Short => render(columns, rows, &self.canvas()),
            Form::Exact => tabs(rows),
        }
    }

    fn paint(&self) -> Paint {
        self.paint_on(self.on_terminal)
    }

    fn paint_on(&self, is_terminal: bool) -> Paint {
        let wanted = match self.global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if self.env.text("NO_COLOR").is_some() => false,
            Color::Auto if self.env.text("CLICOLOR_FORCE").is_some_and(|value| value != "0") => {
                true
            }
            Color::Auto => is_terminal && self.env.text("TERM") != Some("dumb"),
        };
        if wanted { Paint::On } else { Paint::Off }
    }

    /// Whether standard output is a terminal.
    pub(crate) fn on_terminal(&self) -> bool {
        self.on_terminal
    }

    /// Opens standard output, through the pager if `paged` and it is a terminal.
    pub(crate) fn out(&self, paged: Paged) -> Out {
        let wanted = paged == Paged::Yes && self.on_terminal && !self.global.json;
        Out::new(if wanted { Pager::start(&self.env) } else { None })
    }

    /// Prints to standard error.
    pub(crate) fn say(words: &str) {
        // If standard error is closed, nobody can be told.
        let _said = writeln!(io::stderr(), "{words}");
    }

    /// Prints to standard error, after a label. On a terminal, lines are broken between words.
    pub(crate) fn say_with(&self, word: &str, tone: Tone, words: &str) {
        let is_terminal = io::stderr().is_terminal();
        let terminal = terminal_size::terminal_size().filter(|_| is_terminal);
        let width = terminal.map(|(width, _)| usize::from(width.0));
        let mut said = String::new();
        for line in labelled(word, tone, words, width) {
            line.print(&mut said, self.paint_on(is_terminal));
        }
        Self::say(said.trim_end_matches('\n'));
    }

    /// Prints a warning to standard error, unless `--quiet` is given.
    pub(crate) fn warn(&self, words: &str) {
        if !self.global.quiet {
            self.say_with("note:", Tone::Dim, words);
        }
    }

    /// Shows problems: each with `-v`, else their number. Returns the exit code.
    pub(crate) fn problems<'a>(
        &self,
        kept: impl IntoIterator<Item = &'a Problem>,
        total: u64,
        not_understood: u64,
    ) -> ExitCode {
        if total == 0 {
            return ExitCode::SUCCESS;
        }
        if self.global.verbose > 0 && !self.global.quiet {
            let mut shown = 0;
            for problem in kept {
                self.say_with("problem:", Tone::Warning, &problem.to_string());
                shown += 1;
            }
            if total > shown {
                self.warn(&format!("and {} more problems like these", total - shown));
            }
        } else {
            let s = if total == 1 { "" } else { "s" };
            let mut words = format!("{total} problem{s} found while reading");
            if not_understood > 0 {
                let s = if not_understood == 1 { "" } else { "s" };
                words = format!("{words}, {not_understood} record{s} not understood");
            }
            self.warn(&format!("{words}; -v shows each"));
        }
        if self.global.fail_on_problems { ExitCode::from(ERROR) } else { ExitCode::SUCCESS }
    }
}

/// Lays out a message after its label, with the lines after the first below its start.
fn labelled(word: &str, tone: Tone, words: &str, width: Option<usize>) -> Vec<Line> {
    let label = StyledSpan::new(&format!("{word} "), tone);
    let text = StyledSpan::new(&single_line(words), Tone::Plain);
    let indent = label.text().len();
    // A narrow terminal has no room for an indent.
    let Some(width) = width.filter(|width| *width >= 2 * indent + 20) else {
        return vec![Line::new([label, text])];
    };
    let (first, rest) =
        (Line::new([label]), Line::new([StyledSpan::new(&" ".repeat(indent), Tone::Plain)]));
    hang(wrap(&[text], width - indent), &first, &rest)
}

/// Whether output goes through the pager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paged {
    Yes,
    No,
}

/// Standard output, or the pager in front of it.
#[derive(Debug)]
pub(crate) struct Out {
    writer: Option<BufWriter<Sink>>,
    pager: Option<Pager>,
}

#[derive(Debug)]
enum Sink {
    /// Without the line buffer of the standard library, which searches everything for line ends.
    Stdout(File),
    /// Where the descriptor cannot be shared.
    Lines(io::Stdout),
    Pager(std::process::ChildStdin),
}

impl Out {
    fn new(mut pager: Option<Pager>) -> Self {
        let sink = match pager.as_mut().and_then(Pager::input) {
            Some(input) => Sink::Pager(input),
            None => Sink::stdout(),
        };
        Self { writer: Some(BufWriter::with_capacity(64 * 1024, sink)), pager }
    }

    /// Flushes, and waits until the user has closed the pager.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.as_mut() {
            writer.flush()?;
        }
        drop(self.writer.take());
        self.pager.take().map_or(Ok(()), Pager::wait)
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.writer.as_mut() {
            Some(writer) => writer.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Out {
    fn drop(&mut self) {
        // The writer is only present after an error: the pager may still show what there is.
        if let Some(mut writer) = self.writer.take() {
            let _flushed = writer.flush();
            drop(writer);
        }
        if let Some(pager) = self.pager.take() {
            let _left = pager.wait();
        }
    }
}

impl Sink {
    #[cfg(unix)]
    fn stdout() -> Self {
        use std::os::fd::AsFd as _;

        let stdout = io::stdout();
        let own = stdout.as_fd().try_clone_to_owned();
        own.map_or(Self::Lines(stdout), |own| Self::Stdout(own.into()))
    }

    #[cfg(not(unix))]
    fn stdout() -> Self {
        Self::Lines(io::stdout())
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::Lines(stdout) => stdout.write(bytes),
            Self::Pager(pager) => pager.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::Lines(stdout) => stdout.flush(),
            Self::Pager(pager) => pager.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_break_between_words_on_a_terminal() {
        let lines = |width| {
            let mut said = String::new();
            for line in labelled("note:", Tone::Dim, DEMO, width) {
                line.print(&mut said, Paint::Off);
            }
            said
        };
        assert_eq!(lines(None), format!("note: {DEMO}\n"));
        assert_eq!(lines(Some(100)), format!("note: {DEMO}\n"));
        let broken = "note: No sessions found; showing demo data (recount testbed --demo DIR to keep\n      it)\n";
        assert_eq!(lines(Some(80)), broken);
        assert_eq!(lines(Some(9)), format!("note: {DEMO}\n"));
    }
}
