//! CSV: a table of sessions, requests or tool calls. Columns have the same names as in the views of `recount sql`.

use std::io::{self, Write};

use jiff::Timestamp;
use recount_model::{Message, MessageId, Problem, RecordedPath, SessionFacts, SessionId, Tokens};

use crate::csv::{CsvCell, row};
use crate::{ExportTable, Renderer, TranscriptPart};

const SESSIONS: &[&str] = &[
    "source",
    "id",
    "kind",
    "parent",
    "title",
    "project_path",
    "project_state",
    "project_name",
    "started",
    "updated",
    "messages",
    "prompts",
    "answers",
    "undone",
    "tool_calls",
    "tools_failed",
    "tools_cancelled",
    "models",
    "tokens_input",
    "tokens_output",
    "tokens_cached",
    "tokens_cache_write",
    "tokens_thoughts",
    "tokens_tool",
    "tokens_total",
    "cost_usd",
    "cost_is_lower_bound",
    "files",
    "bytes",
    "problems",
];

const REQUESTS: &[&str] = &[
    "session",
    "source",
    "message",
    "number",
    "time",
    "model",
    "fate",
    "input",
    "output",
    "cached",
    "cache_write",
    "thoughts",
    "tool",
    "total",
    "cost_usd",
];

const TOOL_CALLS: &[&str] = &[
    "session",
    "source",
    "message",
    "number",
    "call",
    "id",
    "name",
    "display_name",
    "status",
    "time",
    "key_arg",
    "agent_id",
    "output_state",
    "args",
    "output",
    "diff",
];

/// Rows of one table, of any number of sessions.
#[derive(Debug)]
pub(crate) struct Rows {
    table: ExportTable,
    headed: bool,
    /// The current session.
    id: String,
    source: &'static str,
    /// The index of the next message in it.
    number: u64,
    /// What the request of the next message cost.
    cost: Option<f64>,
}

impl Rows {
    pub(crate) fn new(table: ExportTable) -> Self {
        Self { table, headed: false, id: String::new(), source: "", number: 1, cost: None }
    }

    fn request(&self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        let Some(tokens) = message.tokens else { return Ok(()) };
        let (time, fate) = (moment(message.time), message.fate.to_string());
        let mut cells = self.place(message).to_vec();
        cells.extend([
            CsvCell::Text(&time),
            CsvCell::Text(message.model.as_deref().unwrap_or_default()),
            CsvCell::Text(&fate),
        ]);
        cells.extend(used(tokens));
        cells.push(dollars(self.cost));
        row(out, cells)
    }

    fn calls(&self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        for (at, call) in message.tool_calls.iter().enumerate() {
            let time = moment(call.time);
            let state = format!("{:?}", call.output_state).to_lowercase();
            let mut cells = self.place(message).to_vec();
            cells.push(number(at as u64 + 1));
            let text = [
                call.id.as_deref(),
                Some(call.name.as_str()),
                call.display_name.as_deref(),
                Some(call.status.as_str()),
                Some(time.as_str()),
                call.key_arg.as_deref(),
                call.agent_id.as_deref(),
                Some(state.as_str()),
                Some(call.args.as_str()),
                call.output.as_deref(),
                call.diff.as_deref(),
            ];
            cells.extend(text.map(|text| CsvCell::Text(text.unwrap_or_default())));
            row(out, cells)?;
        }
        Ok(())
    }

    /// Returns the cells that identify a message.
    fn place<'a>(&'a self, message: &'a Message) -> [CsvCell<'a>; 4] {
        let id = message.id.as_ref().map_or("", MessageId::as_str);
        [
            CsvCell::Text(&self.id),
            CsvCell::Text(self.source),
            CsvCell::Text(id),
            number(self.number),
        ]
    }
}

impl Renderer for Rows {
    fn is_table(&self) -> bool {
        true
    }

    fn begin(
        &mut self,
        session: &SessionFacts,
        _part: TranscriptPart<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if !self.headed {
            let names = match self.table {
                ExportTable::Sessions => SESSIONS,
                ExportTable::Requests => REQUESTS,
                ExportTable::ToolCalls => TOOL_CALLS,
                // CSV does not have these.
                ExportTable::Messages | ExportTable::FilesTouched => &[],
            };
            row(out, names.iter().map(|name| CsvCell::Text(name)))?;
            self.headed = true;
        }
        self.id = session.id.to_string();
        self.source = session.source.as_str();
        self.number = 1;
        if self.table == ExportTable::Sessions {
            row(out, session_row(session).iter().map(Owned::cell))
        } else {
            Ok(())
        }
    }

    fn wants_messages(&self) -> bool {
        self.table != ExportTable::Sessions
    }

    fn price(&mut self, cost: Option<f64>) {
        self.cost = cost;
    }

    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()> {
        match self.table {
            ExportTable::Sessions | ExportTable::Messages | ExportTable::FilesTouched => {}
            ExportTable::Requests => self.request(message, out)?,
            ExportTable::ToolCalls => self.calls(message, out)?,
        }
        self.number += 1;
        Ok(())
    }

    fn unread(&mut self, _problem: &Problem, _out: &mut dyn Write) -> io::Result<()> {
        // It still has its index in the session.
        self.number += 1;
        Ok(())
    }

    fn end(&mut self, _next: Option<&str>, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// An owned cell.
enum Owned {
    Text(String),
    Number(u64),
    /// Empty if it is not known.
    Dollars(Option<f64>),
    Flag(Option<bool>),
}

impl Owned {
    fn cell(&self) -> CsvCell<'_> {
        match self {
            Self::Text(text) => CsvCell::Text(text),
            Self::Number(figure) => number(*figure),
            Self::Dollars(cost) => dollars(*cost),
            Self::Flag(flag) => {
                CsvCell::Number(flag.map(|flag| u8::from(flag).to_string()).unwrap_or_default())
            }
        }
    }
}

fn session_row(session: &SessionFacts) -> Vec<Owned> {
    let kind = session.kind.as_str();
    let project = &session.project;
    let mut cells: Vec<Owned> = [
        session.source.to_string(),
        session.id.to_string(),
        kind.to_owned(),
        session.parent.as_ref().map_or("", SessionId::as_str).to_owned(),
        session.title.clone().unwrap_or_default(),
        project.path.as_ref().map_or("", RecordedPath::as_str).to_owned(),
        project.state.to_string(),
        project.name().to_owned(),
        moment(session.started),
        moment(session.updated),
    ]
    .map(Owned::Text)
    .into();
    let (counts, tools) = (session.counts, session.tool_calls);
    let said = [counts.messages, session.typed_prompts(), counts.answers, counts.undone];
    cells.extend(said.map(Owned::Number));
    cells.extend([tools.total, tools.failed, tools.cancelled].map(Owned::Number));
    cells.push(Owned::Text(session.models.join(",")));
    let Tokens { input, output, cached, cache_write, thoughts, tool, total, .. } = session.tokens;
    let used = [input, output, cached, cache_write, thoughts, tool, total];
    cells.extend(used.map(|used| {
        if session.is_usage_unknown() { Owned::Text(String::new()) } else { Owned::Number(used) }
    }));
    cells.push(Owned::Dollars(session.cost_usd));
    cells.push(Owned::Flag(session.cost_is_lower_bound));
    let rest = [session.files.len() as u64, session.bytes(), session.problems];
    cells.extend(rest.map(Owned::Number));
    cells
}

fn used(tokens: Tokens) -> [CsvCell<'static>; 7] {
    let Tokens { input, output, cached, cache_write, thoughts, tool, total, .. } = tokens;
    [input, output, cached, cache_write, thoughts, tool, total].map(number)
}

fn dollars(cost: Option<f64>) -> CsvCell<'static> {
    CsvCell::Number(cost.map(|cost| cost.to_string()).unwrap_or_default())
}

fn number(number: u64) -> CsvCell<'static> {
    CsvCell::Number(number.to_string())
}

fn moment(time: Option<Timestamp>) -> String {
    time.map(|time| time.to_string()).unwrap_or_default()
}
