//! Text to words; one way for messages and queries.
//!
//! Words are folded (`fold`). Identifiers come whole and in parts: `parseLegacyRecord` gives `parse`,
//! `legacy`, `record` at consecutive positions, and `parselegacyrecord` at the first of them, so that
//! both spellings of a name meet. Scripts without spaces come as overlapping pairs of characters, and
//! the last character alone. Random runs (base64) are dropped and long ones cut; a text to which
//! that happened ends with the token [`CUT`], so that a search by substring knows what it cannot see.

mod fold;
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

/// Stands at the end of a text of which something was dropped. No text can hold it as a word.
pub(crate) const CUT: &str = "\u{1}";

/// Whether a character is part of no word, wherever it stands.
pub(crate) fn is_separator(character: char) -> bool {
    matches!(script::of(character), Class::Other | Class::Joint)
}

/// What a character adds to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Letters or digits.
    Letters,
    /// What belongs to the letter before it; perhaps nothing.
    Mark,
    /// Nothing, and an identifier may go on behind it.
    Joint,
    /// A character of a script without spaces.
    Dense,
    /// Nothing, and the word ends.
    Separator,
}

/// Returns what a character adds to the word that it is in; `folded` receives the letters.
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

/// What a token is of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A word, or a part of an identifier.
    Part,
    /// An identifier of several parts, written without joints or with them left out.
    Whole,
    /// Two neighbours of a script without spaces.
    Pair,
    /// The last character of such a run.
    Last,
    /// The only character of such a run.
    Lone,
    /// The mark [`CUT`].
    Cut,
}

/// One token, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'s> {
    /// The folded word.
    pub(crate) text: &'s str,
    /// Where it begins in the text, in bytes.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// Which word of the text it is.
    pub(crate) position: u32,
    /// How many positions it covers.
    pub(crate) length: u32,
    /// What it is.
    pub(crate) form: Form,
}
