//! Tool calls of a scenario, independent of any file format.

use crate::{json::Text, scenario::Scenario};

/// A tool call and how it ended.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) action: Action,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    Done,
    Failed(Text),
    /// The human refused it.
    Cancelled,
}

/// The action. Paths are relative to the project.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Read { path: Text, text: Text },
    ReadMany { patterns: Vec<Text>, files: Vec<(Text, Text)> },
    List { path: Text, entries: Vec<Text> },
    Glob { pattern: Text, found: Vec<Text> },
    Search { pattern: Text, hits: Vec<Hit> },
    Run { command: Text, about: Text, output: Text, code: u8 },
    Write { path: Text, text: Text },
    Edit { path: Text, before: Text, old: Text, new: Text, why: Text },
    Todos(Vec<(Text, &'static str)>),
    Remember(Text),
    WebSearch { query: Text, answer: Text },
    Fetch { prompt: Text, answer: Text },
    Server { server: &'static str, tool: &'static str, query: Text, answer: Text },
    Question { question: Text, answer: Text },
    Agent { name: &'static str, prompt: Text, result: Text, scenario: Scenario },
}

#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) path: Text,
    pub(crate) line: u64,
    pub(crate) text: Text,
}

impl Call {
    pub(crate) fn fails(mut self, reason: &str) -> Self {
        self.outcome = Outcome::Failed(reason.into());
        self
    }

    pub(crate) fn cancelled(mut self) -> Self {
        self.outcome = Outcome::Cancelled;
        self
    }
}

impl From<Action> for Call {
    fn from(action: Action) -> Self {
        Self { action, outcome: Outcome::Done }
    }
}

pub(crate) fn read(path: &str, text: &str) -> Call {
    Action::Read { path: path.into(), text: text.into() }.into()
}

pub(crate) fn read_many(pattern: &str, files: &[(&str, &str)]) -> Call {
    let files = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    Action::ReadMany { patterns: vec![pattern.into()], files }.into()
}

pub(crate) fn list(path: &str, entries: &[&str]) -> Call {
    let entries = entries.iter().map(|entry| (*entry).into()).collect();
    Action::List { path: path.into(), entries }.into()
}

pub(crate) fn glob(pattern: &str, found: &[&str]) -> Call {
    let found = found.iter().map(|path| (*path).into()).collect();
    Action::Glob { pattern: pattern.into(), found }.into()
}

/// Returns a search. Each hit is a path, a line number and the line.
pub(crate) fn search(pattern: &str, hits: &[(&str, u64, &str)]) -> Call {
    let hits = hits
        .iter()
        .map(|(path, line, text)| Hit { path: (*path).into(), line: *line, text: (*text).into() })
        .collect();
    Action::Search { pattern: pattern.into(), hits }.into()
}

pub(crate) fn run(command: &str, about: &str, output: &str, code: u8) -> Call {
    let (command, about, output) = (command.into(), about.into(), output.into());
    Action::Run { command, about, output, code }.into()
}

pub(crate) fn write(path: &str, text: &str) -> Call {
    Action::Write { path: path.into(), text: text.into() }.into()
}

/// Returns an edit of the file that reads `before`: `old` becomes `new`.
pub(crate) fn edit(path: &str, before: &str, (old, new): (&str, &str), why: &str) -> Call {
    let (path, before, why) = (path.into(), before.into(), why.into());
    Action::Edit { path, before, old: old.into(), new: new.into(), why }.into()
}

pub(crate) fn todos(items: &[(&str, &'static str)]) -> Call {
    Action::Todos(items.iter().map(|(text, status)| ((*text).into(), *status)).collect()).into()
}

pub(crate) fn remember(fact: &str) -> Call {
    Action::Remember(fact.into()).into()
}

pub(crate) fn web_search(query: &str, answer: &str) -> Call {
    Action::WebSearch { query: query.into(), answer: answer.into() }.into()
}

pub(crate) fn fetch(prompt: &str, answer: &str) -> Call {
    Action::Fetch { prompt: prompt.into(), answer: answer.into() }.into()
}

pub(crate) fn server(server: &'static str, tool: &'static str, query: &str, answer: &str) -> Call {
    Action::Server { server, tool, query: query.into(), answer: answer.into() }.into()
}

pub(crate) fn question(question: &str, answer: &str) -> Call {
    Action::Question { question: question.into(), answer: answer.into() }.into()
}

/// Returns a sub-agent call with the sub-agent's own `scenario`.
pub(crate) fn agent(name: &'static str, prompt: &str, result: &str, scenario: Scenario) -> Call {
    Action::Agent { name, prompt: prompt.into(), result: result.into(), scenario }.into()
}
