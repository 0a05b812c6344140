//! Headless output (`--output-format json` and `stream-json`) and telemetry logs, written as sessions. FORMAT.md §16 has the events.

mod telemetry;
mod write;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use recount_model::{SessionKind, parse_millis};
use serde_json::{Value, json};

use self::write::{Call, Writer};
use super::native::Log;
use super::place::SESSIONS;
use super::project;
use crate::native::NativeFormat as _;
use crate::source::stable_hash;
use crate::stream::{
    Beginning, Keep, KeptRun, RunKey, StreamFile, StreamFormat, StreamKind, StreamSession, count,
    fields, line, session_id, text, time_text,
};

/// The output of Gemini CLI.
#[derive(Debug)]
pub(crate) struct GeminiStreams;

/// The directory of sessions whose folder is not known.
const NOWHERE: &str = "headless";

/// What the head of a session says that was made from headless output.
pub(crate) const KIND: &str = "headless";

impl StreamFormat for GeminiStreams {
    fn begins(&self, record: &Value, _before: Option<&RunKey>) -> Option<Beginning> {
        if let Some(found) = telemetry::begins(record) {
            return Some(found);
        }
        let begin = |kind, session| Beginning { kind, session, is_part: false, keep: Keep::All };
        match text(record, "type") {
            Some("init") => Some(begin(StreamKind::StreamJson, session_id(record, "session_id")?)),
            Some(_) => None,
            None => {
                let is_one =
                    ["response", "stats", "error"].iter().any(|key| record.get(key).is_some());
                let id = session_id(record, "session_id").filter(|_| is_one)?;
                Some(begin(StreamKind::Json, id))
            }
        }
    }

    fn is_known(&self, _kind: StreamKind, record: &Value) -> bool {
        matches!(
            text(record, "type"),
            Some("init" | "message" | "tool_use" | "tool_result" | "error" | "result")
        )
    }

    fn folder(&self, records: &[Value]) -> Option<String> {
        telemetry::folder(records)
    }

    fn files(&self, session: &StreamSession<'_>) -> Vec<StreamFile> {
        let log = telemetry::joined(session.runs);
        let logged: Vec<i64> = log.iter().flat_map(times).collect();
        let printed = session.runs.iter().filter(|run| run.kind != StreamKind::Telemetry);
        let mut runs: Vec<&KeptRun> = printed.chain(&log).collect();
        runs.sort_by_key(|run| start(run));
        // A log of telemetry tells of the same requests as what the run printed.
        runs.retain(|run| !is_logged(run, &logged));
        let id = session.id.as_str();
        let mut lines: Vec<Value> = Vec::new();
        for run in &runs {
            let mut writer = Writer::new(id, &key(run), run.time);
            match run.kind {
                StreamKind::StreamJson => events(run, &mut writer),
                StreamKind::Json => document(run, &mut writer),
                StreamKind::Telemetry => telemetry::write(run, &mut writer),
            }
            lines.extend(writer.finish());
        }
        let said = runs.iter().find_map(|run| run.project.clone());
        let folder = said.or_else(|| runs.iter().find_map(|run| self.folder(&run.records)));
        let hash = folder.as_deref().map(|path| project::hash(path).to_string());
        let times = || lines.iter().filter_map(|line| text(line, "timestamp"));
        let (first, last) = (times().min().map(str::to_owned), times().max().map(str::to_owned));
        let head = json!({
            "sessionId": id,
            // The agent's loader wants one that is not empty.
            "projectHash": hash.as_deref().unwrap_or(NOWHERE),
            "startTime": first,
            "lastUpdated": last,
            "kind": KIND,
        });
        let mut bytes = line(&head);
        for record in &lines {
            bytes.extend(line(record));
        }
        let place = Path::new("tmp").join(hash.as_deref().unwrap_or(NOWHERE));
        let began = first.as_deref().and_then(|time| time.parse::<Timestamp>().ok());
        let mut files = vec![StreamFile {
            path: place.join(SESSIONS).join(name(session, began)),
            bytes,
            is_session: true,
        }];
        if let Some(folder) = folder {
            let path = project::marker_file(&place);
            files.push(StreamFile { path, bytes: folder.into_bytes(), is_session: false });
        }
        files
    }
}

/// Names the file: as the agent does, with enough of the id for no two sessions to have the same.
fn name(session: &StreamSession<'_>, began: Option<Timestamp>) -> PathBuf {
    let id = session.id.as_str();
    let stem = Log.stem(session.id, SessionKind::Main, began);
    let is_uuid = id.len() == 36 && id.bytes().filter(|byte| *byte == b'-').count() == 4;
    let rest = if is_uuid {
        id.get(8..).unwrap_or_default().to_owned()
    } else {
        format!("-apart-{:016x}", stable_hash(id))
    };
    PathBuf::from(format!("{stem}{rest}.{}", Log.extension()))
}

fn millis(record: &Value, key: &str) -> Option<i64> {
    parse_millis(text(record, key)?.as_bytes())
}

fn times(run: &KeptRun) -> impl Iterator<Item = i64> + '_ {
    let key = if run.kind == StreamKind::Telemetry { "time" } else { "timestamp" };
    run.records.iter().filter_map(move |record| millis(record, key))
}

fn start(run: &KeptRun) -> Option<i64> {
    times(run).min().or_else(|| run.time.map(Timestamp::as_millisecond))
}

/// Whether a log of telemetry has the requests of a run.
fn is_logged(run: &KeptRun, logged: &[i64]) -> bool {
    let during = || {
        let (first, last) = (times(run).min(), times(run).max());
        first
            .zip(last)
            .is_some_and(|(first, last)| logged.iter().any(|at| (first..=last).contains(at)))
    };
    match run.kind {
        StreamKind::Telemetry => false,
        StreamKind::StreamJson => during(),
        StreamKind::Json => !logged.is_empty(),
    }
}

/// Names a run, the same for a longer version of it.
fn key(run: &KeptRun) -> String {
    let first = run.records.first();
    match run.kind {
        StreamKind::Telemetry => "telemetry".to_owned(),
        StreamKind::StreamJson => {
            first.and_then(|first| text(first, "timestamp")).unwrap_or("stream").to_owned()
        }
        StreamKind::Json => {
            let said = first.and_then(|first| text(first, "response")).unwrap_or_default();
            format!("json {:016x}", stable_hash(said))
        }
    }
}

/// Writes the events of `stream-json`.
fn events(run: &KeptRun, out: &mut Writer) {
    let is_asked = |record: &Value| {
        text(record, "type") == Some("message") && text(record, "role") == Some("user")
    };
    if !run.records.iter().any(is_asked) {
        out.prompt(run.prompt.as_deref(), start_text(run));
    }
    let mut model = None;
    for record in &run.records {
        let time = text(record, "timestamp").map(str::to_owned);
        match text(record, "type") {
            Some("init") => model = text(record, "model"),
            Some("message") => {
                let said = text(record, "content").unwrap_or_default();
                match text(record, "role") {
                    Some("user") => out.prompt(Some(said), time),
                    _ if record.get("delta") == Some(&Value::Bool(true)) => out.words(said, time),
                    _ => {
                        out.end_answer();
                        out.words(said, time);
                        out.end_answer();
                    }
                }
            }
            Some("tool_use") => {
                let Some(id) = text(record, "tool_id") else { continue };
                let name = text(record, "tool_name").unwrap_or("unknown");
                let args = record.get("parameters").cloned().unwrap_or(Value::Null);
                out.call(Call::new(id, name, args), time);
            }
            Some("tool_result") => {
                let failed = text(record, "status") == Some("error");
                let error = record.get("error").and_then(|error| text(error, "message"));
                let output = text(record, "output").or(error);
                out.result(
                    text(record, "tool_id"),
                    if failed { "error" } else { "success" },
                    output,
                );
            }
            Some("error") => {
                let is_warning = text(record, "severity") == Some("warning");
                let said = text(record, "message").unwrap_or_default();
                out.notice(if is_warning { "warning" } else { "error" }, said, time);
            }
            Some("result") => {
                if let Some(error) = record.get("error") {
                    out.notice("error", text(error, "message").unwrap_or("error"), time.clone());
                }
                let stats = record.get("stats");
                out.usage(streamed(stats, model), None, time.as_deref());
            }
            _ => out.unknown(record),
        }
    }
}

fn start_text(run: &KeptRun) -> Option<String> {
    let first = run.records.iter().find_map(|record| text(record, "timestamp"));
    first.map(str::to_owned).or_else(|| run.time.map(time_text))
}

/// What each model used, by `stream-json`: thoughts are what the sum has more.
fn streamed(stats: Option<&Value>, model: Option<&str>) -> Vec<(String, Value)> {
    let Some(stats) = stats else { return Vec::new() };
    let tokens = |figures: &Value| {
        let (input, output) = (count(figures, "input_tokens"), count(figures, "output_tokens"));
        let total = count(figures, "total_tokens");
        json!({
            "input": input,
            "output": output,
            "cached": count(figures, "cached"),
            "thoughts": total.saturating_sub(input.saturating_add(output)),
            "tool": 0,
            "total": total,
        })
    };
    let mut all: Vec<(String, Value)> =
        fields(stats.get("models")).map(|(model, used)| (model.clone(), tokens(used))).collect();
    if all.is_empty() && count(stats, "total_tokens") > 0 {
        all.push((model.unwrap_or_default().to_owned(), tokens(stats)));
    }
    all
}

/// Writes the one document of `json`: the last answer, and what the run used.
fn document(run: &KeptRun, out: &mut Writer) {
    let time = run.time.map(time_text);
    for record in &run.records {
        out.prompt(run.prompt.as_deref(), time.clone());
        let stats = record.get("stats");
        let tools = stats.and_then(|stats| stats.get("tools"));
        let mut ends = Vec::new();
        for (name, used) in fields(tools.and_then(|tools| tools.get("byName"))) {
            let failed = count(used, "fail");
            // A run makes calls one by one; a larger number is none.
            for number in 0..count(used, "count").min(100_000) {
                let id = format!("{name}-{}", number + 1);
                out.call(Call::new(&id, name, json!({})), time.clone());
                ends.push((id, if number < failed { "error" } else { "success" }));
            }
        }
        for (id, end) in &ends {
            out.result(Some(id), end, None);
        }
        if let Some(said) = text(record, "response").filter(|said| !said.is_empty()) {
            out.words(said, time.clone());
        }
        if let Some(error) = record.get("error").filter(|error| error.is_object()) {
            out.notice("error", text(error, "message").unwrap_or("error"), time.clone());
        }
        for warning in record.get("warnings").and_then(Value::as_array).into_iter().flatten() {
            let said = warning.as_str().or_else(|| text(warning, "message"));
            out.notice("warning", said.unwrap_or_default(), time.clone());
        }
        let models = || fields(stats.and_then(|stats| stats.get("models")));
        let is_main =
            |used: &Value| used.get("roles").is_some_and(|roles| roles.get("main").is_some());
        let main = models().find(|(_, used)| is_main(used)).map(|(model, _)| model.clone());
        let used = models()
            .filter_map(|(model, used)| Some((model.clone(), counted(used.get("tokens")?))));
        out.usage(used.collect(), main.as_deref(), time.as_deref());
    }
}

/// What a model used, by `json`.
fn counted(figures: &Value) -> Value {
    json!({
        "input": count(figures, "prompt"),
        "output": count(figures, "candidates"),
        "cached": count(figures, "cached"),
        "thoughts": count(figures, "thoughts"),
        "tool": count(figures, "tool"),
        "total": count(figures, "total"),
    })
}
