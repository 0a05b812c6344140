//! Records sorted into runs.

use std::collections::BTreeMap;

use recount_model::SourceName;
use serde_json::Value;

use super::{Beginning, Keep, RunKey, Splitter, StreamFormat, StreamKind, record};
use crate::json::compact;
use crate::source::Sources;

/// Reads the output of agents: whose it is, and which runs are in it.
#[derive(Debug)]
pub struct Intake {
    formats: Vec<(SourceName, &'static dyn StreamFormat)>,
    splitter: Splitter,
    runs: Vec<Run>,
    /// The run that records without a mark of their own belong to.
    current: Option<usize>,
    stray: u64,
}

/// One run of an agent, as it printed it.
#[derive(Clone, Debug)]
pub struct Run {
    /// Whose it is.
    pub source: SourceName,
    /// What it is, and of which session.
    pub key: RunKey,
    /// What is kept of its records, one line each.
    pub lines: Vec<String>,
    /// How many records there were.
    pub events: u64,
    /// Types of records that no known release writes, with how many there were.
    pub unknown: BTreeMap<String, u64>,
}

impl Intake {
    /// Prepares to read the output of these agents.
    pub fn new(sources: Sources) -> Self {
        let format = |source: &&'static dyn crate::Source| Some((source.name(), source.streams()?));
        Self {
            formats: sources.iter().filter_map(format).collect(),
            splitter: Splitter::default(),
            runs: Vec::new(),
            current: None,
            stray: 0,
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.push(bytes, &mut |record| self.take(record));
        self.splitter = splitter;
    }

    /// Says that nothing follows, and returns the runs.
    pub fn finish(mut self) -> Vec<Run> {
        self.end();
        self.runs
    }

    /// Says that nothing follows.
    pub fn end(&mut self) {
        let mut splitter = std::mem::take(&mut self.splitter);
        let rest = splitter.finish(&mut |record| self.take(record));
        self.splitter = splitter;
        if let Some(rest) = rest {
            self.take_part(&rest);
        }
    }

    /// Returns the runs so far.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns how many lines or records belong to no run.
    pub fn skipped(&self) -> u64 {
        self.splitter.skipped() + self.stray
    }

    /// Whether the end was cut short.
    pub fn is_torn(&self) -> bool {
        self.splitter.is_torn()
    }

    fn take(&mut self, bytes: &[u8]) {
        let Some(value) = record(bytes) else {
            self.stray += 1;
            return;
        };
        let before =
            self.current.and_then(|at| self.runs.get(at)).map(|run| (run.source, &run.key));
        let begun = self.formats.iter().find_map(|(source, format)| {
            let before = before.filter(|(known, _)| known == source).map(|(_, key)| key);
            Some((*source, format.begins(&value, before)?))
        });
        if let Some((source, beginning)) = begun {
            return self.begin(source, beginning, bytes, &value);
        }
        let Some(run) = self.current.and_then(|at| self.runs.get_mut(at)) else {
            self.stray += 1;
            return;
        };
        let format = self.formats.iter().find(|(source, _)| *source == run.source);
        let is_known = format.is_some_and(|(_, format)| format.is_known(run.key.kind, &value));
        run.add(compact(bytes), &value, is_known);
    }

    /// Takes what is whole of the only record there is, if it is a document: part of an event may say something else.
    fn take_part(&mut self, bytes: &[u8]) {
        let Some(value) = record(bytes) else { return };
        let begun = self.formats.iter().find_map(|(source, format)| {
            let beginning = format.begins(&value, None)?;
            (beginning.kind == StreamKind::Json).then_some((*source, beginning))
        });
        if let Some((source, beginning)) = begun {
            self.begin(source, beginning, bytes, &value);
        }
    }

    fn begin(&mut self, source: SourceName, beginning: Beginning, bytes: &[u8], value: &Value) {
        let Beginning { kind, session, is_part, keep } = beginning;
        let is_it = |run: &Run| {
            is_part && run.source == source && run.key.kind == kind && run.key.session == session
        };
        let at = self.runs.iter().rposition(is_it).unwrap_or_else(|| {
            let key = RunKey { kind, session, is_ended: false };
            let (lines, unknown) = (Vec::new(), BTreeMap::new());
            self.runs.push(Run { source, key, lines, events: 0, unknown });
            self.runs.len() - 1
        });
        // Between the records of a log, those of other programs may stand.
        self.current = (kind != StreamKind::Telemetry).then_some(at).or(self.current);
        let Some(run) = self.runs.get_mut(at) else { return };
        match keep {
            Keep::All => run.add(compact(bytes), value, true),
            Keep::Part(part) => run.add(part.to_string(), value, true),
            Keep::Nothing => run.events += 1,
        }
    }
}

impl Run {
    fn add(&mut self, line: String, value: &Value, is_known: bool) {
        self.lines.push(line);
        self.events += 1;
        let kind = value.get("type").and_then(Value::as_str);
        if !is_known {
            *self.unknown.entry(kind.unwrap_or("(no type)").to_owned()).or_default() += 1;
        }
        self.key.is_ended |= kind == Some("result");
    }
}
