//! The types that all crates share: sessions, messages, tokens, projects, problems.
//!
//! No I/O, no clock, and no agent's name: everything specific to one agent is in its folder of
//! `recount-formats`. The types serialize to the JSON that `--json` prints.

mod id;
mod live;
mod message;
pub mod path_text;
mod problem;
mod project;
mod retention;
mod row;
mod session;
mod source_state;
mod time;
mod usage;

pub use id::{MessageId, SessionId, SessionKey, SourceName, id_prefix};
pub use live::{
    Circling, ContextUse, HookMoment, LiveHook, LiveProcess, LiveRequest, LiveSession, LiveSignal,
    LiveSpan, LiveState, LiveSubagent, LiveTerminal, LiveTool, LiveUsage, TERMINAL_VARIABLES,
    TerminalServer,
};
pub use message::{
    AttachedFile, Fate, Media, MediaData, Message, MessageKind, NoticeLevel, OutputState, RawJson,
    RecordLocation, Thought, ToolCall, ToolStatus,
};
pub use problem::{Problem, Span, What};
pub use project::{Clue, ClueKind, Project, ProjectHash, ProjectState, RecordedPath};
pub use retention::{DeletionReason, PendingDeletion};
pub use row::{FileRow, SessionRow};
pub use session::{
    AgentNote, Entrypoint, FileFacts, FileRole, Grammar, Labels, MessageCounts, SessionFacts,
    SessionKind, StrictCounts, TitleFrom, ToolCounts,
};
pub use source_state::SourceState;
pub use time::{Clock, parse_millis, timestamp};
pub use usage::Tokens;
