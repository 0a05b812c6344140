//! What is left of a session elsewhere than in its own files.

use std::path::PathBuf;

/// A conversation, or a piece of one, that was kept elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoverySource {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is, for people.
    pub from: &'static str,
    /// Its messages, as lines of a session file.
    pub records: Vec<Vec<u8>>,
    /// What was said by the human in it, in order.
    pub prompts: Vec<String>,
    /// Whether it says whose session it is; if not, its prompts must tell.
    pub is_named: bool,
}

/// A prompt, as it is rewritten.
#[derive(Clone, Copy, Debug)]
pub struct Remark<'a> {
    /// Its id in the new file.
    pub id: &'a str,
    /// When, if that is known.
    pub time: Option<jiff::Timestamp>,
    /// The words.
    pub text: &'a str,
    /// Whether a human said it; else it is a notice, which is shown and not sent to the model.
    pub is_prompt: bool,
}
