//! Finds letters that every match of a regex must contain, so that the index can be used first.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// The minimum number of adjacent letters that are worth looking up: shorter ones are in every text.
const MIN_LETTERS: usize = 3;
/// The maximum number of characters of a class that are checked one by one.
const MAX_CLASS: usize = 64;

/// Adjacent letters and digits, in lower case, that are within one token of every match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Need {
    /// The letters.
    pub(crate) letters: String,
    /// Whether the token begins with them.
    pub(crate) begins: bool,
    /// Whether it ends with them.
    pub(crate) ends: bool,
}

/// Returns what every match contains, as far as that can be looked up.
pub(super) fn needed(tree: &Hir) -> Vec<Need> {
    let mut letters = Letters::default();
    letters.visit(tree);
    letters.close(Edge::Unknown);
    let mut found = letters.found;
    // Words and word prefixes are looked up directly; letters within words need a scan of the whole dictionary, so they are
    // a last resort.
    if found.iter().any(|need| need.begins) {
        found.retain(|need| need.begins);
    } else {
        found.retain(|need| need.letters.len() >= MIN_LETTERS);
    }
    found
}

/// Returns adjacent letters and digits that every match has exactly, including case.
pub(super) fn literals(tree: &Hir) -> Vec<String> {
    let mut literals = Literals::default();
    literals.visit(tree);
    literals.close();
    literals.found.sort_unstable();
    literals.found.dedup();
    literals.found
}

#[derive(Default)]
struct Literals {
    run: String,
    found: Vec<String>,
}

impl Literals {
    /// Depth is bounded by the parser's limit.
    fn visit(&mut self, tree: &Hir) {
        match tree.kind() {
            HirKind::Literal(literal) => {
                for character in String::from_utf8_lossy(&literal.0).chars() {
                    if character.is_ascii_alphanumeric() {
                        self.run.push(character);
                    } else {
                        self.close();
                    }
                }
            }
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.visit(part)),
            HirKind::Capture(capture) => self.visit(&capture.sub),
            HirKind::Repetition(repetition) if repetition.min > 0 => {
                self.close();
                self.visit(&repetition.sub);
                self.close();
            }
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Class(_) | HirKind::Alternation(_) | HirKind::Repetition(_) => self.close(),
        }
    }

    fn close(&mut self) {
        let run = std::mem::take(&mut self.run);
        // A single letter is in every record.
        if run.len() > 1 {
            self.found.push(run);
        }
    }
}

/// What is known about the character beside adjacent letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Edge {
    #[default]
    Unknown,
    /// Not part of any word.
    Separator,
}

#[derive(Default)]
struct Letters {
    run: String,
    before: Edge,
    /// What precedes the next character.
    edge: Edge,
    found: Vec<Need>,
}

impl Letters {
    /// Depth is bounded by the parser's limit.
    fn visit(&mut self, tree: &Hir) {
        match tree.kind() {
            HirKind::Literal(literal) => {
                for character in String::from_utf8_lossy(&literal.0).chars() {
                    self.push(character);
                }
            }
            HirKind::Class(Class::Unicode(class)) => {
                let characters =
                    || class.ranges().iter().flat_map(|range| range.start()..=range.end());
                match one_letter(characters()) {
                    Some(letter) => self.push(letter),
                    None if is_separating(characters()) => self.close(Edge::Separator),
                    None => self.close(Edge::Unknown),
                }
            }
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.visit(part)),
            HirKind::Capture(capture) => self.visit(&capture.sub),
            HirKind::Repetition(repetition) if repetition.min > 0 => {
                self.visit_repeated(&repetition.sub);
            }
            HirKind::Look(look) if is_edge(*look) => self.close(Edge::Separator),
            HirKind::Empty | HirKind::Look(_) => {}
            HirKind::Class(Class::Bytes(_)) | HirKind::Alternation(_) | HirKind::Repetition(_) => {
                self.close(Edge::Unknown);
            }
        }
    }

    /// Visits a repetition of one or more: its first and last round are adjacent to others of its kind.
    fn visit_repeated(&mut self, tree: &Hir) {
        match tree.kind() {
            HirKind::Class(Class::Unicode(_)) if tree.properties().minimum_len() == Some(1) => {
                let mut alone = Self::default();
                alone.visit(tree);
                let is_separator = alone.run.is_empty() && alone.edge == Edge::Separator;
                self.close(if is_separator { Edge::Separator } else { Edge::Unknown });
            }
            _ => {
                self.close(Edge::Unknown);
                self.visit(tree);
                self.close(Edge::Unknown);
            }
        }
    }

    fn push(&mut self, character: char) {
        if character.is_ascii_alphanumeric() {
            if self.run.is_empty() {
                self.before = self.edge;
            }
            self.run.push(character.to_ascii_lowercase());
        } else {
            self.close(if character.is_ascii() { Edge::Separator } else { Edge::Unknown });
        }
    }

    /// Ends a sequence. A `T` between digits joins dates and is not a letter to the tokenizer.
    fn close(&mut self, after: Edge) {
        let run = std::mem::take(&mut self.run);
        self.edge = after;
        let bytes = run.as_bytes();
        let before = std::mem::take(&mut self.before);
        let may_be_digit = |at: Option<usize>, edge: Edge| match at.and_then(|at| bytes.get(at)) {
            Some(byte) => byte.is_ascii_digit(),
            None => edge == Edge::Unknown,
        };
        let is_joint = |at: usize| {
            bytes.get(at) == Some(&b't')
                && may_be_digit(at.checked_sub(1), before)
                && may_be_digit(Some(at + 1), after)
        };
        let mut start = 0;
        for at in (0..run.len()).filter(|&at| is_joint(at)).chain([run.len()]) {
            let letters = run.get(start..at).unwrap_or_default().to_owned();
            let begins = if start == 0 { before == Edge::Separator } else { start > 1 };
            let ends = if at == run.len() { after == Edge::Separator } else { at + 1 < run.len() };
            if !letters.is_empty() {
                self.found.push(Need { letters, begins, ends });
            }
            start = at + 1;
        }
    }
}

/// Whether a position can only be at the edge of a word. Words in regexes include more characters than ours, so their edges
/// are ours.
fn is_edge(look: Look) -> bool {
    matches!(
        look,
        Look::Start
            | Look::End
            | Look::StartLF
            | Look::EndLF
            | Look::StartCRLF
            | Look::EndCRLF
            | Look::WordUnicode
            | Look::WordStartUnicode
            | Look::WordEndUnicode
    )
}

/// Whether none of the characters is part of a word; a class with many is not checked.
fn is_separating(characters: impl Iterator<Item = char>) -> bool {
    let mut count = 0;
    let mut is_separating = true;
    for character in characters.take(MAX_CLASS + 1) {
        count += 1;
        is_separating &= crate::token::is_separator(character);
    }
    is_separating && (1..=MAX_CLASS).contains(&count)
}

/// Returns the letter that all characters are forms of, as in `[Kk]` and the Kelvin sign.
fn one_letter(characters: impl Iterator<Item = char>) -> Option<char> {
    let mut letter = None;
    for character in characters.take(8) {
        let folded = match character {
            '\u{212a}' => 'k',
            '\u{17f}' => 's',
            _ => character.to_ascii_lowercase(),
        };
        if !folded.is_ascii_alphanumeric() || letter.is_some_and(|letter| letter != folded) {
            return None;
        }
        letter = Some(folded);
    }
    letter
}
