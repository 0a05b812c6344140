//! The lines of a rollout: items, which the model saw, and events, which the user saw.

use super::{
    Rollout, Usage, WINDOW,
    tools::{self, End, Form, RecordedUse},
};
use crate::{
    call::Action,
    json::{Json, Text, record},
    options::Era,
    report::ExpectedCounts,
    scenario::{Reply, Step},
};

impl Rollout<'_> {
    // --- Lines ---

    /// Adds a line; the first eras have only items, without types and times.
    pub(super) fn line(&mut self, kind: &'static str, payload: Json) {
        if matches!(self.era, Era::CodexDocument | Era::CodexBare) {
            payload.compact(&mut self.out);
            self.out.push('\n');
            self.lines.push((kind, payload));
            return;
        }
        let mut line = record! { "timestamp": self.now.iso() };
        if self.is_paginated() {
            line.put("ordinal", self.ordinal);
            self.ordinal += 1;
        }
        line.put("type", kind);
        line.put("payload", payload.clone());
        line.compact(&mut self.out);
        self.out.push('\n');
        if !self.is_paginated() {
            self.lines.push((kind, payload));
        }
    }

    pub(super) fn event(&mut self, payload: Json) {
        if self.is_tagged() {
            self.line("event_msg", payload);
        }
    }

    fn completed(&mut self, item: Json) {
        let now = u64::try_from(self.now.0).unwrap_or(0);
        let turn = self.turn.clone().unwrap_or_default();
        self.event(record! {
            "type": "item_completed", "thread_id": &self.id, "turn_id": turn, "item": item, "started_at_ms": now,
            "completed_at_ms": now,
        });
    }

    /// Adds an item; `kinds` has the types of its parts, in releases that record them.
    fn item(&mut self, mut item: Json, kinds: Option<&'static str>) {
        if self.is_paginated() {
            let turn = self.turn.clone().unwrap_or_default();
            let mut about = record! { "turn_id": turn };
            if let Some(kind) = kinds {
                about.put("content_item_kinds", Json::list([kind]));
            }
            item.put("internal_chat_message_metadata_passthrough", about);
        }
        self.line("response_item", item);
    }

    /// Adds the header of a file.
    pub(super) fn head(&mut self, mut more: Json) {
        let git = record! { "commit_hash": self.random.hex(40), "branch": "main" };
        match self.era {
            Era::CodexDocument => return,
            Era::CodexBare => {
                let head = record! {
                    "id": &self.id, "timestamp": self.now.iso(), "instructions": Json::Null, "git": git,
                };
                return self.line("session_meta", head);
            }
            _ => {}
        }
        let cwd = self.project.path.as_str();
        let mut head = record! { "id": &self.id };
        head.extend(&mut more);
        head.put("timestamp", self.now.iso());
        head.put("cwd", cwd);
        head.put("originator", "codex_cli_rs");
        head.put("cli_version", if self.is_paginated() { "0.166.0" } else { "0.104.0" });
        match &self.parent {
            None => head.put("source", "cli"),
            Some(parent) => {
                let spawn = record! { "parent_thread_id": parent, "depth": 1_u64 };
                head.put("source", record! { "subagent": record! { "thread_spawn": spawn } });
            }
        }
        head.put("model_provider", "openai");
        head.put("base_instructions", record! { "text": "You are Codex, a coding agent." });
        if self.is_paginated() {
            head.put("history_mode", "paginated");
        }
        head.put("git", git);
        self.line("session_meta", head);
    }

    pub(super) fn settings(&mut self) {
        let settings = record! { "model": self.model(), "model_provider_id": "openai", "cwd": self.project.path.as_str() };
        let thread = self.id.clone();
        self.event(record! { "type": "thread_settings_applied", "thread_id": thread, "thread_settings": settings });
    }

    // --- Turns ---

    pub(super) fn begin_turn(&mut self) {
        let turn: Text = self.random.uuid7(self.now.0).into();
        self.turn = Some(turn.clone());
        if self.era == Era::CodexTagged && self.is_fresh {
            self.opening();
        }
        let mut started = record! { "type": "task_started", "turn_id": turn };
        if self.is_paginated() {
            started.put("started_at", u64::try_from(self.now.0 / 1000).unwrap_or(0));
        }
        started.put("model_context_window", WINDOW);
        started.put("collaboration_mode_kind", "default");
        self.event(started);
        if self.era != Era::CodexTagged && self.is_fresh {
            self.opening();
        }
        self.is_fresh = false;
    }

    /// Adds the context that the program sends to the model, once.
    fn opening(&mut self) {
        if self.era == Era::CodexDocument {
            return;
        }
        if self.is_tagged() {
            let text = "<permissions instructions>Filesystem sandboxing is off.</permissions instructions>";
            self.injected("developer", text, "permissions.instructions");
        }
        let text = format!(
            "<environment_context>\n  <cwd>{}</cwd>\n  <approval_policy>never</approval_policy>\n  <shell>bash</shell>\n\
             </environment_context>",
            self.project.path
        );
        self.injected("user", &text, "environments.environment_context");
    }

    /// Adds a message that nobody typed.
    pub(super) fn injected(&mut self, role: &'static str, text: &str, kind: &'static str) {
        let content = Json::List(vec![record! { "type": "input_text", "text": text }]);
        self.item(record! { "type": "message", "role": role, "content": content }, Some(kind));
        self.tally.other();
    }

    /// Adds the records of a prompt.
    pub(super) fn prompt_records(&mut self, text: &Text) {
        if self.is_paginated() {
            self.turn_context();
        }
        let content = Json::List(vec![record! { "type": "input_text", "text": text }]);
        self.item(
            record! { "type": "message", "role": "user", "content": content },
            Some("user.text"),
        );
        if self.is_paginated() {
            let part =
                record! { "type": "text", "text": text, "text_elements": Json::List(Vec::new()) };
            let id = self.random.uuid();
            self.completed(
                record! { "type": "UserMessage", "id": id, "content": Json::List(vec![part]) },
            );
        } else {
            let none = || Json::List(Vec::new());
            self.event(record! {
                "type": "user_message", "message": text, "images": none(), "local_images": none(), "text_elements": none(),
            });
            self.turn_context();
        }
    }

    fn turn_context(&mut self) {
        if self.is_tagged() {
            let turn = self.turn.clone().unwrap_or_default();
            let policy = record! { "type": "danger-full-access" };
            self.line(
                "turn_context",
                record! {
                    "turn_id": turn, "cwd": self.project.path.as_str(), "approval_policy": "never",
                    "sandbox_policy": policy, "model": self.model(), "summary": "auto",
                },
            );
        }
    }

    pub(super) fn end_turn(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        let text = self.last_text.take().map_or(Json::Null, Json::from);
        self.event(
            record! { "type": "task_complete", "turn_id": turn, "last_agent_message": text },
        );
        self.mark();
    }

    pub(super) fn mark(&mut self) {
        self.marks.push(super::Mark {
            ordinal: self.ordinal,
            offset: self.out.len() as u64,
            kept: self.tally.len(),
            total: self.total,
        });
    }

    // --- Answers ---

    pub(super) fn reply(&mut self, reply: &Reply) {
        self.wait(1_200, 9_000);
        let used: Vec<(Text, RecordedUse)> = reply
            .calls
            .iter()
            .map(|call| {
                let id = format!("call_{}", self.random.letters(24)).into();
                (id, tools::record_call(call, self.project, self.era))
            })
            .collect();
        let mut output = 8;
        if !reply.thoughts.is_empty() {
            output += self.reasoning(&reply.thoughts);
        }
        if !reply.text.is_empty() {
            output += reply.text.len() as u64 / 4;
            self.said(&reply.text);
        }
        for (call, (id, used)) in reply.calls.iter().zip(&used) {
            output += 30;
            self.call(id, used, &call.action);
        }
        let tokens = self.count(output, if reply.thoughts.is_empty() { 0 } else { output / 3 });
        let ended = |end| used.iter().filter(|(_, used)| used.end == end).count() as u64;
        self.tally.add(ExpectedCounts {
            answers: 1,
            tool_calls: used.len() as u64,
            failed: ended(End::Failed),
            cancelled: ended(End::Cancelled),
            tokens,
            ..ExpectedCounts::default()
        });
        let stopped = ended(End::Cancelled) > 0;
        for (call, (id, used)) in reply.calls.iter().zip(used) {
            self.output(&id, &used, &call.action);
        }
        if self.is_paginated() {
            self.token_count();
        }
        if stopped {
            self.abort();
        }
    }

    fn reasoning(&mut self, thoughts: &[(Text, Text)]) -> u64 {
        let id = format!("rs_0a{}", self.random.letters(32));
        let texts: Vec<String> =
            thoughts.iter().map(|(subject, text)| format!("**{subject}**\n\n{text}")).collect();
        if self.is_paginated() {
            let summary = Json::list(texts.iter().map(String::as_str));
            self.completed(record! {
                "type": "Reasoning", "id": id.as_str(), "summary_text": summary, "raw_content": Json::List(Vec::new()),
            });
        } else {
            for text in &texts {
                self.event(record! { "type": "agent_reasoning", "text": text.as_str() });
            }
        }
        let size: usize = texts.iter().map(String::len).sum();
        let summary = Json::list(
            texts.iter().map(|text| record! { "type": "summary_text", "text": text.as_str() }),
        );
        let hidden = format!("gAAAAAB{}", self.random.letters(80));
        let mut item = record! { "type": "reasoning" };
        if self.era != Era::CodexTagged {
            item.put("id", id);
        }
        item.put("summary", summary);
        item.put("encrypted_content", hidden);
        self.item(item, None);
        size as u64 / 4
    }

    fn said(&mut self, text: &Text) {
        let id = format!("msg_0a{}", self.random.letters(32));
        if self.is_paginated() {
            let content = Json::List(vec![record! { "type": "Text", "text": text }]);
            self.completed(
                record! { "type": "AgentMessage", "id": id.as_str(), "content": content },
            );
        } else {
            self.event(record! { "type": "agent_message", "message": text });
        }
        let content = Json::List(vec![record! { "type": "output_text", "text": text }]);
        let mut item = record! { "type": "message" };
        if self.era != Era::CodexTagged {
            item.put("id", id);
        }
        item.put("role", "assistant");
        item.put("content", content);
        self.item(item, Some("unknown"));
        self.last_text = Some(text.clone());
    }

    fn call(&mut self, id: &Text, used: &RecordedUse, action: &Action) {
        let shell = |command: &Text| Json::list(["bash", "-lc", &**command]);
        let item = match &used.form {
            Form::Shell(command) if self.era == Era::CodexDocument => {
                let action = record! { "type": "exec", "command": shell(command), "env": Json::Record(Vec::new()) };
                let own = format!("lsh_{}", self.random.letters(24));
                record! { "type": "local_shell_call", "id": own, "call_id": id, "status": "completed", "action": action }
            }
            Form::Shell(command) if self.era == Era::CodexBare => {
                self.function("shell", &record! { "command": shell(command) }, id)
            }
            Form::Shell(command) => self.function("exec_command", &record! { "cmd": command }, id),
            Form::Patch { input, .. } if !self.is_tagged() => {
                let command = Json::list(["apply_patch", &**input]);
                self.function("shell", &record! { "command": command }, id)
            }
            Form::Patch { input, .. } => record! {
                "type": "custom_tool_call", "status": "completed", "call_id": id, "name": "apply_patch", "input": input,
            },
            Form::Function(name, arguments) => self.function(name, arguments, id),
            Form::Search(query) => {
                let status = if used.end == End::Done { "completed" } else { "failed" };
                let action = record! { "type": "search", "query": query };
                record! { "type": "web_search_call", "status": status, "action": action }
            }
            Form::Agent => {
                let task = if let Action::Agent { prompt, .. } = action { prompt } else { id };
                self.function("spawn_agent", &record! { "message": task }, id)
            }
        };
        self.item(item, None);
    }

    fn function(&mut self, name: &str, arguments: &Json, id: &Text) -> Json {
        let arguments = arguments.to_compact();
        let own = format!("fc_0a{}", self.random.letters(32));
        let mut item = record! { "type": "function_call" };
        if self.era != Era::CodexTagged {
            item.put("id", own);
        }
        item.put("name", name);
        item.put("arguments", arguments);
        item.put("call_id", id);
        item
    }

    fn output(&mut self, id: &Text, used: &RecordedUse, action: &Action) {
        self.wait(20, 1_800);
        let chunk = self.random.hex(6);
        let mut text = used.output(self.era, &chunk);
        let status = if used.end == End::Done { "completed" } else { "failed" };
        match &used.form {
            Form::Search(_) => return,
            Form::Agent if used.end == End::Done => {
                if let Action::Agent { prompt, result, scenario, .. } = action {
                    text = self.delegate(id, (prompt, result), &scenario.steps);
                }
            }
            Form::Shell(command) if self.is_paginated() && used.end != End::Cancelled => {
                let command = Json::list(["/bin/bash", "-lc", &**command]);
                let cwd = format!("file://{}", self.project.path);
                self.completed(record! {
                    "type": "CommandExecution", "id": id, "command": command, "cwd": cwd, "source": "unified_exec_startup",
                    "status": status, "aggregated_output": &used.raw, "exit_code": used.code,
                });
            }
            Form::Patch { path, change, .. }
                if self.is_paginated() && used.end != End::Cancelled =>
            {
                let changes = Json::Record(vec![(path.clone().into(), change.clone())]);
                self.completed(record! {
                    "type": "FileChange", "id": id, "changes": changes, "status": status, "stdout": &used.raw, "stderr": "",
                });
            }
            _ => {}
        }
        let kind = match &used.form {
            Form::Shell(_) if self.era == Era::CodexDocument => "local_shell_call_output",
            Form::Patch { .. } if self.is_tagged() => "custom_tool_call_output",
            _ => "function_call_output",
        };
        self.context_tokens += text.len() as u64 / 4;
        self.item(record! { "type": kind, "call_id": id, "output": text }, None);
    }

    /// Runs a sub-agent in its own thread; returns the result of the call.
    fn delegate(&mut self, call: &Text, (prompt, result): (&Text, &Text), steps: &[Step]) -> Text {
        let mut agent = Self {
            parent: Some(self.id.clone()),
            ..Self::open(self.era, self.project, self.now.plus(60), self.random.fork())
        };
        agent.head(Json::Record(Vec::new()));
        agent.ask_plainly(prompt);
        for step in steps {
            agent.step(step);
        }
        agent.reply(&Reply { text: result.clone(), ..Reply::default() });
        self.now = agent.now.plus(40);
        let id = agent.id.clone();
        self.subagents.push(agent.close());
        if self.is_paginated() {
            let thread = self.id.clone();
            self.completed(record! {
                "type": "CollabAgentToolCall", "id": call, "tool": "spawn_agent", "status": "completed",
                "sender_thread_id": thread, "receiver_thread_ids": Json::list([&*id]), "prompt": prompt,
            });
        }
        record! { "agent_id": id }.to_compact().into()
    }

    // --- Usage ---

    /// Counts one request; returns its tokens, if the era records any.
    fn count(&mut self, output: u64, reasoning: u64) -> u64 {
        let cached = self.context_tokens * 3 / 4;
        let used = Usage([self.context_tokens, cached, output, reasoning]);
        self.context_tokens += output;
        if !self.is_tagged() {
            return 0;
        }
        (self.last, self.total) = (used, self.total.plus(used));
        if self.is_paginated() {
            let turn = self.turn.clone().unwrap_or_default();
            let response = format!("resp_0a{}", self.random.letters(32));
            let record = record! {
                "thread_id": &self.id, "turn_id": turn, "session_id": self.parent.as_ref().unwrap_or(&self.id),
                "response_id": response, "usage": used.json(self.era), "thread_token_usage": self.total.json(self.era),
            };
            self.line("token_usage_record", record);
        } else {
            self.token_count();
        }
        used.total()
    }

    fn token_count(&mut self) {
        let info = record! {
            "total_token_usage": self.total.json(self.era), "last_token_usage": self.last.json(self.era),
            "model_context_window": WINDOW,
        };
        self.event(record! { "type": "token_count", "info": info, "rate_limits": Json::Null });
    }
}
