//! The views that may be asked: their columns, what each means, and where it comes from.

/// One view.
#[derive(Clone, Copy, Debug)]
pub struct SqlView {
    /// Its name.
    pub name: &'static str,
    /// What one row of it is.
    pub about: &'static str,
    /// Its columns.
    pub columns: &'static [SqlColumn],
    /// The tables it is made of; of `sessions`, none: its rows are put in for each question.
    from: &'static str,
}

/// One column.
#[derive(Clone, Copy, Debug)]
pub struct SqlColumn {
    /// Its name.
    pub name: &'static str,
    /// What its cells are.
    pub kind: ColumnKind,
    /// What it says.
    pub about: &'static str,
    /// Where it comes from.
    sql: &'static str,
}

/// What the cells of a column are. The database knows fewer kinds than this; files for other programs need them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// A word or a line: a name, a path, a title.
    Text,
    /// Text of any length.
    LongText,
    /// A whole number.
    Number,
    /// Another number.
    Real,
    /// Whether something is so: 1 or 0.
    Flag,
    /// A moment: text in UTC with milliseconds.
    Time,
}

impl ColumnKind {
    /// Returns how the database calls it: `TEXT`, `INTEGER` or `REAL`.
    pub const fn form(self) -> &'static str {
        match self {
            Self::Text | Self::LongText | Self::Time => "TEXT",
            Self::Number | Self::Flag => "INTEGER",
            Self::Real => "REAL",
        }
    }
}

const fn text(name: &'static str, sql: &'static str, about: &'static str) -> SqlColumn {
    SqlColumn { name, kind: ColumnKind::Text, about, sql }
}

const fn long(name: &'static str, sql: &'static str, about: &'static str) -> SqlColumn {
    SqlColumn { name, kind: ColumnKind::LongText, about, sql }
}

const fn time(name: &'static str, sql: &'static str, about: &'static str) -> SqlColumn {
    SqlColumn { name, kind: ColumnKind::Time, about, sql }
}

const fn number(name: &'static str, sql: &'static str, about: &'static str) -> SqlColumn {
    SqlColumn { name, kind: ColumnKind::Number, about, sql }
}

const fn flag(name: &'static str, sql: &'static str, about: &'static str) -> SqlColumn {
    SqlColumn { name, kind: ColumnKind::Flag, about, sql }
}

const fn real(name: &'static str, sql: &'static str, about: &'static str) -> SqlColumn {
    SqlColumn { name, kind: ColumnKind::Real, about, sql }
}

/// Every view, in the order in which people see them.
pub const VIEWS: &[SqlView] = &[SESSIONS, MESSAGES, TOOL_CALLS, REQUESTS, FILES_TOUCHED];

/// The name of the one view whose rows are put in for each question.
pub(super) const FRESH: &str = "sessions";

const SESSIONS: SqlView = SqlView {
    name: FRESH,
    about: "one row per session, as `recount list --json` has it",
    from: "",
    columns: &[
        text("source", "", "the agent that wrote it"),
        text("id", "", "its id; `session` in the other views"),
        text("kind", "", "main, subagent, or headless: known from headless output only"),
        text("parent", "", "of a sub-agent: the session that ran it"),
        text("parent_call", "", "of a sub-agent: the call that ran it"),
        text("agent_type", "", "of a sub-agent: its type, if recorded"),
        text("agent_description", "", "of a sub-agent: what it was started for, if recorded"),
        text("title", "", "its title"),
        text("title_from", "", "name, summary, prompt or none"),
        text("first_prompt", "", "what the human typed first, its start"),
        text("last_prompt", "", "what the human typed last, its start"),
        text("branch", "", "the git branch at the start, if recorded"),
        text("entrypoint", "", "terminal, headless, ide or sdk, if recorded"),
        text("project_path", "", "the folder it belongs to"),
        text("project_state", "", "present, missing, unknown or scanning"),
        text("project_slug", "", "the readable name of the agent's directory"),
        text("project_hash", "", "the hash that names the project"),
        text("project_name", "", "the name people know it by"),
        text("project_alias", "", "the name that you gave it"),
        time("started", "", "its first moment"),
        time("updated", "", "its last moment"),
        number("messages", "", "messages of the full view"),
        number("prompts", "", "what humans typed; 0 of a sub-agent, whose prompt an agent wrote"),
        number("answers", "", "what models said"),
        number("undone", "", "messages whose fate is not kept"),
        number("tool_calls", "", "tool calls"),
        number("tools_failed", "", "of these, failed"),
        number("tools_cancelled", "", "of these, stopped by the human"),
        text("models", "", "models that answered, with commas between"),
        number(
            "tokens_input",
            "",
            "prompt tokens, cached ones included; this and all tokens are unknown if none were recorded",
        ),
        number("tokens_output", "", "tokens of answers"),
        number("tokens_cached", "", "the part of tokens_input that came from the cache"),
        number("tokens_cache_write", "", "the part of tokens_input that was written to the cache"),
        number("tokens_thoughts", "", "tokens spent thinking"),
        number("tokens_tool", "", "tokens of tool prompts"),
        number("tokens_total", "", "the service's own total"),
        real(
            "cost_usd",
            "",
            "what it cost, copies of other sessions' requests included: to sum up, use requests",
        ),
        flag("cost_is_lower_bound", "", "whether the cost leaves something out"),
        number("kept_messages", "", "messages of the strict view"),
        number("kept_prompts", "", "prompts of the strict view"),
        number("kept_answers", "", "answers of the strict view"),
        number("kept_tool_calls", "", "tool calls of the strict view"),
        number("kept_tokens_input", "", "tokens_input of the strict view"),
        number("kept_tokens_output", "", "tokens_output of the strict view"),
        number("kept_tokens_cached", "", "tokens_cached of the strict view"),
        number("kept_tokens_cache_write", "", "tokens_cache_write of the strict view"),
        number("kept_tokens_thoughts", "", "tokens_thoughts of the strict view"),
        number("kept_tokens_tool", "", "tokens_tool of the strict view"),
        number("kept_tokens_total", "", "tokens_total of the strict view"),
        text("directories", "", "workspace folders that were added, one per line"),
        long("memory", "", "notes that the agent's own memory made of it, as JSON"),
        text("file", "", "the file that the agent itself would load"),
        number("files", "", "number of files"),
        number("bytes", "", "the size of all of them"),
        number("agent_index", "", "the number under which the agent itself lists it"),
        text("agent_title", "", "the title under which the agent itself lists it"),
        flag("live", "", "whether it is running; unknown when not looked for"),
        flag("doomed", "", "whether the agent's next start would delete it"),
        number("problems", "", "problems met while reading"),
        number("not_understood", "", "of these, records of a kind we do not know"),
    ],
};

const MESSAGES: SqlView = SqlView {
    name: "messages",
    about: "one row per message of the full view: all that was ever said, each message once",
    from: "main.kept_sessions s CROSS JOIN main.kept_messages m ON m.session = s.key AND NOT s.is_background",
    columns: &[
        text("session", "s.id", "the session's id"),
        text("source", "s.source", "the agent that wrote it"),
        number("number", "m.number", "its place in the session, from 1"),
        text("id", "m.id", "its id"),
        text(
            "kind",
            "m.kind",
            "prompt, answer, context, hook, tool-result, shell, notice, summary, nudge",
        ),
        text("fate", "m.fate", "kept, rewound, cancelled, compressed, replaced"),
        time("time", "m.time", "when it was made"),
        text("model", "m.model", "the model that answered"),
        number("characters", "m.characters", "how long its text is"),
        number("tool_calls", "m.tool_calls", "how many tools it called"),
        number("tokens_input", "m.input", "prompt tokens, cached ones included"),
        number("tokens_output", "m.output", "tokens of the answer"),
        number("tokens_cached", "m.cached", "the part of tokens_input that came from the cache"),
        number(
            "tokens_cache_write",
            "m.cache_write",
            "the part of tokens_input that was written to the cache",
        ),
        number("tokens_thoughts", "m.thoughts", "tokens spent thinking"),
        number("tokens_tool", "m.tool", "tokens of tool prompts"),
        number("tokens_total", "m.total", "the service's own total"),
        text(
            "file",
            "(SELECT f.path FROM main.kept_files f WHERE f.session = m.session AND f.number = m.file)",
            "the file that contains it",
        ),
        number("line", "m.line", "the line on which it begins"),
        number("offset", "m.offset", "its first byte"),
        number("bytes", "m.bytes", "how many bytes it takes"),
        long(
            "text",
            "recount_said(m.session, m.number, 0, 'text')",
            "what was sent, all of it; read from the file when asked for",
        ),
        long(
            "display_text",
            "recount_said(m.session, m.number, 0, 'display_text')",
            "what the human typed, or what the agent would show; read when asked for",
        ),
        long(
            "thoughts",
            "recount_said(m.session, m.number, 0, 'thoughts')",
            "the model's thoughts; read when asked for",
        ),
    ],
};

const TOOL_CALLS: SqlView = SqlView {
    name: "tool_calls",
    about: "one row per call of a tool",
    from: "main.kept_sessions s CROSS JOIN main.kept_calls c ON c.session = s.key AND NOT s.is_background",
    columns: &[
        text("session", "s.id", "the session's id"),
        text("source", "s.source", "the agent that wrote it"),
        text(
            "message",
            "(SELECT m.id FROM main.kept_messages m WHERE m.session = c.session AND m.number = c.number)",
            "the id of the message that called it",
        ),
        number("number", "c.number", "the place of that message in the session"),
        number("call", "c.call", "its place in the message, from 1"),
        text("id", "c.id", "its id"),
        text("name", "c.name", "the tool's name"),
        text("display_name", "c.display_name", "the tool's name as shown to people"),
        text("status", "c.status", "success, error, cancelled, or another word of the agent's"),
        flag("is_error", "coalesce(c.status = 'error', 0)", "whether it failed"),
        time("time", "c.time", "when it was recorded"),
        text(
            "key_arg",
            "c.key_arg",
            "the one argument that tells most, its first 500 characters: a command, a path",
        ),
        text("agent_id", "c.agent_id", "the sub-agent that it ran"),
        text("output_state", "c.output_state", "whole, recovered, truncated or masked"),
        long(
            "args",
            "recount_said(c.session, c.number, c.call, 'args')",
            "its arguments as JSON; read when asked for",
        ),
        long(
            "output",
            "recount_said(c.session, c.number, c.call, 'output')",
            "what it gave back; read when asked for",
        ),
        long(
            "diff",
            "recount_said(c.session, c.number, c.call, 'diff')",
            "the change it made, as a unified diff; read when asked for",
        ),
    ],
};

const REQUESTS: SqlView = SqlView {
    name: "requests",
    about: "one row per request to a model whose use is on record, each once: in the session that made it",
    from: "main.kept_sessions s CROSS JOIN main.kept_messages m ON m.session = s.key AND m.total IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM main.kept_copies d WHERE d.session = m.session AND d.number = m.number)",
    columns: &[
        text("session", "s.id", "the session's id"),
        text("source", "s.source", "the agent that wrote it"),
        text("message", "m.id", "the id of the answer"),
        number("number", "m.number", "the place of the answer in the session"),
        time("time", "m.time", "when it was made"),
        text("model", "m.model", "the model that answered"),
        text("fate", "m.fate", "fate of the answer"),
        number("input", "m.input", "prompt tokens, cached ones included"),
        number("output", "m.output", "tokens of the answer"),
        number("cached", "m.cached", "the part of input that came from the cache"),
        number("cache_write", "m.cache_write", "the part of input that was written to the cache"),
        number("thoughts", "m.thoughts", "tokens spent thinking"),
        number("tool", "m.tool", "tokens of tool prompts"),
        number("total", "m.total", "the service's own total"),
        real(
            "cost_usd",
            "recount_cost(m.model, m.at, m.input, m.output, m.cached, m.cache_write, m.thoughts, m.tool, m.total, m.cache_write_1h)",
            "what it cost; unknown where its model has no known price",
        ),
    ],
};

const FILES_TOUCHED: SqlView = SqlView {
    name: "files_touched",
    about: "one row per file that a message sent along or a call named",
    from: "main.kept_sessions s CROSS JOIN main.kept_touched t ON t.session = s.key AND NOT s.is_background",
    columns: &[
        text("session", "s.id", "the session's id"),
        text("source", "s.source", "the agent that wrote it"),
        text(
            "message",
            "(SELECT m.id FROM main.kept_messages m WHERE m.session = t.session AND m.number = t.number)",
            "the id of the message",
        ),
        number("number", "t.number", "the place of that message in the session"),
        text("tool", "t.tool", "the tool's name, or @file"),
        text(
            "how",
            "t.how",
            "attached, read, written; named: looked at otherwise, or the call failed",
        ),
        text("path", "t.path", "the path as written in the message"),
        time("time", "t.time", "when"),
    ],
};

impl SqlView {
    /// Makes the view, or for `sessions` an empty table.
    pub(super) fn create(&self) -> String {
        let column = |column: &SqlColumn| match self.from {
            "" => format!("\"{}\" {}", column.name, column.kind.form()),
            _ => format!("{} AS \"{}\"", column.sql, column.name),
        };
        let columns: Vec<String> = self.columns.iter().map(column).collect();
        let (name, columns) = (self.name, columns.join(", "));
        match self.from {
            "" => format!(
                "CREATE TEMP TABLE {name} ({columns}); CREATE INDEX temp.{name}_by_id ON {name} (id);"
            ),
            from => format!("CREATE TEMP VIEW {name} AS SELECT {columns} FROM {from};"),
        }
    }
}
