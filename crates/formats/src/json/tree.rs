//! Small values as a tree, and JSON text without its white space.

use super::{JsonScan, Scanner};

/// How deep a tree may go before the rest is kept as raw text.
const DEEPEST: usize = 128;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonTree {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Self>),
    /// An object; of equal keys only the last is kept, as in JavaScript.
    Object(Vec<(String, Self)>),
    /// A value nested too deeply to be built: its text.
    Deep(String),
}

impl JsonTree {
    /// Builds the tree of one value.
    pub fn parse(bytes: &[u8]) -> JsonScan<Self> {
        let mut scanner = Scanner::new(bytes);
        let tree = Self::build(&mut scanner, 0)?;
        scanner.end()?;
        Ok(tree)
    }

    /// Builds the tree of the value at the scanner's position.
    pub fn read(scanner: &mut Scanner<'_>) -> JsonScan<Self> {
        Self::build(scanner, 0)
    }

    fn build(scanner: &mut Scanner<'_>, depth: usize) -> JsonScan<Self> {
        if depth >= DEEPEST {
            return Ok(Self::Deep(String::from_utf8_lossy(scanner.value()?).into_owned()));
        }
        Ok(match scanner.peek()? {
            b'"' => Self::String(scanner.string()?.decode().into_owned()),
            b'{' => {
                let mut fields: Vec<(String, Self)> = Vec::new();
                scanner.object(|scanner, key| {
                    let value = Self::build(scanner, depth + 1)?;
                    let key = key.decode();
                    match fields.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, old)) => *old = value,
                        None => fields.push((key.into_owned(), value)),
                    }
                    Ok(())
                })?;
                Self::Object(fields)
            }
            b'[' => {
                let mut elements = Vec::new();
                scanner.array(|scanner| {
                    elements.push(Self::build(scanner, depth + 1)?);
                    Ok(())
                })?;
                Self::Array(elements)
            }
            _ => match scanner.value()? {
                b"null" => Self::Null,
                b"true" => Self::Bool(true),
                b"false" => Self::Bool(false),
                number => Self::Number(String::from_utf8_lossy(number).into_owned()),
            },
        })
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let mut fields = self.as_object()?.iter();
        fields.find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// Returns the elements of an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    /// Returns the fields of an object.
    pub fn as_object(&self) -> Option<&[(String, Self)]> {
        if let Self::Object(fields) = self { Some(fields) } else { None }
    }

    /// Returns the text of a string under `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }
}

/// Returns valid JSON text without the white space between its tokens, as text.
pub fn compact(json: &[u8]) -> String {
    String::from_utf8(compact_bytes(json))
        .unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}

/// Returns valid JSON text without the white space between its tokens.
pub fn compact_bytes(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    let mut rest = json;
    while let Some((&first, tail)) = rest.split_first() {
        match first {
            b' ' | b'\n' | b'\r' | b'\t' => rest = tail,
            b'"' => {
                let mut scanner = Scanner::new(rest);
                let end = if scanner.string().is_ok() { scanner.offset() } else { rest.len() };
                let (string, after) = rest.split_at(end);
                out.extend_from_slice(string);
                rest = after;
            }
            _ => {
                out.push(first);
                rest = tail;
            }
        }
    }
    out
}
