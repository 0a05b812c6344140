//! Iterates over the texts in a line, to replace some of them.
//!
//! Names that programs use are distinguished: ids, names, kinds. The rest of the line is copied byte for byte. Texts that
//! are displayed as one are checked as one: the tokens of a line of the terminal, each with its own color, and the parts of
//! a message.

use std::collections::BTreeMap;

use super::NativeTexts;
use crate::json::{JsonScan, Scanner};

/// The shortest key that is checked.
const KEY: usize = 6;

/// The minimum length of a text without a space to be treated as data, where data may be.
const DATA: usize = 1024;

/// The kind of a value, by its position in a line.
pub(crate) trait Place: Copy {
    /// A line.
    const LINE: Self;

    /// Returns the kind of the value of a key. Elements of an array have the kind of the array.
    fn of(self, key: &[u8]) -> Self;

    /// Returns how its texts are treated.
    fn treatment(self) -> Treatment;

    /// Returns which texts of an array here are displayed as one.
    fn gather(self) -> Option<Gather>;
}

/// How texts are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// As text.
    Text,
    /// As text that its key may describe. The key may be arbitrary text too.
    Free,
    /// As a name that programs use.
    Name,
    /// As data that is not inspected.
    Data,
    /// As data if it looks like it, else as text.
    MaybeData,
    /// As the hash of a path.
    Hash,
    /// Not at all.
    Fixed,
}

/// Texts that are displayed as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gather {
    /// Of the objects of an array.
    Parts,
    /// Of an array of arrays of objects, if it is one.
    Screen,
}

/// An open array or object.
struct Open<P> {
    is_object: bool,
    place: P,
    key: Option<String>,
}

/// Returns a line with replaced texts.
pub(crate) fn replace<P: Place>(line: &[u8], texts: &mut dyn NativeTexts) -> JsonScan<Vec<u8>> {
    let (scanner, pieces) = (Scanner::new(line), BTreeMap::new());
    let mut walk = Walk { scanner, line, out: Vec::new(), copied: 0, texts, pieces, gathered: 0 };
    walk.run::<P>()?;
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
    /// New texts of pieces that were checked together, by their start.
    pieces: BTreeMap<usize, String>,
    /// The position up to which pieces were collected, so that no byte is read for two of them.
    gathered: usize,
}

impl Walk<'_, '_> {
    /// Iterates without recursion: a line may be nested to any depth.
    fn run<P: Place>(&mut self) -> JsonScan<()> {
        let mut open: Vec<Open<P>> = Vec::new();
        let (mut place, mut key) = (P::LINE, None);
        loop {
            match self.scanner.peek()? {
                b'"' => self.text(place.treatment(), key.as_deref())?,
                first @ (b'{' | b'[') => {
                    let is_object = first == b'{';
                    if !is_object && let Some(what) = place.gather() {
                        self.gather(what);
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
            // After a value: on to the next one.
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

    /// Goes to the next value of the open container. Elements of an array have the kind of the array.
    fn enter<P: Place>(&mut self, open: &[Open<P>]) -> JsonScan<(P, Option<String>)> {
        let Some(around) = open.last() else { return Ok((P::LINE, None)) };
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
        // Only keys of free values can be arbitrary text.
        if place.treatment() == Treatment::Free
            && name.len() >= KEY
            && let Some(new) = self.texts.key(&name)
        {
            self.put(start, end, &new);
        }
        Ok((place, Some(name)))
    }

    /// Checks texts together that are displayed as one: the tokens of a screen, `[[{"text": …}, …], …]`, or the parts of a
    /// message.
    fn gather(&mut self, what: Gather) {
        let start = self.scanner.offset();
        if start < self.gathered {
            return;
        }
        let mut ahead = self.scanner.clone();
        let mut found: Vec<(usize, String)> = Vec::new();
        let read = if what == Gather::Parts {
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

    fn text(&mut self, treatment: Treatment, key: Option<&str>) -> JsonScan<()> {
        let start = self.scanner.offset();
        let text = self.scanner.string()?;
        let known = self.pieces.remove(&start);
        let new = match treatment {
            _ if known.is_some() => known,
            Treatment::Fixed => None,
            Treatment::Name => self.texts.name(&text.decode()),
            Treatment::Data => {
                self.texts.media();
                None
            }
            Treatment::MaybeData => {
                let text = text.decode();
                if is_data(&text) {
                    self.texts.media();
                    None
                } else {
                    self.texts.text(key, &text)
                }
            }
            Treatment::Hash => self.texts.path_hash(),
            Treatment::Free => self.texts.text(key, &text.decode()),
            Treatment::Text => self.texts.text(None, &text.decode()),
        };
        if let Some(new) = new {
            self.put(start, self.scanner.offset(), &new);
        }
        Ok(())
    }
}

/// Whether a text is data in Base64, plain or as a data URL.
fn is_data(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let address = text.strip_prefix("data:").and_then(|text| text.split_once(";base64,"));
    match address {
        Some((_, data)) => data.bytes().all(is_plain),
        None => text.len() > DATA && text.bytes().all(is_plain),
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Whether an array of arrays of objects begins here, like a screen.
fn is_screen(scanner: &Scanner<'_>) -> bool {
    let mut ahead = scanner.clone();
    let mut begins = |byte: u8| ahead.expect(byte).is_ok();
    begins(b'[') && begins(b'[') && begins(b'{')
}

/// Reads the texts of the objects of an array, with their positions.
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
