//! Writes sessions like Codex: a rollout of items and events, more than one after a revert.

mod items;
mod place;
mod tools;

use std::path::PathBuf;

use crate::{
    json::{Json, Text, record},
    moment::Moment,
    options::Era,
    project::Project,
    random::Random,
    report::ExpectedKind,
    scenario::{Level, Prompt, Step},
    session::{Finished, Made, Role},
    tally::Tally,
};

const MINUTE: i64 = 60_000;
/// Tokens of the instructions and tool declarations, which are part of every request.
const BASE_TOKENS: u64 = 7_000;
/// The context window in tokens.
const WINDOW: u64 = 258_400;
/// The text before a summary.
const BEFORE_SUMMARY: &str = "Another language model started to solve this problem and produced a summary of its thinking \
                              process. Use this to build on the work that has already been done and avoid duplicating \
                              work. Here is the summary produced by the other language model:\n";

/// Where a finished thread is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoragePlace {
    /// Where it was written.
    Active,
    /// In the archive.
    Archived,
    /// Compressed, as the program does with threads that were not used for days.
    Compressed,
}

/// A thread while it is being written.
#[derive(Debug)]
pub(crate) struct Rollout<'a> {
    era: Era,
    project: &'a Project,
    random: Random,
    now: Moment,
    began: Moment,
    id: Text,
    /// The thread that ran it.
    parent: Option<Text>,
    /// The id of the current file, and when it was begun.
    file: (Text, Moment),
    out: String,
    /// Type and payload of each line, for forks that copy them.
    lines: Vec<(&'static str, Json)>,
    ordinal: u64,
    older: Vec<Made>,
    tally: Tally<()>,
    /// Ends of turns that a revert or a fork can go back to.
    marks: Vec<Mark>,
    turn: Option<Text>,
    is_fresh: bool,
    last_text: Option<Text>,
    prompts: Vec<Text>,
    context_tokens: u64,
    total: Usage,
    last: Usage,
    summary: Option<Text>,
    typed: Vec<(Moment, Text)>,
    subagents: Vec<Finished>,
    /// Threads that this one continues.
    before: Vec<Finished>,
    shelf: StoragePlace,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    ordinal: u64,
    offset: u64,
    kept: usize,
    total: Usage,
}

/// Usage: input, cached input, output, reasoning.
#[derive(Debug, Clone, Copy, Default)]
struct Usage([u64; 4]);

impl Usage {
    fn total(self) -> u64 {
        self.0[0] + self.0[2]
    }

    fn plus(self, other: Self) -> Self {
        let [a, b, c, d] = other.0;
        Self([self.0[0] + a, self.0[1] + b, self.0[2] + c, self.0[3] + d])
    }

    fn json(self, era: Era) -> Json {
        let [input, cached, output, reasoning] = self.0;
        let mut usage = record! { "input_tokens": input, "cached_input_tokens": cached };
        if era == Era::CodexPaginated {
            usage.put("cache_write_input_tokens", 0_u64);
        }
        usage.put("output_tokens", output);
        usage.put("reasoning_output_tokens", reasoning);
        usage.put("total_tokens", self.total());
        usage
    }
}

impl<'a> Rollout<'a> {
    /// Starts the program in `project` at `at`.
    pub(crate) fn start(era: Era, project: &'a Project, at: Moment, random: Random) -> Self {
        let mut thread = Self::open(era, project, at, random);
        thread.head(Json::Record(Vec::new()));
        thread
    }

    fn open(era: Era, project: &'a Project, at: Moment, mut random: Random) -> Self {
        let has_time = matches!(era, Era::CodexTagged | Era::CodexPaginated);
        let id: Text = if has_time { random.uuid7(at.0) } else { random.uuid() }.into();
        Self {
            era,
            project,
            random,
            now: at,
            began: at,
            file: (id.clone(), at),
            id,
            parent: None,
            out: String::new(),
            lines: Vec::new(),
            ordinal: 0,
            older: Vec::new(),
            tally: Tally::default(),
            marks: Vec::new(),
            turn: None,
            is_fresh: true,
            last_text: None,
            prompts: Vec::new(),
            context_tokens: BASE_TOKENS,
            total: Usage::default(),
            last: Usage::default(),
            summary: None,
            typed: Vec::new(),
            subagents: Vec::new(),
            before: Vec::new(),
            shelf: StoragePlace::Active,
        }
    }

    pub(crate) fn title(&mut self, title: Option<Text>) {
        self.summary = title;
    }

    pub(crate) fn put(&mut self, place: StoragePlace) {
        self.shelf = place;
    }

    pub(crate) fn size(&self) -> usize {
        let files = self.before.iter().chain(&self.subagents).flat_map(|session| &session.files);
        let files = files.chain(&self.older).map(|made| made.bytes.len());
        self.out.len() + files.sum::<usize>()
    }

    /// Performs one step.
    pub(crate) fn step(&mut self, step: &Step) {
        match step {
            Step::Ask(prompt) => self.ask(prompt),
            Step::Reply(reply) => self.reply(reply),
            Step::Notice(level, text) => self.notice(*level, text),
            Step::Shell { command, output } => self.shell(command, output),
            Step::Stop(text) => {
                self.ask_plainly(text);
                self.wait(1_500, 6_000);
                self.abort();
            }
            Step::Refused(text) => {
                self.ask_plainly(text);
                self.wait(900, 4_000);
                self.last_text = None;
                self.end_turn();
            }
            Step::Rewind(prompts) => self.undo(*prompts),
            Step::Compress(summary) => self.compact(summary),
            // There is no such command.
            Step::Save(_) => {}
            Step::Resume(minutes) => {
                self.end_turn();
                self.now = self.now.plus((*minutes).max(1) * MINUTE);
                // A release of the bare era copies everything into a new file.
                if self.era == Era::CodexBare {
                    self.continue_elsewhere();
                }
            }
            Step::Fork(minutes) => {
                self.end_turn();
                self.now = self.now.plus((*minutes).max(1) * MINUTE);
                if self.era != Era::CodexDocument {
                    self.continue_elsewhere();
                }
            }
        }
    }

    fn wait(&mut self, low: i64, high: i64) {
        self.now = self.now.plus(self.random.between(low, high));
    }

    fn is_paginated(&self) -> bool {
        self.era == Era::CodexPaginated
    }

    /// Whether lines have types, times and events.
    fn is_tagged(&self) -> bool {
        matches!(self.era, Era::CodexTagged | Era::CodexPaginated)
    }

    fn model(&self) -> &'static str {
        if self.is_paginated() { "gpt-5.5" } else { "gpt-5.2-codex" }
    }

    // --- Steps ---

    fn ask(&mut self, prompt: &Prompt) {
        self.end_turn();
        let mut text: Text = prompt.typed.as_ref().unwrap_or(&prompt.text).clone();
        for (path, file) in &prompt.files {
            text = format!("{text}\n\n{path}:\n{file}").into();
        }
        if self.parent.is_none() {
            self.wait(8_000, 150_000);
            self.typed.push((self.now, text.clone()));
        }
        self.begin_turn();
        self.tally.prompt(());
        self.prompts.push(text.clone());
        self.context_tokens += text.len() as u64 / 4;
        self.prompt_records(&text);
    }

    fn ask_plainly(&mut self, text: &Text) {
        self.ask(&Prompt { text: text.clone(), typed: None, files: Vec::new() });
    }

    /// Errors and warnings are events; other notices are not recorded.
    fn notice(&mut self, level: Level, text: &Text) {
        self.wait(200, 900);
        if self.era == Era::CodexTagged && level != Level::Info {
            let kind = if level == Level::Error { "error" } else { "warning" };
            self.event(record! { "type": kind, "message": text });
            self.tally.other();
        }
    }

    fn shell(&mut self, command: &Text, output: &Text) {
        self.wait(4_000, 40_000);
        if self.era == Era::CodexTagged {
            let text = format!(
                "<user_shell_command>\n<command>\n{command}\n</command>\n<result>\nExit code: 0\nDuration: 0.0120 \
                 seconds\nOutput:\n{output}\n</result>\n</user_shell_command>"
            );
            self.injected("user", &text, "user_shell");
        }
    }

    /// The user stops the turn.
    fn abort(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        if self.is_tagged() {
            self.event(
                record! { "type": "turn_aborted", "turn_id": turn, "reason": "interrupted" },
            );
            self.tally.other();
            self.mark();
        }
    }

    /// Undoes prompts: by a record, or since 0.148 by a new file that continues from the middle of the old one.
    fn undo(&mut self, prompts: usize) {
        self.end_turn();
        self.wait(5_000, 20_000);
        match self.era {
            Era::CodexTagged if self.tally.cut(prompts).is_some() => {
                let turns = prompts.max(1) as u64;
                self.event(record! { "type": "thread_rolled_back", "num_turns": turns });
                self.marks.clear();
            }
            Era::CodexPaginated => {
                let at = self.marks.len().checked_sub(1 + prompts.max(1));
                if let Some(mark) = at.and_then(|at| self.marks.get(at).copied()) {
                    self.revert(mark);
                }
            }
            // Earlier releases cannot.
            _ => {}
        }
    }

    fn revert(&mut self, mark: Mark) {
        let next: Text = self.random.uuid7(self.now.0).into();
        let old = std::mem::replace(&mut self.file, (next, self.now));
        let text = std::mem::take(&mut self.out);
        self.older.push(self.made((&old.0, old.1), text, Role::Part));
        self.lines.clear();
        self.tally.truncate(mark.kept);
        self.marks.clear();
        (self.ordinal, self.total) = (mark.ordinal, mark.total);
        let base = record! {
            "thread_id": old.0, "end_ordinal_exclusive": mark.ordinal, "end_byte_offset": mark.offset,
        };
        self.head(record! { "history_base": base });
        self.settings();
    }

    fn compact(&mut self, summary: &Text) {
        self.end_turn();
        self.wait(5_000, 30_000);
        self.context_tokens = BASE_TOKENS + summary.len() as u64 / 4;
        if !self.is_tagged() {
            return;
        }
        self.begin_turn();
        let mut done = record! { "message": format!("{BEFORE_SUMMARY}{summary}") };
        if self.is_paginated() {
            let said = |text: &Text| {
                record! {
                    "type": "message", "role": "user",
                    "content": Json::List(vec![record! { "type": "input_text", "text": text }]),
                }
            };
            let kept = Json::list(self.prompts.iter().rev().take(4).rev().map(said));
            done.put("replacement_history", kept);
            done.put("window_number", 1_u64);
        }
        self.line("compacted", done);
        self.event(record! { "type": "context_compacted" });
        self.tally.other();
        self.last_text = None;
        self.end_turn();
        self.tally.settle();
        self.marks.clear();
    }

    /// Continues in another thread: a fork, or a resume of the bare era.
    fn continue_elsewhere(&mut self) {
        let mark = self.marks.last().copied();
        if self.is_paginated() && mark.is_none() {
            return;
        }
        let next = Self {
            tally: self.tally.clone(),
            context_tokens: self.context_tokens,
            prompts: self.prompts.clone(),
            total: self.total,
            last: self.last,
            is_fresh: false,
            shelf: self.shelf,
            ..Self::open(self.era, self.project, self.now, self.random.fork())
        };
        let mut old = std::mem::replace(self, next);
        self.before = std::mem::take(&mut old.before);
        match (self.era, mark) {
            (Era::CodexPaginated, Some(mark)) => {
                self.ordinal = mark.ordinal;
                let base = record! {
                    "thread_id": &old.file.0, "end_ordinal_exclusive": mark.ordinal, "end_byte_offset": mark.offset,
                };
                self.head(record! {
                    "forked_from_id": &old.id, "forked_from_ordinal_exclusive": mark.ordinal, "history_base": base,
                });
                self.settings();
            }
            (Era::CodexBare, _) => {
                self.head(Json::Record(Vec::new()));
                for (kind, payload) in old.lines.iter().filter(|(kind, _)| *kind == "response_item")
                {
                    self.line(kind, payload.clone());
                }
            }
            _ => {
                self.head(record! { "forked_from_id": &old.id });
                for (kind, payload) in &old.lines {
                    self.line(kind, payload.clone());
                }
            }
        }
        // Usage is counted in the thread that used it, and calls where they are recorded.
        let is_elsewhere = self.is_paginated();
        self.tally.inherit(|counts| {
            counts.tokens = 0;
            if is_elsewhere {
                (counts.tool_calls, counts.failed, counts.cancelled) = (0, 0, 0);
            }
        });
        self.before.push(old.close());
    }

    // --- Files ---

    /// Ends the program; returns the thread, and those that it continues.
    pub(crate) fn finish(mut self) -> Vec<Finished> {
        let mut all = std::mem::take(&mut self.before);
        all.push(self.close());
        all
    }

    fn close(mut self) -> Finished {
        self.end_turn();
        let mut files = std::mem::take(&mut self.older);
        let text = if self.era == Era::CodexDocument {
            self.document()
        } else {
            std::mem::take(&mut self.out)
        };
        let main = self.made((&self.file.0, self.file.1), text, Role::Main);
        files.insert(0, main);
        let notes = self.notes();
        Finished {
            id: self.id,
            kind: if self.parent.is_some() { ExpectedKind::Subagent } else { ExpectedKind::Main },
            parent: self.parent,
            era: self.era,
            first_era: self.era,
            began: self.began,
            updated: self.now,
            files,
            subagents: self.subagents,
            kept: self.tally.kept(),
            ever: self.tally.ever(),
            typed: Vec::new(),
            commands: Vec::new(),
            saved: Vec::new(),
            notes,
        }
    }

    /// Returns the lines about the thread in files that all threads share.
    fn notes(&self) -> Vec<(PathBuf, Moment, String)> {
        let mut notes = Vec::new();
        if self.era != Era::CodexDocument && self.parent.is_none() {
            for (time, text) in &self.typed {
                let seconds = u64::try_from(time.0 / 1000).unwrap_or(0);
                let line = record! { "session_id": &self.id, "ts": seconds, "text": text };
                notes.push((PathBuf::from(".codex/history.jsonl"), *time, line.to_compact()));
            }
        }
        if let (Some(title), true, None) = (&self.summary, self.is_tagged(), &self.parent) {
            let line =
                record! { "id": &self.id, "thread_name": title, "updated_at": self.now.iso() };
            notes.push((PathBuf::from(".codex/session_index.jsonl"), self.now, line.to_compact()));
        }
        notes
    }
}
