//! Words of a query, tokenized for searching.

use crate::token::{Form, REST, Scanner};

/// Words that must be adjacent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// The words, in order; never empty.
    pub(crate) parts: Vec<Part>,
    /// The identifier they form, which a text may also write as one word.
    pub(crate) whole: Option<String>,
    /// Whether the last word is a prefix.
    pub(crate) is_open: bool,
    /// Whether part of it is of a script without spaces.
    is_dense: bool,
}

/// One of the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The word, folded.
    pub(crate) text: String,
    /// Its distance from the first, in positions.
    pub(crate) offset: u32,
}

impl Words {
    /// Tokenizes text as it was typed; `None` if it has no word.
    pub(crate) fn of(text: &str, is_open: bool) -> Option<Self> {
        let mut scanner = Scanner::new(text);
        let mut parts: Vec<Part> = Vec::new();
        let mut whole = None;
        let mut last = Form::Part;
        let mut is_dense = false;
        let mut length = 0;
        while let Some(token) = scanner.next() {
            match token.form {
                Form::Whole if token.position == 0 => {
                    whole = Some((token.text.to_owned(), token.length));
                }
                Form::Part | Form::Pair | Form::Lone => {
                    parts.push(Part { text: token.text.to_owned(), offset: token.position });
                    last = token.form;
                    is_dense |= token.form != Form::Part;
                }
                Form::Whole | Form::Last | Form::Cut => {}
            }
            if !matches!(token.form, Form::Cut) {
                length = length.max(token.position + token.length);
            }
        }
        if parts.is_empty() {
            return None;
        }
        if is_open && let Some(last) = parts.last_mut() {
            // Of such a long prefix, the dictionary has only this much.
            let kept = last.text.find(REST).unwrap_or(last.text.len());
            last.text.truncate(kept);
        }
        // A pair of characters is found wherever more follow; a single one must be marked as a prefix.
        let is_open = match last {
            Form::Lone => true,
            Form::Pair => false,
            _ => is_open,
        };
        let whole = whole.filter(|(_, covers)| *covers == length).map(|(text, _)| text);
        Some(Self { parts, whole, is_open, is_dense })
    }

    /// Returns everything as one word, for a fuzzy search; `None` for scripts that have no words.
    pub(super) fn in_one(&self) -> Option<&str> {
        match (self.parts.as_slice(), &self.whole) {
            ([only], None) if !self.is_dense => Some(&only.text),
            (_, Some(whole)) => Some(whole),
            _ => None,
        }
    }
}
