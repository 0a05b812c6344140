//! The `content` of a message: a string, a part, or a list of both.

use super::part::{Flat, Part};
use crate::json::{JsonScan, Scanner, Text};

/// The content of a message, not yet looked into.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    /// Absent, `null` or another value without text.
    None,
    /// A string.
    Text(Text<'a>),
    /// A part or a list, as raw JSON.
    Parts(&'a [u8]),
}

/// One element of a content.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece<'a> {
    /// A bare string.
    Text(Text<'a>),
    /// A part.
    Part(Part<'a>),
}

/// Lists within lists are followed this far; the agent never writes them.
const DEEPEST: u32 = 16;

impl<'a> Content<'a> {
    /// Reads the value at the scanner's position.
    pub(crate) fn read(scanner: &mut Scanner<'a>) -> JsonScan<Self> {
        Ok(match scanner.peek()? {
            b'"' => Self::Text(scanner.string()?),
            b'[' | b'{' => Self::Parts(scanner.value()?),
            _ => {
                scanner.skip()?;
                Self::None
            }
        })
    }

    /// Calls `visit` for each piece in order.
    pub(crate) fn each(self, mut visit: impl FnMut(Piece<'a>)) {
        match self {
            Self::None => {}
            Self::Text(text) => visit(Piece::Text(text)),
            // The text was scanned before, so it cannot fail now.
            Self::Parts(raw) => _ = walk(&mut Scanner::new(raw), 0, &mut visit),
        }
    }

    /// Whether it is a single part rather than a list; the agent's own flattening differs there.
    pub(crate) fn is_single_part(self) -> bool {
        matches!(self, Self::Parts(raw) if raw.first() == Some(&b'{'))
    }

    /// Returns the text of all parts that are not thoughts, joined.
    pub(crate) fn text(self) -> String {
        let mut out = String::new();
        self.each(|piece| {
            if let Some(text) = piece.spoken() {
                out.push_str(&text.decode());
            }
        });
        out
    }

    /// Returns about the first `bytes` of the text as the agent flattens it, placeholders included.
    pub(crate) fn flat_start(self, bytes: usize) -> String {
        let mut out = String::new();
        self.each(|piece| {
            if out.len() >= bytes {
                return;
            }
            match piece {
                Piece::Text(text) => out.push_str(&text.decode_start(bytes)),
                Piece::Part(part) => match part.flatten() {
                    Flat::Text(text) => out.push_str(&text.decode_start(bytes)),
                    Flat::Placeholder => out.push_str(&part.placeholder()),
                    Flat::Empty | Flat::Odd | Flat::Throws => {}
                },
            }
        });
        out
    }

    /// Returns the content as it stands.
    pub(crate) fn raw(&self) -> &'a [u8] {
        match self {
            Self::None => b"",
            Self::Text(text) => text.raw(),
            Self::Parts(raw) => raw,
        }
    }

    /// Returns the text of the first part, if it is nothing but text.
    pub(crate) fn first_words(self) -> Option<Text<'a>> {
        let raw = match self {
            Self::None => return None,
            Self::Text(text) => return Some(text),
            Self::Parts(raw) => raw,
        };
        let mut scanner = Scanner::new(raw);
        if scanner.peek() == Ok(b'[') {
            scanner.expect(b'[').ok()?;
        }
        scanner.expect(b'{').ok()?;
        let text = scanner.key().ok()?.is("text").then(|| scanner.string().ok())?;
        text.filter(|_| scanner.peek() == Ok(b'}'))
    }

    /// Appends the content as JSON, to be read again.
    pub(crate) fn write_json(self, out: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::Text(text) => {
                out.push(b'"');
                out.extend_from_slice(text.raw());
                out.push(b'"');
            }
            Self::Parts(raw) => out.extend_from_slice(raw),
        }
    }

    /// Returns about how many bytes of text there are.
    pub(crate) fn text_bytes(self) -> usize {
        match self {
            Self::None => 0,
            Self::Text(text) => text.raw().len(),
            Self::Parts(raw) => raw.len(),
        }
    }

    /// Returns about the first `bytes` of the text, for titles.
    pub(crate) fn text_start(self, bytes: usize) -> String {
        let mut out = String::new();
        self.each(|piece| {
            if let Some(text) = piece.spoken()
                && out.len() < bytes
            {
                out.push_str(&text.decode_start(bytes - out.len()));
            }
        });
        out
    }
}

impl<'a> Piece<'a> {
    /// Returns the words of this piece, unless it is a thought or has none.
    pub(crate) fn spoken(&self) -> Option<Text<'a>> {
        match self {
            Self::Text(text) => Some(*text),
            Self::Part(part) if part.is_thought() => None,
            Self::Part(part) => part.text,
        }
    }
}

fn walk<'a>(
    scanner: &mut Scanner<'a>,
    depth: u32,
    visit: &mut impl FnMut(Piece<'a>),
) -> JsonScan<()> {
    match scanner.peek()? {
        b'"' => visit(Piece::Text(scanner.string()?)),
        b'{' => visit(Piece::Part(Part::read(scanner)?)),
        b'[' if depth < DEEPEST => scanner.array(|scanner| walk(scanner, depth + 1, visit))?,
        _ => scanner.skip()?,
    }
    Ok(())
}
