//! A conversation put together from what a run told of it, written as records of a session.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::stream::{count, made_up_uuid, time_text};

/// Writes the messages of one run. Their ids depend on the session, the run and their number alone.
pub(super) struct Writer {
    session: String,
    run: String,
    /// When the run was, for output without times.
    time: Option<String>,
    written: u64,
    lines: Vec<Value>,
    answer: Option<Answer>,
    /// The last answer among the lines.
    last: Option<usize>,
}

/// A reply of the model while it comes.
#[derive(Default)]
struct Answer {
    id: String,
    time: Option<String>,
    words: String,
    thoughts: Vec<Value>,
    calls: Vec<Call>,
    tokens: Option<(String, Value)>,
    /// Whether a result has come: what the model says next is another reply.
    is_answered: bool,
}

/// A call of a tool.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Value,
    time: Option<String>,
    status: Option<&'static str>,
    output: Option<String>,
}

impl Call {
    pub(super) fn new(id: &str, name: &str, args: Value) -> Self {
        let (time, status, output) = (None, None, None);
        Self { id: id.to_owned(), name: name.to_owned(), args, time, status, output }
    }

    fn record(&self) -> Value {
        let mut call = json!({"id": self.id, "name": self.name, "args": self.args});
        let Some(fields) = call.as_object_mut() else { return call };
        if let Some(time) = &self.time {
            fields.insert("timestamp".to_owned(), json!(time));
        }
        // A run that was cut short does not say how it ended.
        if let Some(status) = self.status {
            fields.insert("status".to_owned(), json!(status));
        }
        // The service rejects a conversation with a call that has no response.
        if self.status.is_some() || self.output.is_some() {
            let output = self.output.as_deref().unwrap_or_default();
            let key = if self.status == Some("error") { "error" } else { "output" };
            let response = json!({"id": self.id, "name": self.name, "response": {key: output}});
            fields.insert("result".to_owned(), json!([{"functionResponse": response}]));
            fields.insert("resultDisplay".to_owned(), json!(output));
        }
        call
    }
}

impl Writer {
    pub(super) fn new(session: &str, run: &str, time: Option<Timestamp>) -> Self {
        Self {
            session: session.to_owned(),
            run: run.to_owned(),
            time: time.map(time_text),
            written: 0,
            lines: Vec::new(),
            answer: None,
            last: None,
        }
    }

    fn next_id(&mut self) -> String {
        self.written += 1;
        made_up_uuid(&format!("{} {} {}", self.session, self.run, self.written))
    }

    fn message(&mut self, kind: &str, content: &Value, time: Option<String>) -> Value {
        let id = self.next_id();
        let mut message = json!({"id": id, "type": kind, "content": content});
        self.stamp(&mut message, time);
        message
    }

    fn stamp(&self, message: &mut Value, time: Option<String>) {
        let time = time.or_else(|| self.time.clone());
        if let (Some(fields), Some(time)) = (message.as_object_mut(), time) {
            fields.insert("timestamp".to_owned(), json!(time));
        }
    }

    /// Adds what was asked.
    pub(super) fn prompt(&mut self, said: Option<&str>, time: Option<String>) {
        let Some(said) = said else { return };
        self.end_answer();
        let message = self.message("user", &json!([{"text": said}]), time);
        self.lines.push(message);
    }

    /// Adds a notice.
    pub(super) fn notice(&mut self, kind: &str, said: &str, time: Option<String>) {
        self.end_answer();
        let message = self.message(kind, &json!(said), time);
        self.lines.push(message);
    }

    /// Adds an event that nobody knows, as it is.
    pub(super) fn unknown(&mut self, event: &Value) {
        self.lines.push(json!({"event": event}));
    }

    fn reply(&mut self, time: Option<String>) -> &mut Answer {
        if self.answer.as_ref().is_some_and(|answer| answer.is_answered) {
            self.end_answer();
        }
        if self.answer.is_none() {
            let id = self.next_id();
            self.answer = Some(Answer { id, time, ..Answer::default() });
        }
        self.answer.get_or_insert_default()
    }

    /// Adds words of the model to its reply.
    pub(super) fn words(&mut self, said: &str, time: Option<String>) {
        self.reply(time).words.push_str(said);
    }

    /// Adds a thought to the reply.
    pub(super) fn thought(&mut self, said: &str, time: Option<String>) {
        let (subject, description) = match said.trim().strip_prefix("**") {
            Some(rest) => rest.split_once("**").unwrap_or((rest, "")),
            None => ("", said.trim()),
        };
        let mut thought = json!({"subject": subject, "description": description.trim()});
        self.stamp(&mut thought, time.clone());
        self.reply(time).thoughts.push(thought);
    }

    /// Adds a call to the reply.
    pub(super) fn call(&mut self, mut call: Call, time: Option<String>) {
        call.time = time.clone().or_else(|| self.time.clone());
        self.reply(time).calls.push(call);
    }

    /// Adds how a call ended.
    pub(super) fn result(&mut self, id: Option<&str>, status: &'static str, output: Option<&str>) {
        let Some(answer) = &mut self.answer else { return };
        answer.is_answered = true;
        let is_it = |call: &&mut Call| Some(call.id.as_str()) == id;
        if let Some(call) = answer.calls.iter_mut().rev().find(is_it) {
            call.status = Some(status);
            call.output = output.map(str::to_owned).or_else(|| call.output.take());
        }
    }

    /// Returns the first call of a tool whose end is not known.
    pub(super) fn open_call(&self, name: &str, args: Option<&Value>) -> Option<String> {
        let calls = &self.answer.as_ref()?.calls;
        let open = || calls.iter().filter(|call| call.status.is_none() && call.name == name);
        let same = open().find(|call| Some(&call.args) == args);
        same.or_else(|| open().next()).map(|call| call.id.clone())
    }

    /// Adds the output of a call that has ended.
    pub(super) fn output(&mut self, id: Option<&str>, name: &str, output: &str) {
        let Some(answer) = &mut self.answer else { return };
        let is_it = |call: &&mut Call| match id {
            Some(id) if call.id == id => true,
            _ => call.name == name && call.output.is_none(),
        };
        if let Some(call) = answer.calls.iter_mut().find(is_it) {
            call.output = Some(output.to_owned());
        }
    }

    /// Notes what the reply used.
    pub(super) fn tokens(&mut self, model: &str, tokens: Value, time: Option<String>) {
        self.reply(time).tokens = Some((model.to_owned(), tokens));
    }

    /// Ends the reply that comes.
    pub(super) fn end_answer(&mut self) {
        let Some(answer) = self.answer.take() else { return };
        let calls: Vec<Value> = answer.calls.iter().map(Call::record).collect();
        let mut message = json!({"id": answer.id, "type": "gemini", "content": answer.words});
        self.stamp(&mut message, answer.time);
        if let Some(fields) = message.as_object_mut() {
            if !calls.is_empty() {
                fields.insert("toolCalls".to_owned(), json!(calls));
            }
            if !answer.thoughts.is_empty() {
                fields.insert("thoughts".to_owned(), json!(answer.thoughts));
            }
        }
        if let Some((model, tokens)) = answer.tokens {
            give(&mut message, &model, tokens);
        }
        self.last = Some(self.lines.len());
        self.lines.push(message);
    }

    /// Notes what the models used in the whole run: the main one for the last reply, the others for a notice each.
    pub(super) fn usage(
        &mut self,
        mut used: Vec<(String, Value)>,
        main: Option<&str>,
        time: Option<&str>,
    ) {
        self.end_answer();
        used.retain(|(_, tokens)| count(tokens, "total") > 0);
        let largest = used.iter().max_by_key(|(_, tokens)| count(tokens, "total"));
        let main = main.map(str::to_owned).or_else(|| largest.map(|(model, _)| model.clone()));
        for (model, tokens) in used {
            let last = self.last.filter(|_| Some(&model) == main.as_ref());
            match last.and_then(|last| self.lines.get_mut(last)) {
                Some(answer) if answer.get("tokens").is_none() => give(answer, &model, tokens),
                _ => self.side_request(&model, tokens, time.map(str::to_owned)),
            }
        }
    }

    /// Adds what was used beside the conversation.
    pub(super) fn side_request(&mut self, model: &str, tokens: Value, time: Option<String>) {
        let said = format!("Requests beside the conversation: {model}");
        let mut notice = self.message("info", &json!(said), time);
        give(&mut notice, model, tokens);
        self.lines.push(notice);
    }

    /// Returns the records.
    pub(super) fn finish(mut self) -> Vec<Value> {
        self.end_answer();
        self.lines
    }
}

fn give(message: &mut Value, model: &str, tokens: Value) {
    let Some(fields) = message.as_object_mut() else { return };
    fields.insert("tokens".to_owned(), tokens);
    if !model.is_empty() {
        fields.insert("model".to_owned(), json!(model));
    }
}
