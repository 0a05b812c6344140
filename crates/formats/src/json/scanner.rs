//! The scanner: position in, slices out.

use super::Text;
use super::blocks::{key_end, skip_space, string_end};

/// Why a scan stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanError {
    /// The bytes end in the middle of a value; more may complete it.
    Incomplete,
    /// No continuation could make this JSON.
    Syntax,
}

/// The result of a scan.
pub type JsonScan<T> = Result<T, ScanError>;

/// The number of digits that always fit into 64 bits.
const MOST_DIGITS: usize = 19;

/// Scans JSON text.
#[derive(Clone, Debug)]
pub struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Starts at the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the number of bytes that were scanned.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Returns the text from an earlier offset up to here.
    pub fn since(&self, offset: usize) -> &'a [u8] {
        self.bytes.get(offset..self.at).unwrap_or_default()
    }

    /// Skips white space and returns the byte that follows it, without consuming it.
    #[inline]
    pub fn peek(&mut self) -> JsonScan<u8> {
        match self.bytes.get(self.at..).unwrap_or_default() {
            [byte, ..] if *byte > b' ' => Ok(*byte),
            // One space, as between a key and its value.
            [_, byte, ..] if *byte > b' ' && self.bytes.get(self.at) == Some(&b' ') => {
                self.at += 1;
                Ok(*byte)
            }
            _ => {
                self.at = skip_space(self.bytes, self.at);
                self.bytes.get(self.at).copied().ok_or(ScanError::Incomplete)
            }
        }
    }

    /// Consumes `byte` after optional white space.
    #[inline]
    pub fn expect(&mut self, byte: u8) -> JsonScan<()> {
        if self.peek()? == byte {
            self.at += 1;
            Ok(())
        } else {
            Err(ScanError::Syntax)
        }
    }

    /// Succeeds if nothing but white space is left.
    pub fn end(&mut self) -> JsonScan<()> {
        match self.peek() {
            Err(ScanError::Incomplete) => Ok(()),
            _ => Err(ScanError::Syntax),
        }
    }

    /// Scans an object; `field` is called after each key and must consume the value.
    pub fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, Text<'a>) -> JsonScan<()>,
    ) -> JsonScan<()> {
        self.expect(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            let key = self.key()?;
            field(self, key)?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(ScanError::Syntax),
            }
        }
    }

    /// Scans an array; `element` is called before each element and must consume it.
    pub fn array(&mut self, mut element: impl FnMut(&mut Self) -> JsonScan<()>) -> JsonScan<()> {
        self.expect(b'[')?;
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            element(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(ScanError::Syntax),
            }
        }
    }

    /// Reads a key and the colon after it.
    #[expect(clippy::inline_always, reason = "the result stays in registers")]
    #[inline(always)]
    pub fn key(&mut self) -> JsonScan<Text<'a>> {
        self.expect(b'"')?;
        let start = self.at;
        let (end, escaped) = key_end(self.bytes, start)?;
        self.at = end + 1;
        self.expect(b':')?;
        Ok(Text::new(self.bytes.get(start..end).unwrap_or_default(), escaped))
    }

    /// Reads a string; its escapes are checked but not resolved.
    #[expect(clippy::inline_always, reason = "the result stays in registers")]
    #[inline(always)]
    pub fn string(&mut self) -> JsonScan<Text<'a>> {
        self.expect(b'"')?;
        self.rest_of_string()
    }

    /// Reads a string whose quote was consumed.
    #[expect(clippy::inline_always, reason = "the result stays in registers")]
    #[inline(always)]
    fn rest_of_string(&mut self) -> JsonScan<Text<'a>> {
        let start = self.at;
        let (end, escaped) = string_end(self.bytes, start)?;
        self.at = end + 1;
        Ok(Text::new(self.bytes.get(start..end).unwrap_or_default(), escaped))
    }

    /// Reads a count written in plain digits after a key, which is given with its quotes and its colon. Without white space, as
    /// programs write it; anything else is not consumed.
    #[inline]
    pub(crate) fn count_of(&mut self, key: &[u8]) -> Option<u64> {
        let rest = self.bytes.get(self.at..)?.strip_prefix(key)?;
        let (mut count, mut length) = (0, 0);
        for byte in rest.iter().take(MOST_DIGITS) {
            if !byte.is_ascii_digit() {
                break;
            }
            count = count * 10 + u64::from(byte - b'0');
            length += 1;
        }
        let is_plain = match rest {
            [b'0', b'0'..=b'9', ..] => false,
            _ => length > 0,
        };
        if !is_plain || !matches!(rest.get(length), Some(b',' | b'}')) {
            return None;
        }
        self.at += key.len() + length;
        Some(count)
    }

    /// Reads a count written in plain digits, as nearly all are. Anything else is not consumed.
    #[inline]
    pub fn count(&mut self) -> JsonScan<Option<u64>> {
        self.peek()?;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (mut count, mut length) = (0, 0);
        for byte in rest.iter().take(MOST_DIGITS) {
            if !byte.is_ascii_digit() {
                break;
            }
            count = count * 10 + u64::from(byte - b'0');
            length += 1;
        }
        let is_plain = match rest {
            [b'0', b'0'..=b'9', ..] => false,
            _ => length > 0,
        };
        if !is_plain || !matches!(rest.get(length), Some(b',' | b'}' | b']' | b'\n' | b'\r' | b' '))
        {
            return Ok(None);
        }
        self.at += length;
        Ok(Some(count))
    }

    /// Skips any value and returns its text.
    pub fn value(&mut self) -> JsonScan<&'a [u8]> {
        let is_string = self.peek()? == b'"';
        let start = self.at;
        if is_string {
            self.at += 1;
            self.rest_of_string()?;
        } else {
            self.skip()?;
        }
        Ok(self.bytes.get(start..self.at).unwrap_or_default())
    }

    /// Skips any value, at any depth.
    pub fn skip(&mut self) -> JsonScan<()> {
        // Most values are strings.
        if self.peek()? == b'"' {
            self.at += 1;
            self.rest_of_string()?;
            return Ok(());
        }
        // A local scanner is kept in registers.
        let mut scanner = Self { bytes: self.bytes, at: self.at };
        let skipped = scanner.skip_all();
        self.at = scanner.at;
        skipped
    }

    #[inline]
    fn skip_all(&mut self) -> JsonScan<()> {
        let mut nesting = Nesting::default();
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    self.rest_of_string()?;
                }
                b'{' => {
                    self.at += 1;
                    if self.peek()? == b'}' {
                        self.at += 1;
                    } else {
                        nesting.push(true);
                        self.key()?;
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    if self.peek()? == b']' {
                        self.at += 1;
                    } else {
                        nesting.push(false);
                        continue;
                    }
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                b'-' | b'0'..=b'9' => self.number()?,
                _ => return Err(ScanError::Syntax),
            }
            if !self.close(&mut nesting)? {
                return Ok(());
            }
        }
    }

    /// After a value: closes what ends here. Returns whether another value follows.
    #[inline]
    fn close(&mut self, nesting: &mut Nesting) -> JsonScan<bool> {
        while let Some(in_object) = nesting.top() {
            match (self.peek()?, in_object) {
                (b',', true) => {
                    self.at += 1;
                    self.key()?;
                    return Ok(true);
                }
                (b',', false) => {
                    self.at += 1;
                    return Ok(true);
                }
                (b'}', true) | (b']', false) => {
                    self.at += 1;
                    nesting.pop();
                }
                _ => return Err(ScanError::Syntax),
            }
        }
        Ok(false)
    }

    #[inline]
    fn word(&mut self, word: &[u8]) -> JsonScan<()> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            Ok(())
        } else if word.starts_with(rest) {
            Err(ScanError::Incomplete)
        } else {
            Err(ScanError::Syntax)
        }
    }

    #[inline]
    fn digits(&mut self) -> JsonScan<()> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            _ if self.at > start => Ok(()),
            Some(_) => Err(ScanError::Syntax),
            None => Err(ScanError::Incomplete),
        }
    }

    /// Reads a number. One at the end of the bytes may continue, but is valid as it is.
    #[inline]
    fn number(&mut self) -> JsonScan<()> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.bytes.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }
}

/// The open brackets: one bit each, true for an object.
#[derive(Debug, Default)]
struct Nesting {
    /// The innermost up to 64, lowest bit innermost.
    near: u64,
    near_depth: u32,
    far: Vec<u64>,
}

impl Nesting {
    #[inline]
    fn push(&mut self, object: bool) {
        if self.near_depth == 64 {
            self.far.push(self.near);
            self.near_depth = 0;
        }
        self.near = self.near << 1 | u64::from(object);
        self.near_depth += 1;
    }

    #[inline]
    fn top(&self) -> Option<bool> {
        (self.near_depth > 0).then_some(self.near & 1 == 1)
    }

    #[inline]
    fn pop(&mut self) {
        self.near >>= 1;
        self.near_depth -= 1;
        if self.near_depth == 0
            && let Some(outer) = self.far.pop()
        {
            self.near = outer;
            self.near_depth = 64;
        }
    }
}
