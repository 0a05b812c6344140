//! A plan as JSON.

use std::io::{self, Write};

use jiff::Timestamp;
use recount_changes::{FileState, Proposal, Step, Subject};
use recount_display::words;
use recount_platform::Folders;
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
struct Document<'a> {
    schema: String,
    sessions: &'a [Subject],
    files: Vec<File<'a>>,
    notes: Vec<String>,
    undoes: Option<&'a str>,
    /// `None` if nothing was changed.
    receipt: Option<&'a str>,
    #[serde(flatten)]
    more: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct File<'a> {
    path: String,
    what: &'a str,
    session: Option<&'a str>,
    before: Option<FileDocument>,
    after: Option<FileDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<String>,
}

#[derive(Serialize)]
struct FileDocument {
    bytes: u64,
    sha256: Option<String>,
    modified: Option<Timestamp>,
}

/// Writes a plan, with the receipt if it was carried out.
pub fn plan(
    out: &mut impl Write,
    offer: &Proposal,
    folders: &Folders,
    receipt: Option<&str>,
) -> io::Result<()> {
    plan_and(out, offer, folders, receipt, &Map::new())
}

/// The same, with more fields of its command.
pub fn plan_and(
    out: &mut impl Write,
    offer: &Proposal,
    folders: &Folders,
    receipt: Option<&str>,
    more: &Map<String, Value>,
) -> io::Result<()> {
    let Proposal { plan, notices } = offer;
    let words = |notice| words::notice(notice, folders);
    let document = Document {
        schema: format!("recount.{}/1", plan.command),
        sessions: &plan.sessions,
        files: plan.steps.iter().map(file).collect(),
        notes: notices.iter().map(words).collect(),
        undoes: plan.undoes.as_ref().map(|undoes| undoes.receipt.as_str()),
        receipt,
        more,
    };
    crate::whole(out, &document)
}

fn file(step: &Step) -> File<'_> {
    File {
        path: step.path.to_string_lossy().into_owned(),
        what: &step.what,
        session: step.session.as_deref(),
        before: step.before.as_ref().map(file_document),
        after: step.after.as_ref().map(file_document),
        moved_to: step.moved_to.as_ref().map(|path| path.to_string_lossy().into_owned()),
    }
}

fn file_document(state: &FileState) -> FileDocument {
    let modified = state.modified.and_then(|nanos| Timestamp::from_nanosecond(nanos.into()).ok());
    FileDocument { bytes: state.bytes, sha256: state.hash.map(|hash| hash.to_string()), modified }
}
