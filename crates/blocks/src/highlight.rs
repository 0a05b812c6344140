//! Token classes for code, by a small lexer that knows comments, literals and words of many languages.
//!
//! This is not a parser: a reader only needs to recognize comments, text and keywords quickly. It
//! is linear and needs no start-up. `docs/decisions/0014-blocks.md` explains why it is not a
//! grammar engine.

use serde::Serialize;

use crate::languages::{Language, Quote, find};

/// Longer code is not classified.
const MAX_BYTES: usize = 64 * 1024;

/// A run of code of one class, on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Token<'a> {
    /// What it is.
    pub class: TokenClass,
    /// The code.
    pub text: &'a str,
}

/// The class of a run of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenClass {
    /// Code that needs no distinction.
    Plain,
    /// A keyword.
    Keyword,
    /// A string or character literal.
    String,
    /// A number or a named constant.
    Constant,
    /// A type, tag or key.
    Name,
    /// A comment.
    Comment,
}

/// Returns the tokens of each line of the code.
///
/// The language is the label of a fence or the extension of a file; if it is unknown, or the code is too
/// long, each line is one plain token.
pub fn highlight<'a>(code: &'a str, language: &str) -> Vec<Vec<Token<'a>>> {
    let tokens = match find(language) {
        Some(language) if code.len() <= MAX_BYTES => tokens(code, language),
        _ => vec![Token { class: TokenClass::Plain, text: code }],
    };
    let mut lines = vec![Vec::new()];
    for Token { class, text } in tokens {
        for (index, part) in text.split('\n').enumerate() {
            if index > 0 {
                lines.push(Vec::new());
            }
            if let Some(line) = lines.last_mut()
                && !part.is_empty()
            {
                line.push(Token { class, text: part });
            }
        }
    }
    if lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

fn tokens<'a>(code: &'a str, language: &Language) -> Vec<Token<'a>> {
    let mut tokens = Vec::new();
    let mut before = ' ';
    // Adjacent plain tokens are merged.
    let (mut plain, mut at) = (0, 0);
    while let Some(rest) = code.get(at..).filter(|rest| !rest.is_empty()) {
        let (length, class) = next_token(rest, language, before);
        let text = rest.get(..length).unwrap_or(rest);
        before = text.chars().next_back().unwrap_or(before);
        if class != TokenClass::Plain {
            push_plain(code.get(plain..at), &mut tokens);
            tokens.push(Token { class, text });
            plain = at + text.len();
        }
        at += text.len();
    }
    push_plain(code.get(plain..), &mut tokens);
    tokens
}

fn push_plain<'a>(text: Option<&'a str>, tokens: &mut Vec<Token<'a>>) {
    let text = text.filter(|text| !text.is_empty());
    tokens.extend(text.map(|text| Token { class: TokenClass::Plain, text }));
}

/// Returns the length of the next token in bytes, at least one character, and its class.
fn next_token(rest: &str, language: &Language, before: char) -> (usize, TokenClass) {
    if let Some(length) = comment(rest, language, before) {
        return (length, TokenClass::Comment);
    }
    if let Some((length, class)) = language.quotes.iter().find_map(|quote| quoted(rest, quote)) {
        let is_key = language.has_keys && starts_value(rest.get(length..).unwrap_or_default());
        return (length, if is_key { TokenClass::Name } else { class });
    }
    for mark in language.word_marks {
        if let Some(length) = rest.strip_prefix(mark).map(|word| run(word, is_word))
            && length > 0
        {
            return (mark.len() + length, TokenClass::Name);
        }
    }
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        return (
            run(rest, |character| is_word(character) || character == '.'),
            TokenClass::Constant,
        );
    }
    if is_word(first) {
        let joins = |character| is_word(character) || (language.has_keys && character == '-');
        let (word, after) = rest.split_at(run(rest, joins));
        return (word.len(), word_class(word, after, language));
    }
    (first.len_utf8(), TokenClass::Plain)
}

fn word_class(word: &str, after: &str, language: &Language) -> TokenClass {
    let is_keyword = |keyword: &&str| {
        *keyword == word || (language.ignores_case && keyword.eq_ignore_ascii_case(word))
    };
    if language.keywords.iter().any(|list| list.split(' ').any(|keyword| is_keyword(&keyword))) {
        TokenClass::Keyword
    } else if matches!(
        word,
        "true" | "false" | "null" | "nil" | "None" | "True" | "False" | "undefined" | "NULL"
    ) {
        TokenClass::Constant
    } else if (language.has_keys && starts_value(after))
        || (language.has_types && word.starts_with(char::is_uppercase))
    {
        TokenClass::Name
    } else {
        TokenClass::Plain
    }
}

/// Whether what follows a word or string makes that word a key.
fn starts_value(after: &str) -> bool {
    after.trim_start_matches(' ').starts_with([':', '='])
}

fn comment(rest: &str, language: &Language, before: char) -> Option<usize> {
    for (open, close) in language.block_comments {
        if let Some(inside) = rest.strip_prefix(open) {
            let end = inside.find(close).map(|at| open.len() + at + close.len());
            return Some(end.unwrap_or(rest.len()));
        }
    }
    // `#` within a word is no comment: `$#`, `a#b`.
    let starts = |mark: &str| rest.starts_with(mark) && (before.is_whitespace() || mark != "#");
    let is_comment = language.line_comments.iter().any(|mark| starts(mark));
    is_comment.then(|| rest.find('\n').unwrap_or(rest.len()))
}

/// Returns the length and class of a literal.
fn quoted(rest: &str, quote: &Quote) -> Option<(usize, TokenClass)> {
    let inside = rest.strip_prefix(quote.open)?;
    if quote.one_character {
        let length = one_character(inside)?;
        return Some((quote.open.len() + length + quote.close.len(), TokenClass::String));
    }
    let mut from = 0;
    while let Some(found) = inside.get(from..)?.find(['\\', '\n', quote.last()]) {
        let at = from + found;
        let here = inside.get(at..)?;
        if here.starts_with(quote.close) {
            return Some((quote.open.len() + at + quote.close.len(), TokenClass::String));
        }
        let mut characters = here.chars();
        match characters.next()? {
            '\\' if quote.escapes => from = at + 1 + characters.next().map_or(0, char::len_utf8),
            // An apostrophe in prose must not colour the lines below. The rest of its own line is one
            // token: looking for the end again from each quote in it would take quadratic time.
            '\n' if !quote.spans_lines => return Some((quote.open.len() + at, TokenClass::Plain)),
            other => from = at + other.len_utf8(),
        }
    }
    Some((rest.len(), if quote.spans_lines { TokenClass::String } else { TokenClass::Plain }))
}

/// Returns the length of a character literal; `None` if it is not closed soon.
fn one_character(inside: &str) -> Option<usize> {
    /// The longest escape is `\u{10FFFF}`.
    const MAX_ESCAPE: usize = 10;
    let mut characters = inside.char_indices().skip(1);
    if inside.starts_with('\\') {
        characters.next();
        return characters.take(MAX_ESCAPE).find(|(_, next)| *next == '\'').map(|(at, _)| at);
    }
    characters.next().filter(|(_, next)| *next == '\'').map(|(at, _)| at)
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the tokens that are not plain, as `class text`.
    fn marked(code: &str, language: &str) -> Vec<String> {
        let tokens = tokens(code, find(language).expect("a known language"));
        let classified = tokens.into_iter().filter(|token| token.class != TokenClass::Plain);
        classified.map(|token| format!("{:?} {}", token.class, token.text)).collect()
    }

    #[test]
    fn comments_literals_and_words_are_distinguished() {
        for (language, code, expected) in [
            (
                "rust",
                "fn f<'a>() -> 'x' '\\'' // c",
                &["Keyword fn", "String 'x'", "String '\\''", "Comment // c"] as &[_],
            ),
            (
                "rs",
                "r#\"a \" b\"# /* x\n*/ 0x1f",
                &["String r#\"a \" b\"#", "Comment /* x\n*/", "Constant 0x1f"],
            ),
            ("ts", "const a = `x\n${b}`", &["Keyword const", "String `x\n${b}`"]),
            (
                "python",
                "def f(): '''a\nb''' # c",
                &["Keyword def", "String '''a\nb'''", "Comment # c"],
            ),
            (
                "sh",
                "if [ $# -gt 1 ]; then # c",
                &["Keyword if", "Constant 1", "Keyword then", "Comment # c"],
            ),
            (
                "json",
                "{\"a\": \"b\\\"\", \"c\": [true]}",
                &["Name \"a\"", "String \"b\\\"\"", "Name \"c\"", "Constant true"],
            ),
            ("yaml", "my-key: 12 # c", &["Name my-key", "Constant 12", "Comment # c"]),
            (
                "sql",
                "select 'it''s' -- c",
                &["Keyword select", "String 'it'", "String 's'", "Comment -- c"],
            ),
            (
                "html",
                "<!-- c --><a href=\"x\"></a>",
                &["Comment <!-- c -->", "Name <a", "Name href", "String \"x\"", "Name </a"],
            ),
            ("sh", "echo don't\necho 'x'", &["Keyword echo", "Keyword echo", "String 'x'"]),
        ] {
            assert_eq!(marked(code, language), expected, "{language}: {code}");
        }
    }

    #[test]
    fn unknown_languages_and_huge_blocks_stay_plain() {
        let plain = |code: &str, language: &str| {
            highlight(code, language).concat().iter().all(|token| token.class == TokenClass::Plain)
        };
        assert!(plain("fn main() {}", "klingon"));
        assert!(plain(&"fn main() {}\n".repeat(6000), "rust"));
        assert!(!plain("fn main() {}", "rust"));
    }

    #[test]
    fn lines_are_kept_as_they_are() {
        let lines = highlight("/* a\n\nb */\nfn\n", "rust");
        let text = |line: &Vec<Token<'_>>| line.iter().map(|token| token.text).collect::<String>();
        assert_eq!(lines.iter().map(text).collect::<Vec<_>>(), ["/* a", "", "b */", "fn"]);
    }
}
