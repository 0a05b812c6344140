//! The session-level fields in the records of a file.

use recount_model::{Entrypoint, RawJson, SessionId, parse_millis};

use super::js_date::{self, JsTime};
use super::state::{RecordedTime, RetentionFacts};
use serde::{Deserialize, Serialize};

use super::record::{self, Loose};
use super::replay::Seen;
use super::stream;
use crate::json::{JsonScan, JsonTree, Scanner};
use crate::native::{Fields, Layout};
use crate::outline::Head;

/// Metadata, shallow-merged record by record: later keys win, and `null` overwrites.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Metadata {
    session_id: Option<String>,
    project_hash: Option<String>,
    start: Option<Moment>,
    updated: Option<Moment>,
    subagent: bool,
    entrypoint: Option<Entrypoint>,
    summary: Option<String>,
    directories: Vec<String>,
    scratchpad: Option<String>,
    /// Whether the id comes from a record without a usable id or hash, or from one that only recount reads.
    hidden_id: bool,
    hidden_hash: bool,
    /// Every raw field, if requested.
    #[serde(skip)]
    raw: Option<Fields>,
}

/// A recorded time.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Moment {
    text: String,
    /// Whether it is raw JSON, because it is not a string.
    is_json: bool,
}

impl Moment {
    fn of(value: Loose<'_>) -> Option<Self> {
        let is_json = matches!(value, Loose::Odd(_));
        value.text().map(|text| Self { text, is_json })
    }

    /// Returns the time as the agent reads it.
    fn time(&self) -> Option<JsTime> {
        if self.is_json { time_of_value(&self.text) } else { js_date::parse(&self.text) }
    }
}

impl Metadata {
    /// Merges `fields`.
    pub(crate) fn merge(&mut self, fields: record::Fields<'_>, seen: Seen) {
        let hidden = seen == Seen::ByUsOnly;
        if hidden && self.session_id.is_some() && !self.hidden_id {
            // What the agent reads is not overwritten by what it does not.
            return;
        }
        if let Some(raw) = &mut self.raw {
            // The text was already scanned, so this cannot fail.
            let _walked = take(raw, fields.raw);
        }
        if let Some(id) = fields.session_id {
            self.session_id = id.text();
            self.hidden_id = hidden;
        }
        if let Some(hash) = fields.project_hash {
            self.project_hash = hash.text();
            self.hidden_hash = hidden;
        }
        if let Some(start) = fields.start {
            self.start = Moment::of(start);
        }
        if let Some(updated) = fields.updated {
            self.updated = Moment::of(updated);
        }
        if let Some(kind) = fields.kind {
            self.subagent = matches!(kind, Loose::Text(kind) if kind.is("subagent"));
            let is_headless = matches!(kind, Loose::Text(kind) if kind.is(stream::KIND));
            self.entrypoint = is_headless.then_some(Entrypoint::Headless);
        }
        if let Some(summary) = fields.summary {
            self.summary = matches!(summary, Loose::Text(_)).then(|| summary.text()).flatten();
        }
        if let Some(directories) = fields.directories {
            self.directories = directories.iter().map(|text| text.decode().into_owned()).collect();
        }
        if let Some(scratchpad) = fields.scratchpad {
            self.scratchpad = Some(scratchpad).filter(|json| json != "null");
        }
    }

    /// Keeps every raw field from now on.
    pub(crate) fn keep_fields(&mut self) {
        self.raw = Some(Fields::default());
    }

    /// Keeps one raw field, if requested.
    pub(crate) fn keep(&mut self, key: &[u8], value: &[u8]) {
        if let Some(raw) = &mut self.raw {
            raw.set(&String::from_utf8_lossy(key), value);
        }
    }

    /// Returns the locations of the fields of a document, if requested.
    pub(crate) fn layout(&mut self) -> Option<&mut Layout> {
        self.raw.as_mut().map(Fields::layout_mut)
    }

    /// Whether the agent's line-by-line loader finds what it needs.
    pub(crate) fn suffices(&self) -> bool {
        let usable = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.is_empty());
        usable(&self.session_id)
            && usable(&self.project_hash)
            && !self.hidden_id
            && !self.hidden_hash
    }

    /// Whether there is any session id.
    pub(crate) fn has_id(&self) -> bool {
        self.session_id.as_deref().is_some_and(|id| !id.is_empty())
    }

    /// Returns the session id, if there is one.
    pub(crate) fn id(&self) -> Option<SessionId> {
        self.session_id.as_deref().filter(|id| !id.is_empty()).map(SessionId::new)
    }

    /// Adds what a cleanup finds in the metadata.
    pub(crate) fn retention(&self, facts: RetentionFacts) -> RetentionFacts {
        let said = |moment: &Option<Moment>| match moment {
            Some(moment) if !moment.text.is_empty() => {
                moment.time().map_or(RecordedTime::Unclear, RecordedTime::Said)
            }
            _ => RecordedTime::Nothing,
        };
        let (started, updated) = (said(&self.start), said(&self.updated));
        RetentionFacts { started, updated, subagent: self.subagent, ..facts }
    }

    /// Returns what is known.
    pub(crate) fn head(&self) -> Head {
        let millis = |moment: &Option<Moment>| parse_millis(moment.as_ref()?.text.as_bytes());
        Head {
            session_id: self.id(),
            project_hash: self.project_hash.as_deref().map(Into::into),
            start: millis(&self.start),
            updated: millis(&self.updated),
            subagent: self.subagent,
            entrypoint: self.entrypoint,
            summary: self.summary.clone().filter(|summary| !summary.is_empty()),
            directories: self.directories.clone(),
            memory: self.scratchpad.clone().map(RawJson::new),
            fields: self.raw.clone(),
            ..Head::default()
        }
    }
}

/// Returns `new Date(value)`, for the JSON of a value that is not a string.
fn time_of_value(json: &str) -> Option<JsTime> {
    match JsonTree::parse(json.as_bytes()).ok()? {
        JsonTree::Bool(value) => Some(JsTime::At(i64::from(value))),
        JsonTree::Number(number) => js_date::from_number(number.parse().ok()?),
        array @ JsonTree::Array(_) => js_date::parse(&js_text(&array)?),
        JsonTree::Null | JsonTree::String(_) | JsonTree::Object(_) | JsonTree::Deep(_) => None,
    }
}

/// Returns a value converted to text by JavaScript; `None` if it has an object, which is never a time.
fn js_text(value: &JsonTree) -> Option<String> {
    match value {
        JsonTree::Null => Some(String::new()),
        JsonTree::Bool(value) => Some(value.to_string()),
        JsonTree::Number(text) => Some(text.parse::<f64>().ok()?.to_string()),
        JsonTree::String(text) => Some(text.clone()),
        JsonTree::Array(all) => {
            all.iter().map(js_text).collect::<Option<Vec<_>>>().map(|all| all.join(","))
        }
        JsonTree::Object(_) | JsonTree::Deep(_) => None,
    }
}

/// Adds the fields of an object.
fn take(fields: &mut Fields, object: &[u8]) -> JsonScan<()> {
    if object.is_empty() {
        return Ok(());
    }
    Scanner::new(object).object(|scanner, key| {
        let value = scanner.value()?;
        if !key.is("messages") {
            fields.set(&key.decode(), value);
        }
        Ok(())
    })
}
