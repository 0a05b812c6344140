//! The file being written: one document that is rewritten, or lines that are only appended.

use crate::{
    json::{Json, Text, record},
    moment::Moment,
    options::Era,
    project::Project,
    session::message::Message,
};

/// The header of a session file.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) id: Text,
    pub(crate) hash: Text,
    pub(crate) started: Moment,
    pub(crate) updated: Moment,
    /// `main` or `subagent`; not known before 0.31.
    pub(crate) kind: Option<&'static str>,
    pub(crate) directories: Option<Text>,
}

impl Head {
    pub(crate) fn new(id: &Text, project: &Project, at: Moment) -> Self {
        Self {
            id: id.clone(),
            hash: project.hash.as_str().into(),
            started: at,
            updated: at,
            kind: Some("main"),
            directories: None,
        }
    }

    /// Returns the first line of a lines file.
    pub(crate) fn line(&self) -> Json {
        let mut line = record! {
            "sessionId": &self.id,
            "projectHash": &self.hash,
            "startTime": self.started.iso(),
            "lastUpdated": self.updated.iso(),
        };
        if let Some(kind) = self.kind {
            line.put("kind", kind);
        }
        if let Some(folder) = &self.directories {
            line.put("directories", Json::list([folder]));
        }
        line
    }
}

#[derive(Debug)]
pub(crate) enum Page {
    Document(Document),
    Lines(String),
}

/// One JSON object, written so that its messages can be truncated.
#[derive(Debug)]
pub(crate) struct Document {
    head: Head,
    /// The serialized messages, each with its separator.
    messages: String,
    /// Where each message begins.
    starts: Vec<usize>,
}

impl Page {
    pub(crate) fn document(head: Head) -> Self {
        Self::Document(Document { head, messages: String::new(), starts: Vec::new() })
    }

    pub(crate) fn lines(head: &Head) -> Self {
        let mut page = Self::Lines(String::new());
        page.line(&head.line());
        page
    }

    /// Returns the approximate size of the file so far.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Document(document) => document.messages.len() + 300,
            Self::Lines(text) => text.len(),
        }
    }

    /// Adds a line; documents have none.
    pub(crate) fn line(&mut self, record: &Json) {
        if let Self::Lines(text) = self {
            record.compact(text);
            text.push('\n');
        }
    }

    /// Adds `{"$set":{"lastUpdated":…}}`, which follows every new message.
    pub(crate) fn touch(&mut self, now: Moment) {
        match self {
            Self::Document(document) => document.head.updated = now,
            Self::Lines(_) => {
                self.line(&record! { "$set": record! { "lastUpdated": now.iso() } });
            }
        }
    }

    /// Adds a message.
    pub(crate) fn add(&mut self, message: &Message, era: Era) {
        match self {
            Self::Document(document) => document.add(message, era),
            Self::Lines(_) => self.line(&message.json(era)),
        }
    }

    /// Writes the last message again, changed.
    pub(crate) fn amend(&mut self, message: &Message, era: Era) {
        match self {
            Self::Document(document) => {
                document.cut(document.starts.len().saturating_sub(1));
                document.add(message, era);
            }
            Self::Lines(_) => self.line(&message.json(era)),
        }
    }

    /// Truncates a document after a number of messages; lines are never removed.
    pub(crate) fn cut(&mut self, kept: usize) {
        if let Self::Document(document) = self {
            document.cut(kept);
        }
    }

    /// Returns the file with its title; `first` is the time of the first message, which is the start time in the oldest
    /// era.
    pub(crate) fn close(self, summary: Option<&Text>, first: Option<Moment>) -> String {
        match self {
            Self::Document(document) => document.close(summary, first),
            Self::Lines(mut text) => {
                if let Some(summary) = summary {
                    record! { "$set": record! { "summary": summary } }.compact(&mut text);
                    text.push('\n');
                }
                text
            }
        }
    }
}

impl Document {
    fn add(&mut self, message: &Message, era: Era) {
        self.starts.push(self.messages.len());
        self.messages.push_str(if self.starts.len() == 1 { "\n    " } else { ",\n    " });
        message.json(era).pretty(2, &mut self.messages);
    }

    fn cut(&mut self, kept: usize) {
        if let Some(start) = self.starts.get(kept).copied() {
            self.messages.truncate(start);
            self.starts.truncate(kept);
        }
    }

    fn close(self, summary: Option<&Text>, first: Option<Moment>) -> String {
        let Self { head, messages, starts } = self;
        let mut top = record! { "sessionId": &head.id, "projectHash": &head.hash };
        // Before 0.31 (no `kind`) the session starts with its first message, later with the chat.
        let started = first.filter(|_| head.kind.is_none()).unwrap_or(head.started);
        top.put("startTime", started.iso());
        top.put("lastUpdated", head.updated.iso());
        let mut text = top.to_pretty();
        text.truncate(text.len() - "\n}".len());
        text.reserve(messages.len() + 200);
        text.push_str(",\n  \"messages\": [");
        text.push_str(&messages);
        text.push_str(if starts.is_empty() { "]" } else { "\n  ]" });
        let mut put = |key: &str, value: &Json| {
            text.extend([format!(",\n  \"{key}\": ")]);
            value.pretty(1, &mut text);
        };
        if let Some(folder) = &head.directories {
            put("directories", &Json::list([folder]));
        }
        if let Some(kind) = head.kind {
            put("kind", &kind.into());
        }
        if let Some(summary) = summary {
            put("summary", &summary.into());
        }
        text.push_str("\n}");
        text
    }
}
