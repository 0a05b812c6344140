//! Texts of flaws of session files, and of their fixes.

use recount_changes::Flaw;

use crate::number::plural_exact;

/// Returns the text of a flaw.
pub(super) fn flaw(flaw: Flaw) -> String {
    match flaw {
        Flaw::Unread => "it cannot be read".to_owned(),
        Flaw::ByteOrderMark => "a byte order mark makes the agent drop a line".to_owned(),
        Flaw::TornTail { bytes } => {
            format!("the last record is incomplete ({bytes} bytes)")
        }
        Flaw::NoLineEnd => {
            "the last line has no line break; the agent would append to it".to_owned()
        }
        Flaw::WeldedLine { bytes } => {
            format!(
                "a record follows an incomplete one ({bytes} bytes) on the same line and is not loaded"
            )
        }
        Flaw::NoHead => "it has no header with a session id".to_owned(),
        Flaw::Broken => "it is not valid JSON; the agent cannot load it".to_owned(),
        Flaw::OneLine => "it is a single line, which releases 0.39 to 0.43 misread".to_owned(),
        Flaw::UnknownRewind => {
            "a rewind to a message that does not exist hides everything before it".to_owned()
        }
        Flaw::Unanswered { calls } => {
            let calls = plural_exact(calls, "tool call");
            format!("{calls} without a response; the API rejects that")
        }
        Flaw::Unasked { answers } => {
            let answers = plural_exact(answers, "tool response");
            format!("{answers} without a call; the API rejects that")
        }
        Flaw::Buried { messages } => {
            format!("the agent would not show {}", plural_exact(messages, "message"))
        }
        Flaw::PutAside { messages } => {
            let messages = plural_exact(messages, "message");
            format!("{messages} only exist in a file that the agent set aside")
        }
    }
}

/// Returns the text of its fix.
pub(super) fn fixed(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::Unread => "it is not changed",
        Flaw::ByteOrderMark => "the mark is removed",
        Flaw::TornTail { .. } | Flaw::WeldedLine { .. } => {
            "the fragment is removed (kept as undo data)"
        }
        Flaw::NoLineEnd => "a line break is added",
        Flaw::NoHead => "a header is added",
        Flaw::Broken => "every complete message is kept",
        Flaw::OneLine => "it is indented like the agent does",
        Flaw::UnknownRewind => "the rewind is removed (kept as undo data)",
        Flaw::Unanswered { .. } => "a response is added that says the result was lost",
        Flaw::Unasked { .. } => "they are removed",
        Flaw::Buried { .. } => "they are shown again",
        Flaw::PutAside { .. } => "they are added to the session, and the file is kept as undo data",
    }
}
