//! What is known about a session, and why: facts, files, evidence for the folder, problems, cost, live signals.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use ratatui::crossterm::event::{KeyCode, KeyEvent};
use recount_blocks::rough_duration;
use recount_display::number::{bytes, count, grouped, plural, price};
use recount_display::sanitize::single_line;
use recount_display::span::{Line, Span};
use recount_display::theme::Tone;
use recount_display::{columns as table, evidence, explain, plain, when};
use recount_engine::ListQuery;
use recount_engine::live::LiveRow;
use recount_engine::stats::{Explained, StatsRequest};
use recount_model::{Clue, FileRole, ProjectState, SessionFacts, SessionKey};
use recount_platform::quote;

use crate::draw::{Painter, columns};
use crate::effect::{Answer, Notice};
use crate::field::Field;
use crate::keys::{Action, Place};
use crate::over::{Reader, actions};
use crate::screen::{Context, Screen};
use crate::shared::Shared;
use crate::work::{Slot, Work};

/// The maximum number of requests that are listed.
const MOST_REQUESTS: usize = 2000;
/// The width of the names of facts.
const NAME: usize = 12;

/// Facts about a session.
#[derive(Debug)]
pub(crate) struct Info {
    key: SessionKey,
    is_asked: bool,
    details: Option<Details>,
    /// The first visible line.
    top: usize,
    height: usize,
    many: usize,
    field: Field,
    is_typing: bool,
}

/// What has to be asked for.
#[derive(Debug)]
struct Details {
    key: SessionKey,
    /// The session, with its folder and problems.
    facts: Result<Arc<SessionFacts>, String>,
    cost: Result<Explained, String>,
}

impl Details {
    fn read(work: &Work, key: SessionKey) -> Self {
        let engine = work.engine();
        let opened = engine.open_key(&key, work.progress());
        let facts = opened.map(|opened| Arc::new(opened.facts));
        let zone = jiff::tz::TimeZone::system();
        let gap = SignedDuration::from_mins(15);
        let asked = StatsRequest { sessions: ListQuery::default(), zone, gap };
        let cost = engine.explain(&asked, Some(key.id.as_str()), work.progress());
        Self {
            key,
            facts: facts.map_err(|error| error.full_message()),
            cost: cost.map_err(|error| error.full_message()),
        }
    }
}

impl Info {
    /// Shows a session.
    pub(crate) fn new(key: SessionKey) -> Self {
        Self {
            key,
            is_asked: false,
            details: None,
            top: 0,
            height: 0,
            many: 0,
            field: Field::default(),
            is_typing: false,
        }
    }

    fn facts(&self, shared: &Shared) -> Option<Arc<SessionFacts>> {
        let read = self.details.as_ref().and_then(|details| details.facts.as_ref().ok());
        shared.session(&self.key).or(read).cloned()
    }

    fn lines(&self, shared: &Shared, width: usize) -> Vec<Line> {
        let mut page = Sheet { width, lines: Vec::new() };
        let Some(facts) = self.facts(shared) else {
            let error = self.details.as_ref().and_then(|details| details.facts.as_ref().err());
            let words = error.map_or("looking for the session…", String::as_str);
            page.text(words, if error.is_some() { Tone::Error } else { Tone::Dim });
            return page.lines;
        };
        page.facts(&facts, shared);
        let is_it = |row: &&LiveRow| {
            row.session.source == self.key.source && row.session.id.as_ref() == Some(&self.key.id)
        };
        if let Some(row) = shared.live.iter().find(is_it) {
            page.live(row, shared.now);
        }
        page.files(&facts, shared);
        let read = self.details.as_ref().and_then(|details| details.facts.as_ref().ok());
        page.folder(read.unwrap_or(&facts), shared);
        page.problems(read.unwrap_or(&facts), shared);
        page.heading("cost");
        match self.details.as_ref().map(|details| &details.cost) {
            None => page.text("  adding up…", Tone::Dim),
            Some(Err(error)) => page.text(&format!("  {error}"), Tone::Error),
            Some(Ok(cost)) => page.cost(cost),
        }
        page.lines
    }

    fn find(&mut self, on: bool, cx: &mut Context<'_>) {
        let wanted = self.field.text().trim().to_lowercase();
        if wanted.is_empty() {
            return;
        }
        let lines = self.lines(cx.shared, usize::from(cx.shared.size.0).saturating_sub(4).max(20));
        let is_it = |(_, line): &(usize, &Line)| {
            let text: String = line.spans().iter().map(Span::text).collect();
            text.to_lowercase().contains(&wanted)
        };
        let all = || lines.iter().enumerate().filter(is_it).map(|(at, _)| at);
        let next =
            if on { all().find(|at| *at > self.top) } else { all().rfind(|at| *at < self.top) };
        let around = if on { all().next() } else { all().next_back() };
        match next.or(around) {
            Some(at) => self.top = at,
            None => cx.say(Notice::info(format!("'{wanted}' is not here"))),
        }
    }

    fn scroll(&mut self, action: Action) -> bool {
        let page = self.height.max(2) - 1;
        self.top = match action {
            Action::Down => self.top + 1,
            Action::Up => self.top.saturating_sub(1),
            Action::HalfDown => self.top + page / 2,
            Action::HalfUp => self.top.saturating_sub(page / 2),
            Action::PageDown | Action::PageForward => self.top + page,
            Action::PageUp | Action::PageBackward => self.top.saturating_sub(page),
            Action::First => 0,
            Action::Last => self.many,
            _ => return false,
        };
        self.top = self.top.min(self.many.saturating_sub(self.height));
        true
    }
}

impl Screen for Info {
    fn place(&self) -> Place {
        Place::Info
    }

    fn refresh(&mut self, cx: &mut Context<'_>) {
        if !std::mem::replace(&mut self.is_asked, true) {
            let key = self.key.clone();
            cx.ask(Slot::Info, move |work| Details::read(work, key));
        }
    }

    fn act(&mut self, action: Action, cx: &mut Context<'_>) -> bool {
        if self.scroll(action) {
            return true;
        }
        match action {
            Action::Filter => self.is_typing = true,
            Action::FindNext => self.find(true, cx),
            Action::FindPrevious => self.find(false, cx),
            Action::Back if !self.field.is_empty() => self.field.set(""),
            Action::Open => cx.push(Reader::new(self.key.clone())),
            _ => {
                let chosen = self.facts(cx.shared).into_iter().collect();
                return actions::on_sessions(action, chosen, cx);
            }
        }
        true
    }

    fn is_typing(&self) -> bool {
        self.is_typing
    }

    fn typed(&mut self, key: &KeyEvent, cx: &mut Context<'_>) -> bool {
        match key.code {
            KeyCode::Enter => {
                self.is_typing = false;
                self.field.accept();
                self.find(true, cx);
            }
            KeyCode::Esc => {
                self.is_typing = false;
                self.field.set("");
            }
            _ => return self.field.key(key),
        }
        true
    }

    fn pasted(&mut self, text: &str, _cx: &mut Context<'_>) {
        self.field.insert(text);
    }

    fn answered(&mut self, answer: &mut Answer, _cx: &mut Context<'_>) {
        if answer.slot == Slot::Info
            && let Some(details) = answer.take::<Details>()
            && details.key == self.key
        {
            self.details = Some(details);
        }
    }

    fn draw(&mut self, painter: &mut Painter<'_>, shared: &Shared) {
        let (width, height) = (painter.width(), painter.height());
        let title = self.facts(shared).and_then(|facts| facts.title.clone());
        let title = single_line(&title.unwrap_or_else(|| "(no messages)".to_owned()));
        painter.part(1, 0, width.saturating_sub(2), 1).text(0, 0, &title, Tone::Heading);
        let has_field = self.is_typing || !self.field.is_empty();
        let below = height.saturating_sub(1 + u16::from(has_field));
        let lines = self.lines(shared, usize::from(width).saturating_sub(4).max(20));
        (self.many, self.height) = (lines.len(), usize::from(below));
        self.top = self.top.min(self.many.saturating_sub(self.height));
        let wanted = self.field.text().trim().to_lowercase();
        let mut body = painter.part(0, 1, width, below);
        for (y, line) in lines.iter().skip(self.top).take(self.height).enumerate() {
            body.spans(2, columns(y), &crate::over::reader::highlighted(line, &wanted));
        }
        let rest = self.many.saturating_sub(self.top + self.height);
        if has_field {
            let y = height.saturating_sub(1);
            let x = painter.text(1, y, "/ ", Tone::Dim);
            self.field.draw(painter, x, y, self.is_typing);
        } else if rest > 0 {
            let words = format!(" {rest} more lines ");
            painter.text_right(height.saturating_sub(1), &words, Tone::Dim);
        }
    }

    fn has_clock(&self, shared: &Shared) -> bool {
        shared.states.contains_key(&self.key)
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Back, Action::Open, Action::Filter, Action::Resume, Action::CopyId]
    }

    fn command(&self, _shared: &Shared) -> String {
        format!("recount stats --explain {}", quote(self.key.id.as_str()))
    }
}

/// The lines of the screen.
struct Sheet {
    width: usize,
    lines: Vec<Line>,
}

impl Sheet {
    fn heading(&mut self, words: &str) {
        if !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        self.lines.push(Line::new([Span::new(words, Tone::Strong)]));
    }

    fn text(&mut self, words: &str, tone: Tone) {
        self.lines.extend(plain::lines(words, tone, self.width));
    }

    /// A name and a value; the value is wrapped beside it.
    fn fact(&mut self, name: &str, value: &str) {
        self.toned(name, value, Tone::Plain);
    }

    fn toned(&mut self, name: &str, value: &str, tone: Tone) {
        if value.trim().is_empty() {
            return;
        }
        let lines =
            plain::lines(&single_line(value), tone, self.width.saturating_sub(NAME + 4).max(8));
        let first = format!("  {name:<NAME$}  ");
        for (at, line) in lines.into_iter().enumerate() {
            let margin = if at == 0 { first.clone() } else { " ".repeat(NAME + 4) };
            self.lines.push(line.after(&Line::new([Span::new(&margin, Tone::Dim)])));
        }
    }

    fn facts(&mut self, facts: &SessionFacts, shared: &Shared) {
        self.heading("facts");
        self.fact("id", facts.id.as_str());
        self.fact("agent", facts.source.as_str());
        let kind = facts.kind.as_str();
        let parent = facts.parent.as_ref().map(|parent| format!("{kind} of {}", parent.as_str()));
        self.fact("kind", &parent.unwrap_or_else(|| kind.to_owned()));
        if let Some(agent) = &facts.agent {
            let words = [&agent.kind, &agent.name, &agent.description];
            let words: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
            self.fact("sub-agent", &words.join(" · "));
        }
        let path = facts.project.path.as_ref().map(|path| shared.folders.tilde(path.as_str()));
        self.fact("project", &path.unwrap_or_else(|| facts.project.name().to_owned()));
        self.fact("branch", facts.branch.as_deref().unwrap_or_default());
        self.fact("models", &facts.models.join(", "));
        let time = |time: Option<Timestamp>| time.map(when::second).unwrap_or_default();
        self.fact("started", &time(facts.started));
        let used = facts
            .updated
            .map(|time| format!("{} ({})", when::second(time), when::age(time, shared.now)));
        self.fact("last used", &used.unwrap_or_default());
        if let (Some(started), Some(updated)) = (facts.started, facts.updated) {
            let seconds = (updated.as_second() - started.as_second()).max(0);
            self.fact("lasted", &rough_duration(seconds));
        }
        let counts = facts.counts;
        let mut said = vec![
            plural(counts.messages, "message"),
            plural(counts.prompts, "prompt"),
            plural(counts.answers, "answer"),
        ];
        if counts.undone > 0 {
            said.push(format!("{} undone", count(counts.undone)));
        }
        self.fact("messages", &said.join(", "));
        let calls = facts.tool_calls;
        let mut called = vec![count(calls.total)];
        for (many, word) in [(calls.failed, "failed"), (calls.cancelled, "cancelled")] {
            if many > 0 {
                called.push(format!("{} {word}", count(many)));
            }
        }
        self.fact("tool calls", &called.join(", "));
        let tokens = facts.tokens;
        let used = format!(
            "{} in ({} cached), {} out, {} thoughts",
            grouped(tokens.input.into()),
            grouped(tokens.cached.into()),
            grouped(tokens.output.into()),
            grouped(tokens.thoughts.into())
        );
        self.fact("tokens", &used);
        let least = if facts.cost_is_lower_bound == Some(true) { "≥" } else { "" };
        self.fact("cost", &format!("{least}{}", price(facts.cost_usd)));
        if let Some(labels) = &facts.labels {
            let tags: Vec<String> = labels.tags.iter().map(|tag| format!("#{tag}")).collect();
            self.fact("tags", &tags.join(" "));
            self.fact("pinned", if labels.pinned { "yes" } else { "" });
        }
        if shared.at_risk.contains(&facts.key()) {
            self.toned(
                "at risk",
                "the next start of the agent deletes it: 6 shows how to keep it",
                Tone::Warning,
            );
        }
    }

    fn live(&mut self, row: &LiveRow, now: Timestamp) {
        self.heading("live");
        let session = &row.session;
        let age = |at: i64| rough_duration(((now.as_millisecond() - at) / 1000).max(0));
        let sure = if session.certain { "" } else { " (inferred)" };
        self.fact("state", &format!("{}{sure}, for {}", row.state.as_str(), age(row.since)));
        for signal in &session.signals {
            self.fact(signal.from, &format!("{}, {} ago", signal.says, age(signal.at)));
        }
        if let Some(tool) = &session.tool {
            let argument = tool.argument.as_deref().unwrap_or_default();
            self.fact("tool", &format!("{} {argument}, for {}", tool.name, age(tool.since)));
        }
        if let Some((used, window)) = row.context {
            let of = window.map(|window| format!(" of {}", grouped(window.into())));
            self.fact(
                "context",
                &format!("{}{} tokens", grouped(used.into()), of.unwrap_or_default()),
            );
        }
        if let Some(pid) = session.process {
            let tty = session.terminal.tmux.as_ref().map(|pane| format!(", tmux {pane}"));
            let tty = tty.or_else(|| session.terminal.tty.as_ref().map(|tty| format!(", {tty}")));
            self.fact("process", &format!("{pid}{}", tty.unwrap_or_default()));
        }
    }

    fn files(&mut self, facts: &SessionFacts, shared: &Shared) {
        self.heading(&format!("files, {}", bytes(facts.bytes())));
        for file in &facts.files {
            let role = match file.role {
                FileRole::Main => "main",
                FileRole::Part => "part",
                FileRole::Copy => "copy",
                FileRole::Twin => "twin",
                FileRole::Stub => "stub",
                FileRole::Unreadable => "unreadable",
                FileRole::Base => "base",
            };
            let path = shared.folders.tilde(&file.path);
            self.fact(role, &format!("{:>8}  {path}", bytes(file.bytes)));
        }
    }

    fn folder(&mut self, facts: &SessionFacts, shared: &Shared) {
        let project = &facts.project;
        let path = project.path.as_ref().map(|path| shared.folders.tilde(path.as_str()));
        let state = match project.state {
            ProjectState::Present => "is there",
            ProjectState::Missing => "no longer exists",
            ProjectState::Unknown => "is not known",
            ProjectState::Scanning => "is being looked for",
        };
        let path = path.unwrap_or_else(|| "the folder".to_owned());
        self.heading(&format!("evidence: {path} {state}"));
        let mut clues: Vec<&Clue> = project.evidence.iter().collect();
        clues.sort_by_key(|clue| std::cmp::Reverse(clue.weight));
        if clues.is_empty() {
            self.text("  no evidence found", Tone::Dim);
        }
        let lines = clues.into_iter().map(|clue| evidence::line(clue, &shared.folders));
        let lines: Vec<Line> = lines.collect();
        for line in lines {
            self.lines.extend(recount_display::wrap::wrap(line.spans(), self.width));
        }
    }

    fn problems(&mut self, facts: &SessionFacts, shared: &Shared) {
        self.heading(&format!("problems: {}", facts.problems));
        for problem in &facts.problem_list {
            let place = problem.span.map(|span| format!(":{}", span.line)).unwrap_or_default();
            let file = shared.folders.tilde(&problem.file);
            let words = format!("  {file}{place}: {}; {}", problem.what.phrase(), problem.done);
            self.text(&words, Tone::Warning);
        }
        let more = facts.problems.saturating_sub(facts.problem_list.len() as u64);
        if more > 0 {
            self.text(&format!("  {} more", count(more)), Tone::Dim);
        }
    }

    fn cost(&mut self, cost: &Explained) {
        let skipped = cost.requests.len().saturating_sub(MOST_REQUESTS);
        if skipped > 0 {
            let words = format!("  the first {} are not listed", plural(skipped as u64, "request"));
            self.text(&words, Tone::Dim);
        }
        let cells: Vec<Vec<Span>> = cost.requests.iter().skip(skipped).map(explain::row).collect();
        let room = self.width.saturating_sub(2);
        let margin = Line::new([Span::new("  ", Tone::Plain)]);
        if !cells.is_empty() {
            let rows = table::lines(explain::COLUMNS, &cells, room);
            self.lines.extend(rows.into_iter().map(|line| line.after(&margin)));
        }
        for line in plain::lines(&explain::working(cost), Tone::Plain, room) {
            self.lines.push(line.after(&margin));
        }
    }
}
