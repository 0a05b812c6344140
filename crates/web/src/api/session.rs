//! One session: which one is meant, what is known about it, its records.

use std::sync::Arc;

use axum::http::StatusCode;
use recount_engine::{Engine, Error, View};
use recount_model::{RecordLocation, SessionFacts, SessionKey};
use serde_json::{Value, json};

use super::reading::{Reading, Text};
use super::rows::key_text;
use crate::failure::ApiError;
use crate::params::Params;
use crate::router::{Answer, Asked};

/// The shortest start of an id.
const SHORTEST: usize = 4;
/// The largest number of sessions that an ambiguous id names.
const CANDIDATES: usize = 20;
/// The maximum number of bytes of a record.
const RECORD: u64 = 1024 * 1024;

/// Returns the view that is asked for.
pub(crate) fn view(params: &Params) -> Result<View, ApiError> {
    let view = params.choice("view", &[("full", View::Full), ("strict", View::Strict)])?;
    Ok(view.unwrap_or(View::Full))
}

/// Returns the session that a path names: by its id, or the start of it.
pub(crate) fn key(asked: &Asked<'_>, engine: &Engine) -> Result<SessionKey, ApiError> {
    row(asked, engine).map(|row| row.key())
}

/// Returns the row of the session that a path names.
fn row(asked: &Asked<'_>, engine: &Engine) -> Result<Arc<SessionFacts>, ApiError> {
    let snapshot = asked.app.snapshot(asked.cancel)?;
    let (source, wanted) = (asked.part(1), asked.part(2));
    let known = engine.sources().iter().any(|own| own.name().as_str() == source);
    if !known {
        return Err(ApiError::missing(format!("no agent is called '{source}'")));
    }
    let own = || snapshot.sessions().iter().filter(|row| row.source.as_str() == source);
    if let Some(exact) = own().find(|row| row.id.as_str() == wanted) {
        return Ok(Arc::clone(exact));
    }
    if wanted == "latest" {
        let newest = own().find(|row| !row.kind.is_subagent() && !row.is_empty());
        return newest.cloned().ok_or_else(|| ApiError::missing("there are no sessions"));
    }
    let is_long = wanted.chars().count() >= SHORTEST;
    let begins: Vec<&Arc<SessionFacts>> =
        own().filter(|row| is_long && row.id.as_str().starts_with(wanted)).collect();
    match begins.as_slice() {
        [one] => Ok(Arc::clone(one)),
        [] => Err(ApiError::missing(format!("no session matches '{wanted}'"))),
        several => {
            // Sub-agents that are recorded under their parent's id begin like it: then the parent is meant.
            let mains: Vec<_> = several.iter().filter(|row| row.parent.is_none()).collect();
            if let [main] = mains.as_slice()
                && several
                    .iter()
                    .all(|row| row.id == main.id || row.parent.as_ref() == Some(&main.id))
            {
                return Ok(Arc::clone(main));
            }
            let candidate = |row: &&Arc<SessionFacts>| {
                json!({
                    "key": key_text(&row.key()),
                    "title": row.title.as_ref().filter(|_| !asked.app.mask.titles),
                    "updated": row.updated.map(jiff::Timestamp::as_millisecond),
                })
            };
            let candidates: Vec<Value> = several.iter().take(CANDIDATES).map(candidate).collect();
            let words = format!("'{wanted}' is the start of {} sessions", several.len());
            Err(ApiError::new(StatusCode::CONFLICT, words).with("candidates", json!(candidates)))
        }
    }
}

/// Opens the session that a path names.
pub(crate) fn open(asked: &Asked<'_>, engine: &Engine) -> Result<Arc<Reading>, ApiError> {
    let row = row(asked, engine)?;
    asked.app.readings.open(&row.key(), Some(&row), engine, asked.cancel)
}

/// Opens the session that a path names, in the view that is asked for.
pub(crate) fn open_text(asked: &Asked<'_>) -> Result<(Engine, Arc<Reading>, Arc<Text>), ApiError> {
    let view = view(asked.params)?;
    let engine = asked.app.engine(asked.cancel)?;
    let reading = open(asked, &engine)?;
    let text = Arc::clone(reading.text(view, &engine));
    Ok((engine, reading, text))
}

/// Answers with what is known about a session.
pub(crate) fn answer(asked: &Asked<'_>) -> Result<Answer, ApiError> {
    let engine = asked.app.engine(asked.cancel)?;
    let reading = open(asked, &engine)?;
    let mut opened = (*reading.opened).clone();
    engine.complete(&mut opened);
    let facts = &opened.facts;
    let resume = match engine.resume_opened(&opened, asked.cancel) {
        Ok(resume) => json!({"command": resume.shell_line(), "why_not": null}),
        Err(Error::NotResumable { why, .. }) => {
            json!({"command": null, "why_not": why.to_string()})
        }
        Err(error) => json!({"command": null, "why_not": error.full_message()}),
    };
    let document = json!({
        "schema": "recount.session/1",
        "key": key_text(&facts.key()),
        "version": reading.version,
        "session": facts,
        "problems": facts.problem_list,
        "loadable": opened.is_loadable(),
        "resume": resume,
    });
    let mut text = Vec::new();
    recount_documents::whole(&mut text, &document)?;
    Ok(Answer::Json(text))
}

/// Refuses what is sent as it is on disk if something must be hidden.
pub(super) fn refuse_if_masked(asked: &Asked<'_>) -> Result<(), ApiError> {
    if asked.app.mask.is_nothing() {
        return Ok(());
    }
    let why =
        "whole sessions and records are not sent with --mask: their text stays as it is on disk";
    Err(ApiError::new(StatusCode::FORBIDDEN, why)
        .hint("/api/session/SOURCE/ID/messages answers with folders and titles hidden"))
}

/// Answers with a record as it is on disk.
pub(crate) fn record(asked: &Asked<'_>) -> Result<Answer, ApiError> {
    refuse_if_masked(asked)?;
    let (_, reading, text) = open_text(asked)?;
    let at = asked.params.number("at")?.ok_or_else(|| ApiError::bad("at: which message?"))?;
    let message = text.read(at).ok_or_else(|| ApiError::missing("there is no such message"))?;
    let message = message.map_err(ApiError::missing)?;
    let place: &RecordLocation = &message.place;
    let bytes = reading.opened.record(place, RECORD);
    let bytes = bytes.ok_or_else(|| ApiError::missing("the file can no longer be read"))?;
    let whole = place.bytes + place.pieces.iter().map(|piece| piece.bytes).sum::<u64>();
    let document = json!({
        "schema": "recount.record/1",
        "file": *place.file,
        "line": place.line,
        "offset": place.offset,
        "bytes": whole,
        "text": String::from_utf8_lossy(&bytes),
        "cut": whole > RECORD,
    });
    let mut text = Vec::new();
    recount_documents::whole(&mut text, &document)?;
    Ok(Answer::Json(text))
}
