//! Saved and shared chats as records of a session: turns in the format of the API, one message each.

use jiff::Timestamp;
use recount_model::MessageKind;

use super::head::time;
use super::line::{Object, quoted};
use crate::gemini::content::Content;
use crate::gemini::facts::{Facts, Role, lead};
use crate::gemini::kind::kind;
use crate::gemini::saved;
use crate::json::{JsonScan, Scanner};

/// The model's answer to the set-up turn in old releases.
const ACKNOWLEDGED: &str = "Got it. Thanks for the context!";

/// Writes the turns of a saved chat as messages; `None` if there are none. The set-up turns are dropped: the agent begins
/// every session with its own.
pub(crate) fn records(bytes: &[u8], when: Option<Timestamp>) -> Option<Vec<Vec<u8>>> {
    let mut turns = saved::turns(bytes)?;
    let first = turns.first()?;
    match without_context(first).ok()? {
        Some(rest) if !rest.is_empty() => {
            if let Some(first) = turns.first_mut() {
                *first = rest;
            }
        }
        Some(_) => {
            let answer = turns.get(1).and_then(|turn| Turn::read(turn).ok().flatten());
            let is_set_up = answer.is_some_and(|turn| turn.text() == ACKNOWLEDGED);
            turns.drain(..if is_set_up { 2 } else { 1 });
        }
        None => {}
    }
    let when = when.map(time);
    let mut records = Vec::with_capacity(turns.len());
    for (at, raw) in turns.iter().enumerate() {
        let answers = turns.get(at + 1).and_then(|next| Turn::read(next).ok().flatten());
        let answers = answers.and_then(|next| exchanges(next.parts, "functionResponse").ok());
        let Some(turn) = Turn::read(raw).ok().flatten() else { continue };
        let parts = paired(turn.parts, &answers.unwrap_or_default()).ok()?;
        records.push(record(&turn, &parts, at + 1, when.as_deref()));
    }
    (!records.is_empty()).then_some(records)
}

/// One `{role, parts}`.
struct Turn<'a> {
    role: &'static str,
    parts: &'a [u8],
    time: Option<&'a [u8]>,
}

impl<'a> Turn<'a> {
    fn read(raw: &'a [u8]) -> JsonScan<Option<Self>> {
        let (mut role, mut time) = (None, None);
        let mut parts: &[u8] = b"[]";
        Scanner::new(raw).object(|scanner, key| {
            let value = scanner.value()?;
            match key.name().as_ref() {
                b"role" => role = Some(value),
                b"parts" | b"content" => parts = value,
                b"timestamp" if value.starts_with(b"\"") => time = Some(value),
                _ => {}
            }
            Ok(())
        })?;
        let role = role.map(|role| match role {
            b"\"user\"" => "user",
            b"\"model\"" | b"\"assistant\"" | b"\"gemini\"" => "gemini",
            _ => "info",
        });
        Ok(role.map(|role| Self { role, parts, time }))
    }

    fn content(&self) -> Content<'a> {
        Content::read(&mut Scanner::new(self.parts)).unwrap_or(Content::None)
    }

    fn text(&self) -> String {
        self.content().text()
    }
}

fn record(turn: &Turn<'_>, parts: &[u8], number: usize, when: Option<&str>) -> Vec<u8> {
    let mut record = Object::default();
    record.text("id", &format!("turn-{number}"));
    match (turn.time, when) {
        (Some(time), _) => record.raw(b"timestamp", time),
        (None, Some(when)) => record.text("timestamp", when),
        (None, None) => {}
    }
    record.text("type", turn.role);
    record.raw(b"content", parts);
    record.end()
}

/// A tool call, or the response to one: its name and its id, raw.
type Exchange<'a> = (&'a [u8], Option<&'a [u8]>);

/// Lists the calls or the responses in a turn.
fn exchanges<'a>(parts: &'a [u8], which: &str) -> JsonScan<Vec<Exchange<'a>>> {
    let mut found = Vec::new();
    let mut scanner = Scanner::new(parts);
    if scanner.peek()? != b'[' {
        return Ok(found);
    }
    scanner.array(|scanner| {
        if scanner.peek()? != b'{' {
            return scanner.skip();
        }
        scanner.object(|scanner, key| {
            let value = scanner.value()?;
            if key.is(which) && value.starts_with(b"{") {
                found.push(exchange(value)?);
            }
            Ok(())
        })
    })?;
    Ok(found)
}

fn exchange(raw: &[u8]) -> JsonScan<Exchange<'_>> {
    let (mut name, mut id): (&[u8], _) = (b"", None);
    Scanner::new(raw).object(|scanner, key| {
        let value = scanner.value()?;
        match key.name().as_ref() {
            b"name" => name = value,
            b"id" if value.starts_with(b"\"") => id = Some(value),
            _ => {}
        }
        Ok(())
    })?;
    Ok((name, id))
}

/// Gives calls without an id that of the following response: newer releases match them only by id.
fn paired(parts: &[u8], answers: &[Exchange<'_>]) -> JsonScan<Vec<u8>> {
    let calls = exchanges(parts, "functionCall")?;
    if calls.iter().all(|(_, id)| id.is_some()) {
        return Ok(parts.to_vec());
    }
    let mut open: Vec<Exchange<'_>> = answers.to_vec();
    let mut out: Vec<Vec<u8>> = Vec::new();
    Scanner::new(parts).array(|scanner| {
        let part = scanner.value()?;
        let mut object = Object::default();
        if !part.starts_with(b"{") {
            out.push(part.to_vec());
            return Ok(());
        }
        Scanner::new(part).object(|scanner, key| {
            let value = scanner.value()?;
            let call = key.is("functionCall") && value.starts_with(b"{");
            let named = if call { with_id(value, &mut open)? } else { None };
            object.raw(key.raw(), named.as_deref().unwrap_or(value));
            Ok(())
        })?;
        out.push(object.end());
        Ok(())
    })?;
    Ok([b"[", out.join(&b","[..]).as_slice(), b"]"].concat())
}

/// Returns a call with the id of the first open response to a tool of that name.
fn with_id(call: &[u8], open: &mut Vec<Exchange<'_>>) -> JsonScan<Option<Vec<u8>>> {
    let (name, id) = exchange(call)?;
    let Some(at) = open.iter().position(|(tool, _)| *tool == name) else { return Ok(None) };
    let (_, answer) = open.remove(at);
    let (None, Some(answer)) = (id, answer) else { return Ok(None) };
    let mut object = Object::default();
    object.raw(b"id", answer);
    Scanner::new(call).object(|scanner, key| {
        let value = scanner.value()?;
        if !key.is("id") {
            object.raw(key.raw(), value);
        }
        Ok(())
    })?;
    Ok(Some(object.end()))
}

/// Returns the first turn without the context that the agent added: empty if that is all of it, `None` if there is none.
fn without_context(raw: &[u8]) -> JsonScan<Option<Vec<u8>>> {
    let Some(turn) = Turn::read(raw)? else { return Ok(None) };
    let is_context = |parts: &[u8]| -> JsonScan<bool> {
        let content = Content::read(&mut Scanner::new(parts))?;
        let facts = Facts { role: Role::User, content, ..Facts::default() };
        Ok(kind(&facts, lead(Role::User, content).as_deref()) == MessageKind::Context)
    };
    if turn.role != "user" || !is_context(turn.parts)? {
        return Ok(None);
    }
    let mut scanner = Scanner::new(turn.parts);
    let mut said: Vec<&[u8]> = Vec::new();
    if scanner.peek()? == b'[' {
        scanner.array(|scanner| {
            said.push(scanner.value()?);
            Ok(())
        })?;
    }
    // Newer releases put the first prompt after it, as parts of the same turn.
    let rest = said.get(1..).unwrap_or_default().join(&b","[..]);
    if rest.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let parts = [b"[", rest.as_slice(), b"]"].concat();
    let mut object = Object::default();
    object.raw(b"role", quoted("user").as_bytes());
    object.raw(b"parts", &parts);
    Ok(Some(object.end()))
}
