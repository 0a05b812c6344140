//! What is left of a session outside of its own files.

use std::path::PathBuf;

/// A conversation, or a part of one, that is stored elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoverySource {
    /// Its path.
    pub path: PathBuf,
    /// What it is, for people.
    pub from: &'static str,
    /// Its messages, as lines of a session file.
    pub records: Vec<Vec<u8>>,
    /// The human's prompts in it, in order.
    pub prompts: Vec<String>,
    /// Whether it records the session id; if not, its prompts must match.
    pub is_named: bool,
}

/// A prompt or notice to be written.
#[derive(Clone, Copy, Debug)]
pub struct Remark<'a> {
    /// Its id in the new file.
    pub id: &'a str,
    /// Its time, if known.
    pub time: Option<jiff::Timestamp>,
    /// The text.
    pub text: &'a str,
    /// Whether it is a human's prompt; otherwise it is a notice, which is shown and not sent to the model.
    pub is_prompt: bool,
}
