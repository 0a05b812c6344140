//! Conversations outside of session files: `/chat save`, `/chat share`, and conversions by other tools.
//!
//! All are lists of `{role, parts}` in the format of the API, bare or under `history`, `messages` or `conversation`.

use std::sync::Arc;

use recount_model::{Fate, Message, RawJson, Span, Tokens, ToolCall, ToolStatus};

use super::body::assemble;
use super::content::{Content, Piece};
use super::facts::{Facts, Role};
use super::part::Part;
use super::tool::{key_arg, response_text};
use crate::json::{JsonScan, JsonTree, Scanner, compact};
use crate::source::Foreign;

/// Keys that may contain a list of contents.
const WRAPPERS: &[&str] = &["history", "messages", "conversation", "contents", "clientHistory"];

/// Reads a saved chat; `None` if it is not one.
pub(crate) fn read(bytes: &[u8], file: &Arc<str>) -> Option<Foreign> {
    if let Some(messages) = markdown(bytes, file) {
        return Some(Foreign { form: "shared chat (Markdown)", messages });
    }
    let mut scanner = Scanner::new(bytes);
    let mut messages = Vec::new();
    let mut wrapped = false;
    match scanner.peek().ok()? {
        b'[' => contents(&mut scanner, bytes, file, &mut messages).ok()?,
        b'{' => scanner
            .object(|scanner, key| {
                let name = key.decode();
                if WRAPPERS.contains(&name.as_ref())
                    && scanner.peek()? == b'['
                    && messages.is_empty()
                {
                    wrapped = true;
                    return contents(scanner, bytes, file, &mut messages);
                }
                scanner.skip()
            })
            .ok()?,
        _ => return None,
    }
    let form = if wrapped { "saved chat" } else { "shared chat" };
    (!messages.is_empty()).then_some(Foreign { form, messages })
}

/// Returns the turns of a saved chat, each as `{role, parts}`; `None` if it is not one.
pub(crate) fn turns(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    if let Some(turns) = markdown_turns(bytes) {
        return Some(turns.into_iter().map(|(raw, _)| raw.into_bytes()).collect());
    }
    let mut turns = Vec::new();
    let mut list = |scanner: &mut Scanner<'_>| {
        scanner.array(|scanner| {
            let raw = scanner.value()?;
            if raw.first() == Some(&b'{') {
                turns.push(raw.to_vec());
            }
            Ok(())
        })
    };
    let mut scanner = Scanner::new(bytes);
    let mut is_found = false;
    match scanner.peek().ok()? {
        b'[' => list(&mut scanner).ok()?,
        b'{' => scanner
            .object(|scanner, key| {
                if !is_found && WRAPPERS.contains(&key.decode().as_ref()) && scanner.peek()? == b'['
                {
                    is_found = true;
                    return list(scanner);
                }
                scanner.skip()
            })
            .ok()?,
        _ => return None,
    }
    (!turns.is_empty()).then_some(turns)
}

fn contents(
    scanner: &mut Scanner<'_>,
    bytes: &[u8],
    file: &Arc<str>,
    messages: &mut Vec<Message>,
) -> JsonScan<()> {
    let (mut counted, mut line) = (0, 1);
    scanner.array(|scanner| {
        scanner.peek()?;
        let start = scanner.offset();
        let raw = scanner.value()?;
        line += memchr::memchr_iter(b'\n', bytes.get(counted..start).unwrap_or_default()).count();
        counted = start;
        let span = Span {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            offset: start as u64,
            bytes: raw.len() as u64,
        };
        if raw.first() == Some(&b'{')
            && let Some(message) = content(raw, file, span)?
        {
            answer_calls(messages, raw);
            messages.push(message);
        }
        Ok(())
    })
}

/// Reads one `{role, parts}`; `None` if there is no role.
fn content(raw: &[u8], file: &Arc<str>, span: Span) -> JsonScan<Option<Message>> {
    let mut role = None;
    let mut facts = Facts::default();
    Scanner::new(raw).object(|scanner, key| {
        match key.name().as_ref() {
            b"role" => role = super::facts::string(scanner)?,
            b"parts" | b"content" => facts.content = Content::read(scanner)?,
            b"usageMetadata" => facts.tokens = Some(usage(&JsonTree::read(scanner)?)),
            b"model" | b"modelVersion" => facts.model = super::facts::string(scanner)?,
            b"timestamp" => facts.field(scanner, b"timestamp")?,
            _ => scanner.skip()?,
        }
        Ok(())
    })?;
    let Some(role) = role else { return Ok(None) };
    facts.role = match role.name().as_ref() {
        b"user" => Role::User,
        b"model" | b"assistant" | b"gemini" => Role::Gemini,
        _ => Role::Info,
    };
    let mut message = assemble(&facts, file, span, Fate::Kept);
    facts.content.each(|piece| {
        if let Piece::Part(part) = piece {
            message.tool_calls.extend(call(&part));
        }
    });
    Ok(Some(message))
}

fn usage(tree: &JsonTree) -> Tokens {
    let number = |key: &str| match tree.get(key) {
        Some(JsonTree::Number(text)) => text.parse().unwrap_or(0),
        _ => 0,
    };
    Tokens {
        input: number("promptTokenCount"),
        output: number("candidatesTokenCount"),
        cached: number("cachedContentTokenCount"),
        thoughts: number("thoughtsTokenCount"),
        tool: number("toolUsePromptTokenCount"),
        total: number("totalTokenCount"),
        ..Tokens::default()
    }
}

fn call(part: &Part<'_>) -> Option<ToolCall> {
    let raw = part.call?;
    let tree = JsonTree::parse(raw).ok()?;
    let mut args: &[u8] = b"null";
    let mut scanner = Scanner::new(raw);
    let walked = scanner.object(|scanner, key| {
        let value = scanner.value()?;
        if key.is("args") {
            args = value;
        }
        Ok(())
    });
    walked.ok()?;
    Some(ToolCall {
        id: tree.text("id").map(str::to_owned),
        args: RawJson::new(compact(args)),
        key_arg: key_arg(args),
        ..ToolCall::named(tree.text("name").unwrap_or_default())
    })
}

/// Assigns the responses in `raw` to the open calls, by id or else in order.
fn answer_calls(messages: &mut [Message], raw: &[u8]) {
    let Ok(tree) = JsonTree::parse(raw) else { return };
    let parts = tree.get("parts").and_then(JsonTree::as_array).unwrap_or_default();
    for response in parts.iter().filter_map(|part| part.get("functionResponse")) {
        let (id, name) = (response.text("id"), response.text("name"));
        let waiting = messages.iter_mut().rev().take(1).flat_map(|message| &mut message.tool_calls);
        let own = waiting.filter(|call| call.output.is_none()).find(|call| {
            if id.is_some() && call.id.is_some() {
                call.id.as_deref() == id
            } else {
                Some(call.name.as_str()) == name
            }
        });
        if let (Some(call), Some(answer)) = (own, response.get("response")) {
            let failed = answer.get("error").is_some();
            call.output = response_text(answer);
            call.status = if failed { ToolStatus::Error } else { ToolStatus::Success };
        }
    }
}

/// Reads `/chat share FILE.md`.
fn markdown(bytes: &[u8], file: &Arc<str>) -> Option<Vec<Message>> {
    let mut messages: Vec<Message> = Vec::new();
    for (raw, span) in markdown_turns(bytes)? {
        let message = content(raw.as_bytes(), file, span).ok()??;
        answer_calls(&mut messages, raw.as_bytes());
        messages.push(message);
    }
    Some(messages)
}

/// Reads `/chat share FILE.md`: headings for the turns, rules between them, tools as fenced JSON. Each turn is converted to
/// the format of the API, with its location.
fn markdown_turns(bytes: &[u8]) -> Option<Vec<(String, Span)>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    role(first)?;
    let mut turns = Vec::new();
    let (mut offset, mut number) = (0u64, 0u32);
    let mut turn: Option<(&str, Span, String)> = None;
    for line in text.split_inclusive('\n').chain(["## USER 🧑"]) {
        number += 1;
        if let Some(role) = role(line.trim_end()) {
            if let Some((role, span, body)) = turn.take() {
                let raw = as_content(role, body.trim().trim_end_matches("---").trim());
                turns.push((raw, span));
            }
            turn = Some((role, Span { line: number, offset, bytes: 0 }, String::new()));
        } else if let Some((_, span, body)) = &mut turn {
            body.push_str(line);
            span.bytes += line.len() as u64;
        }
        offset += line.len() as u64;
    }
    Some(turns)
}

fn role(line: &str) -> Option<&'static str> {
    let word = line.strip_prefix("## ")?;
    if word.starts_with("USER 🧑") {
        Some("user")
    } else if word.starts_with("MODEL ✨") {
        Some("model")
    } else {
        None
    }
}

/// Writes a turn as `{role, parts}`.
fn as_content(role: &str, body: &str) -> String {
    let fields =
        [("**Tool Command**:", "functionCall"), ("**Tool Response**:", "functionResponse")];
    let mut parts = Vec::new();
    let mut rest = body;
    loop {
        let next =
            fields.iter().filter_map(|(mark, field)| Some((rest.find(mark)?, mark, field))).min();
        let block = next.and_then(|(at, mark, field)| {
            let after = rest.get(at + mark.len()..)?.trim_start().strip_prefix("```json\n")?;
            let (json, after) = after.split_once("\n```")?;
            JsonTree::parse(json.as_bytes()).ok()?;
            Some((rest.get(..at)?, format!("{{\"{field}\":{json}}}"), after))
        });
        let Some((before, part, after)) = block else { break };
        parts.extend(text_part(before));
        parts.push(part);
        rest = after;
    }
    parts.extend(text_part(rest));
    format!("{{\"role\":\"{role}\",\"parts\":[{}]}}", parts.join(","))
}

fn text_part(text: &str) -> Option<String> {
    let quoted = serde_json::to_string(text.trim()).ok()?;
    (!text.trim().is_empty()).then(|| format!("{{\"text\":{quoted}}}"))
}

#[cfg(test)]
mod tests {
    use recount_model::MessageKind;

    use super::*;

    fn kinds(json: &str) -> Option<Vec<(MessageKind, String)>> {
        let foreign = read(json.as_bytes(), &Arc::from("x"))?;
        Some(foreign.messages.into_iter().map(|message| (message.kind, message.text)).collect())
    }

    #[test]
    fn bare_and_wrapped_lists_are_read() {
        let list = r#"[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"ho"}],"usageMetadata":{"totalTokenCount":7}}]"#;
        let expected =
            Some(vec![(MessageKind::Prompt, "hi".into()), (MessageKind::Answer, "ho".into())]);
        assert_eq!(kinds(list), expected);
        for key in ["history", "messages", "conversation"] {
            assert_eq!(kinds(&format!(r#"{{"authType":"x","{key}":{list}}}"#)), expected, "{key}");
        }
    }

    #[test]
    fn responses_go_to_their_calls() {
        let json = r#"[{"role":"model","parts":[{"functionCall":{"id":"1","name":"ls","args":{"path":"src"}}}]},
            {"role":"user","parts":[{"functionResponse":{"id":"1","name":"ls","response":{"output":"a.rs"}}}]}]"#;
        let foreign = read(json.as_bytes(), &Arc::from("x")).unwrap();
        let call = &foreign.messages[0].tool_calls[0];
        assert_eq!(call.output.as_deref(), Some("a.rs"));
        assert_eq!(call.key_arg.as_deref(), Some("src"));
        assert_eq!(foreign.messages[1].kind, MessageKind::ToolResult);
    }

    #[test]
    fn a_shared_markdown_file_is_read() {
        let text = "## USER 🧑\u{200d}💻\n\nhello\n\n---\n\n## MODEL ✨\n\nworld\n";
        assert_eq!(
            kinds(text),
            Some(vec![
                (MessageKind::Prompt, "hello".into()),
                (MessageKind::Answer, "world".into())
            ])
        );
    }

    #[test]
    fn tools_in_shared_markdown_are_calls() {
        let text = concat!(
            "## MODEL ✨\n\nLooking.\n\n**Tool Command**:\n```json\n{\"name\":\"ls\",\"id\":\"1\"}\n```\n\n---\n\n",
            "## USER 🧑\n\n**Tool Response**:\n```json\n",
            "{\"id\":\"1\",\"name\":\"ls\",\"response\":{\"output\":\"a\"}}\n```\n"
        );
        let messages = read(text.as_bytes(), &Arc::from("x")).unwrap().messages;
        assert_eq!(messages[0].text, "Looking.");
        assert_eq!(messages[0].tool_calls[0].output.as_deref(), Some("a"));
        assert_eq!(messages[1].kind, MessageKind::ToolResult);
    }

    #[test]
    fn other_files_are_not_saved_chats() {
        for text in
            ["", "{}", "[]", "[1,2]", r#"{"history":[]}"#, "# Title", "plain", r#"[{"a":1}]"#]
        {
            assert_eq!(kinds(text), None, "{text}");
        }
    }
}
