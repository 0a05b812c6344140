//! One part of a content, in the format of the Gemini API.

use std::borrow::Cow;

use crate::json::{JsonScan, Scanner, Text};

/// A part. Each field is the raw JSON of its value; `null` counts as present, as it does for the agent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Part<'a> {
    /// The text, if `text` is a string.
    pub(crate) text: Option<Text<'a>>,
    /// Whether `text` exists but is not a string (nor `null`).
    pub(crate) odd_text: bool,
    pub(crate) thought: Option<&'a [u8]>,
    pub(crate) call: Option<&'a [u8]>,
    pub(crate) response: Option<&'a [u8]>,
    pub(crate) inline: Option<&'a [u8]>,
    pub(crate) file: Option<&'a [u8]>,
    pub(crate) code: Option<&'a [u8]>,
    pub(crate) code_result: Option<&'a [u8]>,
    pub(crate) video: Option<&'a [u8]>,
    /// Whether there is an opaque signature, which may be the only field.
    pub(crate) signature: bool,
}

/// The result of the agent's own flattening of a part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flat<'a> {
    /// Nothing.
    Empty,
    /// The text.
    Text(Text<'a>),
    /// A placeholder in brackets.
    Placeholder,
    /// Something that is not text; fine in a list, but the loader throws if it is the only part.
    Odd,
    /// The agent's loader throws and drops the record.
    Throws,
}

impl<'a> Part<'a> {
    /// Reads the object at the scanner's position.
    pub(crate) fn read(scanner: &mut Scanner<'a>) -> JsonScan<Self> {
        let mut part = Self::default();
        scanner.object(|scanner, key| {
            let field = match key.name().as_ref() {
                b"text" => {
                    part.text = None;
                    if scanner.peek()? == b'"' {
                        part.text = Some(scanner.string()?);
                        part.odd_text = false;
                    } else {
                        part.odd_text = scanner.value()? != b"null";
                    }
                    return Ok(());
                }
                b"thought" => &mut part.thought,
                b"functionCall" => &mut part.call,
                b"functionResponse" => &mut part.response,
                b"inlineData" => &mut part.inline,
                b"fileData" => &mut part.file,
                b"executableCode" => &mut part.code,
                b"codeExecutionResult" => &mut part.code_result,
                b"videoMetadata" => &mut part.video,
                b"thoughtSignature" => {
                    part.signature = true;
                    return scanner.skip();
                }
                _ => return scanner.skip(),
            };
            *field = Some(scanner.value()?);
            Ok(())
        })?;
        Ok(part)
    }

    /// Whether it is of an unknown kind: without any of the fields of a part.
    pub(crate) fn is_unknown(&self) -> bool {
        let fields = [
            self.thought,
            self.call,
            self.response,
            self.inline,
            self.file,
            self.code,
            self.code_result,
            self.video,
        ];
        self.text.is_none() && !self.signature && fields.iter().all(Option::is_none)
    }

    /// Whether it is a thought of the model.
    pub(crate) fn is_thought(&self) -> bool {
        self.thought.is_some_and(|raw| !matches!(raw, b"false" | b"null" | b"0" | b"\"\""))
    }

    /// Flattens the part like the agent's loader (`partToString`, 0.47–0.61).
    pub(crate) fn flatten(&self) -> Flat<'a> {
        let null = Some(b"null".as_slice());
        if self.video.is_some()
            || self.thought.is_some()
            || self.code_result.is_some()
            || self.code.is_some()
            || self.file.is_some()
        {
            Flat::Placeholder
        } else if let Some(named) = self.call.or(self.response) {
            if Some(named) == null { Flat::Throws } else { Flat::Placeholder }
        } else if let Some(inline) = self.inline {
            if Some(inline) == null || mime_is_odd(inline) {
                Flat::Throws
            } else {
                Flat::Placeholder
            }
        } else if let Some(text) = self.text {
            Flat::Text(text)
        } else if self.odd_text {
            Flat::Odd
        } else {
            Flat::Empty
        }
    }
}

/// Encloses the MIME type and the size of binary data in flattened text; releases print them differently.
pub(crate) const BINARY: char = '\u{1}';

impl Part<'_> {
    /// Returns the placeholder of the agent's flattening for a part without text.
    pub(crate) fn placeholder(&self) -> String {
        let name = |raw: &[u8]| field(raw, "name").unwrap_or("undefined".into()).into_owned();
        if self.video.is_some() {
            "[Video Metadata]".into()
        } else if let Some(thought) = self.thought {
            format!("[Thought: {}]", String::from_utf8_lossy(thought))
        } else if self.code_result.is_some() {
            "[Code Execution Result]".into()
        } else if self.code.is_some() {
            "[Executable Code]".into()
        } else if self.file.is_some() {
            "[File Data]".into()
        } else if let Some(call) = self.call {
            format!("[Function Call: {}]", name(call))
        } else if let Some(response) = self.response {
            format!("[Function Response: {}]", name(response))
        } else if let Some(inline) = self.inline {
            let mime = field(inline, "mimeType").unwrap_or("unknown".into());
            let data = field(inline, "data").unwrap_or_default();
            // Tenths of a kilobyte, rounded as `toFixed(1)` does.
            let bytes = (data.len() * 3).div_ceil(4);
            let tenths = (bytes * 10 + 512) / 1024;
            format!("{BINARY}{mime}{BINARY}{}.{} KB{BINARY}", tenths / 10, tenths % 10)
        } else {
            String::new()
        }
    }
}

/// A MIME type that is neither a string nor `null` makes the agent's flattening throw.
fn mime_is_odd(inline: &[u8]) -> bool {
    let mut odd = false;
    let mut scanner = Scanner::new(inline);
    if scanner.peek() == Ok(b'{') {
        // The text was already scanned, so this cannot fail.
        let _scanned = scanner.object(|scanner, key| {
            let first = scanner.peek()?;
            let value = scanner.value()?;
            if key.is("mimeType") {
                odd = first != b'"' && value != b"null";
            }
            Ok(())
        });
    }
    odd
}

/// Reads a string field of a raw object.
pub(crate) fn field<'a>(raw: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    let mut found = None;
    let mut scanner = Scanner::new(raw);
    if scanner.peek() != Ok(b'{') {
        return None;
    }
    scanner
        .object(|scanner, key| {
            let is_string = scanner.peek()? == b'"';
            if key.is(name) {
                found = if is_string {
                    Some(scanner.string()?)
                } else {
                    scanner.skip().map(|()| None)?
                };
                return Ok(());
            }
            scanner.skip()
        })
        .ok()?;
    found.map(Text::decode)
}
