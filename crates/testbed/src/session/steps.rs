//! What each step of a scenario writes to the file, era by era.

use super::{
    BASE_TOKENS, Session,
    finished::{Made, Role},
    message::{Answer, Body, CONTEXT_ID, Layout, Message},
    page::{Head, Page},
};
use crate::{
    json::{Json, Text, record},
    moment::Moment,
    options::Era,
    scenario::{Level, Prompt, Step},
    tool::FinishedCall,
};

const MINUTE: i64 = 60_000;

impl Session<'_> {
    /// Performs one step.
    pub(crate) fn step(&mut self, step: &Step) {
        match step {
            Step::Ask(prompt) => self.ask(prompt),
            Step::Reply(reply) => self.reply(reply),
            Step::Notice(level, text) => {
                self.wait(200, 900);
                self.notice(*level, text);
            }
            Step::Shell { command, output } => self.shell(command, output),
            Step::Stop(text) => self.stop(text),
            Step::Refused(text) => self.refuse(text),
            Step::Rewind(prompts) => self.rewind(*prompts),
            Step::Compress(summary) => self.compress(summary),
            Step::Save(tag) => self.save(tag),
            // A fork is a session of its own only where agents have that command.
            Step::Resume(minutes) | Step::Fork(minutes) => self.resume(*minutes),
        }
    }

    fn ask(&mut self, prompt: &Prompt) {
        // A sub-agent's task is sent at once; a human takes a while.
        if self.parent.is_none() {
            self.wait(8_000, 150_000);
            self.typed
                .push((self.now, prompt.typed.clone().unwrap_or_else(|| prompt.text.clone())));
        }
        let mut parts = vec![prompt.text.clone()];
        if !prompt.files.is_empty() {
            parts.push("\n--- Content from referenced files ---".into());
            for (path, text) in &prompt.files {
                parts.push(format!("\nContent from @{path}:\n").into());
                parts.push(text.trim_end().into());
            }
            parts.push("\n--- End of content ---".into());
        }
        self.context_tokens += parts.iter().map(|part| part.len() as u64 / 4).sum::<u64>();
        self.push_body(Body::Prompt { parts, typed: prompt.typed.clone() });
    }

    fn ask_plainly(&mut self, text: &Text) {
        self.ask(&Prompt { text: text.clone(), typed: None, files: Vec::new() });
    }

    /// A command run with `!`: in the session only since 0.44.
    fn shell(&mut self, command: &Text, output: &Text) {
        self.wait(4_000, 40_000);
        self.typed.push((self.now, command.clone()));
        self.commands.push(command.clone());
        if self.era == Era::Checkpoints {
            let text = format!(
                "I ran the following shell command:\n```sh\n{command}\n```\n\nThis produced the \
                 following result:\n```\n{}\n```",
                output.trim_end()
            );
            self.push_body(Body::Injected(text.into()));
        }
    }

    /// A prompt stopped by the human: since 0.57 it is rolled back, before that it stays unanswered.
    fn stop(&mut self, text: &Text) {
        let before = self.rolled_back();
        self.ask_plainly(text);
        self.wait(1_500, 6_000);
        self.notice(Level::Info, "Request cancelled.");
        if self.era == Era::Checkpoints {
            self.checkpoint(before);
        }
    }

    /// A prompt that the service refused: since 0.53 it is rolled back before the error is recorded.
    fn refuse(&mut self, text: &Text) {
        let before = self.rolled_back();
        self.ask_plainly(text);
        self.wait(900, 4_000);
        if self.era == Era::Checkpoints {
            self.checkpoint(before);
        }
        self.notice(
            Level::Error,
            "[API Error: {\"error\":{\"code\":429,\"message\":\"Resource has been exhausted (e.g. check \
             quota).\",\"status\":\"RESOURCE_EXHAUSTED\"}}]",
        );
        self.notice(
            Level::Info,
            "This request failed. Press F12 for diagnostics, or run /settings and change \"Error \
             Verbosity\" to full for full details.",
        );
    }

    fn rewind(&mut self, prompts: usize) {
        let targets: Vec<usize> = (0..self.messages.len())
            .filter(|index| matches!(self.messages[*index].body, Body::Prompt { .. }))
            .collect();
        let Some(target) = targets.iter().rev().nth(prompts.saturating_sub(1)).copied() else {
            return;
        };
        self.wait(5_000, 20_000);
        self.typed.push((self.now, "/rewind".into()));
        self.page.line(&record! { "$rewindTo": &self.messages[target].id });
        self.page.cut(target);
        self.messages.truncate(target);
        match self.era {
            Era::Checkpoints => {
                let history = self.rebuilt();
                self.checkpoint(history);
            }
            Era::Lines => {}
            // Messages cut from a document are gone from disk.
            _ => {
                self.ids = self.messages.iter().map(|message| message.id.clone()).collect();
                self.page.touch(self.now);
            }
        }
    }

    /// Up to 0.43 only an empty notice records it; later the summary replaces the conversation.
    fn compress(&mut self, summary: &Text) {
        self.wait(5_000, 20_000);
        self.typed.push((self.now, "/compress".into()));
        self.wait(4_000, 12_000);
        self.context_tokens = BASE_TOKENS + summary.len() as u64 / 4;
        if self.era == Era::Checkpoints {
            self.page.line(&record! { "$set": record! { "sessionId": &self.id } });
            let context = self.kept_context();
            let (asked, answered) = (self.new_id(), self.new_id());
            let text = "Got it. Thanks for the additional context!".into();
            let answer = Answer { text, layout: Layout::Bare, ..Answer::default() };
            self.checkpoint(vec![
                context,
                Message { id: asked, time: self.now, body: Body::Injected(summary.clone()) },
                Message { id: answered, time: self.now, body: Body::Answer(answer) },
            ]);
        }
        self.notice(Level::Info, "");
    }

    fn save(&mut self, tag: &Text) {
        self.wait(5_000, 20_000);
        self.typed.push((self.now, format!("/chat save {tag}").into()));
        let turns = self.messages.iter().filter_map(|message| {
            let (role, parts) = match &message.body {
                Body::Prompt { parts, .. } => {
                    ("user", Json::list(parts.iter().map(|text| record! { "text": text })))
                }
                Body::Injected(text) => ("user", Json::List(vec![record! { "text": text }])),
                Body::Results(parts) => ("user", Json::List(parts.clone())),
                Body::Answer(answer) if answer.text.is_empty() => return None,
                Body::Answer(answer) => {
                    ("model", Json::List(vec![record! { "text": &answer.text }]))
                }
                Body::Notice(..) => return None,
            };
            Some(record! { "role": role, "parts": parts })
        });
        let history = Json::list(turns);
        let saved = record! { "history": history, "authType": "gemini-api-key" };
        self.saved.push((tag.clone(), saved));
        self.notice(Level::Info, &format!("Conversation checkpoint saved with tag: {tag}."));
    }

    /// Ends the program and starts it again later with `--resume`.
    fn resume(&mut self, minutes: i64) {
        let left = self.now;
        self.now = self.now.plus(minutes.max(1) * MINUTE);
        if self.era.is_document() {
            self.continue_as_lines(left);
        }
        self.leave_stub();
        self.wait(300, 900);
        self.page.line(&record! { "$set": record! { "sessionId": &self.id } });
        if self.era == Era::Checkpoints {
            let mut history = vec![self.kept_context()];
            history.extend(self.rebuilt());
            self.checkpoint(history);
        }
    }

    /// A release of the lines era resumes a document: it copies everything into a file of the same name with `l` at the
    /// end, and leaves the document in place.
    fn continue_as_lines(&mut self, left: Moment) {
        let first = self.messages.first().map(|message| message.time);
        let mut head = Head::new(&self.id, self.project, self.began);
        head.updated = left;
        if self.era == Era::Strings {
            head.kind = None;
            head.started = first.unwrap_or(self.began);
        }
        let old = std::mem::replace(&mut self.page, Page::lines(&head));
        for message in &self.messages {
            self.page.add(message, self.era);
        }
        let name = self.file_name(self.began, "json");
        let text = old.close(None, first);
        self.done.push(Made { role: Role::Twin, ..Made::at(name, text, left) });
        self.era = Era::Lines;
    }

    /// The file that a resume leaves beside the one it continues (0.39 and later).
    fn leave_stub(&mut self) {
        let mut page = Page::lines(&Head::new(&self.id, self.project, self.now));
        if self.era == Era::Checkpoints {
            let list = Json::list([self.context().json(self.era)]);
            let change = record! { "messages": list, "lastUpdated": self.now.iso() };
            page.line(&record! { "$set": change });
        }
        let name = self.file_name(self.now, "jsonl");
        let text = page.close(None, None);
        self.done.push(Made { role: Role::Stub, ..Made::at(name, text, self.now) });
    }

    /// Returns the context message of this session, with its first time if it still exists.
    fn kept_context(&self) -> Message {
        let kept = self.messages.iter().find(|message| *message.id == *CONTEXT_ID);
        kept.cloned().unwrap_or_else(|| self.context())
    }

    /// Returns the running conversation, which a rolled-back prompt returns to.
    fn rolled_back(&self) -> Vec<Message> {
        if self.era != Era::Checkpoints {
            return Vec::new();
        }
        let said = self.messages.iter().filter(|m| !matches!(m.body, Body::Notice(..)));
        said.map(|message| arranged(message, Layout::RolledBack)).collect()
    }

    /// Returns the conversation as a resume or rewind rebuilds it from the file: no context, no notices, and the tool
    /// results again, as messages named after the call's.
    fn rebuilt(&self) -> Vec<Message> {
        let mut history = Vec::new();
        for message in &self.messages {
            match &message.body {
                Body::Notice(..) => {}
                Body::Injected(_) if *message.id == *CONTEXT_ID => {}
                Body::Answer(answer) => {
                    history.push(arranged(message, Layout::Rebuilt));
                    if !answer.calls.is_empty() {
                        let parts = answer.calls.iter().map(FinishedCall::response_part).collect();
                        let id = format!("{}_response", message.id).into();
                        history.push(Message { id, time: self.now, body: Body::Results(parts) });
                    }
                }
                Body::Results(_) if message.id.ends_with("_response") => {}
                Body::Prompt { .. } | Body::Injected(_) | Body::Results(_) => {
                    history.push(message.clone());
                }
            }
        }
        history
    }
}

/// Returns the message with its answer, if it is one, in another layout; a rebuilt one stays rebuilt.
fn arranged(message: &Message, layout: Layout) -> Message {
    let mut message = message.clone();
    if let Body::Answer(answer) = &mut message.body
        && answer.layout == Layout::Plain
    {
        answer.layout = layout;
    }
    message
}
