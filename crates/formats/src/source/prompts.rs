//! Prompts on record outside of session files, which outlive them.

use recount_model::{RecordedPath, SessionId};

/// A prompt on record outside of session files, with the folder that it was typed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedPrompt {
    /// What was typed, when, in which session.
    pub trace: Trace,
    /// The folder, where it is recorded.
    pub project: Option<RecordedPath>,
}

/// A prompt on record outside of session files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The session it was typed in.
    pub session: SessionId,
    /// When, in milliseconds.
    pub time: Option<i64>,
    /// What was typed.
    pub text: String,
}
