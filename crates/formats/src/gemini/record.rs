//! One parsed line of a log.

use std::ops::Range;

use super::facts::{Facts, string};
use crate::json::{JsonScan, Scanner, Text, compact};

/// The kind of a line. The order of the checks is the agent's own (`loadConversationRecord`).
#[derive(Debug)]
pub(crate) enum Record<'a> {
    /// `{"$rewindTo": id}`
    Rewind(Text<'a>),
    /// A complete message.
    Message(Facts<'a>),
    /// `{"$set": {…}}`, possibly with a checkpoint.
    Set(Fields<'a>),
    /// Metadata; in old one-line files with all messages.
    Head(Fields<'a>),
    /// Valid JSON of an unknown kind.
    Unknown,
}

/// The metadata in one record. The outer `Option` is whether the key exists: `null` overwrites.
#[derive(Debug, Default)]
pub(crate) struct Fields<'a> {
    pub(crate) session_id: Option<Loose<'a>>,
    pub(crate) project_hash: Option<Loose<'a>>,
    pub(crate) start: Option<Loose<'a>>,
    pub(crate) updated: Option<Loose<'a>>,
    pub(crate) kind: Option<Loose<'a>>,
    pub(crate) summary: Option<Loose<'a>>,
    pub(crate) directories: Option<Vec<Text<'a>>>,
    pub(crate) scratchpad: Option<String>,
    /// The elements of `messages`, if that is an array.
    pub(crate) messages: Option<Vec<Element<'a>>>,
    /// Whether there is a field that no known release writes.
    pub(crate) unknown_field: bool,
    /// The object that contains them.
    pub(crate) raw: &'a [u8],
}

/// A value that should be a string. The loader only checks whether it is truthy in JavaScript.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Loose<'a> {
    /// A string, possibly empty.
    Text(Text<'a>),
    /// Another truthy value, as raw JSON.
    Odd(&'a [u8]),
    /// `null`, `false` or zero.
    Nothing,
}

impl<'a> Loose<'a> {
    fn read(scanner: &mut Scanner<'a>) -> JsonScan<Self> {
        if scanner.peek()? == b'"' {
            return scanner.string().map(Self::Text);
        }
        let raw = scanner.value()?;
        let digits = raw.split(|byte| byte.eq_ignore_ascii_case(&b'e')).next().unwrap_or_default();
        let is_zero = digits.iter().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
        Ok(if is_zero || matches!(raw, b"null" | b"false") {
            Self::Nothing
        } else {
            Self::Odd(raw)
        })
    }

    /// Returns the text, or the raw JSON of a value that is not a string.
    pub(crate) fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.decode().into_owned()),
            Self::Odd(raw) => Some(compact(raw)),
            Self::Nothing => None,
        }
    }
}

/// An element of `messages` and its position in the scanned text.
#[derive(Debug, Default)]
pub(crate) struct Element<'a> {
    pub(crate) facts: Facts<'a>,
    pub(crate) is_object: bool,
    pub(crate) range: Range<usize>,
}

impl<'a> Record<'a> {
    /// Reads one line.
    pub(crate) fn read(line: &'a [u8]) -> JsonScan<Self> {
        let mut scanner = Scanner::new(line);
        if scanner.peek()? != b'{' {
            scanner.skip()?;
            scanner.end()?;
            return Ok(Self::Unknown);
        }
        let mut rewind = None;
        let mut set = None;
        let mut facts = Facts::default();
        let mut fields = Fields::default();
        scanner.object(|scanner, key| {
            let key = key.name();
            match key.as_ref() {
                b"$rewindTo" => rewind = string(scanner)?,
                b"$set" => set = Fields::read_set(scanner)?,
                _ if fields.field(scanner, &key)? => {}
                _ => facts.field(scanner, &key)?,
            }
            Ok(())
        })?;
        scanner.end()?;
        Ok(if let Some(id) = rewind {
            Self::Rewind(id)
        } else if facts.id.is_some() {
            Self::Message(facts)
        } else if let Some(set) = set {
            Self::Set(set)
        } else if let (Some(Loose::Text(_)), Some(Loose::Text(_))) =
            (fields.session_id, fields.project_hash)
        {
            fields.unknown_field = facts.unknown_field;
            fields.raw = line;
            Self::Head(fields)
        } else {
            Self::Unknown
        })
    }
}

impl<'a> Fields<'a> {
    fn read_set(scanner: &mut Scanner<'a>) -> JsonScan<Option<Self>> {
        match scanner.peek()? {
            b'{' => {
                let mut fields = Self::default();
                let start = scanner.offset();
                scanner.object(|scanner, key| {
                    if fields.field(scanner, &key.name())? {
                        return Ok(());
                    }
                    fields.unknown_field = true;
                    scanner.skip()
                })?;
                fields.raw = scanner.since(start);
                Ok(Some(fields))
            }
            // For JavaScript an array is an object without these keys.
            b'[' => scanner.skip().map(|()| Some(Self::default())),
            _ => scanner.skip().map(|()| None),
        }
    }

    /// Reads one field of the metadata and consumes its value; `false` if it is not one.
    pub(crate) fn field(&mut self, scanner: &mut Scanner<'a>, key: &[u8]) -> JsonScan<bool> {
        match key {
            b"sessionId" => self.session_id = Some(Loose::read(scanner)?),
            b"projectHash" => self.project_hash = Some(Loose::read(scanner)?),
            b"startTime" => self.start = Some(Loose::read(scanner)?),
            b"lastUpdated" => self.updated = Some(Loose::read(scanner)?),
            b"kind" => self.kind = Some(Loose::read(scanner)?),
            b"summary" => self.summary = Some(Loose::read(scanner)?),
            b"directories" => self.directories = Some(strings(scanner)?),
            b"memoryScratchpad" => self.scratchpad = Some(compact(scanner.value()?)),
            b"messages" => self.messages = elements(scanner)?,
            // Internal values of the loader that leak into files; they add nothing to the messages.
            b"userMessageCount"
            | b"messageCount"
            | b"firstUserMessage"
            | b"hasUserOrAssistantMessage"
            | b"hasResumableContent"
            | b"memoryScratchpadIsStale" => scanner.skip()?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn strings<'a>(scanner: &mut Scanner<'a>) -> JsonScan<Vec<Text<'a>>> {
    let mut all = Vec::new();
    if scanner.peek()? == b'[' {
        scanner.array(|scanner| {
            all.extend(string(scanner)?);
            Ok(())
        })?;
    } else {
        scanner.skip()?;
    }
    Ok(all)
}

fn elements<'a>(scanner: &mut Scanner<'a>) -> JsonScan<Option<Vec<Element<'a>>>> {
    if scanner.peek()? != b'[' {
        scanner.skip()?;
        return Ok(None);
    }
    let mut all = Vec::new();
    scanner.array(|scanner| {
        all.push(Element::read(scanner)?);
        Ok(())
    })?;
    Ok(Some(all))
}

impl<'a> Element<'a> {
    /// Reads the element at the scanner's position.
    pub(crate) fn read(scanner: &mut Scanner<'a>) -> JsonScan<Self> {
        let mut element = Self::default();
        element.fill(scanner)?;
        Ok(element)
    }

    /// The same, in place.
    pub(crate) fn fill(&mut self, scanner: &mut Scanner<'a>) -> JsonScan<()> {
        self.is_object = scanner.peek()? == b'{';
        let start = scanner.offset();
        self.facts.fill(scanner)?;
        self.range = start..scanner.offset();
        Ok(())
    }
}
