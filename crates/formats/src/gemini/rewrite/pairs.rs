//! Tool calls and their responses. The service refuses a conversation in which they do not match, so one lost response
//! makes a session unusable.
//!
//! How a record becomes turns is the agent's own rule (`convertSessionToClientHistory`, 0.47 to 0.61): calls are in the
//! content or, if there are none, in `toolCalls`; responses in `toolCalls` become a separate turn after it.

use crate::gemini::content::{Content, Piece};
use crate::gemini::facts::{Facts, Role, lead};
use crate::gemini::native::{Object, quoted};
use crate::json::{JsonScan, JsonTree, Scanner};
use crate::rewrite::{Exchange, RecordedCall, Rewrite, Speaker};

/// The replacement for a lost response.
const LOST: &str = "The result of this call was lost.";

/// The replacement for a response without its call.
const UNASKED: &str = "A result of a tool stood here, without the call it belongs to.";

/// Returns the speaker of a record, its calls and its responses.
pub(super) fn exchange(record: &[u8]) -> Option<Exchange> {
    let facts = Facts::read(&mut Scanner::new(record)).ok()?;
    let skipped = Exchange { speaker: Speaker::Nobody, calls: Vec::new(), answers: Vec::new() };
    match facts.role {
        Role::User => {
            let lead = lead(Role::User, facts.content)?;
            let ignored = ["/", "?", "<session_context>", "<hook_context>"];
            if lead.is_empty() || ignored.iter().any(|word| lead.starts_with(word)) {
                return Some(skipped);
            }
            let (_, answers) = parts(facts.content);
            Some(Exchange { speaker: Speaker::Human, calls: Vec::new(), answers })
        }
        Role::Gemini => {
            let (said, _) = parts(facts.content);
            let (listed, answers) = listed(record).ok()?;
            let calls = if said.is_empty() { listed } else { said };
            Some(Exchange { speaker: Speaker::Model, calls, answers })
        }
        Role::Info | Role::Warning | Role::Error | Role::Unknown => Some(skipped),
    }
}

/// Lists the calls and the responses in a content.
fn parts(content: Content<'_>) -> (Vec<RecordedCall>, Vec<RecordedCall>) {
    let (mut calls, mut answers) = (Vec::new(), Vec::new());
    content.each(|piece| {
        if let Piece::Part(part) = piece {
            calls.extend(part.call.and_then(named));
            answers.extend(part.response.and_then(named));
        }
    });
    (calls, answers)
}

/// Reads id and name of a call or a response.
fn named(raw: &[u8]) -> Option<RecordedCall> {
    let mut call = RecordedCall { id: None, name: String::new(), args: b"{}".to_vec() };
    let mut scanner = Scanner::new(raw);
    if scanner.peek() != Ok(b'{') {
        return None;
    }
    let walked = scanner.object(|scanner, key| {
        let value = scanner.value()?;
        match key.name().as_ref() {
            b"id" => call.id = text(value),
            b"name" => call.name = text(value).unwrap_or_default(),
            b"args" => call.args = value.to_vec(),
            _ => {}
        }
        Ok(())
    });
    walked.ok().map(|()| call)
}

fn text(raw: &[u8]) -> Option<String> {
    JsonTree::parse(raw).ok()?.as_str().map(str::to_owned)
}

/// Lists the calls and responses in `toolCalls`.
fn listed(record: &[u8]) -> JsonScan<(Vec<RecordedCall>, Vec<RecordedCall>)> {
    let (mut calls, mut answers) = (Vec::new(), Vec::new());
    each_listed(record, |raw| {
        let Some(call) = named(raw) else { return Ok(()) };
        answers.extend(results(raw, &call)?);
        calls.push(call);
        Ok(())
    })?;
    Ok((calls, answers))
}

fn each_listed<'a>(
    record: &'a [u8],
    mut visit: impl FnMut(&'a [u8]) -> JsonScan<()>,
) -> JsonScan<()> {
    Scanner::new(record).object(|scanner, key| {
        if !key.is("toolCalls") || scanner.peek()? != b'[' {
            return scanner.skip();
        }
        scanner.array(|scanner| visit(scanner.value()?))
    })
}

/// Lists the responses in the result of a call.
fn results(raw: &[u8], call: &RecordedCall) -> JsonScan<Vec<RecordedCall>> {
    let mut answers = Vec::new();
    Scanner::new(raw).object(|scanner, key| {
        if !key.is("result") {
            return scanner.skip();
        }
        let first = scanner.peek()?;
        let value = scanner.value()?;
        match first {
            b'"' if value.len() > 2 => answers = vec![call.clone()],
            b'[' | b'{' => answers = parts(Content::Parts(value)).1,
            _ => {}
        }
        Ok(())
    })?;
    Ok(answers)
}

/// Writes a record so that calls and responses match.
pub(super) fn rewritten(record: &[u8], rewrite: &Rewrite) -> Option<Vec<u8>> {
    match rewrite {
        Rewrite::Answer(calls) => answered(record, calls).ok(),
        Rewrite::Drop(answers) => dropped(record, answers).ok(),
    }
}

fn response(call: &RecordedCall) -> Vec<u8> {
    let mut response = Object::default();
    if let Some(id) = &call.id {
        response.text("id", id);
    }
    response.text("name", &call.name);
    let mut error = Object::default();
    error.text("error", LOST);
    response.raw(b"response", &error.end());
    let mut part = Object::default();
    part.raw(b"functionResponse", &response.end());
    [b"[", part.end().as_slice(), b"]"].concat()
}

fn answered(record: &[u8], missing: &[RecordedCall]) -> JsonScan<Vec<u8>> {
    let mut open: Vec<&RecordedCall> = missing.iter().collect();
    let mut listed: Vec<Vec<u8>> = Vec::new();
    each_listed(record, |raw| {
        let own = named(raw).and_then(|own| open.iter().position(|call| call.is_same(&own)));
        let Some(call) = own.map(|at| open.remove(at)) else {
            listed.push(raw.to_vec());
            return Ok(());
        };
        let mut object = Object::default();
        Scanner::new(raw).object(|scanner, key| {
            let value = scanner.value()?;
            if !key.is("result") {
                object.raw(key.raw(), value);
            }
            Ok(())
        })?;
        object.raw(b"result", &response(call));
        listed.push(object.end());
        Ok(())
    })?;
    let mut time = None;
    let mut object = Object::default();
    Scanner::new(record).object(|scanner, key| {
        let value = scanner.value()?;
        if key.is("timestamp") {
            time = Some(value);
        }
        if !key.is("toolCalls") {
            object.raw(key.raw(), value);
        }
        Ok(())
    })?;
    for call in open {
        let mut entry = Object::default();
        if let Some(id) = &call.id {
            entry.text("id", id);
        }
        entry.text("name", &call.name);
        entry.raw(b"args", &call.args);
        entry.raw(b"result", &response(call));
        entry.text("status", "error");
        if let Some(time) = time {
            entry.raw(b"timestamp", time);
        }
        listed.push(entry.end());
    }
    object.raw(b"toolCalls", &[b"[", listed.join(&b","[..]).as_slice(), b"]"].concat());
    Ok(object.end())
}

fn dropped(record: &[u8], answers: &[RecordedCall]) -> JsonScan<Vec<u8>> {
    let mut open: Vec<&RecordedCall> = answers.iter().collect();
    let mut rest: Vec<&[u8]> = Vec::new();
    let facts = Facts::read(&mut Scanner::new(record))?;
    if let Content::Parts(raw) = facts.content
        && raw.first() == Some(&b'[')
    {
        Scanner::new(raw).array(|scanner| {
            let part = scanner.value()?;
            let content = Content::Parts(part);
            let own = if part.starts_with(b"{") { parts(content).1.pop() } else { None };
            match own.and_then(|own| open.iter().position(|call| call.is_same(&own))) {
                Some(at) => drop(open.remove(at)),
                None => rest.push(part),
            }
            Ok(())
        })?;
    }
    let says_more = rest.iter().any(|part| !part.starts_with(b"{\"inlineData\""));
    let mut object = Object::default();
    Scanner::new(record).object(|scanner, key| {
        let value = scanner.value()?;
        match key.name().as_ref() {
            b"content" if says_more => {
                object.raw(b"content", &[b"[", rest.join(&b","[..]).as_slice(), b"]"].concat());
            }
            b"content" => object.raw(b"content", quoted(UNASKED).as_bytes()),
            // Notices of the agent's list are not sent.
            b"type" if !says_more => object.text("type", "info"),
            _ => object.raw(key.raw(), value),
        }
        Ok(())
    })?;
    Ok(object.end())
}
