//! What is known of every message without reading any, in columns.

use recount_engine::{MessageMark, View};
use recount_model::{Fate, MessageKind};
use serde::Serialize;

use super::session;
use crate::failure::ApiError;
use crate::router::{Answer, Asked};

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'a str,
    view: &'static str,
    total: usize,
    kind: String,
    fate: String,
    time: Vec<Option<i64>>,
    calls: Vec<u32>,
    failed: Vec<u32>,
    bytes: Vec<u64>,
    sum: Vec<Option<f64>>,
    context: Vec<Option<f64>>,
}

/// Answers with the outline of a session.
pub(crate) fn answer(asked: &Asked<'_>) -> Result<Answer, ApiError> {
    let (_, reading, text) = session::open_text(asked)?;
    let marks = &text.marks;
    let document = Document {
        schema: "recount.outline/1",
        version: &reading.version,
        view: view_name(text.view),
        total: marks.len(),
        kind: marks.iter().map(|mark| kind_letter(mark.kind)).collect(),
        fate: marks.iter().map(|mark| fate_letter(mark.fate)).collect(),
        time: marks.iter().map(|mark| mark.time.map(jiff::Timestamp::as_millisecond)).collect(),
        calls: marks.iter().map(|mark| mark.calls).collect(),
        failed: marks.iter().map(|mark| mark.failed).collect(),
        bytes: marks.iter().map(|mark| mark.bytes).collect(),
        sum: marks.iter().map(sum).collect(),
        context: marks.iter().map(context).collect(),
    };
    let mut text = Vec::new();
    recount_documents::whole(&mut text, &document)?;
    Ok(Answer::Json(text))
}

pub(crate) fn view_name(view: View) -> &'static str {
    match view {
        View::Full => "full",
        View::Strict => "strict",
    }
}

/// Returns what all requests up to this one cost, in dollars.
pub(crate) fn sum(mark: &MessageMark) -> Option<f64> {
    mark.sum.map(|sum| (sum.dollars() * 1e6).round() / 1e6)
}

/// Returns how full the context was, in percent.
pub(crate) fn context(mark: &MessageMark) -> Option<f64> {
    let (used, window) = mark.context?;
    #[expect(clippy::cast_precision_loss, reason = "a percentage needs no exact digits")]
    window.map(|window| (used as f64 * 1000.0 / window.max(1) as f64).round() / 10.0)
}

fn kind_letter(kind: MessageKind) -> char {
    match kind {
        MessageKind::Prompt => 'p',
        MessageKind::Answer => 'a',
        MessageKind::Context => 'c',
        MessageKind::Hook => 'h',
        MessageKind::ToolResult => 't',
        MessageKind::Shell => 's',
        MessageKind::Notice => 'n',
        MessageKind::Summary => 'm',
        MessageKind::Nudge => 'u',
    }
}

fn fate_letter(fate: Fate) -> char {
    match fate {
        Fate::Kept => 'k',
        Fate::Rewound => 'r',
        Fate::Cancelled => 'c',
        Fate::Compressed => 'p',
        Fate::Replaced => 'x',
    }
}
