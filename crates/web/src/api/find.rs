//! Finds a text in the whole of a session.

use std::time::{Duration, Instant};

use recount_blocks::{contains_text, is_query};
use serde_json::json;

use super::messages::{level, with_undone};
use super::session;
use crate::failure::ApiError;
use crate::router::{Answer, Asked};

/// After this time an answer is sent even if it is incomplete.
const LONGEST: Duration = Duration::from_secs(2);
/// The maximum number of matches in one answer.
const MOST: usize = 10_000;

/// Answers with the numbers of the messages that match.
pub(crate) fn answer(asked: &Asked<'_>) -> Result<Answer, ApiError> {
    let begun = Instant::now();
    let wanted = asked.params.get("q").ok_or_else(|| ApiError::bad("q: what to find?"))?;
    let level = level(asked.params)?;
    let from = asked.params.number("from")?.unwrap_or(0);
    let (engine, reading, text) = session::open_text(asked)?;
    let finder =
        is_query(wanted).then(|| engine.finder(wanted, &reading.opened.facts)).transpose()?;
    let lower = wanted.to_lowercase();
    let mut matches = Vec::new();
    let mut next = None;
    let shown = text.shown(level, with_undone(asked.params));
    let start = shown.partition_point(|at| *at < from);
    for at in shown.get(start..).unwrap_or_default() {
        if begun.elapsed() > LONGEST || matches.len() >= MOST || asked.cancelled() {
            next = Some(*at);
            break;
        }
        let Some(Ok(message)) = text.read(*at) else { continue };
        let is_found = match &finder {
            Some(finder) => finder.finds(&message),
            None => contains_text(&message, &lower, level),
        };
        if is_found {
            matches.push(*at);
        }
    }
    let document = json!({
        "schema": "recount.find/1",
        "version": reading.version,
        "matches": matches,
        "next": next,
    });
    let mut text = Vec::new();
    recount_documents::whole(&mut text, &document)?;
    Ok(Answer::Json(text))
}
