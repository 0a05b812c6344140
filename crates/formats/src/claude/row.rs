//! One line of a transcript, parsed without decoding its text.

use recount_model::parse_millis;

use super::content::Content;
use super::known;
use crate::json::{JsonScan, Scanner, Text};

/// The fields of a line that an outline needs. Of equal keys the last one counts, as in JavaScript.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row<'a> {
    pub(crate) kind: Option<Text<'a>>,
    pub(crate) subtype: Option<Text<'a>>,
    pub(crate) uuid: Option<Text<'a>>,
    pub(crate) parent: Option<Text<'a>>,
    pub(crate) logical_parent: Option<Text<'a>>,
    pub(crate) session: Option<Text<'a>>,
    pub(crate) agent: Option<Text<'a>>,
    pub(crate) time: Option<i64>,
    pub(crate) bad_time: bool,
    pub(crate) cwd: Option<Text<'a>>,
    pub(crate) branch: Option<Text<'a>>,
    pub(crate) version: Option<Text<'a>>,
    pub(crate) entrypoint: Option<Text<'a>>,
    pub(crate) request: Option<Text<'a>>,
    pub(crate) marks: Marks,
    pub(crate) block_index: u32,
    pub(crate) message: MessageFacts<'a>,
    /// What a record of the queue did.
    pub(crate) operation: Option<Text<'a>>,
    /// The text of a system row.
    pub(crate) content: Option<Text<'a>>,
    pub(crate) attachment: AttachmentFacts<'a>,
    /// The agent that a result names.
    pub(crate) result_agent: Option<Text<'a>>,
    /// Of a `last-prompt` row, where the conversation continues; of a `summary` row, the last row that it sums up.
    pub(crate) leaf: Option<Text<'a>>,
    /// A title, of any kind of row.
    pub(crate) title: Option<Text<'a>>,
    /// The folder that a `relocated` row names.
    pub(crate) relocated: Option<Text<'a>>,
    /// Rows before a compaction that stay in the context.
    pub(crate) preserved: Vec<Text<'a>>,
    /// The first and last of a stretch of them.
    pub(crate) preserved_ends: Option<(Text<'a>, Text<'a>)>,
    /// The row after which they are shown.
    pub(crate) anchor: Option<Text<'a>>,
    /// A field that no known release writes.
    pub(crate) unknown_field: Option<Text<'a>>,
}

/// Yes-or-no fields.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the row")]
pub(crate) struct Marks {
    pub(crate) is_sidechain: bool,
    pub(crate) is_meta: bool,
    pub(crate) is_summary: bool,
    pub(crate) is_error: bool,
    pub(crate) is_aborted: bool,
    pub(crate) is_explicit: bool,
    /// Whether the agent put the row in by itself, whatever its text says.
    pub(crate) is_own: bool,
}

/// What the message of a `user` or `assistant` row says.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageFacts<'a> {
    is_read: bool,
    pub(crate) id: Option<Text<'a>>,
    pub(crate) model: Option<Text<'a>>,
    pub(crate) has_stop: bool,
    pub(crate) usage: Option<Usage>,
    pub(crate) content: Content<'a>,
}

/// What an attachment is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AttachmentFacts<'a> {
    pub(crate) kind: Option<Text<'a>>,
    /// Of a queued prompt, how it begins.
    pub(crate) prompt: Option<Text<'a>>,
}

/// The figures of a request, as the service gives them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_write: u64,
    pub(crate) cache_write_1h: u64,
    pub(crate) cache_read: u64,
    pub(crate) thoughts: u64,
}

impl<'a> Row<'a> {
    /// Reads the object at the scanner's position.
    pub(crate) fn read(scanner: &mut Scanner<'a>) -> JsonScan<Self> {
        let mut row = Self::default();
        row.fill(scanner)?;
        Ok(row)
    }

    /// Reads the object at the scanner's position over what was read before: a row is large, and its lists keep their memory.
    pub(crate) fn fill(&mut self, scanner: &mut Scanner<'a>) -> JsonScan<()> {
        self.clear();
        scanner.object(|scanner, key| self.field(scanner, key))
    }

    /// Forgets all but the memory of its lists.
    fn clear(&mut self) {
        let mut preserved = std::mem::take(&mut self.preserved);
        let (calls, results) = self.message.content.take_lists();
        preserved.clear();
        *self = Self { preserved, ..Self::default() };
        self.message.content.calls = calls;
        self.message.content.results = results;
    }

    fn field(&mut self, scanner: &mut Scanner<'a>, key: Text<'a>) -> JsonScan<()> {
        match key.name().as_ref() {
            b"type" => self.kind = string(scanner)?,
            b"subtype" => self.subtype = string(scanner)?,
            b"uuid" => self.uuid = string(scanner)?,
            b"parentUuid" => self.parent = string(scanner)?,
            b"logicalParentUuid" => self.logical_parent = string(scanner)?,
            b"sessionId" => self.session = string(scanner)?,
            b"agentId" => self.agent = string(scanner)?,
            b"timestamp" => {
                let text = string(scanner)?;
                self.time = text.and_then(|text| parse_millis(text.raw()));
                self.bad_time = self.time.is_none();
            }
            b"cwd" => self.cwd = string(scanner)?,
            b"gitBranch" => self.branch = string(scanner)?,
            b"version" => self.version = string(scanner)?,
            b"entrypoint" => self.entrypoint = string(scanner)?,
            b"requestId" => self.request = string(scanner)?,
            b"isSidechain" => self.marks.is_sidechain = flag(scanner)?,
            b"isMeta" => self.marks.is_meta = flag(scanner)?,
            b"isCompactSummary" => self.marks.is_summary = flag(scanner)?,
            b"isApiErrorMessage" => self.marks.is_error = flag(scanner)?,
            b"isAbortedMidStream" => self.marks.is_aborted = flag(scanner)?,
            b"origin" => {
                let mut kind = None;
                object(scanner, |scanner, key| {
                    if key.is("kind") {
                        kind = string(scanner)?;
                        return Ok(());
                    }
                    scanner.skip()
                })?;
                self.marks.is_own |= kind.is_some_and(|kind| !kind.is("human"));
            }
            b"promptSource" => {
                self.marks.is_own |= string(scanner)?.is_some_and(|source| source.is("system"));
            }
            b"explicit" => self.marks.is_explicit = flag(scanner)?,
            b"apiBlockIndex" => self.block_index = small(scanner)?,
            b"message" => {
                if self.message.is_read {
                    self.message.clear();
                }
                self.message.read(scanner)?;
            }
            b"content" => self.content = string(scanner)?,
            b"operation" => self.operation = string(scanner)?,
            b"attachment" => self.attachment = AttachmentFacts::read(scanner)?,
            b"toolUseResult" => self.result_agent = result_agent(scanner)?,
            b"leafUuid" => self.leaf = string(scanner)?,
            b"summary" | b"customTitle" | b"aiTitle" | b"agentName" => {
                self.title = string(scanner)?;
            }
            b"relocatedCwd" => self.relocated = string(scanner)?,
            b"compactMetadata" => self.compaction(scanner)?,
            // In nearly every row.
            b"userType" | b"promptId" | b"slug" => scanner.skip()?,
            name => {
                if !known::is_field(name) {
                    self.unknown_field = Some(key);
                }
                scanner.skip()?;
            }
        }
        Ok(())
    }

    fn compaction(&mut self, scanner: &mut Scanner<'a>) -> JsonScan<()> {
        object(scanner, |scanner, key| match key.name().as_ref() {
            b"preservedSegment" => {
                let (mut head, mut tail) = (None, None);
                object(scanner, |scanner, key| {
                    match key.name().as_ref() {
                        b"headUuid" => head = string(scanner)?,
                        b"tailUuid" => tail = string(scanner)?,
                        b"anchorUuid" => self.anchor = string(scanner)?,
                        _ => scanner.skip()?,
                    }
                    Ok(())
                })?;
                self.preserved_ends = head.zip(tail);
                Ok(())
            }
            b"preservedMessages" => object(scanner, |scanner, key| {
                match key.name().as_ref() {
                    b"uuids" | b"allUuids" => texts(scanner, &mut self.preserved)?,
                    b"anchorUuid" => self.anchor = string(scanner)?,
                    _ => scanner.skip()?,
                }
                Ok(())
            }),
            _ => scanner.skip(),
        })
    }

    /// Whether it is a row of the tree.
    pub(crate) fn is_tree(&self) -> bool {
        self.uuid.is_some()
    }
}

impl<'a> MessageFacts<'a> {
    fn read(&mut self, scanner: &mut Scanner<'a>) -> JsonScan<()> {
        self.is_read = true;
        object(scanner, |scanner, key| {
            match key.name().as_ref() {
                b"id" => self.id = string(scanner)?,
                b"model" => self.model = string(scanner)?,
                b"stop_reason" => self.has_stop = string(scanner)?.is_some(),
                b"usage" => self.usage = Usage::read(scanner)?,
                b"content" => self.content.fill(scanner)?,
                _ => scanner.skip()?,
            }
            Ok(())
        })
    }

    fn clear(&mut self) {
        let (calls, results) = self.content.take_lists();
        *self = Self::default();
        self.content.calls = calls;
        self.content.results = results;
    }
}

impl<'a> AttachmentFacts<'a> {
    fn read(scanner: &mut Scanner<'a>) -> JsonScan<Self> {
        let mut facts = Self::default();
        object(scanner, |scanner, key| {
            match key.name().as_ref() {
                b"type" => facts.kind = string(scanner)?,
                b"prompt" => facts.prompt = Content::read(scanner)?.text,
                _ => scanner.skip()?,
            }
            Ok(())
        })?;
        Ok(facts)
    }
}

impl Usage {
    pub(crate) fn read(scanner: &mut Scanner<'_>) -> JsonScan<Option<Self>> {
        if scanner.peek()? != b'{' {
            scanner.skip()?;
            return Ok(None);
        }
        let mut usage = Self::default();
        scanner.object(|scanner, key| {
            match key.name().as_ref() {
                b"input_tokens" => usage.input = number(scanner)?,
                b"output_tokens" => usage.output = number(scanner)?,
                b"cache_creation_input_tokens" => usage.cache_write = number(scanner)?,
                b"cache_read_input_tokens" => usage.cache_read = number(scanner)?,
                b"cache_creation" => object(scanner, |scanner, key| {
                    if key.is("ephemeral_1h_input_tokens") {
                        usage.cache_write_1h = number(scanner)?;
                        return Ok(());
                    }
                    scanner.skip()
                })?,
                b"output_tokens_details" => object(scanner, |scanner, key| {
                    if key.is("thinking_tokens") {
                        usage.thoughts = number(scanner)?;
                        return Ok(());
                    }
                    scanner.skip()
                })?,
                _ => scanner.skip()?,
            }
            Ok(())
        })?;
        Ok(Some(usage))
    }

    /// Takes the larger of each figure: rows of one answer begin with a placeholder.
    pub(crate) fn raise(&mut self, other: Self) {
        self.input = self.input.max(other.input);
        self.output = self.output.max(other.output);
        self.cache_write = self.cache_write.max(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.max(other.cache_write_1h);
        self.cache_read = self.cache_read.max(other.cache_read);
        self.thoughts = self.thoughts.max(other.thoughts);
    }

    /// Returns the figures in the meaning that all sources share.
    pub(crate) fn tokens(self) -> recount_model::Tokens {
        let thoughts = self.thoughts.min(self.output);
        let input = self.input.saturating_add(self.cache_write).saturating_add(self.cache_read);
        recount_model::Tokens {
            input,
            output: self.output - thoughts,
            cached: self.cache_read,
            cache_write: self.cache_write,
            cache_write_1h: self.cache_write_1h.min(self.cache_write),
            thoughts,
            tool: 0,
            total: input.saturating_add(self.output),
        }
    }
}

/// Reads the agent that a tool's rich result names.
fn result_agent<'a>(scanner: &mut Scanner<'a>) -> JsonScan<Option<Text<'a>>> {
    let mut agent = None;
    object(scanner, |scanner, key| {
        if key.is("agentId") {
            agent = string(scanner)?;
            return Ok(());
        }
        scanner.skip()
    })?;
    Ok(agent)
}

/// Reads a string; any other value is skipped and gives `None`.
#[inline]
pub(crate) fn string<'a>(scanner: &mut Scanner<'a>) -> JsonScan<Option<Text<'a>>> {
    if scanner.peek()? == b'"' {
        return scanner.string().map(Some);
    }
    scanner.skip()?;
    Ok(None)
}

/// Walks over an object; any other value is skipped.
pub(crate) fn object<'a>(
    scanner: &mut Scanner<'a>,
    field: impl FnMut(&mut Scanner<'a>, Text<'a>) -> JsonScan<()>,
) -> JsonScan<()> {
    if scanner.peek()? == b'{' { scanner.object(field) } else { scanner.skip() }
}

fn texts<'a>(scanner: &mut Scanner<'a>, into: &mut Vec<Text<'a>>) -> JsonScan<()> {
    if scanner.peek()? != b'[' {
        return scanner.skip();
    }
    scanner.array(|scanner| {
        into.extend(string(scanner)?);
        Ok(())
    })
}

pub(crate) fn flag(scanner: &mut Scanner<'_>) -> JsonScan<bool> {
    Ok(scanner.value()? == b"true")
}

fn number(scanner: &mut Scanner<'_>) -> JsonScan<u64> {
    if let Some(count) = scanner.count()? {
        return Ok(count);
    }
    let raw = scanner.value()?;
    let float: f64 =
        std::str::from_utf8(raw).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a count that a double holds exactly"
    )]
    let count = if (0.0..=9e15).contains(&float) { float as u64 } else { 0 };
    Ok(count)
}

fn small(scanner: &mut Scanner<'_>) -> JsonScan<u32> {
    Ok(u32::try_from(number(scanner)?).unwrap_or(u32::MAX))
}
