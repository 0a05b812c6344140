//! The facts as lines.

use jiff::Timestamp;
use recount_blocks::rough_duration;
use recount_display::number::{bytes, count, grouped, plural, price};
use recount_display::sanitize::single_line;
use recount_display::span::{Line, StyledSpan};
use recount_display::theme::Tone;
use recount_display::{columns as table, evidence, explain, plain, when};
use recount_engine::live::LiveRow;
use recount_engine::stats::Explained;
use recount_model::{Clue, FileRole, ProjectState, SessionFacts};

use crate::shared::Shared;

/// The maximum number of requests that are listed.
const MOST_REQUESTS: usize = 2000;
/// The width of the names of facts.
const NAME: usize = 12;

/// The lines of the screen.
pub(super) struct Sheet {
    pub(super) width: usize,
    pub(super) lines: Vec<Line>,
}

impl Sheet {
    pub(super) fn heading(&mut self, words: &str) {
        if !self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        self.lines.push(Line::new([StyledSpan::new(words, Tone::Strong)]));
    }

    pub(super) fn text(&mut self, words: &str, tone: Tone) {
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
            self.lines.push(line.after(&Line::new([StyledSpan::new(&margin, Tone::Dim)])));
        }
    }

    pub(super) fn facts(&mut self, facts: &SessionFacts, shared: &Shared) {
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
        let is_unknown = facts.is_usage_unknown();
        self.fact("tokens", if is_unknown { "not recorded" } else { &used });
        self.fact("cost", &price(facts.cost_usd, facts.cost_is_lower_bound == Some(true)));
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

    pub(super) fn live(&mut self, row: &LiveRow, now: Timestamp) {
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

    pub(super) fn files(&mut self, facts: &SessionFacts, shared: &Shared) {
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

    pub(super) fn folder(&mut self, facts: &SessionFacts, shared: &Shared) {
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

    pub(super) fn problems(&mut self, facts: &SessionFacts, shared: &Shared) {
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

    pub(super) fn cost(&mut self, cost: &Explained) {
        let skipped = cost.requests.len().saturating_sub(MOST_REQUESTS);
        if skipped > 0 {
            let words = format!("  the first {} are not listed", plural(skipped as u64, "request"));
            self.text(&words, Tone::Dim);
        }
        let cells: Vec<Vec<StyledSpan>> =
            cost.requests.iter().skip(skipped).map(explain::row).collect();
        let room = self.width.saturating_sub(2);
        let margin = Line::new([StyledSpan::new("  ", Tone::Plain)]);
        if !cells.is_empty() {
            let rows = table::lines(explain::COLUMNS, &cells, room);
            self.lines.extend(rows.into_iter().map(|line| line.after(&margin)));
        }
        for line in plain::lines(&explain::working(cost), Tone::Plain, room) {
            self.lines.push(line.after(&margin));
        }
    }
}
