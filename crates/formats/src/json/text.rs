//! A JSON string as in the file, and its decoded text.

use std::borrow::Cow;

use memchr::memchr;

/// The content of a JSON string, with its escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    raw: &'a [u8],
    /// 1 if there is a backslash. In a `bool` the compiler would keep the tags of `Option` and `Result`, and copy what is around it
    /// in pieces that lie across words, which stalls for each key.
    escaped: usize,
}

impl<'a> Text<'a> {
    /// Wraps the bytes between the quotes; `escaped` is whether there is a backslash among them.
    #[inline]
    pub(super) fn new(raw: &'a [u8], escaped: bool) -> Self {
        Self { raw, escaped: usize::from(escaped) }
    }

    /// Wraps the bytes between the quotes of a string that was scanned before.
    #[inline]
    pub(crate) fn scanned(raw: &'a [u8]) -> Self {
        // In a long text the first escape, the end of a line, is near its start.
        Self::new(raw, memchr(b'\\', raw).is_some())
    }

    #[inline]
    fn is_escaped(self) -> bool {
        self.escaped != 0
    }

    /// Returns the raw bytes between the quotes.
    #[inline]
    pub fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// Whether the string equals `word`, which has no character that needs an escape.
    #[inline]
    pub fn is(self, word: &str) -> bool {
        if self.is_escaped() { self.decode() == word } else { self.raw == word.as_bytes() }
    }

    /// Returns the decoded bytes, for matching; only a key written with escapes is decoded.
    #[inline]
    pub fn name(self) -> Cow<'a, [u8]> {
        if !self.is_escaped() {
            return Cow::Borrowed(self.raw);
        }
        Cow::Owned(self.decode().into_owned().into_bytes())
    }

    /// Returns about the first `bytes` of the decoded string, for titles and for recognizing kinds.
    pub fn decode_start(self, bytes: usize) -> Cow<'a, str> {
        let Some(start) = self.raw.get(..bytes) else { return self.decode() };
        // An escape or a character may be cut at the end: go back to a complete one.
        let mut end = bytes;
        if let Some(at) = memchr::memrchr(b'\\', start)
            && at + 12 > bytes
        {
            let run = start.iter().take(at + 1).rev().take_while(|&&byte| byte == b'\\').count();
            end = at + 1 - run;
        }
        while end > 0 && self.raw.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end -= 1;
        }
        Self { raw: self.raw.get(..end).unwrap_or_default(), escaped: self.escaped }.decode()
    }

    /// Whether there is nothing but white space, by JavaScript's rule.
    pub fn is_blank(self) -> bool {
        match self.raw.first() {
            None => true,
            Some(b'!'..=b'[' | b']'..=b'~') => false,
            Some(_) => super::trim(&self.decode()).is_empty(),
        }
    }

    /// Returns the decoded string. Lone surrogates and bytes that are not UTF-8 become U+FFFD.
    pub fn decode(self) -> Cow<'a, str> {
        if !self.is_escaped() {
            return match simdutf8::basic::from_utf8(self.raw) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(self.raw),
            };
        }
        let mut out = String::with_capacity(self.raw.len());
        let mut rest = self.raw;
        while let Some(at) = memchr(b'\\', rest) {
            let (plain, escape) = rest.split_at(at);
            push_lossy(&mut out, plain);
            rest = push_escape(&mut out, escape);
        }
        push_lossy(&mut out, rest);
        Cow::Owned(out)
    }
}

fn push_lossy(out: &mut String, bytes: &[u8]) {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => out.push_str(&String::from_utf8_lossy(bytes)),
    }
}

/// Appends the decoded escape at the start of `bytes` and returns the rest.
fn push_escape<'a>(out: &mut String, bytes: &'a [u8]) -> &'a [u8] {
    let plain = match bytes.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return push_unicode(out, bytes),
        Some(&other) => char::from(other),
        None => return &[],
    };
    out.push(plain);
    bytes.get(2..).unwrap_or_default()
}

fn push_unicode<'a>(out: &mut String, bytes: &'a [u8]) -> &'a [u8] {
    let rest = bytes.get(6..).unwrap_or_default();
    let Some(unit) = code_unit(bytes) else {
        out.push(char::REPLACEMENT_CHARACTER);
        return rest;
    };
    if (0xd800..0xdc00).contains(&unit)
        && let Some(low @ 0xdc00..0xe000) = code_unit(rest)
    {
        let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        return rest.get(6..).unwrap_or_default();
    }
    out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    rest
}

/// Reads `\uXXXX` at the start of `bytes`.
fn code_unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
}
