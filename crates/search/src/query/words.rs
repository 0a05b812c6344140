//! Words of a query: what the tokenizer makes of them, as something to look for.

use crate::token::{Form, REST, Scanner};

/// Words that must be adjacent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// The words, in order; never empty.
    pub(crate) parts: Vec<Part>,
    /// The identifier they make up, which a text may also write in one.
    pub(crate) whole: Option<String>,
    /// Whether the last word may go on.
    pub(crate) is_open: bool,
    /// Whether part of it is of a script without spaces.
    is_dense: bool,
}

/// One of the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The word, folded.
    pub(crate) text: String,
    /// How many positions behind the first.
    pub(crate) offset: u32,
}

impl Words {
    /// Takes text as it was typed; nothing when it holds no word.
    pub(super) fn of(text: &str, is_open: bool) -> Option<Self> {
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
            // Of a beginning that is so long, the dictionary knows only this much.
            let kept = last.text.find(REST).unwrap_or(last.text.len());
            last.text.truncate(kept);
        }
        // A pair of characters is found wherever more follow; a single one has to be told so.
        let is_open = match last {
            Form::Lone => true,
            Form::Pair => false,
            _ => is_open,
        };
        let whole = whole.filter(|(_, covers)| *covers == length).map(|(text, _)| text);
        Some(Self { parts, whole, is_open, is_dense })
    }

    /// Returns all as one word, for a fuzzy search; nothing for scripts that have no words.
    pub(super) fn in_one(&self) -> Option<&str> {
        match (self.parts.as_slice(), &self.whole) {
            ([only], None) if !self.is_dense => Some(&only.text),
            (_, Some(whole)) => Some(whole),
            _ => None,
        }
    }
}
