//! What is kept of one session, row by row.

/// One session with all that is kept of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRows {
    /// Distinguishes the session from others.
    pub key: u64,
    /// Changes when one of its files does.
    pub stamp: u64,
    /// The agent that wrote it.
    pub source: &'static str,
    /// Its id.
    pub id: String,
    /// The agent's directory of its project.
    pub folder: Option<String>,
    /// When it began, in milliseconds. A request that several sessions hold is that of the one that began first.
    pub began: Option<i64>,
    /// When it ended, in milliseconds: of sessions that began together the one that ended first made the request.
    pub ended: Option<i64>,
    /// Whether the agent ran it for itself: its requests count, and nobody said anything in it.
    pub is_background: bool,
    /// Its files; messages point here.
    pub files: Vec<String>,
    /// Its messages, in order.
    pub messages: Vec<MessageRow>,
}

/// One message, without its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageRow {
    /// Its id.
    pub id: Option<String>,
    /// What it is.
    pub kind: String,
    /// Its fate.
    pub fate: String,
    /// When it was made.
    pub time: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// How long its text is; unknown when it could not be read.
    pub characters: Option<u64>,
    /// How many tools it called.
    pub tool_calls: u64,
    /// What the request used: input, output, cached, `cache_write`, thoughts, tool, total.
    pub tokens: Option<[u64; 7]>,
    /// The part of `cache_write` that is kept for an hour: it has a price of its own.
    pub cache_write_1h: u64,
    /// The time that it counts for, in milliseconds: its own, else that of the one before. Prices change with time.
    pub at: Option<i64>,
    /// Equal for all copies of one request, whatever session they are in.
    pub request: Option<u64>,
    /// Whether it is a copy of a request that was made in another session. Not kept: it changes with other sessions.
    pub is_copy: bool,
    /// Which file it is in.
    pub file: usize,
    /// The line on which it begins, if that is known.
    pub line: Option<u32>,
    /// Its first byte.
    pub offset: u64,
    /// How many bytes it takes.
    pub bytes: u64,
    /// Where its other versions stand, newest first; only where one of them has what this one lost.
    pub versions: Vec<(u64, u64)>,
    /// Where its pieces after the first are, of a message that was recorded in several.
    pub pieces: Vec<(u64, u64)>,
    /// The tools it called, in order.
    pub calls: Vec<CallRow>,
    /// The files it touched.
    pub touched: Vec<TouchRow>,
}

/// One call of a tool, without its arguments and output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallRow {
    /// The call's id.
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The name shown to people.
    pub display_name: Option<String>,
    /// How it ended.
    pub status: Option<String>,
    /// When it was recorded.
    pub time: Option<String>,
    /// The one argument that tells most.
    pub key_arg: Option<String>,
    /// The sub-agent that it ran.
    pub agent_id: Option<String>,
    /// Whether its output is all there.
    pub output_state: &'static str,
}

/// One file that a message touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchRow {
    /// The tool, or `@file`.
    pub tool: String,
    /// How it was touched.
    pub how: &'static str,
    /// Its path, as it is in the message.
    pub path: String,
    /// When.
    pub time: Option<String>,
}
