//! The texts in a line, for who wants to replace some of them.
//!
//! What programs go by is told apart: ids, names, kinds. Times and signatures stay. The rest of the line is copied byte for byte.
//! Texts that are seen as one are looked at as one: the tokens of a line of the terminal, each with its own color, and the parts
//! of a message.

use std::collections::BTreeMap;

use super::line::quoted;
use crate::json::{JsonScan, Scanner};
use crate::native::NativeTexts;

/// The shortest key that is looked at.
const KEY: usize = 6;

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
    Name,
    /// What is no text at all.
    Fixed,
}

impl Place {
    /// Returns what the value of a key is.
    fn of(self, key: &[u8]) -> Self {
        match self {
            _ if key == b"thoughtSignature" => Self::Fixed,
            Self::Line => match key {
                b"timestamp" | b"type" | b"tokens" | b"sessionId" | b"startTime"
                | b"lastUpdated" | b"kind" => Self::Fixed,
                b"id" | b"model" => Self::Name,
                b"projectHash" => Self::Hash,
                b"$set" => Self::Line,
                b"content" | b"displayContent" => Self::Parts,
                b"toolCalls" => Self::Calls,
                b"thoughts" => Self::Thoughts,
                _ => Self::Free,
            },
            Self::Parts => match key {
                b"mimeType" => Self::Name,
                b"functionCall" | b"functionResponse" => Self::Exchange,
                b"inlineData" => Self::Media,
                b"fileData" => Self::Parts,
                _ => Self::Free,
            },
            Self::Exchange => match key {
                b"id" | b"name" => Self::Name,
                b"parts" => Self::Parts,
                _ => Self::Free,
            },
            Self::Calls => match key {
                b"status" | b"timestamp" => Self::Fixed,
                b"id" | b"name" | b"agentId" => Self::Name,
                b"result" => Self::Parts,
                _ => Self::Free,
            },
            Self::Thoughts if key == b"timestamp" => Self::Fixed,
            Self::Media => match key {
                b"mimeType" => Self::Name,
                b"data" => Self::Data,
                _ => Self::Free,
            },
            Self::Free if key == b"inlineData" => Self::Media,
            Self::Fixed => Self::Fixed,
            Self::Name | Self::Thoughts | Self::Free | Self::Data | Self::Hash => Self::Free,
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
    let (scanner, pieces) = (Scanner::new(line), BTreeMap::new());
    let mut walk = Walk { scanner, line, out: Vec::new(), copied: 0, texts, pieces, gathered: 0 };
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
    /// New texts of pieces that were looked at together, by where they begin.
    pieces: BTreeMap<usize, String>,
    /// How far pieces were gathered, so that no byte is looked at for two of them.
    gathered: usize,
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
                    if !is_object && matches!(place, Place::Parts | Place::Free) {
                        self.gather(place);
                    }
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
        self.scanner.peek()?;
        let start = self.scanner.offset();
        let key = self.scanner.string()?;
        let end = self.scanner.offset();
        self.scanner.expect(b':')?;
        let place = around.place.of(&key.name());
        let name = key.decode().into_owned();
        // Only keys of what is free can be anybody's text.
        if place == Place::Free
            && name.len() >= KEY
            && let Some(new) = self.texts.key(&name)
        {
            self.put(start, end, &new);
        }
        Ok((place, Some(name)))
    }

    /// Looks at texts together that are seen as one: the tokens of a screen, `[[{"text": …}, …], …]`, or the parts of a message.
    fn gather(&mut self, place: Place) {
        let start = self.scanner.offset();
        if start < self.gathered {
            return;
        }
        let mut ahead = self.scanner.clone();
        let mut found: Vec<(usize, String)> = Vec::new();
        let read = if place == Place::Parts {
            tokens(&mut ahead, &mut found)
        } else if is_screen(&self.scanner) {
            ahead.array(|lines| {
                if !found.is_empty() {
                    found.push((usize::MAX, "\n".into()));
                }
                tokens(lines, &mut found)
            })
        } else {
            return;
        };
        self.gathered = ahead.offset();
        let (places, texts): (Vec<usize>, Vec<String>) = found.into_iter().unzip();
        if read.is_err() || texts.len() < 2 {
            return;
        }
        if let Some(new) = self.texts.pieces(&texts) {
            let changed = places.into_iter().zip(texts).zip(new);
            let changed = changed.filter(|((_, old), new)| old != new);
            self.pieces.extend(changed.map(|((place, _), new)| (place, new)));
        }
    }

    fn put(&mut self, start: usize, end: usize, new: &str) {
        self.out.extend_from_slice(self.line.get(self.copied..start).unwrap_or_default());
        self.out.extend_from_slice(quoted(new).as_bytes());
        self.copied = end;
    }

    fn text(&mut self, place: Place, key: Option<&str>) -> JsonScan<()> {
        let start = self.scanner.offset();
        let text = self.scanner.string()?;
        let known = self.pieces.remove(&start);
        let new = match place {
            _ if known.is_some() => known,
            Place::Fixed => None,
            Place::Name => self.texts.name(&text.decode()),
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
            self.put(start, self.scanner.offset(), &new);
        }
        Ok(())
    }
}

/// Whether an array of arrays of objects begins here, as a screen does.
fn is_screen(scanner: &Scanner<'_>) -> bool {
    let mut ahead = scanner.clone();
    let mut begins = |byte: u8| ahead.expect(byte).is_ok();
    begins(b'[') && begins(b'[') && begins(b'{')
}

/// Reads the texts of the objects of an array, with where they begin.
fn tokens(scanner: &mut Scanner<'_>, found: &mut Vec<(usize, String)>) -> JsonScan<()> {
    if scanner.peek()? != b'[' {
        return scanner.skip();
    }
    scanner.array(|token| {
        if token.peek()? != b'{' {
            return token.skip();
        }
        token.object(|value, key| {
            if value.peek()? != b'"' || &*key.name() != b"text" {
                return value.skip();
            }
            let start = value.offset();
            found.push((start, value.string()?.decode().into_owned()));
            Ok(())
        })
    })
}
