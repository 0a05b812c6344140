//! Saved and shared chats as records of a session: turns in the form of the API, one message each.

use jiff::Timestamp;
use recount_model::MessageKind;

use super::head::time;
use super::line::{Object, quoted};
use crate::gemini::content::Content;
use crate::gemini::facts::{Facts, Role, lead};
use crate::gemini::kind::kind;
use crate::gemini::saved;
use crate::json::{Scan, Scanner};

/// How the model answered the set-up turn in old releases.
const ACKNOWLEDGED: &str = "Got it. Thanks for the context!";

/// Writes the turns of a saved chat as messages; `None` when there are none. The set-up turns are left out: the agent
/// begins every session with its own.
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
    let numbered = turns.iter().enumerate();
    let written = numbered.filter_map(|(at, turn)| record(turn, at + 1, when.as_deref()).ok()?);
    let records: Vec<Vec<u8>> = written.collect();
    (!records.is_empty()).then_some(records)
}

/// One `{role, parts}`.
struct Turn<'a> {
    role: &'static str,
    parts: &'a [u8],
    time: Option<&'a [u8]>,
}

impl<'a> Turn<'a> {
    fn read(raw: &'a [u8]) -> Scan<Option<Self>> {
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

fn record(turn: &[u8], number: usize, when: Option<&str>) -> Scan<Option<Vec<u8>>> {
    let Some(turn) = Turn::read(turn)? else { return Ok(None) };
    let mut record = Object::default();
    record.text("id", &format!("turn-{number}"));
    match (turn.time, when) {
        (Some(time), _) => record.raw(b"timestamp", time),
        (None, Some(when)) => record.text("timestamp", when),
        (None, None) => {}
    }
    record.text("type", turn.role);
    record.raw(b"content", turn.parts);
    Ok(Some(record.end()))
}

/// Returns the first turn without what the agent put in front of the chat: nothing when it is all of it, `None` when there
/// is no such thing.
fn without_context(raw: &[u8]) -> Scan<Option<Vec<u8>>> {
    let Some(turn) = Turn::read(raw)? else { return Ok(None) };
    let is_context = |parts: &[u8]| -> Scan<bool> {
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
    // Newer releases put the first prompt behind it, as parts of the same turn.
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
