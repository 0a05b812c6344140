//! What is left of a session elsewhere: in telemetry, in the activity log, in saved chats. Each request to the model
//! contains the whole conversation so far, so the longest one is nearly complete.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use recount_model::{MessageKind, SessionId};

use super::native::{self, Object, quoted};
use super::saved;
use crate::bytes::{self, read_limited};
use crate::json::{JsonTree, ScanError, Scanner};
use crate::native::NativeFormat as _;
use crate::recovery::{RecoverySource, Remark};
use crate::source::ProjectFolder;

/// The maximum size of a saved chat; those are read at once.
const LARGEST: u64 = 256 * 1024 * 1024;

/// The read size.
const PIECE: u64 = 256 * 1024;

/// Lists what is left of a session in and beside one project directory; `extra` are files that the user named, with
/// telemetry or a saved chat.
pub(crate) fn recovery_sources(
    folder: Option<&ProjectFolder>,
    project: Option<&Path>,
    id: &SessionId,
    extra: &[PathBuf],
) -> Vec<RecoverySource> {
    let mut found = Vec::new();
    if let Some(folder) = folder {
        let log = folder.path.join("logs").join(format!("session-{id}.jsonl"));
        found.extend(exchange(&log, "activity log", |best| activity(&log, best)));
        for path in saved_chats(&folder.path) {
            found.extend(chat(&path, "saved chat"));
        }
    }
    let usual = project.map(|project| project.join(".gemini").join("telemetry.log"));
    for path in usual.iter().chain(extra) {
        let by_id = exchange(path, "telemetry", |best| telemetry(path, id, best));
        found.extend(by_id.or_else(|| chat(path, "saved chat").filter(|_| extra.contains(path))));
    }
    found
}

/// Lists saved chats, and checkpoints from before tools changed files.
fn saved_chats(folder: &Path) -> Vec<PathBuf> {
    let names = |folder: PathBuf, start: &str| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_one = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(start) && name.ends_with(".json") && path.is_file()
        };
        let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_one).collect();
        all.sort();
        all
    };
    let mut all = names(folder.to_owned(), "checkpoint");
    all.extend(names(folder.join("checkpoints"), ""));
    all
}

fn chat(path: &Path, from: &'static str) -> Option<RecoverySource> {
    let bytes = read_limited(path, LARGEST).ok()?;
    let tree = list_of(&bytes, "clientHistory");
    recovery_source(path, from, tree.as_deref().unwrap_or(&bytes), false)
}

/// Returns the raw list under a key of an object.
fn list_of(bytes: &[u8], wanted: &str) -> Option<Vec<u8>> {
    let mut found = None;
    let mut scanner = Scanner::new(bytes);
    if scanner.peek() != Ok(b'{') {
        return None;
    }
    let walked = scanner.object(|scanner, key| {
        let value = scanner.value()?;
        if key.is(wanted) && value.starts_with(b"[") {
            found = Some(value.to_vec());
        }
        Ok(())
    });
    walked.ok().and(found)
}

fn recovery_source(
    path: &Path,
    from: &'static str,
    turns: &[u8],
    is_named: bool,
) -> Option<RecoverySource> {
    let records = native::Log.saved(turns, None)?;
    let file = Arc::from(path.to_string_lossy());
    let messages = saved::read(turns, &file)?.messages;
    let said = messages.into_iter().filter(|message| message.kind == MessageKind::Prompt);
    let prompts = said.map(|message| message.display_text).collect();
    Some(RecoverySource { path: path.to_owned(), from, records, prompts, is_named })
}

/// The longest request, and its reply.
#[derive(Debug, Default)]
struct Longest {
    turns: usize,
    request: Vec<u8>,
    reply: Option<Vec<u8>>,
    /// Whether the next reply belongs to it.
    is_open: bool,
}

impl Longest {
    fn ask(&mut self, contents: &[u8]) {
        let mut turns = 0;
        let counted = Scanner::new(contents).array(|scanner| {
            turns += 1;
            scanner.skip()
        });
        self.is_open = counted.is_ok() && turns >= self.turns.max(1);
        if self.is_open {
            *self = Self { turns, request: contents.to_vec(), reply: None, is_open: true };
        }
    }

    fn reply(&mut self, parts: Vec<u8>) {
        if std::mem::take(&mut self.is_open) {
            self.reply = Some(parts);
        }
    }

    fn contents(self) -> Option<Vec<u8>> {
        let list = self.request.strip_prefix(b"[")?.strip_suffix(b"]")?.to_vec();
        let Some(parts) = self.reply else { return Some(self.request) };
        let mut turn = Object::default();
        turn.text("role", "model");
        turn.raw(b"parts", &parts);
        Some([b"[", list.as_slice(), b",", turn.end().as_slice(), b"]"].concat())
    }
}

fn exchange(
    path: &Path,
    from: &'static str,
    read: impl FnOnce(&mut Longest) -> io::Result<()>,
) -> Option<RecoverySource> {
    let mut longest = Longest::default();
    read(&mut longest).ok()?;
    recovery_source(path, from, &longest.contents()?, true)
}

/// Reads concatenated objects, indented or not.
fn telemetry(path: &Path, id: &SessionId, longest: &mut Longest) -> io::Result<()> {
    let mut file = bytes::open(path)?;
    let mut waiting: Vec<u8> = Vec::new();
    let mut least = 0;
    loop {
        let read = (&mut file).take(PIECE).read_to_end(&mut waiting)?;
        if read > 0 && waiting.len() < least {
            continue;
        }
        let mut used = 0;
        loop {
            let mut scanner = Scanner::new(waiting.get(used..).unwrap_or_default());
            match scanner.value() {
                Ok(value) => event(value, id, longest),
                Err(ScanError::Incomplete) => break,
                Err(ScanError::Syntax) => return Ok(()),
            }
            used += scanner.offset();
        }
        waiting.drain(..used);
        // One long value comes in many pieces: it is not scanned again for each.
        least = 2 * waiting.len();
        if read == 0 {
            return Ok(());
        }
    }
}

/// Reads a log record of telemetry, if it belongs to this session and to the conversation itself.
fn event(value: &[u8], id: &SessionId, longest: &mut Longest) {
    let wanted = [&b"gemini_cli.api_request"[..], b"gemini_cli.api_response"];
    let is_one = |words: &&[u8]| memchr::memmem::find(value, words).is_some();
    if !wanted.iter().any(is_one) {
        return;
    }
    let Ok(tree) = JsonTree::parse(value) else { return };
    let Some(attributes) = tree.get("attributes") else { return };
    let is_main = attributes.text("role").is_none_or(|role| role == "main");
    if attributes.text("session.id") != Some(id.as_str()) || !is_main {
        return;
    }
    match attributes.text("event.name") {
        Some("gemini_cli.api_request") => {
            if let Some(contents) = attributes.text("request_text") {
                longest.ask(contents.as_bytes());
            }
        }
        Some("gemini_cli.api_response") => {
            let text = attributes.text("response_text").unwrap_or_default();
            if let Some(parts) = JsonTree::parse(text.as_bytes()).ok().and_then(|t| parts(&[t])) {
                longest.reply(parts);
            }
        }
        _ => {}
    }
}

/// Reads the log of network traffic.
fn activity(path: &Path, longest: &mut Longest) -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 18, bytes::open(path)?);
    let mut line = Vec::new();
    let mut asked: Option<String> = None;
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let Ok(tree) = JsonTree::parse(&line) else { continue };
        let Some(payload) = tree.get("payload") else { continue };
        let number = payload.text("id").map(str::to_owned);
        if let Some(contents) = payload.text("body").and_then(|b| list_of(b.as_bytes(), "contents"))
        {
            longest.ask(&contents);
            asked = number;
        } else if let Some(body) = payload.get("response").and_then(|r| r.text("body"))
            && number == asked
        {
            let pieces = body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
            let mut trees: Vec<JsonTree> =
                pieces.filter_map(|piece| JsonTree::parse(piece.trim().as_bytes()).ok()).collect();
            if trees.is_empty() {
                trees.extend(JsonTree::parse(body.as_bytes()));
            }
            if let Some(parts) = parts(&trees) {
                longest.reply(parts);
            }
        }
    }
}

/// Joins the parts of the pieces of a reply.
fn parts(pieces: &[JsonTree]) -> Option<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    let mut words = String::new();
    let flush = |words: &mut String, found: &mut Vec<Vec<u8>>| {
        if !words.is_empty() {
            let mut part = Object::default();
            part.text("text", &std::mem::take(words));
            found.push(part.end());
        }
    };
    let pieces =
        pieces.iter().flat_map(|tree| tree.as_array().unwrap_or(std::slice::from_ref(tree)));
    for piece in pieces {
        let candidate = piece.get("candidates").and_then(JsonTree::as_array).and_then(<[_]>::first);
        let content = candidate.and_then(|candidate| candidate.get("content"));
        let parts = content.and_then(|content| content.get("parts")).and_then(JsonTree::as_array);
        for part in parts.unwrap_or_default() {
            let is_thought = matches!(part.get("thought"), Some(JsonTree::Bool(true)));
            match part.text("text") {
                Some(_) if is_thought => {}
                Some(text) => words.push_str(text),
                None => {
                    flush(&mut words, &mut found);
                    found.push(written(part));
                }
            }
        }
    }
    flush(&mut words, &mut found);
    (!found.is_empty()).then(|| [b"[", found.join(&b","[..]).as_slice(), b"]"].concat())
}

/// Writes a small value.
fn written(tree: &JsonTree) -> Vec<u8> {
    match tree {
        JsonTree::Null => b"null".to_vec(),
        JsonTree::Bool(value) => value.to_string().into_bytes(),
        JsonTree::Number(text) | JsonTree::Deep(text) => text.clone().into_bytes(),
        JsonTree::String(text) => quoted(text).into_bytes(),
        JsonTree::Array(all) => {
            let all: Vec<Vec<u8>> = all.iter().map(written).collect();
            [b"[", all.join(&b","[..]).as_slice(), b"]"].concat()
        }
        JsonTree::Object(fields) => {
            let mut object = Object::default();
            for (key, value) in fields {
                let key = quoted(key);
                let key = key.get(1..key.len() - 1).unwrap_or_default();
                object.raw(key.as_bytes(), &written(value));
            }
            object.end()
        }
    }
}

/// Writes a prompt or a notice as a line of a session file.
pub(crate) fn remark(remark: &Remark<'_>) -> Vec<u8> {
    let mut record = Object::default();
    record.text("id", remark.id);
    if let Some(time) = remark.time {
        record.text("timestamp", &native::time(time));
    }
    if remark.is_prompt {
        record.text("type", "user");
        let mut part = Object::default();
        part.text("text", remark.text);
        record.raw(b"content", &[b"[", part.end().as_slice(), b"]"].concat());
    } else {
        record.text("type", "info");
        record.text("content", remark.text);
    }
    record.end()
}
