//! How far a session was read. This changes nothing but recount's own data, so it needs no `--changes`.

use serde::Deserialize;
use serde_json::json;

use super::changes::{chosen, json_answer, only, parse};
use super::rows::key_text;
use crate::failure::ApiError;
use crate::router::{Answer, Asked};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadRequest {
    /// The key of the session.
    session: String,
    /// How many messages it had when its end was shown.
    messages: u64,
}

/// Notes that the end of a session was shown.
pub(crate) fn mark(asked: &Asked<'_>, body: &[u8]) -> Result<Answer, ApiError> {
    let request: ReadRequest = parse(body)?;
    let sessions = chosen(asked, &[request.session])?;
    let key = only(&sessions)?.key();
    asked.app.engine.mark_read(&key, request.messages)?;
    // Rows have the number of new messages.
    asked.app.rows.clear();
    let data = json!({"key": key_text(&key), "messages": request.messages});
    asked.app.hub.tell("read", Some(format!("read {}", key_text(&key))), &data);
    json_answer(&json!({"schema": "recount.read/1", "read": data}))
}
