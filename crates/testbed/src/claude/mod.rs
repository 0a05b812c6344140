//! Writes sessions like Claude Code: rows that name the row they continue.

mod tools;

use std::path::PathBuf;

use crate::{
    call::{Action, Call},
    json::{Json, Text, record},
    moment::Moment,
    options::Era,
    project::Project,
    random::Random,
    report::{ExpectedCounts, ExpectedKind},
    scenario::{Level, Prompt, Reply, Step},
    session::{Finished, Made, Role},
    tally::Tally,
};
use tools::End;

const MINUTE: i64 = 60_000;
/// Tokens of the system prompt and tool declarations, which are part of every request.
const BASE_TOKENS: u64 = 14_000;

/// A session, or a sub-agent, while it is being written.
#[derive(Debug)]
pub(crate) struct Transcript<'a> {
    era: Era,
    project: &'a Project,
    random: Random,
    now: Moment,
    began: Moment,
    id: Text,
    /// The sub-agent's id, and the id of the call that ran it.
    agent: Option<(Text, Text)>,
    rows: Vec<Json>,
    size: usize,
    /// The first row of all.
    root: Option<Text>,
    /// The row that the next one continues.
    leaf: Option<Text>,
    /// For each prompt, the row that it continued.
    tally: Tally<Option<Text>>,
    model: &'static str,
    context_tokens: u64,
    summary: Option<Text>,
    typed: Vec<(Moment, Text)>,
    subagents: Vec<Finished>,
    /// Sessions that this one continues, in their own files.
    before: Vec<Finished>,
}

impl<'a> Transcript<'a> {
    /// Starts the program in `project` at `at`.
    pub(crate) fn start(era: Era, project: &'a Project, at: Moment, mut random: Random) -> Self {
        let models: &[&'static str] = match era {
            Era::ClaudeInline => &["claude-sonnet-4-20250514", "claude-opus-4-20250514"],
            Era::ClaudeFlat => &["claude-sonnet-4-5-20250929"],
            _ => &["claude-sonnet-4-6", "claude-opus-4-7"],
        };
        let (id, model) = (random.uuid().into(), random.pick(models));
        Self {
            era,
            project,
            random,
            now: at,
            began: at,
            id,
            agent: None,
            rows: Vec::new(),
            size: 0,
            root: None,
            leaf: None,
            tally: Tally::default(),
            model,
            context_tokens: BASE_TOKENS,
            summary: None,
            typed: Vec::new(),
            subagents: Vec::new(),
            before: Vec::new(),
        }
    }

    pub(crate) fn title(&mut self, title: Option<Text>) {
        self.summary = title;
    }

    pub(crate) fn size(&self) -> usize {
        let files = self.before.iter().chain(&self.subagents).flat_map(|session| &session.files);
        self.size + files.map(|made| made.bytes.len()).sum::<usize>()
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
                self.interrupted("[Request interrupted by user]");
            }
            Step::Refused(text) => self.refuse(text),
            Step::Rewind(prompts) => self.rewind(*prompts),
            Step::Compress(summary) => self.compact(summary),
            // There is no such command.
            Step::Save(_) => {}
            Step::Resume(minutes) => {
                self.now = self.now.plus((*minutes).max(1) * MINUTE);
                // Only newer releases continue in the same file.
                if self.era == Era::ClaudeInline {
                    self.continue_elsewhere();
                }
            }
            Step::Fork(minutes) => {
                self.now = self.now.plus((*minutes).max(1) * MINUTE);
                self.continue_elsewhere();
            }
        }
    }

    fn wait(&mut self, low: i64, high: i64) {
        self.now = self.now.plus(self.random.between(low, high));
    }

    // --- Rows ---

    /// Adds a row to the tree; returns its id.
    fn row(&mut self, mut fields: Json) -> Text {
        let uuid: Text = self.random.uuid().into();
        self.root.get_or_insert_with(|| uuid.clone());
        let parent = self.leaf.replace(uuid.clone()).map_or(Json::Null, Json::from);
        let mut row = record! { "parentUuid": parent, "isSidechain": self.agent.is_some() };
        if let (Some((agent, _)), false) = (&self.agent, self.era == Era::ClaudeInline) {
            row.put("agentId", agent);
        }
        row.extend(&mut fields);
        row.put("uuid", &uuid);
        row.put("timestamp", self.now.iso());
        row.put("userType", "external");
        if self.era == Era::ClaudeFolder {
            row.put("entrypoint", "cli");
        }
        row.put("cwd", self.project.path.as_str());
        row.put("sessionId", &self.id);
        row.put("version", version(self.era));
        if self.era != Era::ClaudeInline {
            row.put("gitBranch", "main");
        }
        self.push(row);
        uuid
    }

    fn push(&mut self, row: Json) {
        self.size += row.to_compact().len() + 1;
        self.rows.push(row);
    }

    fn user(&mut self, content: Json) -> Text {
        self.row(
            record! { "type": "user", "message": record! { "role": "user", "content": content } },
        )
    }

    fn meta(&mut self, text: &str) {
        let message = record! { "role": "user", "content": text };
        self.row(record! { "type": "user", "isMeta": true, "message": message });
        self.tally.other();
    }

    // --- Steps ---

    fn ask(&mut self, prompt: &Prompt) {
        let text = prompt.typed.as_ref().unwrap_or(&prompt.text).clone();
        if self.agent.is_none() {
            self.wait(8_000, 150_000);
            self.typed.push((self.now, text.clone()));
        }
        self.tally.prompt(self.leaf.clone());
        self.context_tokens += text.len() as u64 / 4;
        self.user((&text).into());
        for (path, text) in &prompt.files {
            self.mentioned(path, text);
        }
    }

    fn ask_plainly(&mut self, text: &Text) {
        self.ask(&Prompt { text: text.clone(), typed: None, files: Vec::new() });
    }

    /// Adds a file that the prompt mentions.
    fn mentioned(&mut self, path: &Text, text: &Text) {
        self.context_tokens += text.len() as u64 / 4;
        let name = self.project.absolute(path);
        if self.era != Era::ClaudeFolder {
            return self.meta(&format!(
                "<system-reminder>\nResult of calling the Read tool: \"{text}\"\n</system-reminder>"
            ));
        }
        let lines = text.lines().count() as u64;
        let file = record! {
            "filePath": name.as_str(), "content": text, "numLines": lines, "startLine": 1_u64, "totalLines": lines,
        };
        let content = record! { "type": "text", "file": file };
        let file =
            record! { "type": "file", "filename": name, "content": content, "displayPath": path };
        self.row(record! { "type": "attachment", "attachment": file });
        self.tally.other();
    }

    fn reply(&mut self, reply: &Reply) {
        self.wait(1_200, 9_000);
        let used: Vec<(Text, &Call, tools::RecordedUse)> = reply
            .calls
            .iter()
            .map(|call| {
                let id = format!("toolu_01{}", self.random.letters(22)).into();
                (id, call, tools::record_call(call, self.project, self.era))
            })
            .collect();
        let mut blocks: Vec<Json> = Vec::new();
        for (subject, text) in &reply.thoughts {
            let signature = format!("ErUB{}", self.random.letters(60));
            let thinking = format!("{subject}. {text}");
            blocks
                .push(record! { "type": "thinking", "thinking": thinking, "signature": signature });
        }
        if !reply.text.is_empty() {
            blocks.push(record! { "type": "text", "text": &reply.text });
        }
        for (id, _, used) in &used {
            blocks.push(record! { "type": "tool_use", "id": id, "name": &used.name, "input": used.input.clone() });
        }
        let output: u64 = blocks.iter().map(|block| block.to_compact().len() as u64 / 4).sum();
        let tokens = self.answer(blocks, output, !used.is_empty());
        let ended = |end| used.iter().filter(|(.., used)| used.end == end).count() as u64;
        self.tally.add(ExpectedCounts {
            answers: 1,
            tool_calls: used.len() as u64,
            failed: ended(End::Failed),
            cancelled: ended(End::Cancelled),
            tokens,
            ..ExpectedCounts::default()
        });
        let stopped = ended(End::Cancelled) > 0;
        for (id, call, used) in used {
            self.result(&id, call, used);
        }
        if stopped {
            self.interrupted("[Request interrupted by user for tool use]");
        }
    }

    /// Writes the rows of one answer, a row for each block; returns its usage.
    fn answer(&mut self, blocks: Vec<Json>, output: u64, goes_on: bool) -> u64 {
        let id = format!("msg_01{}", self.random.letters(22));
        let request = format!("req_011C{}", self.random.letters(20));
        let read = self.context_tokens * 9 / 10;
        let written = self.context_tokens - read;
        let output = output + 8;
        let last = blocks.len();
        for (at, block) in blocks.into_iter().enumerate() {
            // 1.0 writes a placeholder first.
            let is_placeholder = self.era == Era::ClaudeInline && at + 1 < last;
            let stop = match (is_placeholder, goes_on) {
                (true, _) => Json::Null,
                (_, true) => "tool_use".into(),
                (_, false) => "end_turn".into(),
            };
            let created = record! { "ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0_u64 };
            let usage = record! {
                "input_tokens": 4_u64, "cache_creation_input_tokens": written, "cache_read_input_tokens": read,
                "cache_creation": created, "output_tokens": if is_placeholder { 3 } else { output },
                "service_tier": "standard",
            };
            let message = record! {
                "id": id.as_str(), "type": "message", "role": "assistant", "model": self.model,
                "content": Json::List(vec![block]), "stop_reason": stop, "stop_sequence": Json::Null, "usage": usage,
            };
            self.row(
                record! { "message": message, "requestId": request.as_str(), "type": "assistant" },
            );
            self.wait(5, 400);
        }
        self.context_tokens += output;
        4 + written + read + output
    }

    fn result(&mut self, id: &Text, call: &Call, used: tools::RecordedUse) {
        self.wait(20, 1_800);
        let (mut content, mut rich) = (Json::from(&used.content), used.rich);
        if let (Action::Agent { prompt, result, scenario, .. }, End::Done) =
            (&call.action, used.end)
        {
            let agent = self.delegate(id, (prompt, result), &scenario.steps);
            let said = Json::List(vec![record! { "type": "text", "text": result }]);
            rich = record! { "status": "completed", "prompt": prompt, "agentId": agent, "content": said.clone() };
            content = said;
        }
        self.context_tokens += used.content.len() as u64 / 4;
        let block = record! {
            "tool_use_id": id, "type": "tool_result", "content": content, "is_error": used.end != End::Done,
        };
        let message = record! { "role": "user", "content": Json::List(vec![block]) };
        self.row(record! { "type": "user", "message": message, "toolUseResult": rich });
    }

    /// Runs a sub-agent; returns its id.
    fn delegate(&mut self, call: &Text, (prompt, result): (&Text, &Text), steps: &[Step]) -> Text {
        let id: Text = match self.era {
            Era::ClaudeFlat => self.random.hex(8),
            _ => format!("a{}", self.random.hex(16)),
        }
        .into();
        let mut agent = Self {
            agent: Some((id.clone(), call.clone())),
            id: self.id.clone(),
            model: self.model,
            ..Self::start(self.era, self.project, self.now, self.random.fork())
        };
        agent.ask_plainly(prompt);
        for step in steps {
            agent.step(step);
        }
        agent.reply(&Reply { text: result.clone(), ..Reply::default() });
        self.now = agent.now.plus(40);
        if self.era == Era::ClaudeInline {
            for row in std::mem::take(&mut agent.rows) {
                self.push(row);
            }
            agent.size = 0;
        }
        self.subagents.push(agent.close());
        id
    }

    fn notice(&mut self, level: Level, text: &Text) {
        self.wait(200, 900);
        let level = level.name();
        self.row(record! { "type": "system", "subtype": "informational", "content": text, "isMeta": false, "level": level });
        self.tally.other();
    }

    fn shell(&mut self, command: &Text, output: &Text) {
        self.wait(4_000, 40_000);
        self.user(format!("<bash-input>{command}</bash-input>").into());
        self.wait(40, 900);
        let output = output.trim_end();
        self.user(format!("<bash-stdout>{output}</bash-stdout><bash-stderr></bash-stderr>").into());
        self.tally.other();
        self.tally.other();
    }

    fn interrupted(&mut self, text: &str) {
        self.user(Json::List(vec![record! { "type": "text", "text": text }]));
        self.tally.other();
    }

    fn refuse(&mut self, text: &Text) {
        self.ask_plainly(text);
        self.wait(900, 4_000);
        let said = "API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"This \
                    request would exceed your rate limit.\"}}";
        let usage = record! { "input_tokens": 0_u64, "output_tokens": 0_u64 };
        let message = record! {
            "id": self.random.uuid(), "type": "message", "role": "assistant", "model": "<synthetic>",
            "content": Json::List(vec![record! { "type": "text", "text": said }]), "stop_reason": "stop_sequence",
            "stop_sequence": "", "usage": usage,
        };
        self.row(record! { "message": message, "isApiErrorMessage": true, "type": "assistant" });
        self.tally.other();
    }

    /// Makes the next prompt continue an older row; the undone rows stay in the file.
    fn rewind(&mut self, prompts: usize) {
        self.wait(5_000, 20_000);
        if let Some(before) = self.tally.cut(prompts) {
            self.leaf = before;
        }
    }

    /// Performs `/compact`, which 1.0 does not record.
    fn compact(&mut self, summary: &Text) {
        self.wait(5_000, 30_000);
        let before = self.context_tokens;
        self.context_tokens = BASE_TOKENS + summary.len() as u64 / 4;
        if self.era == Era::ClaudeInline {
            return;
        }
        let last = self.leaf.take().map_or(Json::Null, Json::from);
        let metadata = record! { "trigger": "manual", "preTokens": before };
        self.row(record! {
            "logicalParentUuid": last, "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "isMeta": false, "level": "info", "compactMetadata": metadata,
        });
        let text = format!(
            "This session is being continued from a previous conversation that ran out of context. The conversation is \
             summarized below:\n{summary}"
        );
        let message = record! { "role": "user", "content": text };
        self.row(record! {
            "type": "user", "message": message, "isVisibleInTranscriptOnly": true, "isCompactSummary": true,
        });
        self.tally.clear();
        self.tally.other();
    }

    /// Continues in a new file that begins with a copy of this one: a fork, or a resume of 1.0.
    fn continue_elsewhere(&mut self) {
        let id: Text = self.random.uuid().into();
        let next = Self {
            id: id.clone(),
            agent: None,
            model: self.model,
            context_tokens: self.context_tokens,
            tally: self.tally.clone(),
            leaf: self.leaf.clone(),
            ..Self::start(self.era, self.project, self.now, self.random.fork())
        };
        let mut old = std::mem::replace(self, next);
        self.before = std::mem::take(&mut old.before);
        // The copies keep their figures.
        self.tally.inherit(|_| {});
        let is_resume = self.era == Era::ClaudeInline;
        let mut renamed: Vec<(Text, Text)> = Vec::new();
        for row in &old.rows {
            if row.text("uuid").is_none() || is_resume && row.is_true("isSidechain") {
                continue;
            }
            let mut row = row.clone();
            row.set("sessionId", &id);
            if is_resume {
                self.renew(&mut row, &mut renamed);
            }
            self.push(row);
        }
        if is_resume {
            self.leaf = renamed.last().map(|(_, new)| new.clone());
        }
        self.before.push(old.close());
    }

    /// Changes a copied row as a resume of 1.0 does.
    fn renew(&mut self, row: &mut Json, renamed: &mut Vec<(Text, Text)>) {
        let new: Text = self.random.uuid().into();
        let parent = row.text("parentUuid");
        let parent = renamed.iter().rev().find(|(old, _)| Some(old) == parent.as_ref());
        row.set("parentUuid", parent.map_or(Json::Null, |(_, new)| new.into()));
        renamed.extend(row.text("uuid").map(|old| (old, new.clone())));
        row.set("uuid", &new);
        row.set("timestamp", self.now.iso());
        row.remove("requestId");
        row.remove("toolUseResult");
    }

    // --- Files ---

    /// Ends the program; returns the session, and those that it continues.
    pub(crate) fn finish(mut self) -> Vec<Finished> {
        let mut all = std::mem::take(&mut self.before);
        all.push(self.close());
        all
    }

    fn close(mut self) -> Finished {
        self.add_title();
        let mut files = Vec::new();
        let folder = PathBuf::from(".claude/projects").join(folder_name(&self.project.path));
        let main = folder.join(format!("{}.jsonl", self.id));
        let (path, id, parent) = match &self.agent {
            None => (main, self.id.clone(), None),
            Some((agent, call)) => {
                let first = self.root.clone().unwrap_or_else(|| agent.clone());
                let path = match self.era {
                    Era::ClaudeInline => main,
                    Era::ClaudeFlat => folder.join(format!("agent-{agent}.jsonl")),
                    _ => {
                        let folder = folder.join(&*self.id).join("subagents");
                        let about = record! { "agentType": "general-purpose", "description": "A task", "toolUseId": call };
                        files.push(Made::at(
                            folder.join(format!("agent-{agent}.meta.json")),
                            about.to_compact(),
                            self.now,
                        ));
                        folder.join(format!("agent-{agent}.jsonl"))
                    }
                };
                let id = if self.era == Era::ClaudeInline { first } else { agent.clone() };
                (path, id, Some(self.id.clone()))
            }
        };
        let mut text = String::with_capacity(self.size);
        for row in &self.rows {
            row.compact(&mut text);
            text.push('\n');
        }
        files.insert(0, Made { role: Role::Main, ..Made::at(path, text, self.now) });
        let notes = self.history();
        Finished {
            id,
            kind: if parent.is_some() { ExpectedKind::Subagent } else { ExpectedKind::Main },
            parent,
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

    fn add_title(&mut self) {
        if self.agent.is_some() {
            return;
        }
        if let (Some(title), Some(leaf)) = (self.summary.clone(), self.leaf.clone()) {
            let row = if self.era == Era::ClaudeFolder {
                record! { "type": "ai-title", "aiTitle": title, "sessionId": &self.id }
            } else {
                record! { "type": "summary", "summary": title, "leafUuid": leaf }
            };
            self.push(row);
        }
        if let (Era::ClaudeFolder, Some((_, last))) = (self.era, self.typed.last()) {
            let row = record! { "type": "last-prompt", "lastPrompt": last, "sessionId": &self.id };
            self.push(row);
        }
    }

    /// Returns the prompts, for the history that releases since 2.0 write.
    fn history(&self) -> Vec<(PathBuf, Moment, String)> {
        if self.era == Era::ClaudeInline {
            return Vec::new();
        }
        let line = |(time, text): &(Moment, Text)| {
            let line = record! {
                "display": text, "pastedContents": Json::Record(Vec::new()), "timestamp": u64::try_from(time.0).unwrap_or(0),
                "project": self.project.path.as_str(), "sessionId": &self.id,
            };
            (PathBuf::from(".claude/history.jsonl"), *time, line.to_compact())
        };
        self.typed.iter().map(line).collect()
    }
}

fn version(era: Era) -> &'static str {
    match era {
        Era::ClaudeInline => "1.0.24",
        Era::ClaudeFlat => "2.0.30",
        _ => "2.1.112",
    }
}

/// Returns the name of a project's folder: anything except letters and digits becomes a dash.
fn folder_name(path: &str) -> String {
    let plain = |unit: u16| char::from_u32(u32::from(unit)).filter(char::is_ascii_alphanumeric);
    path.encode_utf16().map(|unit| plain(unit).unwrap_or('-')).collect()
}
