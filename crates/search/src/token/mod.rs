//! Tokenizes text; the same way for messages and queries.
//!
//! Words are folded (`fold`). Identifiers are indexed whole and in parts: `parseLegacyRecord` gives `parse`, `legacy`,
//! `record` at consecutive positions, and `parselegacyrecord` at the first of them, so that both spellings of a name match.
//! Scripts without spaces give overlapping pairs of characters, and the last character alone. Random runs (base64) are
//! dropped and long ones truncated; such a text ends with the token [`CUT`], so that a substring search knows that the
//! index is incomplete.

mod fold;
mod grouped;
mod run;
mod scan;
mod script;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use fold::dense as fold_dense;
pub use scan::BARRIER;
pub(crate) use scan::{Buffers, REST, Scanner};
pub(crate) use stream::WordTokenizer;

use script::Class;

/// Marks the end of a text of which something was dropped. No text can contain it as a word.
pub(crate) const CUT: &str = "\u{1}";

/// Whether a character is never part of a word.
pub(crate) fn is_separator(character: char) -> bool {
    matches!(script::of(character), Class::Other | Class::Joint)
}

/// What a character adds to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Letters or digits.
    Letters,
    /// A mark on the letter before it; possibly nothing.
    Mark,
    /// Nothing, and an identifier may continue after it.
    Joint,
    /// A character of a script without spaces.
    Dense,
    /// Nothing, and the word ends.
    Separator,
}

/// Returns what a character adds to its word; `folded` receives the letters.
pub(crate) fn spelling(character: char, folded: &mut String) -> Spelling {
    folded.clear();
    let class = script::of(character);
    if !matches!(class, Class::Dense | Class::Joint | Class::Other) {
        fold::word(character, folded);
    }
    match class {
        Class::Lower | Class::Upper | Class::Digit => Spelling::Letters,
        Class::Mark => Spelling::Mark,
        Class::Joint => Spelling::Joint,
        Class::Dense => Spelling::Dense,
        Class::Other => Spelling::Separator,
    }
}

/// Whether a character belongs to a script without spaces.
pub(crate) fn is_dense(character: char) -> bool {
    script::of(character) == Class::Dense
}

/// The form of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A word, or a part of an identifier.
    Part,
    /// A whole identifier of several parts, without separators.
    Whole,
    /// Two adjacent characters of a script without spaces.
    Pair,
    /// The last character of such a run.
    Last,
    /// The only character of such a run.
    Lone,
    /// The mark [`CUT`].
    Cut,
}

/// One token, and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'s> {
    /// The folded word.
    pub(crate) text: &'s str,
    /// Where it begins in the text, in bytes.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// Its word position in the text.
    pub(crate) position: u32,
    /// The number of positions it covers.
    pub(crate) length: u32,
    /// Its form.
    pub(crate) form: Form,
}
