//! One message, and its record in each era.

use crate::{
    json::{Json, Text, record},
    moment::Moment,
    options::Era,
    report::ExpectedCounts,
    scenario::Level,
    tool::{FinishedCall, Status},
};

/// The first 32 digits of the SHA-256 of `environment-context`: the context message's id in every session.
pub(crate) const CONTEXT_ID: &str = "d04923d38bb0f6017037e74183378ef4";

#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) id: Text,
    pub(crate) time: Moment,
    pub(crate) body: Body,
}

#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// Typed by a human; with the typed text, where the sent text differs.
    Prompt {
        parts: Vec<Text>,
        typed: Option<Text>,
    },
    /// A `user` message that no human typed: context, summary, shell command.
    Injected(Text),
    /// Answers of tools, as parts.
    Results(Vec<Json>),
    Answer(Answer),
    Notice(Level, Text),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) text: Text,
    /// Subject, description, time.
    pub(crate) thoughts: Vec<(Text, Text, Moment)>,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) model: Option<&'static str>,
    pub(crate) calls: Vec<FinishedCall>,
    pub(crate) layout: Layout,
}

/// The layout of an answer's record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Content is a string, calls come last.
    #[default]
    Plain,
    /// A reply without text that was recorded because of its tools: calls come first (up to 0.31).
    CallsFirst,
    /// Rebuilt by a resume or a rewind: content is a list with thoughts, text and calls.
    Rebuilt,
    /// From the running conversation after a prompt was rolled back: text and calls.
    RolledBack,
    /// Added by `/compress`: text only.
    Bare,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cached: u64,
    pub(crate) thoughts: u64,
}

impl Tokens {
    pub(crate) fn total(self) -> u64 {
        self.input + self.output + self.thoughts
    }

    fn json(self) -> Json {
        record! {
            "input": self.input,
            "output": self.output,
            "cached": self.cached,
            "thoughts": self.thoughts,
            "tool": 0_u64,
            "total": self.total(),
        }
    }
}

impl Message {
    /// Returns the record of the message in the format of `era`.
    pub(crate) fn json(&self, era: Era) -> Json {
        let (kind, content) = match &self.body {
            Body::Prompt { parts, .. } => ("user", texts(parts, era)),
            Body::Injected(text) => ("user", texts(std::slice::from_ref(text), era)),
            Body::Results(parts) => ("user", Json::List(parts.clone())),
            Body::Answer(answer) => ("gemini", answer.content()),
            Body::Notice(level, text) => (level.name(), text.into()),
        };
        let mut message = record! {
            "id": &self.id,
            "timestamp": self.time.iso(),
            "type": kind,
            "content": content,
        };
        match &self.body {
            Body::Prompt { typed: Some(typed), .. } if era != Era::Strings => {
                message.put("displayContent", Json::List(vec![record! { "text": typed }]));
            }
            Body::Answer(answer) => answer.put_rest(&mut message, era),
            _ => {}
        }
        message
    }

    /// Adds this message to `counts`.
    pub(crate) fn count(&self, counts: &mut ExpectedCounts) {
        counts.messages += 1;
        match &self.body {
            Body::Prompt { .. } => counts.prompts += 1,
            Body::Answer(answer) => {
                counts.answers += 1;
                counts.tool_calls += answer.calls.len() as u64;
                let having = |status| answer.calls.iter().filter(|c| c.status == status).count();
                counts.failed += having(Status::Error) as u64;
                counts.cancelled += having(Status::Cancelled) as u64;
                counts.tokens += answer.tokens.map_or(0, Tokens::total);
            }
            _ => {}
        }
    }
}

/// Returns texts as one string, or as a list of parts since 0.28.
fn texts(parts: &[Text], era: Era) -> Json {
    if era == Era::Strings {
        Json::from(parts.concat())
    } else {
        Json::list(parts.iter().map(|text| record! { "text": text }))
    }
}

impl Answer {
    fn content(&self) -> Json {
        let mut parts = Vec::new();
        match self.layout {
            Layout::Plain | Layout::CallsFirst => return Json::from(&self.text),
            Layout::Bare | Layout::RolledBack => {}
            Layout::Rebuilt => parts.extend(self.thoughts.iter().map(|(subject, text, _)| {
                record! { "text": format!("**{subject}** {text}"), "thought": true }
            })),
        }
        if !self.text.is_empty() {
            parts.push(record! { "text": &self.text });
        }
        parts.extend(self.calls.iter().map(|call| {
            let call = if self.layout == Layout::Rebuilt {
                record! { "id": &call.id, "name": &call.name, "args": call.args.clone() }
            } else {
                record! { "name": &call.name, "args": call.args.clone(), "id": &call.id }
            };
            record! { "functionCall": call }
        }));
        Json::List(parts)
    }

    fn put_rest(&self, message: &mut Json, era: Era) {
        let calls = || Json::list(self.calls.iter().map(|call| call.json(era)));
        let thoughts = || {
            Json::list(self.thoughts.iter().map(|(subject, text, time)| {
                record! { "subject": subject, "description": text, "timestamp": time.iso() }
            }))
        };
        let tokens = || self.tokens.map_or(Json::Null, Tokens::json);
        match (self.layout, self.model) {
            (Layout::Bare, _) => {}
            (Layout::CallsFirst, model) => {
                message.put("toolCalls", calls());
                message.put("thoughts", thoughts());
                message.put("model", model.unwrap_or_default());
                message.put("tokens", tokens());
            }
            (_, model) => {
                message.put("thoughts", thoughts());
                message.put("tokens", tokens());
                message.put("model", model.unwrap_or_default());
                if !self.calls.is_empty() {
                    message.put("toolCalls", calls());
                }
            }
        }
    }
}
