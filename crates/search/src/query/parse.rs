//! The grammar: groups, operators, and the terms between them.

use super::fields::{self, Meaning, Value};
use super::group::{Group, Item};
use super::scope;
use super::words::Words;
use super::{Filter, Matcher, Node, Pattern, QueryError, TextLeaf, Typed};
use crate::document::FieldSet;

/// The maximum nesting of brackets and negations; a person needs three.
const MAX_DEPTH: usize = 32;
/// The maximum number of words, filters and groups of one query.
const MAX_TERMS: usize = 256;

/// Parses a whole query.
pub(super) fn parse(text: &str) -> Result<(Node<Filter>, bool), QueryError> {
    let mut parser = Parser { text, at: 0, depth: 0, terms: 0, is_strict: false };
    let mut root = parser.group(None)?.ok_or_else(|| {
        let what = if text.trim().is_empty() {
            "nothing to search for"
        } else {
            "nothing to search for: symbols are not part of words"
        };
        QueryError::new(0..text.len(), what, "retry \"tax table\" after:7d")
    })?;
    scope::apply(&mut root, FieldSet::TEXTS);
    Ok((root, parser.is_strict))
}

struct Parser<'q> {
    text: &'q str,
    at: usize,
    depth: usize,
    terms: usize,
    /// Whether anything so far asks for words exactly as they are written.
    is_strict: bool,
}

impl<'q> Parser<'q> {
    /// Reads up to the end, or to the bracket that closes the one at `opened`.
    fn group(&mut self, opened: Option<usize>) -> Result<Option<Node<Filter>>, QueryError> {
        let mut group = Group::default();
        loop {
            self.skip_blanks();
            let start = self.at;
            match (self.peek(), opened) {
                (None, Some(open)) => {
                    let what = "this bracket is never closed";
                    return Err(QueryError::new(open..open + 1, what, "(cart OR basket) tax"));
                }
                (None, None) => break,
                (Some(')'), None) => {
                    let what = "this bracket was never opened";
                    return Err(QueryError::new(start..start + 1, what, "(cart OR basket) tax"));
                }
                (Some(')'), Some(_)) => {
                    self.at += 1;
                    break;
                }
                _ => {}
            }
            if let Some(operator) = self.operator() {
                self.is_strict = true;
                group.operate(operator, start..self.at)?;
            } else {
                let item = self.item()?;
                group.take(item, start..self.at);
            }
        }
        group.finish()
    }

    /// Reads `AND` or `OR`.
    fn operator(&mut self) -> Option<&'static str> {
        ["AND", "OR"].into_iter().find(|name| self.keyword(name))
    }

    /// Reads a word in capitals that is on its own.
    fn keyword(&mut self, name: &str) -> bool {
        let Some(rest) = self.rest().strip_prefix(name) else { return false };
        let stands_alone =
            rest.chars().next().is_none_or(|next| next.is_whitespace() || "()".contains(next));
        if stands_alone {
            self.at += name.len();
        }
        stands_alone
    }

    /// Reads one term, negated or not.
    fn item(&mut self) -> Result<Item, QueryError> {
        let start = self.at;
        let is_negated = self.keyword("NOT") || self.minus();
        self.terms += 1;
        if self.depth >= MAX_DEPTH || self.terms > MAX_TERMS {
            let what = "too much to keep in mind: this query has too many terms or levels";
            return Err(QueryError::new(
                start..self.at.max(start + 1),
                what,
                "(cart OR basket) NOT tax",
            ));
        }
        if !is_negated {
            return self.primary();
        }
        let operator = start..self.at;
        self.skip_blanks();
        if self.peek().is_none_or(|next| next == ')') || self.operator().is_some() {
            return Err(QueryError::new(operator, "NOT needs a word after it", "cart NOT basket"));
        }
        self.depth += 1;
        let inner = self.item()?;
        self.depth -= 1;
        Ok(match inner {
            Item::Node(node) => Item::Node(Node::Not(Box::new(node))),
            Item::In(fields) => Item::NotIn(fields),
            Item::NotIn(fields) => Item::In(fields),
            Item::Nothing => Item::Nothing,
        })
    }

    /// Reads `-` right before a term; `--flag` is a word.
    fn minus(&mut self) -> bool {
        let mut characters = self.rest().chars();
        let is_minus = characters.next() == Some('-')
            && characters.next().is_some_and(|next| next != '-' && !next.is_whitespace());
        self.at += usize::from(is_minus);
        is_minus
    }

    fn primary(&mut self) -> Result<Item, QueryError> {
        let start = self.at;
        match self.peek() {
            Some('(') => {
                self.at += 1;
                self.depth += 1;
                let group = self.group(Some(start))?;
                self.depth -= 1;
                Ok(group.map_or(Item::Nothing, Item::Node))
            }
            Some('"' | '“') => {
                let value = self.quoted()?;
                let words = Words::of(value.text, false).ok_or_else(|| {
                    QueryError::new(value.at, "no word between the quotes", "\"tax table\"")
                })?;
                self.is_strict = true;
                Ok(text(Matcher::Words(words), Typed::Exact))
            }
            Some('/') => match self.pattern()? {
                Some(pattern) => {
                    self.is_strict = true;
                    Ok(text(Matcher::Pattern(pattern), Typed::Exact))
                }
                None => self.word(),
            },
            _ => self.word(),
        }
    }

    /// Reads a quoted text; its range includes the quotes.
    fn quoted(&mut self) -> Result<Value<'q>, QueryError> {
        let start = self.at;
        let mut characters = self.rest().char_indices();
        let open = characters.next().map_or(1, |(_, quote)| quote.len_utf8());
        let Some((end, quote)) = characters.find(|(_, next)| matches!(next, '"' | '”')) else {
            let what = "this quote is never closed";
            return Err(QueryError::new(start..start + open, what, "\"tax table\""));
        };
        let text = self.text.get(start + open..start + end).unwrap_or_default();
        self.at = start + end + quote.len_utf8();
        Ok(Value { text, start: start + open, at: start..self.at, is_quoted: true })
    }

    /// Reads `/regex/` or `/regex/i`; a path that only looks like one is skipped.
    fn pattern(&mut self) -> Result<Option<Pattern>, QueryError> {
        let start = self.at + 1;
        let mut is_escaped = false;
        let body = self.text.get(start..).unwrap_or_default();
        let Some(length) = body.find(|next: char| {
            let ends = next == '/' && !is_escaped;
            is_escaped = next == '\\' && !is_escaped;
            ends
        }) else {
            return Ok(None);
        };
        let behind = body.get(length + 1..).unwrap_or_default();
        let ignores_case = behind.starts_with('i');
        let after = behind.get(usize::from(ignores_case)..).unwrap_or_default();
        let ends = after.chars().next().is_none_or(|next| next.is_whitespace() || next == ')');
        if length == 0 || !ends {
            return Ok(None);
        }
        let source = body.get(..length).unwrap_or_default();
        self.at = start + length + 1 + usize::from(ignores_case);
        Pattern::new(source, ignores_case, start).map(Some)
    }

    /// Reads up to the next space; brackets may be inside if they are closed there, as in `main()`.
    fn word(&mut self) -> Result<Item, QueryError> {
        let start = self.at;
        let mut open = 0_usize;
        let length = self.rest().find(|next: char| match next {
            '(' => {
                open += 1;
                false
            }
            ')' if open > 0 => {
                open -= 1;
                false
            }
            ')' | '"' | '“' => true,
            _ => next.is_whitespace(),
        });
        self.at = length.map_or(self.text.len(), |length| start + length);
        let word = self.text.get(start..self.at).unwrap_or_default();
        if let Some(item) = self.field(word, start)? {
            return Ok(item);
        }
        let after = word.strip_prefix('+');
        self.is_strict |= after.is_some_and(|after| after.starts_with(char::is_alphanumeric));
        plain(word, start)
    }

    /// Reads `name:value`, if the word is one.
    fn field(&mut self, word: &str, start: usize) -> Result<Option<Item>, QueryError> {
        let Some((name, rest)) = word.split_once(':') else { return Ok(None) };
        let at = start..start + name.len() + 1;
        let value = if fields::is_known(name) {
            if rest.is_empty() && matches!(self.peek(), Some('"' | '“')) {
                self.quoted()?
            } else {
                let text = self.text.get(at.end..self.at).unwrap_or_default();
                Value { text, start: at.end, at: at.end..self.at, is_quoted: false }
            }
        } else if looks_like_field(name, rest) {
            return Err(fields::unknown(name, at));
        } else {
            return Ok(None);
        };
        if value.text.is_empty() {
            let what = format!("`{name}:` needs a value right behind it");
            return Err(QueryError::new(at, what, "project:shop kind:prompt"));
        }
        fields::meaning(name, &value).map(|meaning| match meaning {
            Meaning::Node(node) => Some(Item::Node(node)),
            Meaning::Scope(fields) => Some(Item::In(fields)),
        })
    }

    fn rest(&self) -> &'q str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }
}

/// Whether a field was meant: not a URL, a Rust path, a Windows path, a port or a label.
fn looks_like_field(name: &str, rest: &str) -> bool {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    let next = rest.chars().next();
    is_name && next.is_some_and(|next| !matches!(next, ':' | '/' | '\\' | '0'..='9'))
}

/// Parses a word with an optional suffix: `*`, `~`, `~1`, `~2`.
fn plain(word: &str, start: usize) -> Result<Item, QueryError> {
    let stem = word.trim_end_matches('*');
    if stem.len() < word.len() {
        let words = Words::of(stem, true);
        return Ok(words.map_or(Item::Nothing, |words| text(Matcher::Words(words), Typed::Like)));
    }
    let (stem, distance) = match word.rsplit_once('~') {
        Some((stem, "")) => (stem, Some(if stem.chars().count() > 7 { 2 } else { 1 })),
        Some((stem, "1")) => (stem, Some(1)),
        Some((stem, "2")) => (stem, Some(2)),
        Some((stem, digits))
            if !stem.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            let at = start + stem.len()..start + word.len();
            return Err(QueryError::new(
                at,
                "at most two letters may be wrong: ~, ~1 or ~2",
                "baskit~",
            ));
        }
        _ => (word, None),
    };
    let Some(words) = Words::of(stem, false) else { return Ok(Item::Nothing) };
    Ok(match (distance, words.in_one()) {
        (Some(distance), Some(word)) => {
            text(Matcher::Fuzzy { word: word.to_owned(), distance }, Typed::Like)
        }
        (Some(_), None) => text(Matcher::Words(words), Typed::Like),
        (None, _) => text(Matcher::Words(words), Typed::Plain(word.into())),
    })
}

/// Returns a leaf whose fields are set when its group ends.
fn text(matcher: Matcher, typed: Typed) -> Item {
    Item::Node(Node::Text(TextLeaf { number: 0, matcher, fields: FieldSet::NONE, typed }))
}
