//! Threads written as the agent writes them, in the form that all releases since 0.32 read: no ordinals, nothing borrowed, clean of
//! all that was undone.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use recount_model::{FileRole, SessionId, SessionKind, SourceName};

use crate::bytes::{Buffer, Input};
use crate::gemini::{Object, on_one_line};
use crate::handover::HandoverFormat;
use crate::json::{JsonTree, Scanner};
use crate::native::{Fields, HeadRequest, NativeFormat, NativeTexts, walk};

use super::words::Place;
use crate::recovery::Remark;
use crate::source::stable_hash;

use super::record::{Record, Tag, word};
use super::tool::quoted;

/// Tagged lines.
#[derive(Debug)]
pub(super) struct Rollout;

/// How much of a file is read to find its first record.
const HEAD: u64 = 4 * 1024 * 1024;

/// What of the first record is not written again: what points into other files, and what belongs to one program's run.
const DROPPED: [&str; 9] = [
    "history_mode",
    "history_base",
    "forked_from_ordinal_exclusive",
    "subagent_history_start_ordinal",
    "context_window",
    "parent_thread_id",
    "session_id",
    "agent_path",
    "multi_agent_version",
];

impl NativeFormat for Rollout {
    fn source(&self) -> SourceName {
        super::NAME
    }

    fn extension(&self) -> &'static str {
        "jsonl"
    }

    fn sessions_folder(&self, project: &Path) -> PathBuf {
        project.to_owned()
    }

    fn about(&self) -> &'static str {
        "Codex's own, for `codex resume` once it is below `sessions/`"
    }

    fn stem(&self, id: &SessionId, _kind: SessionKind, began: Option<Timestamp>) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let id: String = id.as_str().chars().map(plain).collect();
        // Names have local time, and what is in the file has not.
        let began = began.unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(TimeZone::system());
        format!("rollout-{}-{id}", began.strftime("%Y-%m-%dT%H-%M-%S"))
    }

    fn made_up_id(&self, name: &str) -> SessionId {
        let first = name.split(' ').next().and_then(|word| word.parse::<u128>().ok());
        let (one, two) = (stable_hash(&name), stable_hash(&(name, 1)));
        // Version 7 begins with the time in milliseconds, by which the agent sorts.
        let millis =
            first.map_or(one >> 20, |nanos| u64::try_from(nanos / 1_000_000).unwrap_or(one >> 20));
        let millis = millis & 0xffff_ffff_ffff;
        SessionId::new(format!(
            "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
            millis >> 16,
            millis & 0xffff,
            one & 0xfff,
            0x8000 | (one >> 12) & 0x3fff,
            two & 0xffff_ffff_ffff
        ))
    }

    fn fields(&self, path: &Path, _buffer: &mut Buffer) -> io::Result<Fields> {
        let mut head = Vec::new();
        Input::open(path)?.take(HEAD).read_to_end(&mut head)?;
        Ok(fields(&head))
    }

    fn united(&self, head: &HeadRequest<'_>) -> Fields {
        united(head)
    }

    fn head(&self, head: &HeadRequest<'_>) -> Vec<Vec<u8>> {
        let united = united(head);
        let mut payload = Object::default();
        for (key, value) in united.iter() {
            payload.raw(key.as_bytes(), value);
        }
        let mut line = Object::default();
        let time = united.get("timestamp").map_or_else(|| b"null".to_vec(), <[u8]>::to_vec);
        line.raw(b"timestamp", &time);
        line.text("type", "session_meta");
        line.raw(b"payload", &payload.end());
        vec![line.end()]
    }

    fn record(&self, record: &[u8], _id: Option<&str>) -> Option<Vec<u8>> {
        lines(record)
    }

    fn saved(&self, _bytes: &[u8], _time: Option<Timestamp>) -> Option<Vec<Vec<u8>>> {
        None
    }

    fn remark(&self, remark: &Remark<'_>) -> Vec<u8> {
        let time = quoted(&remark.time.map_or_else(String::new, |time| time.to_string()));
        let text = quoted(remark.text);
        let item = format!(
            "{{\"timestamp\":{time},\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":{text}}}]}}}}"
        );
        let event = format!(
            "{{\"timestamp\":{time},\"type\":\"event_msg\",\"payload\":{{\"type\":\"user_message\",\"message\":{text}}}}}"
        );
        let both = format!("{item}\n{event}");
        // A notice is shown in a form that is not sent to the model.
        if remark.is_prompt { both.into_bytes() } else { notice(&time, &text) }
    }

    fn handover(&self) -> Option<&'static dyn HandoverFormat> {
        Some(&super::handover::Handover)
    }

    fn replace(&self, line: &[u8], texts: &mut dyn NativeTexts) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        for (number, line) in line.split(|byte| *byte == b'\n').enumerate() {
            if number > 0 {
                out.push(b'\n');
            }
            if !line.is_empty() {
                out.extend(walk::replace::<Place>(line, texts).ok()?);
            }
        }
        Some(out)
    }
}

fn notice(time: &str, text: &str) -> Vec<u8> {
    let payload = format!("{{\"type\":\"warning\",\"message\":{text}}}");
    tagged(time.as_bytes(), "event_msg", payload.as_bytes())
}

/// Reads the members of the first record.
fn fields(head: &[u8]) -> Fields {
    let mut fields = Fields::default();
    let is_document = head
        .trim_ascii_start()
        .strip_prefix(b"{")
        .is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\"session\""));
    let first = if is_document {
        head
    } else {
        head.split(|byte| *byte == b'\n').next().unwrap_or_default()
    };
    let mut take = |scanner: &mut Scanner<'_>| {
        scanner.object(|scanner, key| {
            let value = on_one_line(scanner.value()?);
            fields.set(&key.decode(), &value);
            Ok(())
        })
    };
    let mut inner = false;
    let _walked = Scanner::new(first).object(|scanner, key| {
        if (key.is("payload") || key.is("session")) && scanner.peek()? == b'{' {
            inner = true;
            return take(scanner);
        }
        scanner.skip()
    });
    if !inner {
        // Releases before 0.32 have the members in the line itself.
        let _walked = take(&mut Scanner::new(first));
    }
    fields
}

fn united(head: &HeadRequest<'_>) -> Fields {
    let main = head.files.iter().rev().find(|(role, _)| *role == FileRole::Main);
    let main = main.or_else(|| head.files.iter().rev().find(|(role, _)| *role != FileRole::Base));
    let mut fields = Fields::default();
    let id = head.overrides.id.unwrap_or(head.id);
    fields.set("id", quoted(id.as_str()).as_bytes());
    let started = head.overrides.started.or(head.started).unwrap_or(Timestamp::UNIX_EPOCH);
    fields.set(
        "timestamp",
        quoted(&started.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()).as_bytes(),
    );
    for (key, value) in main.into_iter().flat_map(|(_, fields)| fields.iter()) {
        let is_told = matches!(key, "id" | "timestamp" | "type" | "instructions")
            && !(key == "timestamp"
                && head.overrides.started.is_none()
                && head.overrides.id.is_none());
        if !is_told && !DROPPED.contains(&key) {
            fields.set(key, value);
        }
    }
    if let Some(cwd) = head.overrides.cwd {
        fields.set("cwd", quoted(cwd).as_bytes());
        if fields.get("runtime_workspace_roots").is_some() {
            fields.set("runtime_workspace_roots", format!("[{}]", quoted(cwd)).as_bytes());
        }
    }
    if head.overrides.id.is_some() {
        fields.set("forked_from_id", quoted(head.id.as_str()).as_bytes());
    }
    // Without these the agent does not read the record.
    for (key, value) in [
        ("cwd", "\"/\""),
        ("originator", "\"codex_cli_rs\""),
        ("cli_version", "\"0.0.0\""),
        ("source", "\"cli\""),
    ] {
        let is_missing = fields.get(key).is_none_or(|known| known == b"null");
        // A copy of what a sub-agent did is a thread of the user's.
        let is_agents = key == "source" && fields.get(key).and_then(word).is_none();
        if is_missing || is_agents {
            fields.set(key, value.as_bytes());
        }
    }
    fields
}

/// Writes one record as lines that every release reads; nothing of one that only newer ones know.
fn lines(bytes: &[u8]) -> Option<Vec<u8>> {
    let record = Record::read(bytes).ok()?;
    let payload = payload(bytes)?;
    let kind = record.fields.kind();
    let time = record
        .fields
        .timestamp
        .filter(|_| record.time.is_some())
        .map_or_else(|| b"\"1970-01-01T00:00:00.000Z\"".to_vec(), <[u8]>::to_vec);
    match (record.tag, kind) {
        (Tag::Item, b"message") => {
            let item = tagged(&time, "response_item", &payload);
            let tree = JsonTree::parse(bytes).ok()?;
            let tree = tree.get("payload").unwrap_or(&tree);
            if tree.text("role") != Some("assistant") {
                return Some(item);
            }
            let parts = tree.get("content").and_then(JsonTree::as_array).unwrap_or_default();
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.text("text")).collect();
            let event =
                format!("{{\"type\":\"agent_message\",\"message\":{}}}", quoted(&texts.join("\n")));
            Some([tagged(&time, "event_msg", event.as_bytes()), item].join(&b'\n'))
        }
        (Tag::Item, b"local_shell_call_output") => {
            let payload = String::from_utf8_lossy(&payload).replacen(
                "local_shell_call_output",
                "function_call_output",
                1,
            );
            Some(tagged(&time, "response_item", payload.as_bytes()))
        }
        (Tag::Item, b"additional_tools") => Some(Vec::new()),
        (Tag::Item, _) => Some(tagged(&time, "response_item", &payload)),
        (Tag::Event, b"item_completed") => {
            Some(user_message(&time, record.fields.item).unwrap_or_default())
        }
        (
            Tag::Event,
            b"user_message"
            | b"agent_message"
            | b"turn_aborted"
            | b"patch_apply_end"
            | b"entered_review_mode"
            | b"exited_review_mode",
        ) => Some(tagged(&time, "event_msg", &payload)),
        (Tag::Event | Tag::Usage, _) => Some(Vec::new()),
        (Tag::Compacted, _) => Some(tagged(&time, "compacted", &payload)),
        _ => None,
    }
}

/// Writes a prompt of a paginated thread as older releases do.
fn user_message(time: &[u8], item: Option<&[u8]>) -> Option<Vec<u8>> {
    let tree = JsonTree::parse(item?).ok()?;
    if tree.text("type") != Some("UserMessage") {
        return None;
    }
    let parts = tree.get("content").and_then(JsonTree::as_array).unwrap_or_default();
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.text("text")).collect();
    let event = format!(
        "{{\"type\":\"user_message\",\"message\":{},\"images\":[],\"local_images\":[],\"text_elements\":[]}}",
        quoted(&texts.join("\n"))
    );
    Some(tagged(time, "event_msg", event.as_bytes()))
}

fn tagged(time: &[u8], tag: &str, payload: &[u8]) -> Vec<u8> {
    let mut line = Object::default();
    line.raw(b"timestamp", time);
    line.text("type", tag);
    line.raw(b"payload", payload);
    line.end()
}

/// Returns the payload of a record; the whole of one without.
fn payload(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut payload = None;
    Scanner::new(bytes)
        .object(|scanner, key| {
            let value = scanner.value()?;
            if key.is("payload") {
                payload = Some(value);
            }
            Ok(())
        })
        .ok()?;
    Some(on_one_line(payload.unwrap_or(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_paginated_threads_become_those_of_all_releases() {
        let prompt = br#"{"timestamp":"2026-11-15T18:08:01.404Z","ordinal":8,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","id":"x","content":[{"type":"text","text":"fix \"it\""}]}}}"#;
        let event = r#"{"timestamp":"2026-11-15T18:08:01.404Z","type":"event_msg","payload":{"type":"user_message","message":"fix \"it\"","images":[],"local_images":[],"text_elements":[]}}"#;
        assert_eq!(String::from_utf8(lines(prompt).unwrap()).unwrap(), event);
        let answer = br#"{"timestamp":"2026-11-15T18:08:01.404Z","ordinal":9,"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]},"metadata":{}}"#;
        let both = String::from_utf8(lines(answer).unwrap()).unwrap();
        let (event, item) = both.split_once('\n').unwrap();
        assert!(
            event.contains(r#""type":"agent_message","message":"Done.""#)
                && !item.contains("ordinal"),
            "{both}"
        );
        let step = br#"{"timestamp":"2026-11-15T18:08:01.404Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution"}}}"#;
        assert_eq!(lines(step), Some(Vec::new()));
        let bare = br#"{"type":"message","id":null,"role":"user","content":[]}"#;
        assert!(
            String::from_utf8(lines(bare).unwrap())
                .unwrap()
                .contains(r#""payload":{"type":"message""#)
        );
        assert_eq!(lines(b"{\"a\":1}"), None);
    }

    #[test]
    fn an_id_that_is_made_up_tells_its_time() {
        let id = Rollout.made_up_id("1794769200000000000 0");
        assert_eq!(super::super::meta::uuid_time(id.as_str()), Some(1_794_769_200_000));
        assert_ne!(id, Rollout.made_up_id("1794769200000000000 1"));
        assert_eq!(Rollout.made_up_id("/a/b"), Rollout.made_up_id("/a/b"));
    }
}
