//! Basic facts of one message, collected in one pass without building its text.

use std::borrow::Cow;

use recount_model::{Tokens, parse_millis};

use super::calls::Calls;
use super::content::{Content, Piece};
use super::part::Flat;
use crate::json::{JsonScan, Scanner, Text, trim, trim_start};

/// What a list needs to know about a message. Of duplicate keys the last one counts, as in JavaScript.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) id: Option<Text<'a>>,
    pub(crate) time: Option<i64>,
    pub(crate) bad_time: bool,
    pub(crate) role: Role,
    pub(crate) content: Content<'a>,
    pub(crate) display: Content<'a>,
    pub(crate) calls: Calls<'a>,
    pub(crate) thoughts: u32,
    pub(crate) tokens: Option<Tokens>,
    pub(crate) model: Option<Text<'a>>,
    /// A field that no known release writes.
    pub(crate) unknown_field: bool,
    /// A field whose type no known release writes.
    pub(crate) wrong_type: bool,
}

/// The `type` of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    User,
    Gemini,
    Info,
    Warning,
    Error,
    /// Absent, or a type no release has written.
    Unknown,
}

/// How the agent's list and resume treat a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resumable {
    Yes,
    No,
    /// Its loader throws and drops the record.
    Throws,
}

impl Default for Facts<'_> {
    fn default() -> Self {
        Self {
            id: None,
            time: None,
            bad_time: false,
            role: Role::Unknown,
            content: Content::None,
            display: Content::None,
            calls: Calls::default(),
            thoughts: 0,
            tokens: None,
            model: None,
            unknown_field: false,
            wrong_type: false,
        }
    }
}

impl<'a> Facts<'a> {
    /// Reads the message at the scanner's position; anything but an object has no facts.
    pub(crate) fn read(scanner: &mut Scanner<'a>) -> JsonScan<Self> {
        let mut facts = Self::default();
        facts.fill(scanner)?;
        Ok(facts)
    }

    /// The same, in place: facts are too large to be moved for each message.
    pub(crate) fn fill(&mut self, scanner: &mut Scanner<'a>) -> JsonScan<()> {
        if scanner.peek()? == b'{' {
            scanner.object(|scanner, key| self.field(scanner, &key.name()))
        } else {
            scanner.skip()
        }
    }

    /// Reads one field of a message and consumes its value.
    pub(crate) fn field(&mut self, scanner: &mut Scanner<'a>, key: &[u8]) -> JsonScan<()> {
        match key {
            b"id" => {
                self.id = string(scanner)?;
                self.wrong_type |= self.id.is_none();
            }
            b"timestamp" => {
                let text = string(scanner)?;
                self.time = text.and_then(|text| parse_millis(text.raw()));
                self.bad_time = self.time.is_none();
            }
            b"type" => self.role = string(scanner)?.map_or(Role::Unknown, Role::from_text),
            b"content" => {
                self.judge(scanner, b"\"[{n")?;
                self.content = Content::read(scanner)?;
            }
            b"displayContent" => self.display = Content::read(scanner)?,
            b"toolCalls" => {
                self.judge(scanner, b"[n")?;
                self.calls = Calls::default();
                self.calls.fill(scanner)?;
                self.unknown_field |= self.calls.unknown_field;
            }
            b"thoughts" => {
                self.judge(scanner, b"[n")?;
                self.thoughts = count(scanner)?;
            }
            b"tokens" => {
                self.judge(scanner, b"{n")?;
                self.tokens = tokens(scanner)?;
            }
            b"model" => {
                self.judge(scanner, b"\"n")?;
                self.model = string(scanner)?;
            }
            _ => {
                self.unknown_field = true;
                scanner.skip()?;
            }
        }
        Ok(())
    }

    /// Notes a value that begins with none of the expected bytes.
    fn judge(&mut self, scanner: &mut Scanner<'a>, allowed: &[u8]) -> JsonScan<()> {
        self.wrong_type |= !allowed.contains(&scanner.peek()?);
        Ok(())
    }

    /// Whether the message makes a session listable (`isResumableMessageRecord`, 0.47–0.61).
    ///
    /// `lead` is the start of its text, `None` if the loader throws.
    pub(crate) fn resumable(&self, lead: Option<&str>) -> Resumable {
        let Some(lead) = lead else { return Resumable::Throws };
        let yes = match self.role {
            Role::User => {
                let ignored = ["/", "?", "<session_context>", "<hook_context>"];
                !lead.is_empty() && !ignored.iter().any(|word| lead.starts_with(word))
            }
            Role::Gemini => !lead.is_empty() || self.calls.length > 0 || self.thoughts > 0,
            Role::Info | Role::Warning | Role::Error | Role::Unknown => false,
        };
        if yes { Resumable::Yes } else { Resumable::No }
    }

    /// Returns a rank by completeness, to find the richest version of a message.
    pub(crate) fn rank(&self) -> u64 {
        let calls = u64::from(self.calls.with_result.min(0xfff)) << 12
            | u64::from(self.calls.total.min(0xfff));
        let text = u64::try_from(self.content.text_bytes()).unwrap_or(u64::MAX).min(0xffff_ffff);
        calls << 33 | u64::from(self.tokens.is_some()) << 32 | text
    }
}

impl Role {
    fn from_text(text: Text<'_>) -> Self {
        match text.name().as_ref() {
            b"user" => Self::User,
            b"gemini" => Self::Gemini,
            b"info" => Self::Info,
            b"warning" => Self::Warning,
            b"error" => Self::Error,
            _ => Self::Unknown,
        }
    }
}

/// Returns the start of the flattened, trimmed text, or `None` if the agent's flattening throws.
///
/// Enough of it is decoded to distinguish the kinds of messages.
pub(crate) fn lead(role: Role, content: Content<'_>) -> Option<Cow<'static, str>> {
    if let Content::Text(text) = content
        && role != Role::User
    {
        // For the model's text, only whether it is empty matters.
        return Some(Cow::Borrowed(if text.is_blank() { "" } else { "…" }));
    }
    let mut lead = String::new();
    let mut throws = false;
    // A single part that is not text is trimmed as if it were, unless it is not used.
    let single = content.is_single_part() && matches!(role, Role::User | Role::Gemini);
    content.each(|piece| {
        let flat = match piece {
            Piece::Text(text) => Flat::Text(text),
            Piece::Part(part) => part.flatten(),
        };
        throws |= matches!(flat, Flat::Throws) || (single && matches!(flat, Flat::Odd));
        if lead.len() >= LEAD {
            return;
        }
        match flat {
            Flat::Text(text) => push_words(&mut lead, text),
            Flat::Placeholder | Flat::Odd => lead.push_str("[…]"),
            Flat::Empty | Flat::Throws => {}
        }
    });
    let end = trim(&lead).len();
    lead.truncate(end);
    (!throws).then_some(Cow::Owned(lead))
}

fn push_words(lead: &mut String, text: Text<'_>) {
    let mut words = text.decode_start(LEAD);
    if lead.is_empty() {
        if trim(&words).is_empty() && text.raw().len() > LEAD {
            words = text.decode();
        }
        let blank = words.len() - trim_start(&words).len();
        lead.push_str(words.get(blank..).unwrap_or_default());
    } else {
        lead.push_str(&words);
    }
}

/// The number of bytes of a text that are used to determine its kind.
const LEAD: usize = 96;

/// Reads a string; any other value is skipped and gives `None`.
#[inline]
pub(crate) fn string<'a>(scanner: &mut Scanner<'a>) -> JsonScan<Option<Text<'a>>> {
    if scanner.peek()? == b'"' {
        return scanner.string().map(Some);
    }
    scanner.skip()?;
    Ok(None)
}

fn count(scanner: &mut Scanner<'_>) -> JsonScan<u32> {
    let mut count = 0;
    if scanner.peek()? == b'[' {
        scanner.array(|scanner| {
            count += 1;
            scanner.skip()
        })?;
    } else {
        scanner.skip()?;
    }
    Ok(count)
}

fn tokens(scanner: &mut Scanner<'_>) -> JsonScan<Option<Tokens>> {
    if scanner.peek()? != b'{' {
        scanner.skip()?;
        return Ok(None);
    }
    let mut tokens = Tokens::default();
    let mut total = None;
    scanner.object(|scanner, key| {
        let value = match scanner.count()? {
            None => number(scanner.value()?),
            count => count,
        };
        match key.name().as_ref() {
            b"input" => tokens.input = value.unwrap_or(0),
            b"output" => tokens.output = value.unwrap_or(0),
            b"cached" => tokens.cached = value.unwrap_or(0),
            b"thoughts" => tokens.thoughts = value.unwrap_or(0),
            b"tool" => tokens.tool = value.unwrap_or(0),
            b"total" => total = value,
            _ => {}
        }
        Ok(())
    })?;
    tokens.total = total.unwrap_or_else(|| {
        let parts = [tokens.output, tokens.thoughts, tokens.tool];
        parts.into_iter().fold(tokens.input, u64::saturating_add)
    });
    Ok(Some(tokens))
}

/// Reads a count; JavaScript may have written it with a fraction or an exponent.
fn number(raw: &[u8]) -> Option<u64> {
    let digits = raw.iter().try_fold(0u64, |sum, byte| {
        byte.is_ascii_digit().then(|| sum.checked_mul(10)?.checked_add(u64::from(byte - b'0')))?
    });
    digits.or_else(|| {
        let float: f64 = std::str::from_utf8(raw).ok()?.parse().ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be a count that a double holds exactly"
        )]
        (0.0..=9e15).contains(&float).then_some(float as u64)
    })
}
