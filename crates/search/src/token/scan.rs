//! Scans a text: runs of letters and digits joined to identifiers, and runs of dense scripts.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::run::{self, PlainWord, Run};
use super::script::{self, Class};
use super::{CUT, Form, Token, fold};

/// The maximum length of a token: enough for any word, a commit id, a UUID, a SHA-256.
pub(super) const MAX_CHARACTERS: usize = 64;
/// The kept length of a longer one; a hash of the rest follows.
const KEPT_CHARACTERS: usize = 48;
/// Precedes the hash of the rest. No text can contain it in a word.
pub(crate) const REST: char = '\u{2}';
/// The maximum number of runs that are joined.
const MAX_RUNS: usize = 8;
/// The maximum number of parts of an identifier that is also indexed whole.
const MAX_WHOLE_PARTS: u32 = 6;

/// Separates the values that a text was composed of: no phrase crosses it.
pub const BARRIER: char = '\u{2029}';

/// Iterates over the tokens of a text, without allocating once its buffers have grown.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
    position: u32,
    was_cut: bool,
    buffers: Buffers,
}

/// Buffers that a scanner can pass on to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers {
    /// The folded letters of the current identifier or run.
    folded: String,
    /// Its tokens, as ranges of `folded`.
    pieces: Vec<Piece>,
    /// The next piece to hand out.
    next: usize,
    /// Where the current run is cut into parts.
    cuts: Vec<usize>,
    dense: Vec<char>,
    /// The position in the text of each character of `dense`.
    starts: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    from: usize,
    to: usize,
    start: usize,
    end: usize,
    position: u32,
    length: u32,
    form: Form,
}

impl<'t> Scanner<'t> {
    /// Begins at the start of a text.
    pub(crate) fn new(text: &'t str) -> Self {
        Self::with_buffers(text, Buffers::default())
    }

    /// Begins at the start of a text, with buffers that were used before.
    pub(crate) fn with_buffers(text: &'t str, mut buffers: Buffers) -> Self {
        buffers.pieces.clear();
        buffers.next = 0;
        Self { text, at: 0, position: 0, was_cut: false, buffers }
    }

    /// Returns the buffers for the next text.
    pub(crate) fn into_buffers(self) -> Buffers {
        self.buffers
    }

    /// Returns the next token. Not an iterator: the token is borrowed.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Token<'_>> {
        if self.buffers.next >= self.buffers.pieces.len()
            && let Some(word) = run::next_plain(self.text, self.at)
        {
            return self.plain_token(&word);
        }
        self.next_by_rules()
    }

    /// Returns the token of a word that needs no rules.
    #[inline]
    fn plain_token(&mut self, word: &PlainWord) -> Option<Token<'_>> {
        let PlainWord { start, end, is_lower } = *word;
        let position = self.position;
        self.at = end;
        self.position += 1;
        let mut text = self.text.get(start..end)?;
        if !is_lower {
            let folded = &mut self.buffers.folded;
            folded.clear();
            folded.push_str(text);
            folded.make_ascii_lowercase();
            text = folded.as_str();
        }
        Some(Token { text, start, end, position, length: 1, form: Form::Part })
    }

    /// Returns the next token, by all the rules of identifiers, scripts and long runs.
    fn next_by_rules(&mut self) -> Option<Token<'_>> {
        if self.buffers.next >= self.buffers.pieces.len() {
            self.refill()?;
        }
        let piece = *self.buffers.pieces.get(self.buffers.next)?;
        self.buffers.next += 1;
        Some(Token {
            text: self.buffers.folded.get(piece.from..piece.to)?,
            start: piece.start,
            end: piece.end,
            position: piece.position,
            length: piece.length,
            form: piece.form,
        })
    }

    /// Reads the next identifier or dense run into the buffers.
    fn refill(&mut self) -> Option<()> {
        self.buffers.next = 0;
        self.buffers.pieces.clear();
        self.buffers.folded.clear();
        while self.buffers.pieces.is_empty() {
            let next = run::next_start(self.text, self.at);
            let passed = next.and_then(|(start, _)| self.text.get(self.at..start));
            if passed.is_some_and(|passed| {
                passed.len() >= BARRIER.len_utf8() && passed.contains(BARRIER)
            }) {
                // Text after it is not adjacent to text before it.
                self.position += 1;
            }
            match next {
                Some((start, Class::Dense)) => self.read_dense(start),
                Some((start, _)) => self.read_identifier(start),
                None if self.was_cut => {
                    self.was_cut = false;
                    self.at = self.text.len();
                    self.buffers.folded.push_str(CUT);
                    self.push(0..CUT.len(), self.at..self.at, 1, Form::Cut);
                }
                None => return None,
            }
        }
        Some(())
    }

    fn push(
        &mut self,
        folded: std::ops::Range<usize>,
        text: std::ops::Range<usize>,
        length: u32,
        form: Form,
    ) {
        self.buffers.pieces.push(Piece {
            from: folded.start,
            to: folded.end,
            start: text.start,
            end: text.end,
            position: self.position,
            length,
            form,
        });
    }

    /// Reads runs of letters and digits as far as they are joined.
    fn read_identifier(&mut self, start: usize) {
        let first = self.position;
        let mut runs = 0;
        let mut runs_with_digits = 0;
        let mut at = start;
        loop {
            let run = run::read(self.text, at, &mut self.buffers.cuts);
            if run.is_blob(self.text) {
                self.was_cut = true;
                self.at = run::skip_blob(self.text, run.end);
                return;
            }
            self.push_run(&run);
            self.at = run.end;
            runs += 1;
            runs_with_digits += usize::from(run.has_digits());
            let Some(next) = run::joined(self.text, run.end) else { break };
            if runs == MAX_RUNS {
                self.at = next;
                break;
            }
            at = next;
        }
        let parts = self.position - first;
        let is_name = runs > 1 && runs_with_digits < 2 && parts <= MAX_WHOLE_PARTS;
        if is_name && self.buffers.folded.len() <= MAX_CHARACTERS {
            let position = std::mem::replace(&mut self.position, first);
            self.push(0..self.buffers.folded.len(), start..self.at, parts, Form::Whole);
            self.position = position;
        }
    }

    /// Folds a run and pushes its parts, and itself if there are several.
    fn push_run(&mut self, run: &Run) {
        let base = self.buffers.folded.len();
        let first = self.position;
        let raw = self.text.get(run.start..run.end).unwrap_or_default();
        if run.is_plain {
            self.buffers.folded.push_str(raw);
            if let Some(tail) = self.buffers.folded.get_mut(base..) {
                tail.make_ascii_lowercase();
            }
        } else {
            raw.chars().for_each(|character| fold::word(character, &mut self.buffers.folded));
        }
        let end = self.buffers.folded.len();
        if !self.buffers.cuts.is_empty() {
            self.push_parts(run, base);
        }
        let parts = self.position - first;
        if parts == 0 {
            self.push_shortened(base..end, run.start..run.end);
        } else if parts > 1 {
            let position = std::mem::replace(&mut self.position, first);
            let folded = self.shortened(base..end);
            self.push(folded, run.start..run.end, parts, Form::Whole);
            self.position = position;
        }
    }

    fn push_parts(&mut self, run: &Run, base: usize) {
        let mut from = base;
        let mut start = run.start;
        for index in 0..=self.buffers.cuts.len() {
            let end = self.buffers.cuts.get(index).copied().unwrap_or(run.end);
            let to = if run.is_plain {
                base + (end - run.start)
            } else {
                from + self.folded_length(start..end)
            };
            self.push_shortened(from..to, start..end);
            from = to;
            start = end;
        }
    }

    fn folded_length(&self, text: std::ops::Range<usize>) -> usize {
        let mut folded = String::new();
        let part = self.text.get(text).unwrap_or_default();
        part.chars().for_each(|character| fold::word(character, &mut folded));
        folded.len()
    }

    fn push_shortened(&mut self, folded: std::ops::Range<usize>, text: std::ops::Range<usize>) {
        if folded.is_empty() {
            return;
        }
        let folded = self.shortened(folded);
        self.push(folded, text, 1, Form::Part);
        self.position += 1;
    }

    /// Truncates a token that is too long for the dictionary; a hash replaces the rest, so that tokens with the same start
    /// stay distinct.
    fn shortened(&mut self, folded: std::ops::Range<usize>) -> std::ops::Range<usize> {
        if folded.len() <= MAX_CHARACTERS {
            return folded;
        }
        let token = self.buffers.folded.get(folded.clone()).unwrap_or_default();
        if token.chars().nth(MAX_CHARACTERS).is_none() {
            return folded;
        }
        let kept = token.char_indices().nth(KEPT_CHARACTERS).map_or(0, |(at, _)| at);
        let mut hasher = DefaultHasher::new();
        token.hash(&mut hasher);
        let short =
            format!("{}{REST}{:016x}", token.get(..kept).unwrap_or_default(), hasher.finish());
        self.was_cut = true;
        let start = self.buffers.folded.len();
        self.buffers.folded.push_str(&short);
        start..self.buffers.folded.len()
    }

    /// Reads a run of a script without spaces.
    fn read_dense(&mut self, start: usize) {
        self.buffers.dense.clear();
        self.buffers.starts.clear();
        let rest = self.text.get(start..).unwrap_or_default();
        let mut end = start;
        for character in rest.chars() {
            match script::of(character) {
                Class::Dense => {
                    fold::dense(character, &mut self.buffers.dense);
                    self.buffers.starts.resize(self.buffers.dense.len(), end);
                }
                Class::Mark => {}
                _ => break,
            }
            end += character.len_utf8();
        }
        self.at = end;
        self.push_pairs(end);
    }

    fn push_pairs(&mut self, end: usize) {
        let count = self.buffers.dense.len();
        let mut from = 0;
        for index in 0..count {
            let Some(&character) = self.buffers.dense.get(index) else { return };
            let width = character.len_utf8();
            self.buffers.folded.push(character);
            let next = self.buffers.dense.get(index + 1).copied();
            let start = self.buffers.starts.get(index).copied().unwrap_or(end);
            let stop = self.buffers.starts.get(index + 2).copied().unwrap_or(end);
            match next {
                Some(next) => {
                    self.push(from..from + width + next.len_utf8(), start..stop, 1, Form::Pair);
                }
                None if count == 1 => self.push(from..from + width, start..end, 1, Form::Lone),
                None => self.push(from..from + width, start..end, 1, Form::Last),
            }
            self.position += 1;
            from += width;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the tokens, with or without the shortcut for plain words.
    fn tokens(text: &str, is_short: bool) -> Vec<String> {
        let mut scanner = Scanner::new(text);
        let mut all = Vec::new();
        while let Some(token) = if is_short { scanner.next() } else { scanner.next_by_rules() } {
            all.push(format!("{token:?}"));
        }
        all
    }

    #[test]
    fn plain_words_follow_the_rules() {
        for text in [
            "Plain words, ONE I'm 42 end. Next - a-b a_ _a a.b v2 2v x1y",
            "用Rust写 e\u{301}cole \u{e9}t\u{e9} 2026-09-02T08 a\u{2029}b last",
            "HTTPServer fooBar Foo. Bar.",
            "",
        ] {
            assert_eq!(tokens(text, true), tokens(text, false), "{text}");
        }
        let long = "a".repeat(MAX_CHARACTERS) + " " + &"A".repeat(MAX_CHARACTERS + 1);
        assert_eq!(tokens(&long, true), tokens(&long, false));
    }

    proptest::proptest! {
        #[test]
        fn any_plain_word_follows_the_rules(text in "\\PC{0,60}|[a-cA-C01_.\\-T会é\u{301}\u{2029} /,]{0,60}") {
            proptest::prop_assert_eq!(tokens(&text, true), tokens(&text, false));
        }
    }
}
