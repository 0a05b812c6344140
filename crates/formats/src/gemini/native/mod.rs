//! Writes sessions like the agent: a log that its loader accepts, without undone messages.
//!
//! Nothing here opens a file except [`NativeFormat::fields`]; code that changes sessions on disk can use the same
//! functions.

mod contents;
mod head;
mod line;
mod words;

pub(crate) use line::{Object, on_one_line, quoted};

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use recount_model::{SessionId, SessionKind, SourceName};

pub(crate) use head::{LEAKED, fields_in_order, time};

use super::grammar;
use super::place::SESSIONS;
use crate::bytes::{self, Buffer};
use crate::handover::HandoverFormat;
use crate::native::{Fields, HeadRequest, NativeFormat, NativeTexts};
use crate::recovery::Remark;

/// The log of 0.39 and later.
#[derive(Debug)]
pub(crate) struct Log;

/// The number of characters of a session's id in the name of its file.
const SHORT: usize = 8;

impl NativeFormat for Log {
    fn source(&self) -> SourceName {
        super::NAME
    }

    fn extension(&self) -> &'static str {
        "jsonl"
    }

    fn sessions_folder(&self, project: &Path) -> PathBuf {
        project.join(SESSIONS)
    }

    fn about(&self) -> &'static str {
        "Gemini CLI's own, for `gemini --session-file` and `--resume`"
    }

    fn stem(&self, id: &SessionId, kind: SessionKind, began: Option<Timestamp>) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let id = id.as_str().chars().map(|c| if plain(c) { c } else { '_' });
        match kind {
            SessionKind::Main | SessionKind::Headless => {
                let minute = began.unwrap_or(Timestamp::UNIX_EPOCH).strftime("%Y-%m-%dT%H-%M");
                format!("session-{minute}-{}", id.take(SHORT).collect::<String>())
            }
            // A name that does not begin with `session-`: the agent does not list it as a session.
            SessionKind::Subagent => format!("agent-{}", id.take(64).collect::<String>()),
        }
    }

    fn made_up_id(&self, name: &str) -> SessionId {
        let hash = super::project::hash(name).to_string();
        let part = |from: usize, to: usize| hash.get(from..to).unwrap_or_default();
        let parts = [part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32)];
        let [one, two, three, four, five] = parts;
        // Version 8: custom format.
        SessionId::new(format!("{one}-{two}-8{three}-8{four}-{five}"))
    }

    fn fields(&self, path: &Path, buffer: &mut Buffer) -> io::Result<Fields> {
        let file = Arc::from(path.to_string_lossy());
        grammar::fields(&mut bytes::open(path)?, &file, buffer)
    }

    fn united(&self, head: &HeadRequest<'_>) -> Fields {
        head::united(head)
    }

    fn head(&self, head: &HeadRequest<'_>) -> Vec<Vec<u8>> {
        head::lines(&head::united(head))
    }

    fn record(&self, bytes: &[u8], id: Option<&str>) -> Option<Vec<u8>> {
        record(bytes, id)
    }

    fn saved(&self, bytes: &[u8], time: Option<Timestamp>) -> Option<Vec<Vec<u8>>> {
        contents::records(bytes, time)
    }

    fn remark(&self, remark: &Remark<'_>) -> Vec<u8> {
        super::recovery::remark(remark)
    }

    fn handover(&self) -> Option<&'static dyn HandoverFormat> {
        Some(&super::handover::Handover)
    }

    fn replace(&self, line: &[u8], texts: &mut dyn NativeTexts) -> Option<Vec<u8>> {
        words::replace(line, texts).ok()
    }
}

/// Writes a message as a line, under another id if one is given; `None` if that is not possible.
pub(crate) fn record(record: &[u8], id: Option<&str>) -> Option<Vec<u8>> {
    line::record(record, id).ok().flatten()
}

#[cfg(test)]
mod tests;
