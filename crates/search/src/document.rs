//! What is indexed of one message, and the fields of its text.

use recount_model::{Fate, MessageKind};

/// One message as the index sees it.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Key of the session; small numbers make a smaller index.
    pub session: u64,
    /// Key of the message, unique over all sessions.
    pub message: u64,
    /// The caller's number of the file.
    pub file: u64,
    /// First byte of the record.
    pub offset: u64,
    /// Length of the record in bytes.
    pub bytes: u64,
    /// The line on which the record begins.
    pub line: u64,
    /// Its time, in milliseconds since 1970.
    pub time: Option<i64>,
    /// What it is.
    pub kind: MessageKind,
    /// Its fate.
    pub fate: Fate,
    /// The model that answered.
    pub model: Option<&'a str>,
    /// Names of the tools that were called.
    pub tools: &'a [&'a str],
    /// Whether it is, or contains, an error.
    pub is_error: bool,
    /// Its text.
    pub text: MessageTexts<'a>,
}

/// The text of a message, by field. Text is read, never stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageTexts<'a> {
    /// What the human typed.
    pub prompt: &'a str,
    /// The model's answer.
    pub answer: &'a str,
    /// The model's thoughts.
    pub thought: &'a str,
    /// Names and arguments of tools.
    pub call: &'a str,
    /// Outputs of tools.
    pub output: &'a str,
    /// Injected context and contents of attached files.
    pub context: &'a str,
    /// Information, warnings and errors.
    pub notice: &'a str,
    /// Files that were named or touched.
    pub paths: &'a [&'a str],
    /// The title of the session, on one of its messages.
    pub title: &'a str,
}

/// A text field of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Field {
    /// What the human typed.
    Prompt,
    /// The title of the session.
    Title,
    /// Paths of files.
    Path,
    /// The model's answer.
    Answer,
    /// Information, warnings and errors.
    Notice,
    /// The model's thoughts.
    Thought,
    /// Names and arguments of tools.
    Call,
    /// Outputs of tools.
    Output,
    /// Injected context and contents of attached files.
    Context,
    /// The model's name; searched by `model:` only.
    Model,
    /// Names of tools; searched by `tool:` only.
    Tool,
}

impl Field {
    /// Every field, in the order of the index.
    pub(crate) const ALL: [Self; 11] = [
        Self::Prompt,
        Self::Title,
        Self::Path,
        Self::Answer,
        Self::Notice,
        Self::Thought,
        Self::Call,
        Self::Output,
        Self::Context,
        Self::Model,
        Self::Tool,
    ];

    /// Returns its name, as in `in:`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Title => "title",
            Self::Path => "path",
            Self::Answer => "answer",
            Self::Notice => "notice",
            Self::Thought => "thought",
            Self::Call => "call",
            Self::Output => "output",
            Self::Context => "context",
            Self::Model => "model",
            Self::Tool => "tool",
        }
    }

    /// Returns the weight of a match: highest for what the human typed, lowest for what was only passed through.
    pub(crate) fn weight(self) -> f32 {
        match self {
            Self::Prompt => 4.0,
            Self::Title => 3.0,
            Self::Path | Self::Answer => 2.0,
            Self::Call => 1.2,
            Self::Notice | Self::Thought | Self::Model | Self::Tool => 1.0,
            Self::Output => 0.6,
            Self::Context => 0.3,
        }
    }

    /// Whether the index stores word positions. They would double the size of the three fields with most of the text, so
    /// phrases in those are checked on the message itself.
    pub(crate) fn has_positions(self) -> bool {
        !matches!(self, Self::Call | Self::Output | Self::Context)
    }
}

impl<'a> MessageTexts<'a> {
    /// Returns the values of a field.
    pub(crate) fn values(&self, field: Field) -> impl Iterator<Item = &'a str> {
        let (one, many): (&'a str, &'a [&'a str]) = match field {
            Field::Prompt => (self.prompt, &[]),
            Field::Title => (self.title, &[]),
            Field::Path => ("", self.paths),
            Field::Answer => (self.answer, &[]),
            Field::Notice => (self.notice, &[]),
            Field::Thought => (self.thought, &[]),
            Field::Call => (self.call, &[]),
            Field::Output => (self.output, &[]),
            Field::Context => (self.context, &[]),
            Field::Model | Field::Tool => ("", &[]),
        };
        std::iter::once(one).chain(many.iter().copied()).filter(|text| !text.is_empty())
    }
}

impl<'a> Document<'a> {
    /// Returns the values of a field, including those outside the text.
    pub(crate) fn values(&self, field: Field) -> impl Iterator<Item = &'a str> {
        let model = self.model.filter(|_| field == Field::Model);
        let tools: &[&str] = if field == Field::Tool { self.tools } else { &[] };
        self.text.values(field).chain(model).chain(tools.iter().copied())
    }
}

/// A set of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldSet(u16);

impl FieldSet {
    /// The fields that are searched by default.
    pub(crate) const TEXTS: Self = Self(0b1_1111_1111);
    /// The fields that nobody wrote as part of the conversation.
    pub(crate) const PASSED_THROUGH: Self = Self(0b1_1100_0000);
    /// No field.
    pub(crate) const NONE: Self = Self(0);

    /// Returns the set of one field.
    pub(crate) fn of(field: Field) -> Self {
        Self(1 << field as u16)
    }

    /// Whether the field is in the set.
    pub(crate) fn contains(self, field: Field) -> bool {
        self.0 & Self::of(field).0 != 0
    }

    /// Returns the union of both sets.
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the intersection of both sets.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the text fields that are not in the set.
    pub(crate) fn rest(self) -> Self {
        Self(!self.0 & Self::TEXTS.0)
    }

    /// Returns the fields, in the order of the index.
    pub(crate) fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |&field| self.contains(field))
    }
}
