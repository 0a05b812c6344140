//! What is known of a transcript while it is read, small enough to be kept and continued.

use std::collections::{BTreeMap, BTreeSet};

use recount_model::{MessageKind, NoticeLevel, SourceState, Span};
use serde::{Deserialize, Serialize};

use super::queue::Queue;
use super::row::Usage;
use crate::json::Text;
use crate::outline::CallEnd;
use crate::source::stable_hash;

/// The `uuid` of a row as bytes, or a hash of one that is no UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RowId([u8; 16]);

impl RowId {
    /// Reads an id; `false` when it is not a UUID in the usual form.
    pub(crate) fn of(text: Text<'_>) -> (Self, bool) {
        if let Some(bytes) = uuid(text.raw()) {
            return (Self(bytes), true);
        }
        let text = text.decode();
        let (high, low) = (stable_hash(&(1, &*text)), stable_hash(&(2, &*text)));
        let mut bytes = [0; 16];
        for (slot, byte) in
            bytes.iter_mut().zip(high.to_le_bytes().into_iter().chain(low.to_le_bytes()))
        {
            *slot = byte;
        }
        (Self(bytes), false)
    }

    pub(crate) fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Whether it is the id that means no row.
    pub(crate) fn is_nothing(self) -> bool {
        self.0 == [0; 16]
    }

    /// Writes it as the UUID that it was read from.
    pub(crate) fn text(self) -> Box<str> {
        let mut text = String::with_capacity(36);
        for (at, byte) in self.0.into_iter().enumerate() {
            if matches!(at, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            for half in [byte >> 4, byte & 15] {
                text.push(char::from(if half < 10 { b'0' + half } else { b'a' - 10 + half }));
            }
        }
        text.into()
    }
}

/// The value of each hexadecimal digit, and what is larger than any for other bytes.
#[expect(clippy::indexing_slicing, reason = "runs in the compiler only")]
const DIGITS: [u8; 256] = {
    let mut values = [0xff; 256];
    let mut value: u8 = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// The positions of the bytes of a UUID in its text.
const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    let text: &[u8; 36] = text.try_into().ok()?;
    let digit = |at: usize| {
        let sign = text.get(at).copied().unwrap_or_default();
        DIGITS.get(usize::from(sign)).copied().unwrap_or(0xff)
    };
    let mut bytes = [0; 16];
    let mut all = 0;
    for (byte, at) in bytes.iter_mut().zip(PLACES) {
        let (high, low) = (digit(at), digit(at + 1));
        all |= high | low;
        *byte = high << 4 | low;
    }
    let is_uuid =
        all < 16 && text[8] == b'-' && text[13] == b'-' && text[18] == b'-' && text[23] == b'-';
    is_uuid.then_some(bytes)
}

/// A row of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeRow {
    pub(crate) parent: Parent,
    pub(crate) time: Option<i64>,
    pub(crate) span: Span,
    pub(crate) what: RowKind,
    pub(crate) is_sidechain: bool,
    /// The answer that it is a block of.
    pub(crate) answer: Option<u32>,
    /// Its place among the blocks of the answer.
    pub(crate) block: u32,
    /// Its results, in [`Facts::results`].
    pub(crate) results: (u32, u32),
}

/// The row that a row continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    /// None: a root.
    None,
    /// A row that was read before.
    Row(u32),
    /// A row that was not read before, if there is one.
    Id(RowId),
    /// None: this row is a compaction that continues it.
    Before(RowId),
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// A message of this kind.
    Message(MessageKind),
    /// A notice.
    Notice(Level),
    /// A block of an answer.
    Answer,
    /// Results of tools.
    Results,
    /// Results of tools, and what a human typed.
    ResultsAndPrompt,
    /// A compaction.
    Boundary,
    /// In the chain, and nothing to show.
    Hidden,
}

/// How loud a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warning,
    Error,
}

impl From<Level> for NoticeLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Info => Self::Info,
            Level::Warning => Self::Warning,
            Level::Error => Self::Error,
        }
    }
}

/// One answer of the service, whatever number of rows it takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The message id, or that of the row if there is none.
    pub(crate) id: Box<str>,
    /// A short hash of the request id.
    pub(crate) request: Option<u32>,
    /// Whether an earlier answer has the same message id and another request id.
    pub(crate) is_split: bool,
    pub(crate) model: Option<u16>,
    pub(crate) usage: Option<Usage>,
    /// Whether the figures are known to be final.
    pub(crate) is_final: bool,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    /// A hash of its id.
    pub(crate) id: u64,
    pub(crate) tool: u16,
    /// The answer that made it.
    pub(crate) answer: u32,
}

/// A result of a call.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct CallResult {
    /// A hash of the call's id.
    pub(crate) call: u64,
    pub(crate) end: CallEnd,
}

/// A call that ran a sub-agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AgentLink {
    pub(crate) call: Box<str>,
    pub(crate) hash: u64,
    /// A hash of what the agent was asked.
    pub(crate) prompt: Option<u64>,
    pub(crate) agent: Option<Box<str>>,
    pub(crate) ended: Option<i64>,
}

/// What a compaction left in the context.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Preserved {
    pub(crate) rows: Vec<RowId>,
    pub(crate) ends: Option<(RowId, RowId)>,
    pub(crate) anchor: Option<RowId>,
}

/// Where the agent itself would continue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct LeafPointer {
    pub(crate) row: RowId,
    pub(crate) is_explicit: bool,
    /// How many rows were read before it.
    pub(crate) after: u32,
}

/// All that was read of a transcript.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Kept apart from all else.
    #[serde(skip)]
    pub(crate) rows: Vec<TreeRow>,
    /// The ids of the rows.
    #[serde(skip)]
    pub(crate) ids: Vec<RowId>,
    /// Ids that are no UUIDs, as text.
    pub(crate) odd_ids: BTreeMap<RowId, Box<str>>,
    pub(crate) answers: Vec<Answer>,
    /// Request ids, by answer, where the message id alone does not identify the answer.
    pub(crate) requests: BTreeMap<u32, Box<str>>,
    /// In the order of the file.
    pub(crate) calls: Vec<Call>,
    pub(crate) results: Vec<CallResult>,
    pub(crate) agents: Vec<AgentLink>,
    /// By the row of the compaction.
    pub(crate) preserved: BTreeMap<u32, Preserved>,
    pub(crate) models: Vec<Box<str>>,
    pub(crate) tools: Vec<Box<str>>,
    pub(crate) leaf: Option<LeafPointer>,
    pub(crate) session: Session,
    pub(crate) queue: Queue,
    /// What humans typed in sidechains, by row: how it begins, and a hash of it.
    pub(crate) asked: BTreeMap<u32, (String, u64)>,
    /// Hashes of prompts by their offsets, in releases that copy them under other ids.
    pub(crate) words: BTreeMap<u64, u64>,
    /// Unknown fields that were reported.
    pub(crate) unknown: BTreeSet<Box<str>>,
}

/// What is said of the session as a whole.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Session {
    /// The first session id in the file.
    pub(crate) id: Option<Box<str>>,
    /// The last one, if it is another.
    pub(crate) last_id: Option<Box<str>>,
    pub(crate) cwd: Option<Box<str>>,
    pub(crate) relocated: Option<Box<str>>,
    pub(crate) branch: Option<Box<str>>,
    pub(crate) entrypoint: Option<Box<str>>,
    pub(crate) version: Option<Box<str>>,
    pub(crate) agent_name: Option<String>,
    pub(crate) custom_title: Option<String>,
    pub(crate) ai_title: Option<String>,
    /// Titles of conversations that end with a row, which may be in another file.
    pub(crate) summaries: Vec<(RowId, String)>,
    pub(crate) first: Option<String>,
    pub(crate) command: Option<String>,
    pub(crate) last: Option<String>,
    /// Whether the first record is a prompt that was handed over on the command line.
    pub(crate) begins_queued: bool,
    /// Whether the agent kept copies of files, which it does in a terminal only.
    pub(crate) has_file_history: bool,
}

/// What only the rules of this agent ask of a file that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClaudeState {
    /// Where the conversation ends.
    pub(crate) leaf: Option<RowId>,
    /// Titles of conversations that end with a row.
    pub(crate) summaries: Vec<(RowId, String)>,
    /// The release that wrote last.
    pub(crate) version: Option<Box<str>>,
    /// The call that ran it, of a sub-agent.
    pub(crate) caller: Option<Box<str>>,
    /// Prompts without an answer, by their numbers, each with a key that is the same in every copy.
    pub(crate) unanswered: Vec<(u32, u64)>,
}

impl ClaudeState {
    /// Decodes the state of a file; one that cannot be decoded is empty.
    pub(crate) fn decode(state: &SourceState) -> Self {
        postcard::from_bytes(state.as_bytes()).unwrap_or_default()
    }

    /// Encodes the state.
    pub(crate) fn encode(&self) -> SourceState {
        SourceState::new(postcard::to_allocvec(self).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Scanner;

    #[test]
    fn an_id_is_written_as_it_was_read() {
        let quoted = br#""0e790681-9c29-4bb7-9c9c-15e77218e922""#;
        let text = Scanner::new(quoted).string().unwrap();
        let (id, is_uuid) = RowId::of(text);
        assert!(is_uuid);
        assert_eq!(&*id.text(), "0e790681-9c29-4bb7-9c9c-15e77218e922");
        for odd in [&br#""0E790681-9c29-4bb7-9c9c-15e77218e922""#[..], br#""u1""#] {
            assert!(!RowId::of(Scanner::new(odd).string().unwrap()).1);
        }
    }
}
