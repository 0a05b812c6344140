//! What is wrong with a session file, and what is done about it.

use recount_changes::Flaw;

use super::plural;

/// Says what is wrong.
pub(super) fn flaw(flaw: Flaw) -> String {
    match flaw {
        Flaw::Unread => "it cannot be read".to_owned(),
        Flaw::ByteOrderMark => "a byte order mark makes the agent drop a line".to_owned(),
        Flaw::TornTail { bytes } => {
            format!("the last record was not written to its end ({bytes} bytes)")
        }
        Flaw::NoLineEnd => "the last line does not end; the agent would write into it".to_owned(),
        Flaw::WeldedLine { bytes } => {
            format!("a record stands behind a torn one ({bytes} bytes) and is not loaded")
        }
        Flaw::NoHead => "nothing in it says whose session it is".to_owned(),
        Flaw::Broken => "it is not valid, and the agent loads nothing of it".to_owned(),
        Flaw::OneLine => "it stands on one line, which releases 0.39 to 0.43 misread".to_owned(),
        Flaw::UnknownRewind => {
            "a rewind to a message that is not there hides all before it".to_owned()
        }
        Flaw::Unanswered { calls } => {
            let calls = plural(calls, "call");
            format!("{calls} of tools without a response; the service refuses that")
        }
        Flaw::Unasked { answers } => {
            let answers = plural(answers, "response");
            format!("{answers} of tools without a call; the service refuses that")
        }
        Flaw::Buried { messages } => {
            format!("the agent would show nothing of {}", plural(messages, "message"))
        }
        Flaw::PutAside { messages } => {
            let messages = plural(messages, "message");
            format!("{messages} stand only in a file that the agent put aside")
        }
    }
}

/// Says what is done about it.
pub(super) fn mended(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::Unread => "it is left alone",
        Flaw::ByteOrderMark => "the mark is taken out",
        Flaw::TornTail { .. } | Flaw::WeldedLine { .. } => "the fragment stays in the undo data",
        Flaw::NoLineEnd => "a line break is added",
        Flaw::NoHead => "a first line is added",
        Flaw::Broken => "every complete message is kept",
        Flaw::OneLine => "it is indented as the agent does it",
        Flaw::UnknownRewind => "the rewind stays in the undo data",
        Flaw::Unanswered { .. } => "a response says that theirs was lost",
        Flaw::Unasked { .. } => "they are no longer sent",
        Flaw::Buried { .. } => "they are shown again",
        Flaw::PutAside { .. } => "they are put into the session, and the file is kept as undo data",
    }
}
