//! The output of `claude -p`, written as transcripts: the session's own, and one for each sub-agent.
//!
//! The events of `stream-json` are nearly the rows of a transcript. What they lack is taken from elsewhere: the figures of a
//! message are those with which it began, so what the result has more is given to the last one; the last words of a sub-agent are
//! only in the result of the call that ran it.

mod usage;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use recount_model::SessionId;
use serde_json::{Map, Value, json};

use self::usage::{Figures, Ledger};
use super::project::directory_names;
use crate::stream::{
    Beginning, Keep, KeptRun, RunKey, StreamFile, StreamFormat, StreamKind, StreamSession, fields,
    is_session_id, line, made_up_uuid, session_id, text, time_text,
};

/// The output of `claude -p`.
#[derive(Debug)]
pub(super) struct ClaudeStreams;

/// The directory of sessions whose folder is not known.
const NOWHERE: &str = "headless";

/// Fields of an event that a row has under another name.
const RENAMED: &[(&str, &str)] = &[
    ("session_id", "sessionId"),
    ("request_id", "requestId"),
    ("tool_use_result", "toolUseResult"),
    ("is_api_error_message", "isApiErrorMessage"),
    ("api_error_status", "apiErrorStatus"),
    ("api_error_type", "apiErrorType"),
    ("compact_metadata", "compactMetadata"),
    ("isReplay", "isReplay"),
    ("isSynthetic", "isMeta"),
    ("is_meta", "isMeta"),
    ("timestamp", "timestamp"),
    ("message", "message"),
    ("error", "error"),
    ("subtype", "subtype"),
    ("content", "content"),
    ("uuid", "uuid"),
    ("type", "type"),
];

impl StreamFormat for ClaudeStreams {
    fn begins(&self, record: &Value, before: Option<&RunKey>) -> Option<Beginning> {
        let session = session_id(record, "session_id")?;
        let begin = |kind, session| Beginning { kind, session, is_part: false, keep: Keep::All };
        let goes_on = before.is_some_and(|before| {
            before.kind == StreamKind::StreamJson && before.session == session && !before.is_ended
        });
        match (text(record, "type")?, text(record, "subtype")) {
            ("system", Some("init")) => Some(begin(StreamKind::StreamJson, session)),
            ("result", _) if !goes_on => Some(begin(StreamKind::Json, session)),
            // Hooks may speak first, and the head of a stream may be lost.
            ("system" | "assistant" | "user" | "stream_event", _)
                if !goes_on && record.get("uuid").is_some() =>
            {
                Some(begin(StreamKind::StreamJson, session))
            }
            _ => None,
        }
    }

    fn is_known(&self, _kind: StreamKind, record: &Value) -> bool {
        is_known(record)
    }

    fn folder(&self, records: &[Value]) -> Option<String> {
        records.iter().find_map(|record| text(record, "cwd")).map(str::to_owned)
    }

    fn files(&self, session: &StreamSession<'_>) -> Vec<StreamFile> {
        let mut runs: Vec<&KeptRun> = session.runs.iter().collect();
        runs.sort_by_key(|run| start(run));
        let said = runs.iter().find_map(|run| run.project.clone());
        let cwd = said.or_else(|| runs.iter().find_map(|run| self.folder(&run.records)));
        let mut writer = Writer::new(session.id, cwd.clone());
        for run in &runs {
            writer.run(run);
        }
        let directory = cwd.map_or_else(|| NOWHERE.to_owned(), |cwd| directory_names(&cwd).0);
        let place = Path::new("projects").join(directory);
        writer.files(&place)
    }
}

fn is_known(record: &Value) -> bool {
    match text(record, "type") {
        Some("system") => matches!(
            text(record, "subtype"),
            Some(
                "init"
                    | "status"
                    | "thinking_tokens"
                    | "task_started"
                    | "task_updated"
                    | "task_progress"
                    | "task_notification"
                    | "permission_denied"
                    | "compact_boundary"
                    | "api_retry"
                    | "hook_started"
                    | "hook_progress"
                    | "hook_response"
                    | "session_state_changed"
                    | "files_persisted"
                    | "elicitation_complete"
                    | "local_command_output"
            )
        ),
        Some(kind) => matches!(
            kind,
            "assistant"
                | "user"
                | "result"
                | "stream_event"
                | "rate_limit_event"
                | "tool_progress"
                | "auth_status"
                | "keep_alive"
                | "control_request"
                | "control_response"
                | "control_cancel_request"
                | "tool_use_summary"
                | "prompt_suggestion"
        ),
        None => false,
    }
}

fn start(run: &KeptRun) -> Option<String> {
    let first = run.records.iter().find_map(|record| text(record, "timestamp")).map(str::to_owned);
    first.or_else(|| run.time.map(time_text))
}

/// One transcript while it is written.
#[derive(Default)]
struct Thread {
    rows: Vec<Value>,
    parent: Option<String>,
}

/// Writes the transcripts of a session.
struct Writer {
    id: SessionId,
    cwd: Option<String>,
    version: Option<String>,
    time: Option<String>,
    main: Thread,
    agents: BTreeMap<String, Thread>,
    /// Ids of rows that are written.
    seen: HashSet<String>,
    /// Messages of earlier runs: the service gives no id twice, but its stand-in in a test may.
    messages: HashSet<String>,
    /// What ids of this run end with that an earlier run has, too.
    suffix: String,
    ledger: Ledger,
}

impl Writer {
    fn new(id: &SessionId, cwd: Option<String>) -> Self {
        Self {
            id: id.clone(),
            cwd,
            version: None,
            time: None,
            main: Thread::default(),
            agents: BTreeMap::new(),
            seen: HashSet::new(),
            messages: HashSet::new(),
            suffix: String::new(),
            ledger: Ledger::default(),
        }
    }

    fn run(&mut self, run: &KeptRun) {
        self.time = start(run);
        let known = self.ledger.messages();
        self.messages.extend(known);
        let first = run.records.iter().find_map(|record| text(record, "uuid"));
        self.suffix = first.or(self.time.as_deref()).unwrap_or_default().to_owned();
        let uuids = || run.records.iter().filter_map(|record| text(record, "uuid"));
        if uuids().next().is_some() && uuids().all(|uuid| self.seen.contains(uuid)) {
            return;
        }
        if let Some(prompt) = &run.prompt {
            let uuid =
                made_up_uuid(&format!("{} {} prompt", self.id, self.time.as_deref().unwrap_or("")));
            let message = json!({"role": "user", "content": prompt});
            self.push(None, json!({"type": "user", "uuid": uuid, "message": message}));
        }
        let first = self.main.rows.len();
        let mut agents_of_calls: BTreeMap<String, String> = BTreeMap::new();
        for record in &run.records {
            if let Some(time) = text(record, "timestamp") {
                self.time = Some(time.to_owned());
            }
            if let (Some(call), Some(agent)) =
                (text(record, "tool_use_id"), text(record, "task_id"))
            {
                agents_of_calls.insert(call.to_owned(), agent.to_owned());
            }
            match (text(record, "type"), text(record, "subtype")) {
                (Some("system"), Some("init")) => {
                    self.version = text(record, "claude_code_version").map(str::to_owned);
                }
                (Some("assistant" | "user"), _) => self.message(record, &agents_of_calls),
                (Some("system"), Some("compact_boundary")) => self.row(record, None),
                (Some("stream_event"), _) => {
                    let event = record.get("event");
                    let id = event.and_then(|event| text(event.get("message")?, "id"));
                    let id = id.map(|id| self.own_id(id));
                    self.ledger.partial(event, id);
                }
                (Some("result"), _) => self.result(record, run, first),
                _ if is_known(record) => {}
                _ => self.main.rows.push(json!({"type": "stream-event", "event": record})),
            }
            if let Some(uuid) = text(record, "uuid") {
                self.seen.insert(uuid.to_owned());
            }
        }
    }

    fn own_id(&self, id: &str) -> String {
        let suffix = if self.messages.contains(id) { &*self.suffix } else { "" };
        if suffix.is_empty() { id.to_owned() } else { format!("{id}-{suffix}") }
    }

    /// Writes what the model or a tool said, in the transcript that it belongs to.
    fn message(&mut self, record: &Value, agents: &BTreeMap<String, String>) {
        if text(record, "uuid").is_some_and(|uuid| self.seen.contains(uuid)) {
            return;
        }
        let mut record = record.clone();
        let own = record.get("message").and_then(|message| text(message, "id"));
        let own = own.map(|id| self.own_id(id));
        let Some(message) = record.get_mut("message").filter(|message| message.is_object()) else {
            return;
        };
        if let (Some(fields), Some(own)) = (message.as_object_mut(), own) {
            fields.insert("id".to_owned(), json!(own));
        }
        let record = &record;
        let Some(message) = record.get("message") else { return };
        let call = text(record, "parent_tool_use_id");
        let agent =
            text(record, "agent_id").or_else(|| agents.get(call?).map(String::as_str)).or(call);
        let agent = agent.filter(|agent| is_session_id(agent) && call.is_some()).map(str::to_owned);
        self.ledger.message(message, agent.as_deref());
        self.row(record, agent.as_deref());
        if call.is_none() {
            self.last_words(record);
        }
    }

    /// Writes what a sub-agent said last, which is only in the result of its call.
    fn last_words(&mut self, record: &Value) {
        let Some(result) = record.get("tool_use_result") else { return };
        let Some(agent) = text(result, "agentId").filter(|agent| is_session_id(agent)) else {
            return;
        };
        let content = result.get("content").and_then(Value::as_array);
        let said: Vec<&Value> = content
            .into_iter()
            .flatten()
            .filter(|part| text(part, "type") == Some("text"))
            .collect();
        let Some(thread) = self.agents.get(agent).filter(|_| !said.is_empty()) else { return };
        let is_said = |row: &Value| {
            row.get("message").and_then(|message| message.get("content")) == Some(&json!(said))
        };
        if thread.rows.iter().any(is_said) {
            return;
        }
        let agent = agent.to_owned();
        let name = format!("{} {agent} {}", self.id, thread.rows.len());
        let message = json!({
            "id": format!("msg_{}", made_up_uuid(&name)),
            "type": "message",
            "role": "assistant",
            "model": text(result, "resolvedModel"),
            "content": said,
            "stop_reason": "end_turn",
            "usage": result.get("usage").filter(|usage| usage.is_object()).cloned().unwrap_or_else(|| json!({})),
        });
        self.ledger.message(&message, Some(&agent));
        let uuid = made_up_uuid(&format!("{name} row"));
        self.push(Some(&agent), json!({"type": "assistant", "uuid": uuid, "message": message}));
    }

    /// Writes an event as a row.
    fn row(&mut self, record: &Value, agent: Option<&str>) {
        let mut row = Map::new();
        for (theirs, ours) in RENAMED {
            if let Some(value) = record.get(theirs) {
                row.insert((*ours).to_owned(), value.clone());
            }
        }
        self.push(agent, Value::Object(row));
    }

    fn push(&mut self, agent: Option<&str>, mut row: Value) {
        let Some(fields) = row.as_object_mut() else { return };
        let thread = match agent {
            Some(agent) => self.agents.entry(agent.to_owned()).or_default(),
            None => &mut self.main,
        };
        let mut set = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        set("parentUuid", json!(thread.parent));
        set("isSidechain", json!(agent.is_some()));
        set("sessionId", json!(self.id.as_str()));
        set("userType", json!("external"));
        set("entrypoint", json!("sdk-cli"));
        if let Some(agent) = agent {
            set("agentId", json!(agent));
        }
        for (key, value) in [("cwd", &self.cwd), ("version", &self.version)] {
            if let Some(value) = value {
                set(key, json!(value));
            }
        }
        if let (None, Some(time)) = (fields.get("timestamp"), &self.time) {
            fields.insert("timestamp".to_owned(), json!(time));
        }
        thread.parent = fields.get("uuid").and_then(Value::as_str).map(str::to_owned);
        thread.rows.push(row);
    }

    /// Takes the end of a run: what it used, and in a document alone what was said last.
    fn result(&mut self, record: &Value, run: &KeptRun, first: usize) {
        let models = || fields(record.get("modelUsage"));
        let largest = models().max_by_key(|(_, used)| Figures::of_model(used).sum());
        let model = largest.map(|(model, _)| model.as_str());
        let is_told = |row: &Value| text(row, "type") == Some("assistant");
        if !self.main.rows.get(first..).unwrap_or_default().iter().any(is_told) {
            self.denials(record, model);
            self.last_answer(record, model);
        }
        let used = Figures::of_usage(record.get("usage"));
        let with_agents: Figures = fields(record.get("model_usage_since_last_result"))
            .map(|(_, used)| Figures::of_model(used))
            .fold(Figures::default(), Figures::plus);
        let is_streamed = run.kind == StreamKind::StreamJson;
        let of_agents = is_streamed.then(|| with_agents.minus(used));
        self.ledger.settle(used, of_agents);
    }

    /// Writes the calls that were not permitted.
    fn denials(&mut self, record: &Value, model: Option<&str>) {
        let denied = record.get("permission_denials").and_then(Value::as_array);
        for call in denied.into_iter().flatten() {
            let id = text(call, "tool_use_id").unwrap_or_default();
            let asked = json!([{
                "type": "tool_use",
                "id": id,
                "name": text(call, "tool_name").unwrap_or("unknown"),
                "input": call.get("tool_input").cloned().unwrap_or_else(|| json!({})),
            }]);
            let name = format!("{} {} {id}", self.id, text(record, "uuid").unwrap_or_default());
            let message = json!({
                "id": format!("msg_{}", made_up_uuid(&name)), "type": "message", "role": "assistant",
                "model": model, "content": asked, "stop_reason": "tool_use", "usage": {},
            });
            let uuid = made_up_uuid(&format!("{name} call"));
            self.push(None, json!({"type": "assistant", "uuid": uuid, "message": message}));
            let said = "The permission was denied.";
            let result = json!([{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": said}]);
            let uuid = made_up_uuid(&format!("{name} result"));
            let message = json!({"role": "user", "content": result});
            self.push(None, json!({"type": "user", "uuid": uuid, "message": message}));
        }
    }

    fn last_answer(&mut self, record: &Value, model: Option<&str>) {
        let uuid = text(record, "uuid").map_or_else(
            || made_up_uuid(&format!("{} {}", self.id, text(record, "result").unwrap_or_default())),
            str::to_owned,
        );
        let is_error = record.get("is_error") == Some(&Value::Bool(true));
        let said = text(record, "result").or_else(|| text(record, "subtype")).unwrap_or_default();
        let message = json!({
            "id": format!("msg_{uuid}"), "type": "message", "role": "assistant",
            "model": if is_error { Some("<synthetic>") } else { model },
            "content": [{"type": "text", "text": said}],
            "stop_reason": text(record, "stop_reason").unwrap_or("end_turn"),
            "usage": {},
        });
        self.ledger.message(&message, None);
        let mut row = json!({"type": "assistant", "uuid": uuid, "message": message});
        if let Some(fields) = row.as_object_mut().filter(|_| is_error) {
            fields.insert("isApiErrorMessage".to_owned(), json!(true));
        }
        self.push(None, row);
    }

    fn files(mut self, place: &Path) -> Vec<StreamFile> {
        let id = self.id.to_string();
        let mut files =
            vec![(place.join(format!("{id}.jsonl")), std::mem::take(&mut self.main.rows))];
        for (agent, thread) in std::mem::take(&mut self.agents) {
            let path: PathBuf =
                [&id, "subagents", &format!("agent-{agent}.jsonl")].iter().collect();
            files.push((place.join(path), thread.rows));
        }
        let file = |(path, mut rows): (PathBuf, Vec<Value>)| {
            self.ledger.write(&mut rows);
            StreamFile { path, bytes: rows.iter().flat_map(line).collect(), is_session: true }
        };
        files.into_iter().map(file).collect()
    }
}
