//! The texts in a line, for who wants to replace some of them.
//!
//! What programs go by stays: ids, names, times, kinds, and signatures. The rest of the line is copied byte for byte.

use super::line::quoted;
use crate::json::{JsonScan, Scanner};
use crate::native::NativeTexts;

/// What a value is, by where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A line.
    Line,
    /// Content: parts, or text.
    Parts,
    /// `functionCall` and `functionResponse`.
    Exchange,
    /// `inlineData`.
    Media,
    /// The data in it.
    Data,
    /// `toolCalls`.
    Calls,
    /// `thoughts`.
    Thoughts,
    /// The hash of a path.
    Hash,
    /// Anything at all: arguments, outputs, fields that nobody knows. A key may tell what a text is.
    Free,
    /// What programs go by.
    Fixed,
}

impl Place {
    /// Returns what the value of a key is.
    fn of(self, key: &[u8]) -> Self {
        match self {
            _ if key == b"thoughtSignature" => Self::Fixed,
            Self::Line => match key {
                b"id" | b"timestamp" | b"type" | b"model" | b"tokens" | b"sessionId"
                | b"startTime" | b"lastUpdated" | b"kind" => Self::Fixed,
                b"projectHash" => Self::Hash,
                b"$set" => Self::Line,
                b"content" | b"displayContent" => Self::Parts,
                b"toolCalls" => Self::Calls,
                b"thoughts" => Self::Thoughts,
                _ => Self::Free,
            },
            Self::Parts => match key {
                b"mimeType" => Self::Fixed,
                b"functionCall" | b"functionResponse" => Self::Exchange,
                b"inlineData" => Self::Media,
                b"fileData" => Self::Parts,
                _ => Self::Free,
            },
            Self::Exchange => match key {
                b"id" | b"name" => Self::Fixed,
                b"parts" => Self::Parts,
                _ => Self::Free,
            },
            Self::Calls => match key {
                b"id" | b"name" | b"status" | b"timestamp" | b"agentId" => Self::Fixed,
                b"result" => Self::Parts,
                _ => Self::Free,
            },
            Self::Thoughts if key == b"timestamp" => Self::Fixed,
            Self::Media => match key {
                b"mimeType" => Self::Fixed,
                b"data" => Self::Data,
                _ => Self::Free,
            },
            Self::Free if key == b"inlineData" => Self::Media,
            Self::Fixed => Self::Fixed,
            Self::Thoughts | Self::Free | Self::Data | Self::Hash => Self::Free,
        }
    }
}

/// An array or object that is open.
struct Open {
    is_object: bool,
    place: Place,
    key: Option<String>,
}

/// Returns a line with other texts.
pub(crate) fn replace(line: &[u8], texts: &mut dyn NativeTexts) -> JsonScan<Vec<u8>> {
    let mut walk = Walk { scanner: Scanner::new(line), line, out: Vec::new(), copied: 0, texts };
    walk.run()?;
    walk.out.extend_from_slice(line.get(walk.copied..).unwrap_or_default());
    Ok(walk.out)
}

struct Walk<'a, 't> {
    scanner: Scanner<'a>,
    line: &'a [u8],
    out: Vec<u8>,
    /// How much of the line is in `out`.
    copied: usize,
    texts: &'t mut dyn NativeTexts,
}

impl Walk<'_, '_> {
    /// Walks without recursion: a line may be nested to any depth.
    fn run(&mut self) -> JsonScan<()> {
        let mut open: Vec<Open> = Vec::new();
        let (mut place, mut key) = (Place::Line, None);
        loop {
            match self.scanner.peek()? {
                b'"' => self.text(place, key.as_deref())?,
                first @ (b'{' | b'[') => {
                    let is_object = first == b'{';
                    self.scanner.expect(first)?;
                    let last = if is_object { b'}' } else { b']' };
                    if self.scanner.peek()? == last {
                        self.scanner.expect(last)?;
                    } else {
                        open.push(Open { is_object, place, key });
                        (place, key) = self.enter(&open)?;
                        continue;
                    }
                }
                _ => self.scanner.skip()?,
            }
            // Behind a value: on to the next one.
            loop {
                let Some(around) = open.last() else { return self.scanner.end() };
                if self.scanner.peek()? == b',' {
                    self.scanner.expect(b',')?;
                    (place, key) = self.enter(&open)?;
                    break;
                }
                self.scanner.expect(if around.is_object { b'}' } else { b']' })?;
                open.pop();
            }
        }
    }

    /// Goes to the next value of what is open. Elements of an array are what the array is.
    fn enter(&mut self, open: &[Open]) -> JsonScan<(Place, Option<String>)> {
        let Some(around) = open.last() else { return Ok((Place::Line, None)) };
        if !around.is_object {
            return Ok((around.place, around.key.clone()));
        }
        let key = self.scanner.key()?;
        Ok((around.place.of(&key.name()), Some(key.decode().into_owned())))
    }

    fn text(&mut self, place: Place, key: Option<&str>) -> JsonScan<()> {
        let start = self.scanner.offset();
        let text = self.scanner.string()?;
        let new = match place {
            Place::Fixed => None,
            Place::Data => {
                self.texts.media();
                None
            }
            Place::Hash => self.texts.path_hash(),
            Place::Free => self.texts.text(key, &text.decode()),
            Place::Line
            | Place::Parts
            | Place::Exchange
            | Place::Media
            | Place::Calls
            | Place::Thoughts => self.texts.text(None, &text.decode()),
        };
        if let Some(new) = new {
            self.out.extend_from_slice(self.line.get(self.copied..start).unwrap_or_default());
            self.out.extend_from_slice(quoted(&new).as_bytes());
            self.copied = self.scanner.offset();
        }
        Ok(())
    }
}
