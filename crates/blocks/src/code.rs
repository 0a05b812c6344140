//! Blocks of code.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::highlight::{Token, highlight};

/// A block of code.
///
/// The text is kept as it is; views that color code call [`CodeBlock::lines`]. In JSON, `lines` has the tokens of each line.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeBlock<'a> {
    /// The label of a fence or the extension of a file; empty if neither is known.
    pub language: Cow<'a, str>,
    /// The code.
    pub text: Cow<'a, str>,
}

impl<'a> CodeBlock<'a> {
    /// Returns a block of borrowed code.
    pub fn new(language: &'a str, text: &'a str) -> Self {
        Self { language: Cow::Borrowed(language), text: Cow::Borrowed(text) }
    }

    /// Returns the tokens of each line.
    pub fn lines(&self) -> Vec<Vec<Token<'_>>> {
        highlight(&self.text, &self.language)
    }
}

impl Serialize for CodeBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut block = serializer.serialize_struct("CodeBlock", 2)?;
        block.serialize_field("language", &self.language)?;
        block.serialize_field("lines", &self.lines())?;
        block.end()
    }
}

/// Returns the extension of a path, which names the language of the file; `None` if the text is no path.
pub fn path_language(path: &str) -> Option<&str> {
    let (name, extension) = path.rsplit_once('.')?;
    let is_plain = !extension.is_empty()
        && extension.len() <= 10
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_plain && !name.is_empty() && !name.contains(char::is_whitespace)).then_some(extension)
}
